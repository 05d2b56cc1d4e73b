//! Steps of classes with a real ledger, over deaths of their daemon: whatever a trainer has consumed, holds or gives back, each record
//! counts once, and each bad record is in quarantine (semantics rules 16 and 62).

use std::sync::Arc;
use std::time::Duration;

use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
use forebay_ledger_client::Handle;
use forebay_plan::{CLASS_PERMUTATION, ClassTable, Leftovers, OrderTable, Plan, Verdict as Judgement, audit};
use forebay_proto::Turn;
use forebay_proto::v1::{AckRequest, GroupShare, Lease, LedgerSpec, MissedBatches, OpenRequest};
use forebay_ring::{Bulk, ResumedClaim};
use proptest::prelude::*;

use super::*;
use crate::consumers::inbox;
use crate::ledger_client::LedgerClient;
use crate::resumed_claims::ResumedClaims;

/// Positions of a step. Its classes have 8 and 3 places.
const STEP: u64 = 8;

/// What becomes of a step before its daemon dies.
#[derive(Clone, Copy, Debug)]
enum StepOutcome {
    /// The ledger has its receipt.
    Acked,
    /// A trainer has consumed it, and the ledger has not heard of it.
    Consumed,
    /// A trainer holds it, and consumes it with the next daemon.
    Held,
    /// A trainer holds it, and gives it back to the next daemon.
    GivenBack,
    /// No trainer had it.
    Ready,
}

fn outcome() -> impl Strategy<Value = StepOutcome> {
    use StepOutcome::{Acked, Consumed, GivenBack, Held, Ready};
    prop::sample::select(vec![Acked, Consumed, Held, GivenBack, Ready])
}

struct Run {
    ledgers: Handle,
    plan: Plan,
    table: Arc<ClassTable>,
    bad: Vec<u64>,
    incarnation: u64,
}

impl Run {
    fn begin(classes: Vec<u16>, leftovers: Leftovers, bad: Vec<u64>) -> Option<Self> {
        let settings =
            CoordinatorSettings { lease_ttl: Duration::from_secs(86_400), grace: Duration::ZERO, ..Default::default() };
        let ledgers = Coordinator::start(MemoryStore::new(), monotonic_clock(), settings).unwrap();
        let records = classes.len() as u64;
        let table = Arc::new(ClassTable::new(classes, 2, &[]).unwrap());
        let spec = LedgerSpec {
            fingerprint: vec![7; 32],
            records,
            shuffle: true,
            permutation: CLASS_PERMUTATION,
            classes: Some(table.order(&[8, 3], leftovers, &[], "a rule")),
            ..LedgerSpec::default()
        };
        let plan = Plan::with_table(&spec, Some(OrderTable::Classes(Arc::clone(&table)))).ok()?;
        Some(Self { ledgers, plan, table, bad, incarnation: 0 })
    }

    async fn daemon(&mut self) -> LedgerClient {
        self.incarnation += 1;
        let (run, stream, worker) = ("run".into(), "stream".into(), "local".into());
        let request = OpenRequest {
            run,
            stream,
            worker,
            spec: Some(self.plan.spec().clone()),
            classes: Some(self.table.numbers()),
            lease_size: 2 * STEP,
            incarnation: self.incarnation,
            epochs: 1,
            ..OpenRequest::default()
        };
        let (outbox, _inbox) = inbox().unwrap();
        LedgerClient::open(self.ledgers.clone(), request, false, outbox).await.unwrap().0
    }

    /// The batch that a step of a lease is: its claims with their sums, as a trainer computes them, and its bad records.
    fn batch(&self, lease: &Lease, step: u64) -> (Vec<(Claim, RecordSum)>, Vec<BadRecord>) {
        let order = self.plan.epoch(lease.epoch);
        let offsets: Vec<u64> = (step * STEP - lease.start..(step + 1) * STEP - lease.start).collect();
        let own = |offset: u64| order.own(lease.start + offset);
        let is_bad = |offset: u64| own(offset).is_some_and(|turn| self.bad.contains(&turn.record()));
        let is_shown = |offset: u64| own(offset).is_some() && !is_bad(offset);
        let run = |run: &[u64]| {
            let len = u32::try_from(run.len()).unwrap();
            if !is_shown(run[0]) {
                return (Claim::bare(lease.id, run[0], len), RecordSum::default());
            }
            (Claim::new(lease.id, run[0], len), run.iter().filter_map(|offset| own(*offset)).collect())
        };
        let mut claims: Vec<(Claim, RecordSum)> =
            offsets.chunk_by(|one, next| is_shown(*one) == is_shown(*next)).map(run).collect();
        claims.sort_by_key(|(claim, _)| claim.is_bare());
        let bad = offsets.iter().filter(|offset| is_bad(**offset)).map(|&position| {
            let record = own(position).unwrap().record();
            BadRecord { lease: lease.id, position, record, reason: "no end marker".into(), ..BadRecord::default() }
        });
        (claims, bad.collect())
    }

