//! A consumer's call as it was received. A call inside the packet is decoded at once. A call in memory beside the
//! packet is decoded later, on another thread, because the ring's thread never copies data whose length a trainer
//! chooses.

mod weight;

use std::os::fd::OwnedFd;

use forebay_proto::v1::CallRequest;
use forebay_ring::{Body, Bulk, BulkError};
use prost::{DecodeError, Message as _};
use thiserror::Error;

/// Bytes of a call's protobuf: a snapshot of a ledger with very many open ranges is the longest.
const LIMIT: u64 = 64 << 20;
/// Bytes that a call may take in memory: two million open ranges.
const WEIGHT: usize = 64 << 20;

/// A call that may still have to be read.
#[derive(Debug)]
pub enum Asked {
    /// It was in the packet.
    Here(Box<CallRequest>),
    /// It is in memory beside the packet, which has not been checked yet.
    Beside(OwnedFd),
}

/// Why a packet has no valid call: the consumer violates the protocol.
#[derive(Debug, Error)]
pub enum NoCall {
    /// The memory beside the packet is not sealed, or too long, or the kernel refuses it.
    #[error(transparent)]
    Bulk(#[from] BulkError),
    /// It is cut short, or nested too deep.
    #[error("its call is not protobuf")]
    NoProtobuf,
    /// The message is small, but its decoded form would be large.
    #[error("its call would take {} MiB of memory, of which {} may be", weight >> 20, WEIGHT >> 20)]
    TooLarge {
        /// Bytes that it would take.
        weight: usize,
    },
    /// It is protobuf, but not a request.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

impl Asked {
    /// Takes the body of a CALL.
    ///
    /// # Errors
    /// It is no protobuf `CallRequest`.
    pub(super) fn take(body: Body<'_>) -> Result<Self, NoCall> {
        match body {
            Body::Inline(bytes) => decode(bytes).map(|request| Self::Here(Box::new(request))),
            Body::Bulk(fd) => Ok(Self::Beside(fd)),
        }
    }

    /// Whether it may be long.
    pub fn is_beside(&self) -> bool {
        matches!(self, Self::Beside(_))
    }

    /// The request. Reads the bulk, if it is one, which may take long: not on the ring's thread.
    ///
    /// # Errors
    /// The bulk is not sealed or too long, or no protobuf `CallRequest`.
    pub fn read(self) -> Result<CallRequest, NoCall> {
        match self {
            Self::Here(request) => Ok(*request),
            Self::Beside(fd) => decode(&Bulk::accept(fd)?.read(LIMIT)?),
        }
    }
}

fn decode(bytes: &[u8]) -> Result<CallRequest, NoCall> {
    let weight = weight::of_call(bytes).ok_or(NoCall::NoProtobuf)?;
    if weight > WEIGHT {
        return Err(NoCall::TooLarge { weight });
    }
    Ok(CallRequest::decode(bytes)?)
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::PathCall;
    use forebay_proto::v1::call_request::Call;

    use super::*;

    #[test]
    fn rule_25_a_call_beside_the_packet_is_looked_at_only_when_it_is_read() {
        let request = CallRequest { call: Some(Call::Path(PathCall { record: 7 })) };
        let bulk = Bulk::write(&request.encode_to_vec()).unwrap().into_fd();
        assert_eq!(Asked::take(Body::Bulk(bulk)).unwrap().read().unwrap(), request);
        let unsealed = rustix::fs::memfd_create("unsealed", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        assert!(Asked::take(Body::Bulk(unsealed)).unwrap().read().is_err());
        assert!(Asked::take(Body::Inline(&[0xff])).is_err());
    }

    #[test]
    fn a_call_that_is_small_in_the_packet_and_large_in_memory_is_refused_unbuilt() {
        // Epochs' tallies without content: two bytes each.
        let tallies = [0x52, 0x00].repeat(1 << 20);
        let nested = |field: u8, inside: &[u8]| {
            let mut len = inside.len();
            let mut bytes = vec![(field << 3) | 2];
            while len > 0x7f {
                bytes.push(u8::try_from(len & 0x7f).unwrap() | 0x80);
                len >>= 7;
            }
            bytes.push(u8::try_from(len).unwrap());
            bytes.extend(inside);
            bytes
        };
        let refused = Asked::take(Body::Inline(&nested(2, &nested(1, &tallies)))).unwrap_err().to_string();
        assert!(refused.contains("MiB of memory, of which 64 may be"), "{refused}");
        let few = nested(2, &nested(1, &tallies[..2 << 10]));
        let Ok(Asked::Here(request)) = Asked::take(Body::Inline(&few)) else { panic!("it is small") };
        assert_eq!(request.encode_to_vec().len(), few.len());
    }
}
