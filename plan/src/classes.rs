//! Steps of classes: an epoch whose steps each have pictures of one class, such as a bucket (semantics rule 62).
//!
//! How many steps each class has follows from the number of its turns alone, so that every node knows it without a list of
//! records. [`ClassLayout`] has these numbers. [`ClassOrder`] says which turn is at which place of which step.

mod length_blocks;
mod order;
mod part;
mod problem;
mod settings;
mod table;
#[cfg(test)]
mod tests;

pub use self::order::{ClassOrder, ClassPlan};
pub(crate) use self::part::ClassPart;
pub use self::part::{StepClass, step_positions};
pub use self::problem::ClassProblem;
pub(crate) use self::settings::check;
pub use self::table::{ClassTable, TooManyRecords};

/// The version of the permutation of steps of classes (semantics rule 62).
pub const CLASS_PERMUTATION: u32 = 5;
/// Most classes of a dataset.
const MAX_CLASSES: usize = 4096;
/// Most places of a step, on all ranks together.
const MAX_PLACES: u32 = 1 << 20;

/// What becomes of turns that do not fill a step of their class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Leftovers {
    /// The next class has them. Only the last class that has turns may have a step that is not full.
    #[default]
    Neighbour,
    /// The last step of each class has copies.
    Repeat,
    /// They are not delivered in this epoch.
    Drop,
}

impl std::str::FromStr for Leftovers {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "neighbour" => Ok(Self::Neighbour),
            "repeat" => Ok(Self::Repeat),
            "drop" => Ok(Self::Drop),
            _ => Err("give neighbour, repeat or drop".to_owned()),
        }
    }
}

/// A class in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSize {
    /// Turns of an epoch.
    pub turns: u64,
    /// Places of a step on all ranks together, at least 1.
    pub places: u64,
}

/// What an epoch has of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassShare {
    /// Turns of the class's own records.
    pub turns: u64,
    /// Places of a step.
    pub places: u64,
    /// Steps of an epoch.
    pub steps: u64,
    /// Places of these steps without a turn of their own.
    pub copies: u64,
    /// Turns in these steps whose records are of another class.
    pub moved: u64,
    /// Turns of its records that the epoch drops.
    pub dropped: u64,
}

/// The classes of an epoch, with their steps one after the other.
///
/// ```
/// use forebay_plan::{ClassLayout, ClassSize, Leftovers};
/// let sizes = [5, 0, 6].map(|turns| ClassSize { turns, places: 4 });
/// let layout = ClassLayout::new(&sizes, Leftovers::Neighbour, 1);
/// // The fifth turn of the first class is in a step of the last one.
/// assert_eq!(layout.shares().iter().map(|share| share.steps).collect::<Vec<_>>(), [1, 0, 2]);
/// assert_eq!((layout.steps(), layout.share(2).moved, layout.share(2).copies), (3, 1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassLayout {
    classes: Vec<LaidClass>,
    /// The classes that have steps of dropped turns, in order, each with the first of these steps.
    dropped: Vec<(usize, u64)>,
    /// How many steps of dropped turns there are.
    dropped_steps: u64,
    /// How many steps of one class follow each other.
    group: u64,
    /// Places of the largest step.
    places: u64,
}

/// Where a class is among the steps and among all turns, which are in the order of the classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LaidClass {
    turns: u64,
    places: u64,
    steps: u64,
    /// Its first own turn.
    first_turn: u64,
    /// Its first step.
    first_step: u64,
    /// The first turn that its steps have, and how many they have.
    first_item: u64,
    items: u64,
}

impl LaidClass {
    fn turns_end(&self) -> u64 {
        self.first_turn + self.turns
    }

    fn steps_end(&self) -> u64 {
        self.first_step + self.steps
    }

    fn items_end(&self) -> u64 {
        self.first_item + self.items
    }

    /// Turns of its records that no step has, if no class behind it takes them.
    fn left(&self) -> u64 {
        self.turns_end() - self.items_end()
    }
}

impl ClassLayout {
    /// Lays out classes, which are given in the order in which they are neighbours. `group` steps of one class follow each
    /// other. With neighbours, the last group of the epoch may have fewer.
    ///
    /// # Panics
    /// A class has steps without places, or all classes together have 2^64 turns. Or a group has no steps, or several with copies:
    /// some of them would have copies alone.
    pub fn new(sizes: &[ClassSize], leftovers: Leftovers, group: u64) -> Self {
        assert!(group == 1 || group > 1 && leftovers != Leftovers::Repeat, "a group of {group} steps");
        let last = sizes.iter().rposition(|size| size.turns > 0);
        let (mut classes, mut dropped) = (Vec::with_capacity(sizes.len()), Vec::new());
        let (mut first_turn, mut first_step, mut first_item, mut dropped_steps) = (0_u64, 0, 0, 0);
        for (class, &ClassSize { turns, places }) in sizes.iter().enumerate() {
            assert!(places > 0, "class {class} has steps without places");
            let turns_end = first_turn.checked_add(turns).expect("an epoch has fewer turns than 2^64");
            if leftovers != Leftovers::Neighbour {
                first_item = first_turn;
            }
            // With neighbours, these are all turns that no class before it has in its steps.
            let left = turns_end - first_item;
            let is_filled_up =
                leftovers == Leftovers::Repeat || leftovers == Leftovers::Neighbour && Some(class) == last;
            let steps = if is_filled_up { left.div_ceil(places) } else { left / places / group * group };
            let items = left.min(steps.saturating_mul(places));
            let laid = LaidClass { turns, places, steps, first_turn, first_step, first_item, items };
            if leftovers == Leftovers::Drop && laid.left() > 0 {
                dropped.push((class, dropped_steps));
                dropped_steps += laid.left().div_ceil(places);
            }
            classes.push(laid);
            (first_turn, first_step, first_item) = (turns_end, first_step + steps, first_item + items);
        }
        let places = sizes.iter().map(|size| size.places).max().unwrap_or(1);
        Self { classes, dropped, dropped_steps, group, places }
    }

