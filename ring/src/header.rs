//! The first pages of a ring: what it is, and the layout of its memory. The daemon writes them once, before any trainer maps
//! the ring.

use bytemuck::{Pod, Zeroable};
use forebay_columns::{MAX_COLUMNS, Schema, SchemaError};

use crate::{
    layout::{Dtype, Geometry, Layout, SLOTS_OFFSET, Shape, ShapeError},
    protocol::{LAYOUT_PROTOCOL, OLDEST_PROTOCOL, Versions},
    slot_columns::ColumnEntry,
};

/// First bytes of every ring.
const MAGIC: [u8; 8] = *b"FOREBAY\n";

/// What the header page of a ring says, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Incarnation of the daemon that made the ring.
    pub incarnation: u64,
    /// Number of the ring within the stream.
    pub ring: u32,
    /// The layout of the ring's memory.
    pub geometry: Geometry,
    /// Trainers can map it writable, to have its pages locked. Its seals must agree.
    pub pinnable: bool,
}

/// Why a header page is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Fewer bytes than a header has.
    #[error("the ring's header has {0} bytes, fewer than a header needs")]
    Short(usize),
    /// Something else than a ring.
    #[error("the memory is not a Forebay ring: it does not start with the ring's magic bytes")]
    Magic,
    /// A version that this program does not speak.
    #[error(
        "the ring has version {theirs} of the protocol, this program speaks {ours}; install versions of Forebay that are neighbours on both sides",
        ours = Versions::OURS
    )]
    Protocol {
        /// The version in the header.
        theirs: u32,
    },
    /// A field that has a value without a meaning.
    #[error("the ring's header has {value} for {field}, which means nothing")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// The shape is impossible.
    #[error("the ring's header has an impossible shape: {0}")]
    Shape(#[from] ShapeError),
    /// A column has fields without a meaning.
    #[error("the ring's header describes column {0} in a way that means nothing")]
    Column(usize),
    /// The columns cannot be together.
    #[error("the ring's header has impossible columns: {0}")]
    Schema(#[from] SchemaError),
    /// An offset is not the one that follows from the shape.
    #[error("the ring's header has {found} for {field}, but its shape gives {expected}")]
    Offset {
        /// Name of the field.
        field: &'static str,
        /// The value in the header.
        found: u64,
        /// What follows from the shape.
        expected: u64,
    },
}

/// The header page's first bytes, little-endian.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct RawHeader {
    magic: [u8; 8],
    protocol: u32,
    ring: u32,
    incarnation: u64,
    slots: u32,
    batch: u32,
    height: u32,
    width: u32,
    channels: u32,
    dtype: u32,
    layout: u32,
    pinnable: u32,
    slots_offset: u64,
    stride: u64,
    labels: u64,
    records: u64,
    mask: u64,
    claims: u64,
    total: u64,
    columns: u32,
    len: u32,
}

impl Header {
    /// Bytes of the header without its columns.
    pub const LEN: usize = size_of::<RawHeader>();
    /// Most bytes of a header without its columns, in any version.
    const MOST: usize = 1024;
    /// Bytes of the longest header with as many columns as there can be: [`parse`](Self::parse) needs no more.
    pub const MAX_LEN: usize = Self::MOST + MAX_COLUMNS * size_of::<ColumnEntry>();

