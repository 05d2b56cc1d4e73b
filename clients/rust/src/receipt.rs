//! What a trainer saw of one batch: each claim with the count and sum of the record numbers that were in the slot.
//!
//! A receipt is read when the batch is handed out, so that it outlives the slot. It becomes the ACK packets, the
//! hand-in after a daemon's death, and the ledger items of a snapshot. Pure.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use bytemuck::Zeroable;
use forebay_proto::{RecordSum, Turn, v1};
use forebay_ring::{Ack, Claim, ClaimSum, HeldBatch, MessageKind, Offer, ResumedClaim, SUMS_PER_ACK, SlotId};
use thiserror::Error;

/// Batches whose receipts are kept for a daemon that dies before it made them durable. A daemon forwards receipts at
/// least every 200 ms, so this covers 20,000 batches a second; `EPOCH_END` clears them earlier.
const KEPT: usize = 4096;
/// Claims of receipts that are kept; half of what a daemon takes.
const KEPT_CLAIMS: usize = 1 << 20;

/// The claims of one batch and what the trainer saw of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) seq: u64,
    pub(crate) epoch: u64,
    claims: Vec<(Claim, RecordSum)>,
}

/// Receipts that the daemon has been sent and may not have made durable yet, oldest first.
#[derive(Debug, Default)]
pub(crate) struct SentReceipts {
    receipts: VecDeque<Receipt>,
    /// Of all of them.
    claims: usize,
}

/// A slot whose claims, mask and record numbers contradict one another.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "batch {seq} of epoch {epoch} contradicts itself: its claims cover {claimed} places, its mask shows {own} of this \
     epoch's own, and {nameless} of those have no record number; this is a fault of the daemon, please report it"
)]
pub(crate) struct Misfit {
    seq: u64,
    epoch: u64,
    claimed: u64,
    own: u64,
    nameless: u64,
}

impl Receipt {
    /// Reads the claims and records of the slot. The first claim is for the first `len` places whose mask is set, and so on.
    /// `repeats` is given if the stream's epochs repeat records.
    pub(crate) fn read(
        offer: &Offer,
        claims: &[Claim],
        records: &[i64],
        repeats: Option<&[i32]>,
        mask: &[u8],
    ) -> Result<Self, Misfit> {
        let turn = |place: usize| {
            let repeat = repeats.map_or(Ok(0), |repeats| u16::try_from(repeats[place]));
            Some(Turn::new(u64::try_from(records[place]).ok()?, repeat.ok()?))
        };
        let own = || mask.iter().enumerate().filter(|(_, own)| **own != 0).map(|(place, _)| turn(place));
        let misfit = || Misfit {
            seq: offer.seq,
            epoch: offer.epoch,
            claimed: claims.iter().fold(0, |sum, claim| sum.saturating_add(claim.places())),
            own: own().count() as u64,
            nameless: own().filter(Option::is_none).count() as u64,
        };
        let mut places = own();
        let mut sums = Vec::with_capacity(claims.len());
        for claim in claims {
            let mut sum = RecordSum::default();
            while sum.count < claim.places() {
                match places.next().flatten() {
                    Some(turn) => sum.add(turn.key()),
                    None => return Err(misfit()),
                }
            }
            sums.push((*claim, sum));
        }
        if places.next().is_some() {
            return Err(misfit());
        }
        Ok(Self { seq: offer.seq, epoch: offer.epoch, claims: sums })
    }

    /// The ACK packets: at least one, the last with `last` set. `held`: the batch as the daemon knows it. `freed`: no view
    /// of the slot is left, and this many more offers may come.
    pub(crate) fn packets(&self, held: &HeldBatch, freed: Option<u32>) -> Vec<Vec<u8>> {
        let HeldBatch { seq, slot: SlotId { ring, slot }, generation } = *held;
        let sums: Vec<ClaimSum> = self.claims.iter().map(|(_, sum)| claim_sum(*sum)).collect();
        let parts: Vec<&[ClaimSum]> = if sums.is_empty() { vec![&[]] } else { sums.chunks(SUMS_PER_ACK).collect() };
        let last = parts.len() - 1;
        let packet = |(number, part): (usize, &&[ClaimSum])| {
            let freed = freed.filter(|_| number == last);
            let head = Ack {
                kind: MessageKind::Ack as u32,
                slot,
                seq,
                generation,
                first: small(number * SUMS_PER_ACK),
                count: small(part.len()),
                last: u32::from(number == last),
                ring,
                freed: u32::from(freed.is_some()),
                more: freed.unwrap_or(0),
            };
            forebay_ring::packet(&head, bytemuck::cast_slice(part))
        };
        parts.iter().enumerate().map(packet).collect()
    }

