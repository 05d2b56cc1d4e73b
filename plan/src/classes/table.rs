//! Which records each class has: six bytes for each record of the dataset.

use std::fmt;
use std::ops::Range;

use forebay_proto::v1::ClassNumbers;

use super::ClassProblem;

/// More records than the table counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The dataset has {0} records. A plan of classes has at most {most}.", most = u32::MAX)]
pub struct TooManyRecords(pub usize);

/// The records of each class, in the order of the dataset.
#[derive(Clone)]
pub struct ClassTable {
    /// The class of each record.
    classes: Vec<u16>,
    /// The records of the first class, then those of the second, and so on.
    members: Vec<u32>,
    /// Parts of classes, in their order.
    segments: Vec<ClassSegment>,
    /// The first segment of each class, and the number of segments.
    bounds: Vec<usize>,
    /// The sources, each with its number of records and the turns of each of them.
    sources: Vec<(u64, u16)>,
}

/// The records that a class has of one source, which all have as many turns.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassSegment {
    /// Its first turn among those of its class.
    pub first_turn: u64,
    /// Its place among the members.
    pub first_member: usize,
    pub members: usize,
    /// Turns of each record.
    pub repeats: u16,
}

impl ClassSegment {
    fn turns(&self) -> u64 {
        self.members as u64 * u64::from(self.repeats)
    }
}

impl ClassTable {
    /// In the place of a class: no class has the record, because it is not selected or has no size.
    pub const NONE: u16 = u16::MAX;

    /// Sorts records by their class, of which there are `count`. `classes` has the class of each record, or [`NONE`](Self::NONE).
    /// `sources` has for each source how many records it has, and how many turns each of them; all other records have one.
    ///
    /// # Errors
    /// There are more than 2^32 records.
    ///
    /// # Panics
    /// A class is `count` or above.
    pub fn new(classes: Vec<u16>, count: u16, sources: &[(u64, u16)]) -> Result<Self, TooManyRecords> {
        let records = u32::try_from(classes.len()).map_err(|_| TooManyRecords(classes.len()))?;
        let parts = parts(sources, records);
        // How many records of each class each source has, class by class.
        let mut counts = vec![0_usize; parts.len() * usize::from(count)];
        let place = |class: u16, part: usize| usize::from(class) * parts.len() + part;
        for (part, (own, _)) in parts.iter().enumerate() {
            for class in &classes[own.start as usize..own.end as usize] {
                if *class != Self::NONE {
                    assert!(*class < count, "class {class} of {count}");
                    counts[place(*class, part)] += 1;
                }
            }
        }
        let (mut segments, mut bounds, mut next) = (Vec::with_capacity(counts.len()), Vec::new(), 0);
        for class in 0..count {
            bounds.push(segments.len());
            let mut first_turn = 0;
            for (part, (_, repeats)) in parts.iter().enumerate() {
                let members = counts[place(class, part)];
                let segment = ClassSegment { first_turn, first_member: next, members, repeats: *repeats };
                counts[place(class, part)] = next;
                first_turn += segment.turns();
                next += members;
                segments.push(segment);
            }
        }
        bounds.push(segments.len());
        let mut members = vec![0; next];
        for (part, (own, _)) in parts.iter().enumerate() {
            for record in own.clone() {
                let class = classes[record as usize];
                if class != Self::NONE {
                    let free = &mut counts[place(class, part)];
                    members[*free] = record;
                    *free += 1;
                }
            }
        }
        let sources = parts.into_iter().map(|(own, repeats)| (u64::from(own.end - own.start), repeats)).collect();
        Ok(Self { classes, members, segments, bounds, sources })
    }

    /// The table as it is stored and sent, of a dataset with so many records and these sources.
    ///
    /// # Errors
    /// It is not one of such a dataset.
    pub fn from_numbers(numbers: &ClassNumbers, records: u64, sources: &[(u64, u16)]) -> Result<Self, ClassProblem> {
        let count = u16::try_from(numbers.classes).ok().filter(|count| *count < Self::NONE);
        let count = count.ok_or(ClassProblem::Broken)?;
        let classes: Vec<u16> = if is_wide(count) {
            let (pairs, rest) = numbers.numbers.as_chunks::<2>();
            if !rest.is_empty() {
                return Err(ClassProblem::Broken);
            }
            pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect()
        } else {
            let wide = |number: &u8| if *number == u8::MAX { Self::NONE } else { u16::from(*number) };
            numbers.numbers.iter().map(wide).collect()
        };
        let is_known = |class: &u16| *class < count || *class == Self::NONE;
        let is_whole = classes.len() as u64 == records
            && sources.iter().fold(0, |all: u64, (len, _)| all.saturating_add(*len)) <= records;
        if !is_whole || !classes.iter().all(is_known) {
            return Err(ClassProblem::Broken);
        }
        Self::new(classes, count, sources).map_err(|_| ClassProblem::Broken)
    }

