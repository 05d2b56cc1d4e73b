//! What a trainer brings from an earlier incarnation of the daemon: receipts of what it consumed, and batches that it
//! goes on holding (semantics rule 16).

use forebay_coordinator::CallError;
use forebay_proto::v1::ack_item::Kind;
use forebay_proto::v1::{AckItem, LeasedRange, Range, Verdict};
use forebay_ring::{Claim, HandIn};

use crate::stream::Stream;

/// Batches that the trainer goes on holding: number, epoch, and what is left of their claims.
type Adopted = Vec<(u64, u64, Vec<Option<Claim>>)>;

impl Stream {
    /// Acks what was consumed, unless it was leased to others meanwhile, and takes back what is held.
    pub(super) async fn hand_in(&self, list: &[HandIn]) -> Result<Adopted, CallError> {
        let (held, consumed): (Vec<HandIn>, Vec<HandIn>) = list.iter().partition(|hand_in| hand_in.held == 1);
        if !consumed.is_empty() {
            let items = consumed.iter().map(|hand_in| {
                let HandIn { lease, len, bare, sum, .. } = *hand_in;
                let range = Some(range(hand_in));
                match bare {
                    0 => AckItem {
                        lease,
                        range,
                        kind: Kind::Delivered.into(),
                        count: len,
                        sum_high: sum.high,
                        sum_low: sum.low,
                        again: false,
                    },
                    _ => AckItem { lease, range, kind: Kind::Bare.into(), ..AckItem::default() },
                }
            });
            self.worker.hand_in(items.collect()).await?;
        }
        if held.is_empty() {
            return Ok(Vec::new());
        }
        let items = held.iter().map(|hand_in| LeasedRange { lease: hand_in.lease, range: Some(range(hand_in)) });
        let reply = self.worker.reclaim(items.collect()).await?;
        let mut adopted: Adopted = Vec::new();
        for (hand_in, verdict) in held.iter().zip(reply.verdicts()) {
            let claim = claim(hand_in).filter(|_| verdict == Verdict::Accepted);
            match adopted.last_mut() {
                Some((seq, _, claims)) if *seq == hand_in.seq => claims.push(claim),
                _ => adopted.push((hand_in.seq, hand_in.epoch, vec![claim])),
            }
        }
        Ok(adopted)
    }
}

/// None for more positions than a batch can have.
fn claim(hand_in: &HandIn) -> Option<Claim> {
    let HandIn { lease, start, bare, .. } = *hand_in;
    let len = u32::try_from(hand_in.len).ok()?;
    Some(Claim { bare: u32::from(bare != 0), ..Claim::new(lease, start, len) })
}

fn range(hand_in: &HandIn) -> Range {
    Range { start: hand_in.start, end: hand_in.start.saturating_add(hand_in.len) }
}
