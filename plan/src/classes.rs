//! Steps of classes: an epoch whose steps each have pictures of one class, such as a bucket (semantics rule 62).
//!
//! How many steps each class has follows from the number of its turns alone, so that every node knows it without a list of
//! records. [`ClassLayout`] has these numbers. [`ClassOrder`] says which turn is at which place of which step.

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
/// let layout = ClassLayout::new(&sizes, Leftovers::Neighbour);
/// // The fifth turn of the first class is in a step of the last one.
/// assert_eq!(layout.shares().iter().map(|share| share.steps).collect::<Vec<_>>(), [1, 0, 2]);
/// assert_eq!((layout.steps(), layout.share(2).moved, layout.share(2).copies), (3, 1, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassLayout {
    classes: Vec<LaidClass>,
    /// The classes that have a step of dropped turns, in order.
    dropped: Vec<usize>,
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
}

impl ClassLayout {
    /// Lays out classes, which are given in the order in which they are neighbours.
    ///
    /// # Panics
    /// A class has steps without places, or all classes together have 2^64 turns.
    pub fn new(sizes: &[ClassSize], leftovers: Leftovers) -> Self {
        let last = sizes.iter().rposition(|size| size.turns > 0);
        let (mut classes, mut dropped) = (Vec::with_capacity(sizes.len()), Vec::new());
        let (mut first_turn, mut first_step, mut first_item) = (0_u64, 0, 0);
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
            let steps = if is_filled_up { left.div_ceil(places) } else { left / places };
            let items = left.min(steps * places);
            if leftovers == Leftovers::Drop && items < turns {
                dropped.push(class);
            }
            classes.push(LaidClass { turns, places, steps, first_turn, first_step, first_item, items });
            (first_turn, first_step, first_item) = (turns_end, first_step + steps, first_item + items);
        }
        let places = sizes.iter().map(|size| size.places).max().unwrap_or(1);
        Self { classes, dropped, places }
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
        (self.steps() + self.dropped.len() as u64) * self.places
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
        let dropped = if self.dropped.binary_search(&class).is_ok() { turns - items } else { 0 };
        ClassShare { turns, places, steps, copies: steps * places - items, moved, dropped }
    }

    /// What an epoch has of each class.
    pub fn shares(&self) -> Vec<ClassShare> {
        (0..self.classes.len()).map(|class| self.share(class)).collect()
    }

    /// The class of a step, where the steps of each class follow each other. Steps from [`steps`](Self::steps) on are dropped.
    fn of_step(&self, step: u64) -> Option<usize> {
        match step.checked_sub(self.steps()) {
            None => Some(self.classes.partition_point(|class| class.steps_end() <= step)),
            Some(dropped) => self.dropped.get(usize::try_from(dropped).ok()?).copied(),
        }
    }

    /// Turns that one of `ranks` ranks has in an epoch, dropped ones included. Each rank has an equal part of a step's places.
    fn turns_of_rank(&self, rank: u64, ranks: u64) -> u64 {
        let of_class = |(class, laid): (usize, &LaidClass)| {
            let part = laid.places / ranks;
            let of_step = |turns: u64| turns.saturating_sub(rank * part).min(part);
            let is_dropped = self.dropped.binary_search(&class).is_ok();
            let dropped = if is_dropped { laid.turns_end() - laid.items_end() } else { 0 };
            laid.items / laid.places * part + of_step(laid.items % laid.places) + of_step(dropped)
        };
        self.classes.iter().enumerate().map(of_class).sum()
    }

    /// The places of a step and the turns that it has, where the steps of each class follow each other.
    fn size_of_step(&self, step: u64) -> Option<ClassSize> {
        let class = &self.classes[self.of_step(step)?];
        let turns = match step.checked_sub(self.steps()) {
            None => (class.items - (step - class.first_step) * class.places).min(class.places),
            Some(_) => class.turns_end() - class.items_end(),
        };
        Some(ClassSize { turns, places: class.places })
    }

    /// The turn at a place of a step, among all turns in the order of the classes. Nothing where a place is bare.
    fn item(&self, step: u64, place: u64) -> Option<u64> {
        let class = &self.classes[self.of_step(step)?];
        if place >= class.places {
            return None;
        }
        // A step of dropped turns is as if it were the next of its class.
        let (own, end) = if step < self.steps() {
            (step - class.first_step, class.items_end())
        } else {
            (class.steps, class.turns_end())
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
            let dropped = self.dropped.binary_search(&owner).ok()?;
            return Some((self.steps() + dropped as u64, item - self.classes[owner].items_end()));
        };
        let own = item - class.first_item;
        Some((class.first_step + own / class.places, own % class.places))
    }
}