    /// For a new daemon: what this trainer consumed (with sums), or still holds (without), by its own number of the batch.
    pub(crate) fn resumed_claims(&self, held: Option<NonZeroU32>) -> impl Iterator<Item = ResumedClaim> + '_ {
        self.claims.iter().map(move |(claim, sum)| ResumedClaim {
            lease: claim.lease,
            start: claim.start,
            len: claim.len.into(),
            epoch: self.epoch,
            seq: self.seq,
            held: held.map_or(0, NonZeroU32::get),
            bare: claim.bare,
            sum: if held.is_some() { ClaimSum::zeroed() } else { claim_sum(*sum) },
        })
    }

    /// For a snapshot that counts this batch as consumed.
    pub(crate) fn ack_items(&self) -> impl Iterator<Item = v1::AckItem> + '_ {
        self.claims.iter().map(|(claim, sum)| {
            let (sum_high, sum_low) = sum.halves();
            let kind = if claim.is_bare() { v1::ack_item::Kind::Bare } else { v1::ack_item::Kind::Delivered };
            v1::AckItem {
                lease: claim.lease,
                range: Some(v1::Range { start: claim.start, end: claim.end() }),
                kind: kind.into(),
                count: sum.count,
                sum_high,
                sum_low,
            }
        })
    }
}

impl SentReceipts {
    /// Keeps a receipt whose ACK went out.
    pub(crate) fn keep(&mut self, receipt: Receipt) {
        self.claims += receipt.claims.len();
        self.receipts.push_back(receipt);
        while (self.receipts.len() > KEPT || self.claims > KEPT_CLAIMS)
            && let Some(oldest) = self.receipts.pop_front()
        {
            self.claims -= oldest.claims.len();
        }
    }

    /// An epoch is complete: its receipts are durable.
    pub(crate) fn epoch_ended(&mut self, epoch: u64) {
        self.receipts.retain(|receipt| receipt.epoch > epoch);
        self.claims = self.receipts.iter().map(|receipt| receipt.claims.len()).sum();
    }