    /// Gives each step of the leases that there are an outcome, and ends the daemon. The next one hears of what a trainer has.
    async fn incarnation(&mut self, leases: u32, outcomes: &mut impl Iterator<Item = StepOutcome>) -> usize {
        let ledger = self.daemon().await;
        let (mut list, mut held, mut seq) = (Vec::new(), Vec::new(), 0);
        let mut table = Claims::of_steps(ledger.opened().steps);
        for lease in ledger.acquire(leases, 0).await.unwrap().leases {
            for step in lease.start / STEP..lease.end / STEP {
                let (claims, bad) = self.batch(&lease, step);
                let outcome = outcomes.next().unwrap_or(StepOutcome::Acked);
                seq += 1;
                let hold = match outcome {
                    StepOutcome::Held | StepOutcome::GivenBack => u32::try_from(held.len() + 1).unwrap(),
                    StepOutcome::Acked | StepOutcome::Consumed | StepOutcome::Ready => 0,
                };
                let resumed = claims.iter().map(|(claim, sum)| {
                    let Claim { lease, start, len, bare } = *claim;
                    let sum = if hold == 0 { claim_sum(*sum) } else { ClaimSum { high: 0, low: 0 } };
                    ResumedClaim { lease, start, len: len.into(), epoch: 0, seq, held: hold, bare, sum }
                });
                match outcome {
                    StepOutcome::Ready => {}
                    StepOutcome::Acked => {
                        let bare: Vec<Claim> = claims.iter().map(|(claim, _)| *claim).collect();
                        table.published(seq, BatchClaims { bad, ..entry(0, &bare) });
                        let sums = sums(&claims);
                        assert_eq!(table.sums(ONE, None, &whole(seq, &sums), &sums), Receipts::Whole);
                        tell(&ledger, table.acked(seq)).await;
                    }
                    StepOutcome::Consumed => list.extend(resumed),
                    StepOutcome::Held | StepOutcome::GivenBack => {
                        list.extend(resumed);
                        held.push((seq, claims, outcome));
                    }
                }
            }
        }
        drop(ledger);
        let ledger = self.daemon().await;
        let list = Bulk::write(bytemuck::cast_slice(&list)).unwrap().into_fd();
        let mut table = Claims::of_steps(ledger.opened().steps);
        for batch in ResumedClaims::accept(list).unwrap().tell(&ledger, None).await.unwrap() {
            table.adopted(ONE, batch);
        }
        for (number, (seq, claims, outcome)) in held.into_iter().enumerate() {
            let (hold, batch) = (number as u64 + 1, BatchId { seq, epoch: 0 });
            let adopted = Adopted { consumer: ONE, hold, batch };
            if matches!(outcome, StepOutcome::GivenBack) {
                ledger.give_back(table.orphaned(adopted, Cause::TrainerEnded)).await.unwrap();
                continue;
            }
            let sums = sums(&claims);
            let ack = Ack { ring: NO_RING, generation: hold, ..whole(seq, &sums) };
            assert_eq!(table.sums(ONE, None, &ack, &sums), Receipts::Whole);
            tell(&ledger, table.adopted_acked(adopted)).await;
        }
        usize::try_from(seq).unwrap()
    }
}

fn claim_sum(sum: RecordSum) -> ClaimSum {
    let (high, low) = sum.halves();
    ClaimSum { high, low }
}

fn sums(claims: &[(Claim, RecordSum)]) -> Vec<ClaimSum> {
    claims.iter().map(|(_, sum)| claim_sum(*sum)).collect()
}

/// The one packet of a receipt.
fn whole(seq: u64, sums: &[ClaimSum]) -> Ack {
    Ack { seq, ..ack(0, u32::try_from(sums.len()).unwrap(), 1) }
}

