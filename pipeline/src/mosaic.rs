//! What is read for a mosaic: the content of the record whose place it is, and that of its partners.

use std::sync::Arc;

use forebay_pixels::{Draw, Mosaics, Origin, PARTNERS};
use forebay_plan::{SelectionProblem, SelectionTable};
use forebay_sources::{ReadError, ReadErrorKind, Retry, Source};

use crate::record::{EpochTurn, FailedRead};
use crate::selected;

/// Reads records with their partners.
#[derive(Clone, Debug)]
pub(crate) struct MosaicReads {
    mosaics: Arc<Mosaics>,
    /// Seed of the random choices.
    seed: u64,
    /// The records that partners are drawn from, if these are not all.
    selection: Option<Arc<SelectionTable>>,
}

/// What was read for a mosaic.
#[derive(Debug)]
pub(crate) struct MosaicContent {
    own: Vec<u8>,
    partners: Option<[PartnerContent; PARTNERS]>,
}

/// What was read of a partner.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartnerContent {
    /// Number of its record.
    pub record: u64,
    /// Its content. None if the own record replaces it.
    pub bytes: Option<Vec<u8>>,
}

/// The pictures beside the own one in a mosaic. For each that the result shows: its record, and what it was made of.
pub(crate) type Partners = [Option<(u64, Origin)>; PARTNERS];

impl MosaicReads {
    /// Partners are drawn from the records that are selected of the source.
    ///
    /// # Errors
    /// The selection is not one of the source.
    pub(crate) fn new(mosaics: Arc<Mosaics>, seed: u64, source: &dyn Source) -> Result<Self, SelectionProblem> {
        Ok(Self { mosaics, seed, selection: selected::table(source)? })
    }

    /// The mosaics that it reads for.
    pub(crate) fn mosaics(&self) -> &Mosaics {
        &self.mosaics
    }

    /// The partners of a turn, out of the records of a source. None if its picture is alone.
    fn partners(&self, source: &dyn Source, EpochTurn { epoch, turn }: EpochTurn) -> Option<[u64; PARTNERS]> {
        let draw = Draw { seed: self.seed, epoch, record: turn.key() };
        match &self.selection {
            Some(selection) => {
                let places = self.mosaics.partners(draw, selection.count())?;
                Some(places.map(|place| selection.record(place)))
            }
            None => self.mosaics.partners(draw, source.len()),
        }
    }

    /// Bytes of what [`read`](Self::read) gives, as far as the source knows them.
    pub(crate) fn size(&self, source: &dyn Source, of: EpochTurn) -> u64 {
        let own = of.turn.record();
        let partners = self.partners(source, of).into_iter().flatten().filter(|partner| *partner != own);
        partners.map(|partner| source.size(partner)).fold(source.size(own), u64::saturating_add)
    }

    /// Reads a turn's record and its partners, at most `room` bytes in all. `own` is memory for the record. `turns_to` is
    /// called before each partner, and returns whether to read it. If a partner is bad or must not be read, the own
    /// record replaces it. The partner's own place reports what is wrong with it.
    ///
    /// # Errors
    /// The own record cannot be read, there is too little room, or a partner cannot be read at this moment.
    pub(crate) fn read(
        &self,
        source: &dyn Source,
        of: EpochTurn,
        room: u64,
        mut own: Vec<u8>,
        mut turns_to: impl FnMut(u64) -> bool,
    ) -> Result<MosaicContent, FailedRead> {
        let record = of.turn.record();
        let (mut used, mut rest) = (0, self.size(source, of));
        let mut read = |record: u64, buf: &mut Vec<u8>| {
            rest = rest.saturating_sub(source.size(record));
            let read = source.read(record, room.saturating_sub(used), buf);
            used += buf.len() as u64;
            read.map_err(|error| FailedRead::at(record, with_others(error, used.saturating_add(rest))))
        };
        read(record, &mut own)?;
        let Some(drawn) = self.partners(source, of) else { return Ok(MosaicContent::alone(own)) };
        let mut partners: [PartnerContent; PARTNERS] = Default::default();
        for (partner, content) in drawn.into_iter().zip(&mut partners) {
            content.record = record;
            if partner == record || !turns_to(partner) {
                continue;
            }
            let mut bytes = Vec::new();
            match read(partner, &mut bytes) {
                Ok(()) => *content = PartnerContent { record: partner, bytes: Some(bytes) },
                Err(failed) if failed.error.retry() == Retry::Never => {}
                Err(failed) => return Err(failed),
            }
        }
        Ok(MosaicContent { own, partners: Some(partners) })
    }
}

/// The error of a record that needs more room. The room for the other records of its mosaic is added.
fn with_others(error: ReadError, others: u64) -> ReadError {
    match error.retry() {
        Retry::WithRoom(bytes) => {
            ReadError { kind: ReadErrorKind::Larger { size: bytes.saturating_add(others) }, ..error }
        }
        Retry::Never | Retry::Later => error,
    }
}

impl MosaicContent {
    /// A picture without partners.
    pub(crate) fn alone(own: Vec<u8>) -> Self {
        Self { own, partners: None }
    }

    /// What another process has read.
    pub(crate) fn of(own: Vec<u8>, partners: Option<[PartnerContent; PARTNERS]>) -> Self {
        Self { own, partners }
    }

    /// The content of the record whose place it is.
    pub(crate) fn own(&self) -> &[u8] {
        &self.own
    }

    /// What was read of its partners. None if its picture is alone.
    pub(crate) fn partners(&self) -> Option<&[PartnerContent; PARTNERS]> {
        self.partners.as_ref()
    }