    /// The class of each record, as it is stored and sent.
    pub fn numbers(&self) -> ClassNumbers {
        let narrow = |class: &u16| u8::try_from(*class).unwrap_or(u8::MAX);
        let numbers = if is_wide(self.count()) {
            self.classes.iter().flat_map(|class| class.to_le_bytes()).collect()
        } else {
            self.classes.iter().map(narrow).collect()
        };
        ClassNumbers { classes: self.count().into(), numbers }
    }

    /// 32 bytes over the classes of all records. Pinned: specs on disk hold it.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("forebay classes 1");
        hasher.update(&self.count().to_le_bytes());
        for classes in self.classes.chunks(1 << 12) {
            let bytes: Vec<u8> = classes.iter().flat_map(|class| class.to_le_bytes()).collect();
            hasher.update(&bytes);
        }
        hasher.finalize().into()
    }

    /// How many records the dataset has.
    pub const fn records(&self) -> u64 {
        self.classes.len() as u64
    }

    /// Turns of an epoch that each source has.
    pub(super) fn turns_by_source(&self) -> Vec<u64> {
        let mut turns = vec![0; self.sources.len()];
        for class in 0..self.len() {
            let of_class = self.segments_of(class).iter().map(ClassSegment::turns);
            turns.iter_mut().zip(of_class).for_each(|(all, more)| *all += more);
        }
        turns
    }

    /// Whether it was made for these sources.
    pub(super) fn is_of(&self, sources: &[(u64, u16)]) -> bool {
        self.sources == sources
    }

    fn count(&self) -> u16 {
        u16::try_from(self.len()).expect("a table is made for a u16 of classes")
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Turns of an epoch that a class has.
    ///
    /// # Panics
    /// There is no such class.
    pub fn turns(&self, class: usize) -> u64 {
        self.segments_of(class).iter().map(ClassSegment::turns).sum()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.classes.capacity() * size_of::<u16>()
            + self.members.capacity() * size_of::<u32>()
            + self.segments.capacity() * size_of::<ClassSegment>()
    }

    fn segments_of(&self, class: usize) -> &[ClassSegment] {
        &self.segments[self.bounds[class]..self.bounds[class + 1]]
    }

    /// The record and its repeat that a class has as this turn, if it is not shuffled.
    pub(super) fn turn(&self, class: usize, turn: u64) -> Option<(u64, u16)> {
        let segments = self.segments_of(class);
        let segment = segments.get(segments.partition_point(|segment| segment.first_turn + segment.turns() <= turn))?;
        // A source is passed through once for each repeat.
        let (own, members) = (turn - segment.first_turn, segment.members as u64);
        let member = segment.first_member + usize::try_from(own % members).ok()?;
        Some((self.members[member].into(), u16::try_from(own / members).ok()?))
    }

    /// The class of a record, and its turns there: the inverse of [`turn`](Self::turn).
    pub(super) fn turns_of(&self, record: u64) -> Option<(usize, impl Iterator<Item = u64> + use<>)> {
        let place = u32::try_from(record).ok()?;
        let class = self.classes.get(place as usize).filter(|class| **class != Self::NONE).copied()?;
        let found = self.segments_of(class.into()).iter().find_map(|segment| {
            let members = &self.members[segment.first_member..segment.first_member + segment.members];
            Some((*segment, members.binary_search(&place).ok()?))
        });
        let (segment, own) = found?;
        let turns = (0..u64::from(segment.repeats))
            .map(move |repeat| segment.first_turn + repeat * segment.members as u64 + own as u64);
        Some((class.into(), turns))
    }
}

/// Whether a class takes two bytes. One of the numbers says that a record has no class.
const fn is_wide(count: u16) -> bool {
    count > u8::MAX as u16
}

/// A list of millions of numbers would be unreadable.
impl fmt::Debug for ClassTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClassTable({} classes of {} records)", self.len(), self.records())
    }
}

/// The records of each source, with their repeats. What belongs to no source has one turn each.
fn parts(sources: &[(u64, u16)], records: u32) -> Vec<(Range<u32>, u16)> {
    let (mut parts, mut start) = (Vec::with_capacity(sources.len() + 1), 0);
    for &(len, repeats) in sources {
        let end = u32::try_from(u64::from(start).saturating_add(len)).unwrap_or(records).min(records);
        parts.push((start..end, repeats));
        start = end;
    }
    if start < records || parts.is_empty() {
        parts.push((start..records, 1));
    }
    parts
}