    /// Groups of steps, but for a last one that is not whole. A shuffled epoch moves them.
    pub(crate) fn groups(&self) -> u64 {
        self.steps() / self.group
    }

    /// Where an order of groups has a step, given where it has the step's group. What is behind the whole groups stays there.
    fn moved(&self, step: u64, group_of: impl FnOnce(u64) -> u64) -> u64 {
        let (group, place) = (step / self.group, step % self.group);
        if group < self.groups() { group_of(group) * self.group + place } else { step }
    }

    /// Steps of an epoch.
    pub fn steps(&self) -> u64 {
        self.classes.last().map_or(0, LaidClass::steps_end)
    }

    /// Turns of an epoch, dropped ones included.
    pub fn turns(&self) -> u64 {
        self.classes.last().map_or(0, LaidClass::turns_end)
    }

    /// Places of the largest step: positions of every step.
    pub fn places(&self) -> u64 {
        self.places
    }

    /// Positions of an epoch. Behind those of its steps are those of steps that are dropped.
    pub fn positions(&self) -> u64 {
        (self.steps() + self.dropped_steps) * self.places
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// What an epoch has of a class.
    ///
    /// # Panics
    /// There is no such class.
    pub fn share(&self, class: usize) -> ClassShare {
        let laid = &self.classes[class];
        let &LaidClass { turns, places, steps, first_turn, first_item, items, .. } = laid;
        let moved = first_turn.min(laid.items_end()) - first_item;
        // A class has all of its own turns from its steps, or from those of the classes behind it, or they are dropped.
        let dropped = if self.dropped_of(class).is_some() { laid.left() } else { 0 };
        ClassShare { turns, places, steps, copies: steps * places - items, moved, dropped }
    }

    /// What an epoch has of each class.
    pub fn shares(&self) -> Vec<ClassShare> {
        (0..self.classes.len()).map(|class| self.share(class)).collect()
    }

    /// The first step of a class's dropped turns, counted behind all steps. Nothing if it drops none.
    fn dropped_of(&self, class: usize) -> Option<u64> {
        let found = self.dropped.binary_search_by_key(&class, |(class, _)| *class).ok()?;
        Some(self.dropped[found].1)
    }

    /// The class of a step of dropped turns, and the number of the step among the class's own ones.
    fn dropped_at(&self, step: u64) -> Option<(usize, u64)> {
        let behind = step.checked_sub(self.steps()).filter(|step| *step < self.dropped_steps)?;
        let (class, first) = self.dropped[self.dropped.partition_point(|(_, first)| *first <= behind) - 1];
        Some((class, behind - first))
    }

    /// The class of a step, where the steps of each class follow each other. Steps from [`steps`](Self::steps) on are dropped.
    fn of_step(&self, step: u64) -> Option<usize> {
        if step < self.steps() {
            return Some(self.classes.partition_point(|class| class.steps_end() <= step));
        }
        self.dropped_at(step).map(|(class, _)| class)
    }

    /// Turns that one of `ranks` ranks has in an epoch, dropped ones included. Each rank has an equal part of a step's places.
    fn turns_of_rank(&self, rank: u64, ranks: u64) -> u64 {
        let of_class = |(class, laid): (usize, &LaidClass)| {
            let part = laid.places / ranks;
            let of_step = |turns: u64| turns.saturating_sub(rank * part).min(part);
            let dropped = if self.dropped_of(class).is_some() { laid.left() } else { 0 };
            let of_turns = |turns: u64| turns / laid.places * part + of_step(turns % laid.places);
            of_turns(laid.items) + of_turns(dropped)
        };
        self.classes.iter().enumerate().map(of_class).sum()
    }

    /// The places of a step and the turns that it has, where the steps of each class follow each other.
    fn size_of_step(&self, step: u64) -> Option<ClassSize> {
        let class = &self.classes[self.of_step(step)?];
        let places = class.places;
        let turns = match self.dropped_at(step) {
            None => (class.items - (step - class.first_step) * places).min(places),
            Some((_, own)) => (class.left() - own * places).min(places),
        };
        Some(ClassSize { turns, places })
    }

    /// The turn at a place of a step, among all turns in the order of the classes. Nothing where a place is bare.
    fn item(&self, step: u64, place: u64) -> Option<u64> {
        let class = &self.classes[self.of_step(step)?];
        if place >= class.places {
            return None;
        }
        // Steps of dropped turns are as if they were the next ones of their class.
        let (own, end) = match self.dropped_at(step) {
            None => (step - class.first_step, class.items_end()),
            Some((_, own)) => (class.steps + own, class.turns_end()),
        };
        Some(class.first_item + own * class.places + place).filter(|item| *item < end)
    }

    /// The step and the place of a turn: the inverse of [`item`](Self::item).
    fn place(&self, item: u64) -> Option<(u64, u64)> {
        let owner = self.classes.partition_point(|class| class.turns_end() <= item);
        self.classes.get(owner)?;
        // The class of whose steps it is one: the first that ends behind it. What a class drops is of none.
        let shown = self.classes.partition_point(|class| class.items_end() <= item);
        let Some(class) = self.classes.get(shown).filter(|class| class.first_item <= item) else {
            let (class, first) = (&self.classes[owner], self.dropped_of(owner)?);
            let own = item - class.items_end();
            return Some((self.steps() + first + own / class.places, own % class.places));
        };
        let own = item - class.first_item;
        Some((class.first_step + own / class.places, own % class.places))
    }
}
