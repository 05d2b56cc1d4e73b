//! What is read for a mosaic: the content of the record whose place it is, and that of its partners, one behind the other in one
//! buffer, with a table of them at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_pixels::{Draw, Mosaics, Origin, PARTNERS};
use forebay_sources::{ReadError, ReadErrorKind, Retry, Source};

use crate::place::At;
use crate::record::EpochTurn;

/// Bytes of a partner's entry in the table: its record, and the length of its content. Behind the entries is their number.
const ENTRY: usize = 2 * NUMBER;
const NUMBER: usize = size_of::<u64>();

/// Reads records with their partners.
#[derive(Clone, Debug)]
pub(crate) struct MosaicReads {
    mosaics: Arc<Mosaics>,
    /// Seed of the random choices.
    seed: u64,
}

/// What was read for a mosaic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MosaicContent<'a> {
    own: &'a [u8],
    partners: Option<[PartnerContent<'a>; PARTNERS]>,
}

/// What was read of a partner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartnerContent<'a> {
    /// Number of its record.
    pub record: u64,
    /// Its content. None if the own record stands in.
    pub bytes: Option<&'a [u8]>,
}

/// The pictures beside the own one in a mosaic: of each that the result shows, its record and what it was made of.
pub(crate) type Partners = [Option<(u64, Origin)>; PARTNERS];

/// The partners of all places with a mosaic, until their batch is settled.
#[derive(Debug, Default)]
pub(crate) struct PlacePartners(BTreeMap<At, Box<Partners>>);

impl PlacePartners {
    /// Notes what is beside the picture of a place.
    pub(crate) fn set(&mut self, at: At, partners: Option<Box<Partners>>) {
        match partners {
            Some(partners) => self.0.insert(at, partners),
            None => self.0.remove(&at),
        };
    }

    /// One place becomes a copy of another one.
    pub(crate) fn copy(&mut self, from: At, to: At) {
        self.set(to, self.0.get(&from).cloned());
    }

    /// Takes out those of a batch, by their places.
    pub(crate) fn take(&mut self, batch: u64) -> BTreeMap<u32, Box<Partners>> {
        let mut of_batch = self.0.split_off(&(batch, 0));
        self.0.append(&mut of_batch.split_off(&(batch + 1, 0)));
        of_batch.into_iter().map(|((_, place), partners)| (place, partners)).collect()
    }
}

impl MosaicReads {
    pub(crate) fn new(mosaics: Arc<Mosaics>, seed: u64) -> Self {
        Self { mosaics, seed }
    }

    /// The partners of a turn, out of the records of a source. None if its picture is alone.
    fn partners(&self, source: &dyn Source, EpochTurn { epoch, turn }: EpochTurn) -> Option<[u64; PARTNERS]> {
        let draw = Draw { seed: self.seed, epoch, record: turn.key() };
        self.mosaics.partners(draw, source.len())
    }

    /// Bytes of what [`read`](Self::read) gives, as far as the source knows them.
    pub(crate) fn size(&self, source: &dyn Source, of: EpochTurn) -> u64 {
        let partners = self.partners(source, of);
        let records = [of.turn.record()].into_iter().chain(partners.into_iter().flatten());
        records.map(|record| source.size(record)).fold(table_len(PARTNERS), u64::saturating_add)
    }

    /// Replaces the content of `buf` with that of a turn's record and of its partners, all of it at most `room` bytes. For a partner
    /// that is bad, the own record stands in: its own place tells what is wrong with it.
    ///
    /// # Errors
    /// The own record cannot be read, there is too little room, or a partner cannot be read at this moment. `buf` is empty then.
    pub(crate) fn read(
        &self,
        source: &dyn Source,
        of: EpochTurn,
        room: u64,
        buf: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        let own = of.turn.record();
        source.read(own, room, buf)?;
        let partners = self.partners(source, of);
        let whole = usize::try_from(self.size(source, of).min(room)).unwrap_or(0);
        buf.reserve(whole.saturating_sub(buf.len()));
        let mut table = Vec::with_capacity(PARTNERS * ENTRY + NUMBER);
        let mut content = Vec::new();
        for (number, record) in partners.into_iter().flatten().enumerate() {
            let mut entry = [own, 0];
            if record != own {
                let used = buf.len() as u64 + table_len(PARTNERS);
                let read = source.read(record, room.saturating_sub(used), &mut content);
                match read.map_err(|error| (error.retry(), error)) {
                    Ok(()) => {
                        buf.extend_from_slice(&content);
                        entry = [record, content.len() as u64];
                    }
                    Err((Retry::Never, _)) => {}
                    Err((Retry::WithRoom(bytes), error)) => {
                        let rest = partners.iter().flatten().skip(number + 1).map(|record| source.size(*record));
                        let size = rest.fold(used.saturating_add(bytes), u64::saturating_add);
                        buf.clear();
                        return Err(ReadError::new(ReadErrorKind::Larger { size }, error.locator));
                    }
                    Err((Retry::Later, error)) => {
                        buf.clear();
                        return Err(error);
                    }
                }
            }
            table.extend(entry.map(u64::to_le_bytes).as_flattened());
        }
        let entries = partners.map_or(0, |partners| partners.len() as u64);
        table.extend(entries.to_le_bytes());
        buf.append(&mut table);
        Ok(())
    }
}

