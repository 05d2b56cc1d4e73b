//! Which records each class has: six bytes for each record of the dataset.

use std::ops::Range;

/// More records than the table counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The dataset has {0} records. A plan of classes has at most {most}.", most = u32::MAX)]
pub struct TooManyRecords(pub usize);

/// The records of each class, in the order of the dataset.
#[derive(Clone, Debug)]
pub struct ClassTable {
    /// The class of each record.
    classes: Vec<u16>,
    /// The records of the first class, then those of the second, and so on.
    members: Vec<u32>,
    /// Parts of classes, in their order.
    segments: Vec<ClassSegment>,
    /// The first segment of each class, and the number of segments.
    bounds: Vec<usize>,
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
        Ok(Self { classes, members, segments, bounds })
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