async fn tell(ledger: &LedgerClient, receipts: BatchReceipts) {
    let BatchReceipts { items, bad, bare, groups, .. } = receipts;
    let request = AckRequest { items, bad, bare, groups, ..AckRequest::default() };
    let verdicts: Vec<_> = ledger.ack(request).await.unwrap().verdicts().collect();
    assert_eq!(verdicts, [forebay_proto::v1::Verdict::Accepted], "a batch is one step, and one receipt");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rule_62_each_record_counts_once_whatever_trainers_have_when_their_daemon_dies(
        classes in prop::collection::vec(0..2_u16, 1..40),
        leftovers in prop::sample::select(&[Leftovers::Neighbour, Leftovers::Repeat, Leftovers::Drop]),
        bad in prop::collection::btree_set(0..40_u64, 0..12),
        leases in 1..4_u32,
        outcomes in prop::collection::vec(outcome(), 0..12),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let bad = bad.into_iter().filter(|record| *record < classes.len() as u64).collect();
        let Some(mut run) = Run::begin(classes, leftovers, bad) else { return Ok(()) };
        runtime.block_on(async {
            let mut outcomes = outcomes.into_iter();
            while run.incarnation(leases, &mut outcomes).await > 0 {}
            let ledger = run.daemon().await;
            let audits = audit(&ledger.audit(0).await.unwrap(), |_| ()).unwrap();
            let all: Vec<u64> = (0..run.plan.positions_in_steps().unwrap())
                .filter_map(|position| run.plan.epoch(0).own(position).map(Turn::record))
                .collect();
            if all.is_empty() {
                return;
            }
            let [audit] = &audits[..] else { panic!("{audits:?}") };
            assert_eq!(audit.verdict, Judgement::AddsUp, "{audit}");
            let bad = all.iter().filter(|record| run.bad.contains(record)).count() as u64;
            assert_eq!((audit.sums.quarantined.count, audit.sums.delivered.count), (bad, all.len() as u64 - bad));
        });
    }
}

/// Two groups, of which one has consumed the first two steps: a whole one, and one with a bad record or only with copies.
async fn of_groups(bad: Vec<u64>) -> (Vec<u64>, Vec<MissedBatches>) {
    // Class 0 has 8 records in one step, and class 1 one of 3 places with 2 records.
    let mut run = Run::begin([vec![0; 8], vec![1; 2]].concat(), Leftovers::Repeat, bad).unwrap();
    let ledger = run.daemon().await;
    let [fast, slow] = ["fast", "slow"].map(|name| GroupKey { name: name.into(), ..GroupKey::default() });
    for group in [&fast, &slow] {
        let began = vec![group.name.clone()];
        ledger.ack(AckRequest { began, ..AckRequest::default() }).await.unwrap();
    }
    let lease = ledger.acquire(1, 0).await.unwrap().leases[0];
    let mut table = Claims::of_steps(ledger.opened().steps);
    let mut shares = Vec::new();
    for step in 0..2 {
        let (claims, bad) = run.batch(&lease, step);
        let of_batch: Vec<Claim> = claims.iter().map(|(claim, _)| *claim).collect();
        table.published(step, BatchClaims { bad, ..entry(0, &of_batch) });
        let sums = sums(&claims);
        assert_eq!(table.sums(ONE, Some(&fast), &whole(step, &sums), &sums), Receipts::Whole);
        let receipts = table.consumed_by(&fast, step);
        assert_eq!(receipts.len(), 1, "a group has consumed a step, and not its parts");
        shares.extend(
            receipts.into_iter().map(|receipt| GroupShare { receipt: Some(receipt), waiting: vec![slow.name.clone()] }),
        );
    }
    ledger.ack(AckRequest { shares, ..AckRequest::default() }).await.unwrap();
    drop(ledger);
    let ledger = run.daemon().await;
    let missing = vec![slow.name.clone()];
    let missed = ledger.ack(AckRequest { missing, ..AckRequest::default() }).await.unwrap().missed;
    let again = ledger.acquire(4, 0).await.unwrap().leases;
    (again.iter().flat_map(|lease| lease.start / STEP..lease.end / STEP).collect(), missed)
}

#[test]
fn rule_62_a_step_that_one_group_has_consumed_is_missed_by_the_other_unless_a_record_of_it_is_bad() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (again, missed) = runtime.block_on(of_groups(Vec::new()));
    assert_eq!(again, [0_u64; 0], "copies are no records: both steps count");
    assert_eq!(missed.iter().map(|missed| missed.records).sum::<u64>(), 10);
    // One record of each class is bad in turn.
    for (bad, records) in [(3, 2), (9, 8)] {
        let (again, missed) = runtime.block_on(of_groups(vec![bad]));
        assert_eq!(again.len(), 1, "all groups get it again");
        assert_eq!(missed.iter().map(|missed| missed.records).sum::<u64>(), records);
    }
}
