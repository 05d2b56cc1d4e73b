//! Shards that move from node to node.

use super::nodes::Site;
use crate::trainer::{Event, Puppet, batches, records};

#[test]
fn rule_39_a_shard_s_trainer_moves_to_another_node_and_back() {
    const SHARDS: &str = "epochs = 2\nnum_shards = 2";
    let site = Site::start();
    let nodes = [site.node("one", 48, SHARDS), site.node("two", 48, SHARDS)];
    let mut first = Puppet::of_shard(&nodes[0].0, 0, 2);
    let seen = [first.next().batch(), first.next().batch()];
    nodes[0].0.wait_for("the first batch's receipt is durable", |status| status.delivered == 4);
    let mut moved = Puppet::of_shard(&nodes[1].0, 0, 2);
    assert_eq!(moved.next().batch().records, seen[1].records, "it goes on where the receipts end");
    let refusal = loop {
        match first.next() {
            Event::Failed(why) => break why,
            Event::Batch(_) => {}
            other => panic!("{other:?}"),
        }
    };
    let place = format!("by node \"two\", process {}", nodes[1].1.pid());
    assert!(refusal.contains("Shard 0 of 2") && refusal.contains(&place), "{refusal}");
    drop(first);
    moved.close();
    // The trainer comes back with nothing in hand, and so does the shard.
    let events = Puppet::of_shard(&nodes[0].0, 0, 2).finish();
    let rest = batches(&events);
    let of = |epoch| rest.iter().filter(move |seen| seen.epoch == epoch);
    assert_eq!(records([&seen[0]].into_iter().chain(of(0))), (0..24).collect::<Vec<_>>());
    assert_eq!(records(of(1)), (24..48).collect::<Vec<_>>());
    let audit = site.audit();
    assert!(audit[0].contains("shard-0") && audit[1..].iter().all(|line| line.contains("checksum equal")), "{audit:?}");
}