    /// The first bytes of the memory; the rest of the last page is zero.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = bytemuck::bytes_of(&self.raw()).to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(&self.geometry.columns().entries()));
        bytes
    }

    /// Reads a header that another process wrote. Nothing in it is trusted: every offset must be the one that follows from
    /// the shape.
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let head = bytes.get(..Self::LEN).ok_or(HeaderError::Short(bytes.len()))?;
        let raw: RawHeader = bytemuck::pod_read_unaligned(head);
        if raw.magic != MAGIC {
            return Err(HeaderError::Magic);
        }
        let known = Versions { oldest: OLDEST_PROTOCOL, newest: LAYOUT_PROTOCOL };
        if !known.contains(raw.protocol) {
            return Err(HeaderError::Protocol { theirs: raw.protocol });
        }
        let dtype = Dtype::from_wire(raw.dtype)
            .ok_or_else(|| HeaderError::Field { field: "the type of values", value: raw.dtype.into() })?;
        let layout = Layout::from_wire(raw.layout)
            .ok_or_else(|| HeaderError::Field { field: "the order of axes", value: raw.layout.into() })?;
        let shape =
            Shape { batch: raw.batch, height: raw.height, width: raw.width, channels: raw.channels, dtype, layout };
        let entries = Self::entries(bytes, &raw)?;
        let geometry = Self::geometry(shape, raw.slots, &entries)?;
        let pinnable = match raw.pinnable {
            0 => false,
            1 => true,
            other => return Err(HeaderError::Field { field: "whether it is pinnable", value: other.into() }),
        };
        let header = Self { incarnation: raw.incarnation, ring: raw.ring, geometry, pinnable };
        header.agree(&raw)?;
        let wrong = header.geometry.columns().entries().iter().zip(&entries).position(|(own, theirs)| own != theirs);
        wrong.map_or(Ok(header), |column| Err(HeaderError::Column(column)))
    }

    fn entries(bytes: &[u8], raw: &RawHeader) -> Result<Vec<ColumnEntry>, HeaderError> {
        if raw.columns as usize > MAX_COLUMNS {
            return Err(HeaderError::Field { field: "the number of columns", value: raw.columns.into() });
        }
        let start = raw.len as usize;
        // The columns are behind what a later version may have added, which is of no account here.
        if !(Self::LEN..=Self::MOST).contains(&start) || !start.is_multiple_of(8) {
            return Err(HeaderError::Field { field: "its own length", value: raw.len.into() });
        }
        let len = raw.columns as usize * size_of::<ColumnEntry>();
        let table = bytes.get(start..start + len).ok_or(HeaderError::Short(bytes.len()))?;
        Ok(table.chunks_exact(size_of::<ColumnEntry>()).map(bytemuck::pod_read_unaligned).collect())
    }

    fn geometry(shape: Shape, slots: u32, entries: &[ColumnEntry]) -> Result<Geometry, HeaderError> {
        let (mut fields, mut rooms) = (Vec::new(), Vec::new());
        for (place, entry) in entries.iter().enumerate() {
            let (field, room) = entry.field().ok_or(HeaderError::Column(place))?;
            fields.push(field);
            rooms.push(room);
        }
        Ok(Geometry::with_columns(shape, slots, Schema::of_ring(fields)?, &rooms)?)
    }

    fn agree(&self, found: &RawHeader) -> Result<(), HeaderError> {
        let expected = self.raw();
        let pairs = [
            ("the first slot's offset", found.slots_offset, expected.slots_offset),
            ("the slot's stride", found.stride, expected.stride),
            ("the labels' offset", found.labels, expected.labels),
            ("the records' offset", found.records, expected.records),
            ("the mask's offset", found.mask, expected.mask),
            ("the claims' offset", found.claims, expected.claims),
            ("the total length", found.total, expected.total),
        ];
        match pairs.into_iter().find(|(_, found, expected)| found != expected) {
            Some((field, found, expected)) => Err(HeaderError::Offset { field, found, expected }),
            None => Ok(()),
        }
    }

    fn raw(&self) -> RawHeader {
        let geometry = &self.geometry;
        let shape = geometry.shape();
        RawHeader {
            magic: MAGIC,
            protocol: LAYOUT_PROTOCOL,
            ring: self.ring,
            incarnation: self.incarnation,
            slots: geometry.slots(),
            batch: shape.batch,
            height: shape.height,
            width: shape.width,
            channels: shape.channels,
            dtype: shape.dtype as u32,
            layout: shape.layout as u32,
            pinnable: self.pinnable.into(),
            slots_offset: SLOTS_OFFSET as u64,
            stride: geometry.stride() as u64,
            labels: geometry.labels as u64,
            records: geometry.records as u64,
            mask: geometry.mask as u64,
            claims: geometry.claims as u64,
            total: geometry.total_len() as u64,
            columns: u32::try_from(geometry.columns().schema().len()).unwrap_or(u32::MAX),
            len: u32::try_from(Self::LEN).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use forebay_columns::{Field, Room};
    use proptest::prelude::*;

    use super::*;

    fn header() -> Header {
        let shape = Shape { batch: 5, height: 33, width: 17, channels: 3, dtype: Dtype::F16, layout: Layout::Nchw };
        let field = |name: &str, of: &str, objects: Option<&str>| Field {
            objects: objects.map(Into::into),
            ..Field::new(name, of.parse().unwrap())
        };
        let fields = vec![
            field("boxes", "f32 [*, 4]", Some("objects")),
            field("polygons", "f32 [*][*][*, 2]", Some("objects")),
            field("weight", "f64", None),
        ];
        let rooms = [Room([9, 0, 0]), Room([9, 20, 300]), Room::default()];
        let geometry = Geometry::with_columns(shape, 3, Schema::try_new(fields).unwrap(), &rooms).unwrap();
        Header { incarnation: 7, ring: 2, geometry, pinnable: false }
    }

    #[test]
    fn header_comes_back_as_written() {
        let header = header();
        for pinnable in [false, true] {
            let header = Header { pinnable, ..header.clone() };
            assert_eq!(Header::parse(&header.encode()), Ok(header));
        }
        let bytes = header.encode();
        assert_eq!(Header::parse(&bytes[..Header::LEN - 1]), Err(HeaderError::Short(Header::LEN - 1)));
        assert_eq!(Header::parse(&bytes[..bytes.len() - 1]), Err(HeaderError::Short(bytes.len() - 1)));
    }

    #[test]
    fn values_of_every_type_come_back() {
        for dtype in [Dtype::U8, Dtype::F16, Dtype::F32, Dtype::Bf16] {
            let shape = Shape { dtype, ..header().geometry.shape() };
            let header = Header { geometry: Geometry::try_new(shape, 3).unwrap(), ..header() };
            assert_eq!(Header::parse(&header.encode()), Ok(header));
        }
    }

    #[test]
    fn header_of_another_version_names_both() {
        let header = header();
        let mut bytes = header.encode();
        bytes[8] = 99;
        assert_eq!(Header::parse(&bytes), Err(HeaderError::Protocol { theirs: 99 }));
    }

    #[test]
    fn what_a_later_version_adds_to_the_header_is_skipped() {
        let header = header();
        let bytes = header.encode();
        let at = offset_of!(RawHeader, len);
        let longer = |by: usize| {
            let mut longer = [&bytes[..Header::LEN], &vec![0xAB; by], &bytes[Header::LEN..]].concat();
            longer[at..at + 4].copy_from_slice(&u32::try_from(Header::LEN + by).unwrap().to_le_bytes());
            longer
        };
        for by in [0, 8, Header::MOST - Header::LEN] {
            assert_eq!(Header::parse(&longer(by)), Ok(header.clone()), "{by} more");
        }
        for by in [4, Header::MOST - Header::LEN + 8] {
            assert!(matches!(Header::parse(&longer(by)), Err(HeaderError::Field { .. })), "{by} more");
        }
        let mut shorter = bytes.clone();
        shorter[at..at + 4].copy_from_slice(&u32::try_from(Header::LEN - 8).unwrap().to_le_bytes());
        assert!(matches!(Header::parse(&shorter), Err(HeaderError::Field { .. })));
    }

    #[test]
    fn columns_of_the_same_objects_share_their_offsets_and_no_two_parts_overlap() {
        let geometry = header().geometry;
        let columns = geometry.columns();
        let [boxes, polygons, weight] = [0, 1, 2].map(|column| columns.column(column));
        assert_eq!(boxes.offsets[0], polygons.offsets[0]);
        let parts = [
            &boxes.validity,
            &boxes.offsets[0],
            &boxes.values,
            &polygons.validity,
            &polygons.offsets[1],
            &polygons.offsets[2],
            &polygons.values,
            &weight.validity,
            &weight.values,
        ];
        assert!(parts.windows(2).all(|pair| pair[0].end <= pair[1].start && pair[1].start % 64 == 0), "{parts:?}");
        assert!(geometry.claims(0).end <= geometry.within(0, parts[0]).start);
        assert!(geometry.within(0, &weight.values).end <= geometry.slot(0).end);
    }

    proptest! {
        /// Any byte of a header that is changed either changes what it says, or is refused; nothing panics.
        #[test]
        fn hostile_header_bytes_never_panic_and_never_lie(at in any::<prop::sample::Index>(), value: u8, noise: Vec<u8>) {
            let header = header();
            let mut bytes = header.encode();
            let at = at.index(bytes.len());
            let changed = bytes[at] != value;
            bytes[at] = value;
            if let Ok(parsed) = Header::parse(&bytes) {
                prop_assert_eq!(parsed.encode(), bytes);
                prop_assert_eq!(parsed != header, changed);
            }
            let _parsed = Header::parse(&noise);
        }
    }
}
