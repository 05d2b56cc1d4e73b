//! Why a packet is no message.

use crate::message::MessageKind;
use crate::protocol::Versions;

/// Why a packet is refused. The peer does not keep to the protocol; the connection is of no further use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Too short for a kind.
    #[error("a packet of {0} bytes came; every packet starts with a kind of 4 bytes")]
    Short(usize),
    /// A kind without a meaning.
    #[error("a packet of unknown kind {0} came")]
    UnknownKind(u32),
    /// The other side speaks no version that this one speaks.
    #[error(
        "the other side speaks {theirs} of the protocol, this one {ours}; upgrade Forebay on the {older} side",
        ours = Versions::OURS,
        older = if theirs.are_before(Versions::OURS) { "other" } else { "own" }
    )]
    Protocol {
        /// Its versions.
        theirs: Versions,
    },
    /// The length does not fit what the head says.
    #[error("a {kind:?} packet of {found} bytes came; its head gives {expected}")]
    Len {
        /// Kind of the packet.
        kind: MessageKind,
        /// Bytes that came.
        found: usize,
        /// Bytes by kind and head.
        expected: usize,
    },
    /// Other descriptors than belong to the kind.
    #[error("a {kind:?} packet came with {found} descriptors instead of {expected}")]
    Descriptors {
        /// Kind of the packet.
        kind: MessageKind,
        /// Descriptors that came.
        found: usize,
        /// Descriptors by kind and head.
        expected: usize,
    },
    /// A field has a value without a meaning.
    #[error("a {kind:?} packet came with {field} out of bounds")]
    Field {
        /// Kind of the packet.
        kind: MessageKind,
        /// What is wrong.
        field: &'static str,
    },
}