/// Bytes of a table of so many partners.
fn table_len(partners: usize) -> u64 {
    (partners * ENTRY + NUMBER) as u64
}

impl<'a> MosaicContent<'a> {
    /// What [`MosaicReads::read`] has read.
    ///
    /// # Panics
    /// It has not read it.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        const WHOLE: &str = "a table of partners is behind their content";
        let (rest, entries) = bytes.split_last_chunk::<NUMBER>().expect(WHOLE);
        if u64::from_le_bytes(*entries) == 0 {
            return Self { own: rest, partners: None };
        }
        let (mut own, table) = rest.split_last_chunk::<{ PARTNERS * ENTRY }>().expect(WHOLE);
        let mut partners = [PartnerContent::default(); PARTNERS];
        for (entry, partner) in table.as_chunks::<ENTRY>().0.iter().zip(&mut partners).rev() {
            let [record, len] = [0, 1].map(|number| {
                let number = &entry.as_chunks::<NUMBER>().0[number];
                u64::from_le_bytes(*number)
            });
            let at = own.len().checked_sub(usize::try_from(len).expect(WHOLE)).expect(WHOLE);
            let content;
            (own, content) = own.split_at(at);
            *partner = PartnerContent { record, bytes: (len > 0).then_some(content) };
        }
        Self { own, partners: Some(partners) }
    }

    /// The content of the record whose place it is.
    pub(crate) fn own(&self) -> &'a [u8] {
        self.own
    }

    /// What was read of its partners. None if its picture is alone.
    pub(crate) fn partners(&self) -> Option<[PartnerContent<'a>; PARTNERS]> {
        self.partners
    }
}

#[cfg(test)]
mod tests {
    use forebay_pixels::{Mosaic, Output, Recipe, Size, Transform};
    use forebay_proto::Turn;

    use super::*;
    use crate::prefetch::shelf::Shelf;

    fn reads(p: f64) -> MosaicReads {
        let mut mosaic = Mosaic::to(Size::One(8));
        mosaic.p = p;
        let recipe = Recipe::new(vec![Transform::Mosaic(mosaic)], Output::default()).unwrap();
        MosaicReads::new(Arc::new(Mosaics::of(&recipe).unwrap()), 5)
    }

    fn of(record: u64) -> EpochTurn {
        EpochTurn { epoch: 2, turn: Turn::first(record) }
    }

    #[test]
    fn a_record_is_read_with_its_partners_in_the_room_that_was_asked_for() {
        let (shelf, reads) = (Shelf::new(100), reads(1.0));
        let mut bytes = vec![7; 300];
        let mut seen = std::collections::BTreeSet::new();
        for record in 0..100 {
            let room = reads.size(&shelf, of(record));
            reads.read(&shelf, of(record), room, &mut bytes).unwrap();
            assert!(bytes.len() as u64 <= room, "{} of {room}", bytes.len());
            let content = MosaicContent::of(&bytes);
            assert_eq!(content.own(), [u8::try_from(record).unwrap()]);
            for partner in content.partners().unwrap() {
                seen.insert(partner.record);
                let expected = (partner.record != record).then(|| vec![u8::try_from(partner.record).unwrap()]);
                assert_eq!(partner.bytes.map(<[u8]>::to_vec), expected, "the own record is not read twice");
            }
        }
        assert!(seen.len() > 80, "any record is a partner: {}", seen.len());
    }

    #[test]
    fn a_picture_that_is_alone_is_read_without_partners() {
        let (shelf, mut bytes) = (Shelf::new(9), Vec::new());
        reads(0.0).read(&shelf, of(4), 100, &mut bytes).unwrap();
        let content = MosaicContent::of(&bytes);
        assert_eq!((content.own(), content.partners(), shelf.reads()), (&[4][..], None, 1));
        assert_eq!(reads(0.0).size(&shelf, of(4)), shelf.size(4) + table_len(PARTNERS));
    }

    #[test]
    fn for_a_bad_partner_the_own_record_stands_in_and_a_bad_own_record_is_bad() {
        let missing: Vec<u64> = (1..50).collect();
        let (shelf, reads, mut bytes) = (Shelf::new(50).without(&missing), reads(1.0), Vec::new());
        reads.read(&shelf, of(0), 100, &mut bytes).unwrap();
        let partners = MosaicContent::of(&bytes).partners().unwrap();
        assert_eq!(partners, [PartnerContent { record: 0, bytes: None }; PARTNERS]);
        let error = reads.read(&shelf, of(1), 100, &mut bytes).unwrap_err();
        assert_eq!((error.kind, bytes.len()), (ReadErrorKind::Missing, 0));
    }
}
