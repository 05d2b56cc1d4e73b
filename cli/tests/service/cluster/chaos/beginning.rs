//! How a round of chaos begins: all trainers may load one state together while daemons and coordinators die between their loads,
//! and a node may come late, when its ring fills with the next epoch.

use std::time::{Duration, Instant};

use forebay_coordinator::suite::Random;

use super::node::TroubledNode;
use super::{Cluster, SETTINGS};
use crate::daemon::PATIENCE;

/// A node whose daemon is started late in the first epoch. Its ring is small, and its trainer keeps the view of a batch until it
/// has the next one.
#[derive(Debug)]
pub(super) struct LateNode {
    /// It comes when the others have seen so many records of the first epoch.
    after: u64,
}

/// What happens between two loads.
#[derive(Clone, Copy, Debug)]
enum LoadTrouble {
    None,
    /// The daemon of a rank that has loaded the state dies.
    LoadedNodeKilled,
    /// The daemon of the rank that loads it next dies.
    NextNodeKilled,
    CoordinatorKilled,
}

impl LateNode {
    /// Every other round has one.
    pub(super) fn draw(random: &mut Random, records: u64) -> Option<Self> {
        // The last records may all be with other nodes until these are done.
        let after = records * (50 + random.below(45)) / 100;
        (random.below(2) == 0).then_some(Self { after })
    }
}

impl Cluster {
    /// If the round has a late node, the others read until it is time for that one. It has a moment to fill its ring before
    /// something happens.
    pub(super) fn late_node_may_come(&mut self) {
        let Some(late) = self.late.take() else { return };
        let until = Instant::now() + PATIENCE;
        while self.nodes.iter().map(|node| node.seen_of(0)).sum::<u64>() < late.after {
            assert!(Instant::now() < until, "the first epoch does not go on");
            self.continues(10);
        }
        println!("a node comes late: {} records of the first epoch were seen by then", late.after);
        let name = format!("node-{}", self.nodes.len());
        let settings = format!("{SETTINGS}\ntrainers = 1");
        self.nodes.push(TroubledNode::start_keeper(&name, self.records, &settings, self.site.ports()));
        let pause = self.random.below(1_000);
        self.continues(pause);
    }

    /// In every other round, the trainers read for a while, and go back to the start together. Each load is applied once, whatever
    /// dies between two of them.
    pub(super) fn may_load_together(&mut self) {
        if self.random.below(2) == 0 {
            return;
        }
        let state = self.nodes[0].state();
        let pause = self.random.below(1_500);
        self.continues(pause);
        self.nodes.iter_mut().for_each(TroubledNode::rests);
        for number in 0..self.nodes.len() {
            let trouble = *self.random.choose(&[
                LoadTrouble::None,
                LoadTrouble::LoadedNodeKilled,
                LoadTrouble::NextNodeKilled,
                LoadTrouble::CoordinatorKilled,
            ]);
            println!("before the load on node {number}: {trouble:?}");
            match trouble {
                LoadTrouble::LoadedNodeKilled if number > 0 => {
                    let loaded = usize::try_from(self.random.below(number as u64)).unwrap();
                    self.nodes[loaded].kill();
                    self.nodes[loaded].restart();
                }
                LoadTrouble::NextNodeKilled => {
                    self.nodes[number].kill();
                    self.nodes[number].restart();
                }
                LoadTrouble::CoordinatorKilled => {
                    let coordinator = usize::try_from(self.random.below(self.site.ports().len() as u64)).unwrap();
                    self.site.kill(coordinator);
                    self.site.restart(coordinator);
                }
                LoadTrouble::None | LoadTrouble::LoadedNodeKilled => {}
            }
            self.nodes[number].load(&state, "together");
            // Were the next load applied too, what those have by then that have loaded it would come again.
            let until = Instant::now() + Duration::from_millis(self.random.below(200));
            while Instant::now() < until {
                self.nodes[..=number].iter_mut().for_each(|node| node.turn(&mut self.pace));
                std::thread::park_timeout(Duration::from_millis(10));
            }
        }
    }
}