    /// Bytes of all of them.
    pub(crate) fn len(&self) -> u64 {
        let partners = self.partners.iter().flatten().filter_map(|partner| partner.bytes.as_ref());
        partners.fold(self.own.len(), |sum, bytes| sum + bytes.len()) as u64
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    use forebay_pixels::{Mosaic, Output, Recipe, Size, Transform};
    use forebay_proto::Turn;
    use forebay_sources::Selection;

    use super::*;
    use crate::prefetch::memory_source::MemorySource;

    /// Mosaics with this probability.
    pub(crate) fn reads(p: f64) -> MosaicReads {
        let mut mosaic = Mosaic::to(Size::One(8));
        mosaic.p = p;
        let recipe = Recipe::new(vec![Transform::Mosaic(mosaic)], Output::default()).unwrap();
        MosaicReads { mosaics: Arc::new(Mosaics::of(&recipe).unwrap()), seed: 5, selection: None }
    }

    fn of(record: u64) -> EpochTurn {
        EpochTurn { epoch: 2, turn: Turn::first(record) }
    }

    fn read(
        reads: &MosaicReads,
        memory_source: &MemorySource,
        record: u64,
        room: u64,
    ) -> Result<MosaicContent, FailedRead> {
        reads.read(memory_source, of(record), room, vec![7; 300], |_| true)
    }

    #[test]
    fn a_record_is_read_with_its_partners_in_the_room_that_was_asked_for() {
        let (memory_source, reads) = (MemorySource::new(100), reads(1.0));
        let mut seen = std::collections::BTreeSet::new();
        for record in 0..100 {
            let room = reads.size(&memory_source, of(record));
            let content = read(&reads, &memory_source, record, room).unwrap();
            assert_eq!((content.len(), content.own()), (room, &[u8::try_from(record).unwrap()][..]));
            for partner in content.partners().unwrap() {
                seen.insert(partner.record);
                let expected = (partner.record != record).then(|| vec![u8::try_from(partner.record).unwrap()]);
                assert_eq!(partner.bytes, expected, "the own record is not read twice");
            }
        }
        assert!(seen.len() > 80, "any record is a partner: {}", seen.len());
    }

    #[test]
    fn rule_66_partners_are_drawn_from_the_selected_records_as_from_a_dataset_of_these_alone() {
        let (memory_source, all) = (MemorySource::new(100), reads(1.0));
        let kept = Selection::of(100, |record| record % 7 == 2);
        let table = SelectionTable::new(Arc::clone(kept.words()), 100).unwrap();
        let selected = MosaicReads { selection: Some(Arc::new(table)), ..all.clone() };
        let (numbers, alone) = (kept.iter().collect::<Vec<_>>(), MemorySource::new(kept.count()));
        let mut seen = std::collections::BTreeSet::new();
        for record in 0..100 {
            let drawn = selected.partners(&memory_source, of(record)).unwrap();
            let places = all.partners(&alone, of(record)).unwrap();
            assert_eq!(drawn, places.map(|place| numbers[usize::try_from(place).unwrap()]));
            seen.extend(drawn);
        }
        assert!(seen.into_iter().eq(numbers), "any of them is a partner");
    }

    #[test]
    fn a_picture_that_is_alone_is_read_without_partners() {
        let (memory_source, reads) = (MemorySource::new(9), reads(0.0));
        let content = read(&reads, &memory_source, 4, 100).unwrap();
        assert_eq!((content.own(), content.partners(), memory_source.reads()), (&[4][..], None, 1));
        assert_eq!(reads.size(&memory_source, of(4)), memory_source.size(4));
    }

    #[test]
    fn for_a_bad_partner_the_own_record_stands_in_and_a_bad_own_record_is_bad() {
        let missing: Vec<u64> = (1..50).collect();
        let (memory_source, reads) = (MemorySource::new(50).without(&missing), reads(1.0));
        let content = read(&reads, &memory_source, 0, 100).unwrap();
        let own = || PartnerContent { record: 0, bytes: None };
        assert_eq!(content.partners().unwrap(), &[own(), own(), own()]);
        let failed = read(&reads, &memory_source, 1, 100).unwrap_err();
        assert_eq!((failed.record, failed.error.kind), (1, ReadErrorKind::Missing));
    }

    #[test]
    fn what_the_storage_does_not_give_is_named_and_stands_out_if_it_is_left_out() {
        let (good, reads) = (MemorySource::new(50), reads(1.0));
        let turned = RefCell::new(Vec::new());
        let listen = |partner| {
            turned.borrow_mut().push(partner);
            true
        };
        reads.read(&good, of(0), 100, Vec::new(), listen).unwrap();
        let partners = turned.into_inner();
        assert_eq!(partners.len(), PARTNERS, "each is told of before it is read");
        let memory_source = MemorySource::new(50).failing(&partners[1..2]);
        let failed = read(&reads, &memory_source, 0, 100).unwrap_err();
        assert_eq!((failed.record, failed.error.kind), (partners[1], ReadErrorKind::Storage));
        let content = reads.read(&memory_source, of(0), 100, Vec::new(), |partner| partner != partners[1]).unwrap();
        let shown = content.partners().unwrap().each_ref().map(|partner| partner.record);
        assert_eq!(shown, [partners[0], 0, partners[2]]);
    }

    #[test]
    fn room_that_is_short_is_asked_for_with_that_of_the_others_and_by_the_record_that_needs_it() {
        let (memory_source, reads) = (MemorySource::new(50), reads(1.0));
        let content = read(&reads, &memory_source, 0, 100).unwrap();
        let records: Vec<u64> = content.partners().unwrap().iter().map(|partner| partner.record).collect();
        for (room, record) in (0..).zip(std::iter::once(0).chain(records)) {
            let failed = read(&reads, &memory_source, 0, room).unwrap_err();
            assert_eq!((failed.record, failed.error.kind), (record, ReadErrorKind::Larger { size: 4 }));
        }
    }
}