    /// The run returns to a snapshot: batches that were consumed after it will be delivered again.
    pub(crate) fn clear(&mut self) {
        self.receipts.clear();
        self.claims = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Receipt> {
        self.receipts.iter()
    }
}

fn claim_sum(sum: RecordSum) -> ClaimSum {
    let (high, low) = sum.halves();
    ClaimSum { high, low }
}

/// Claims of a batch are counted in 32 bits by the OFFER that brought them.
fn small(count: usize) -> u32 {
    u32::try_from(count).expect("an offer counts its claims in 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(claims: u32) -> Offer {
        Offer { seq: 7, epoch: 2, claims, ..Offer::zeroed() }
    }

    #[test]
    fn claims_take_the_own_places_in_order_and_skip_repeated_ones() {
        let claims = [Claim::new(5, 8, 2), Claim::new(6, 0, 1)];
        let receipt = Receipt::read(&offer(2), &claims, &[10, 11, 12, -1], None, &[1, 0, 1, 0]);
        assert!(receipt.is_err(), "three places are claimed, two are own");

        let receipt = Receipt::read(&offer(2), &claims, &[10, 11, 12, 13], None, &[1, 0, 1, 1]).unwrap();
        let sums: Vec<RecordSum> = receipt.claims.iter().map(|(_, sum)| *sum).collect();
        assert_eq!(sums, [[10, 12].into_iter().collect(), std::iter::once(13).collect()]);
    }

    #[test]
    fn rule_57_each_turn_of_a_record_is_summed_by_itself_and_a_repeat_that_cannot_be_is_refused() {
        let claims = [Claim::new(5, 0, 3)];
        let sum = |repeats: &[i32]| {
            Receipt::read(&offer(1), &claims, &[10, 10, 11], Some(repeats), &[1, 1, 1]).map(|it| it.claims[0].1)
        };
        let turns = |repeats: [u16; 3]| {
            [10, 10, 11]
                .into_iter()
                .zip(repeats)
                .map(|(record, repeat)| Turn::new(record, repeat))
                .collect::<RecordSum>()
        };
        assert_eq!(sum(&[0, 1, 0]), Ok(turns([0, 1, 0])));
        assert_ne!(sum(&[0, 1, 0]), sum(&[1, 1, 0]));
        assert_eq!(sum(&[0, -1, 1 << 16]).unwrap_err().nameless, 2);
    }

    #[test]
    fn bare_claims_take_no_place_and_are_told_as_such() {
        let claims = [Claim::bare(5, 0, 1), Claim::new(5, 1, 1), Claim::bare(6, 0, 2)];
        let receipt = Receipt::read(&offer(3), &claims, &[-1, 11, 11, 11], None, &[0, 1, 0, 0]).unwrap();
        let items: Vec<_> = receipt.ack_items().map(|item| (item.lease, item.kind(), item.count)).collect();
        let kind = v1::ack_item::Kind::Bare;
        assert_eq!(items, [(5, kind, 0), (5, v1::ack_item::Kind::Delivered, 1), (6, kind, 0)]);
        let resumed: Vec<_> = receipt.resumed_claims(None).map(|item| (item.len, item.bare, item.sum)).collect();
        let none = ClaimSum::zeroed();
        assert_eq!(resumed, [(1, 1, none), (1, 0, resumed[1].2), (2, 1, none)]);
        assert!(Receipt::read(&offer(1), &claims[..1], &[3], None, &[1]).is_err(), "its own places are somebody's");
        assert!(
            Receipt::read(&offer(1), &claims[..1], &[-1], None, &[0]).is_ok(),
            "a batch may show nothing of its own"
        );
    }

    #[test]
    fn a_place_of_its_own_without_a_record_number_is_refused_with_the_counts() {
        let claims = [Claim::new(5, 0, 2)];
        let misfit = Receipt::read(&offer(1), &claims, &[-1, 3], None, &[1, 1]).unwrap_err();
        assert_eq!((misfit.claimed, misfit.own, misfit.nameless), (2, 2, 1));
    }

    #[test]
    fn unclaimed_own_places_are_refused() {
        assert!(Receipt::read(&offer(0), &[], &[3], None, &[1]).is_err());
    }

    #[test]
    fn many_claims_go_out_in_several_packets_and_the_last_says_so() {
        let count = SUMS_PER_ACK + 3;
        let claims: Vec<Claim> = (0..count as u64).map(|lease| Claim::new(lease, 0, 1)).collect();
        let records: Vec<i64> = (0..i64::try_from(count).unwrap()).collect();
        let receipt = Receipt::read(&offer(1027), &claims, &records, None, &vec![1; count]).unwrap();

        let held = HeldBatch { seq: 7, slot: SlotId { ring: 0, slot: 4 }, generation: 9 };
        let packets = receipt.packets(&held, Some(1));
        let heads: Vec<Ack> = packets.iter().map(|p| bytemuck::pod_read_unaligned(&p[..size_of::<Ack>()])).collect();
        assert_eq!(heads.iter().map(|a| (a.first, a.count, a.last)).collect::<Vec<_>>(), [(0, 1024, 0), (1024, 3, 1)]);
        assert_eq!(heads.iter().map(|a| (a.freed, a.more)).collect::<Vec<_>>(), [(0, 0), (1, 1)], "once");
        assert!(packets.iter().all(|packet| packet.len() <= forebay_ring::PACKET_LEN));
    }

    #[test]
    fn rule_16_what_is_held_is_resumed_without_a_sum() {
        let claims = [Claim::new(5, 8, 2)];
        let receipt = Receipt::read(&offer(1), &claims, &[10, 12], None, &[1, 1]).unwrap();
        let held: Vec<ResumedClaim> = receipt.resumed_claims(NonZeroU32::new(3)).collect();
        let consumed: Vec<ResumedClaim> = receipt.resumed_claims(None).collect();
        assert_eq!((held[0].held, held[0].sum), (3, ClaimSum::zeroed()));
        assert_eq!((consumed[0].held, consumed[0].lease, consumed[0].start, consumed[0].len), (0, 5, 8, 2));
        assert_ne!(consumed[0].sum, ClaimSum::zeroed());
    }

    #[test]
    fn rule_16_no_more_claims_are_kept_than_a_daemon_takes_and_the_oldest_go_first() {
        let mut sent = SentReceipts::default();
        let claims = vec![(Claim::zeroed(), RecordSum::default()); KEPT_CLAIMS / 4];
        for seq in 0..6 {
            sent.keep(Receipt { seq, epoch: seq, claims: claims.clone() });
        }
        assert_eq!(sent.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), [2, 3, 4, 5]);
        sent.epoch_ended(3);
        (6..9).for_each(|seq| sent.keep(Receipt { seq, epoch: seq, claims: claims.clone() }));
        assert_eq!(sent.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), [5, 6, 7, 8]);
    }

    #[test]
    fn receipts_are_kept_until_their_epoch_is_complete() {
        let mut sent = SentReceipts::default();
        for (seq, epoch) in [(1, 0), (2, 0), (3, 1)] {
            sent.keep(Receipt { seq, epoch, claims: Vec::new() });
        }
        sent.epoch_ended(0);
        assert_eq!(sent.iter().map(|receipt| receipt.seq).collect::<Vec<_>>(), [3]);
    }
}
