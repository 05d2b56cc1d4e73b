//! Which turn is at which position of an epoch whose steps have one class each.

use std::sync::Arc;

use forebay_proto::Turn;

use super::length_blocks::{BlockStep, LengthBlocks};
use super::{ClassLayout, ClassSize, ClassTable, Leftovers};
use crate::permutation::{MAX_EPOCH, Permutation};

/// The orders of all epochs.
#[derive(Clone, Debug)]
pub struct ClassPlan {
    table: Arc<ClassTable>,
    layout: Arc<ClassLayout>,
    /// How steps take turns, if their class does not follow from their records.
    blocks: Option<Arc<LengthBlocks>>,
    /// What the permutations are made from: the seed and the dataset's fingerprint. Nothing if epochs are not shuffled.
    keys: Option<(u64, [u8; 32])>,
}

/// The order of one epoch. A position is a place of a step: place `p mod B` of step `p div B`, where B is the number of
/// places of the largest step.
#[derive(Clone, Debug)]
pub struct ClassOrder {
    plan: ClassPlan,
    shuffled: Option<ShuffledSteps>,
}

/// The permutations of an epoch.
#[derive(Clone, Debug)]
struct ShuffledSteps {
    /// Of groups of steps of one class, which have one step each unless gradients are accumulated.
    groups: Permutation,
    /// What that of each class is made from.
    classes: Permutation,
}

impl ClassPlan {
    /// The plan of the classes of a table, in their order. `places` has the places of a step of each class, and `group` steps of one
    /// class follow each other. `keys` are the seed and the dataset's fingerprint, if epochs are shuffled.
    ///
    /// # Panics
    /// There are not as many numbers of places as classes, or one of them is 0. Or a group cannot have so many steps.
    pub fn new(
        table: Arc<ClassTable>,
        places: &[u64],
        leftovers: Leftovers,
        group: u64,
        keys: Option<(u64, [u8; 32])>,
    ) -> Self {
        assert_eq!(places.len(), table.len(), "each class has places");
        let sizes: Vec<ClassSize> =
            (0..).zip(places).map(|(class, places)| ClassSize { turns: table.turns(class), places: *places }).collect();
        Self { layout: Arc::new(ClassLayout::new(&sizes, leftovers, group)), blocks: None, table, keys }
    }

    /// The plan of steps whose lengths take turns: all records are of the table's one class. `places` has the places of a step of each
    /// length, which are as classes in the layout. `keys` are those of [`new`](Self::new).
    ///
    /// # Panics
    /// The table has another number of classes, or a length has no places.
    pub fn of_lengths(table: Arc<ClassTable>, places: &[u64], keys: Option<(u64, [u8; 32])>) -> Self {
        assert_eq!(table.len(), 1, "records have no length of their own");
        let blocks = LengthBlocks::new(table.turns(0), places);
        Self { layout: Arc::new(blocks.layout(places)), blocks: Some(Arc::new(blocks)), table, keys }
    }

    /// The classes of the records.
    pub const fn table(&self) -> &Arc<ClassTable> {
        &self.table
    }

    /// The steps of its classes, which are those of every epoch.
    pub fn layout(&self) -> &ClassLayout {
        &self.layout
    }

    /// The order of an epoch.
    pub fn epoch(&self, epoch: u64) -> ClassOrder {
        let epoch = epoch.min(MAX_EPOCH);
        let shuffled = self.keys.as_ref().map(|(seed, fingerprint)| ShuffledSteps {
            groups: Permutation::new(self.layout.groups(), *seed, epoch, fingerprint, "class steps"),
            classes: Permutation::new(self.layout.turns(), *seed, epoch, fingerprint, "classes"),
        });
        ClassOrder { plan: self.clone(), shuffled }
    }
}

impl ClassOrder {
    /// Positions of the epoch. Those of dropped steps are behind all others.
    pub fn positions(&self) -> u64 {
        self.plan.layout.positions()
    }

    /// The class of a step of the epoch; nothing beyond its end.
    pub fn class(&self, step: u64) -> Option<usize> {
        self.plan.layout.of_step(self.laid_step(step))
    }

    /// The places of a step of the epoch, and how many turns it has, which are at its first places.
    pub(super) fn size(&self, step: u64) -> Option<ClassSize> {
        self.plan.layout.size_of_step(self.laid_step(step))
    }

    /// The steps of each epoch.
    pub(super) fn layout(&self) -> &ClassLayout {
        &self.plan.layout
    }

    /// The turn at a position; nothing where a position is bare.
    pub fn turn(&self, position: u64) -> Option<Turn> {
        let ClassPlan { table, layout, .. } = &self.plan;
        let (step, place) = (position / layout.places, position % layout.places);
        if let Some(blocks) = &self.plan.blocks {
            let (class, own) = (0, blocks.turn(self.block_step(blocks, step)?, place));
            if place >= self.size(step)?.turns {
                return None;
            }
            let own = self.of_class(class).map_or(own, |order| order.forward(own));
            let (record, repeat) = table.turn(class, own)?;
            return Some(Turn::new(record, repeat));
        }
        let item = layout.item(self.laid_step(step), place)?;
        let class = layout.classes.partition_point(|class| class.turns_end() <= item);
        let own = item - layout.classes.get(class)?.first_turn;
        let own = self.of_class(class).map_or(own, |order| order.forward(own));
        let (record, repeat) = table.turn(class, own)?;
        Some(Turn::new(record, repeat))
    }

    /// The positions of a record, one for each of its turns.
    pub fn positions_of(&self, record: u64) -> impl Iterator<Item = u64> {
        let found = self.plan.table.turns_of(record).map(|(class, turns)| {
            let order = self.of_class(class);
            turns.filter_map(move |turn| {
                let layout = &self.plan.layout;
                let own = order.as_ref().map_or(turn, |order| order.inverse(turn));
                if let Some(blocks) = &self.plan.blocks {
                    let (step, place) = blocks.step_of(own);
                    return Some(blocks.place(step, self.groups()) * layout.places + place);
                }
                let (step, place) = layout.place(layout.classes[class].first_turn + own)?;
                let step = match &self.shuffled {
                    Some(shuffled) => layout.moved(step, |group| shuffled.groups.inverse(group)),
                    None => step,
                };
                Some(step * layout.places + place)
            })
        });
        found.into_iter().flatten()
    }

    /// The step, where those of each class follow each other.
    fn laid_step(&self, step: u64) -> u64 {
        let layout = &self.plan.layout;
        if let Some(blocks) = &self.plan.blocks {
            let laid = |BlockStep { length, block }| layout.classes[length].first_step + block;
            return self.block_step(blocks, step).map_or_else(|| layout.steps(), laid);
        }
        let moved = |shuffled: &ShuffledSteps| self.plan.layout.moved(step, |group| shuffled.groups.forward(group));
        self.shuffled.as_ref().map_or(step, moved)
    }

    /// The permutation of a class's turns.
    fn of_class(&self, class: usize) -> Option<Permutation> {
        let shuffled = self.shuffled.as_ref()?;
        Some(shuffled.classes.part(class as u64, self.plan.table.turns(class)))
    }

    /// What a step is of the blocks. Nothing beyond the epoch's end.
    fn block_step(&self, blocks: &LengthBlocks, step: u64) -> Option<BlockStep> {
        (step < self.plan.layout.steps()).then(|| blocks.step(step, self.groups()))
    }

    /// The permutation of steps, if they are shuffled.
    fn groups(&self) -> Option<&Permutation> {
        self.shuffled.as_ref().map(|shuffled| &shuffled.groups)
    }
}
