//! The first page of a ring: what it is, and where everything stands. Written once, before anybody else maps it.

use bytemuck::{Pod, Zeroable};

use crate::{
    layout::{Dtype, Geometry, Layout, SLOTS_OFFSET, Shape, ShapeError},
    message::PROTOCOL,
};

/// First bytes of every ring.
const MAGIC: [u8; 8] = *b"FOREBAY\n";

/// What the header page of a ring says, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Incarnation of the daemon that made the ring.
    pub incarnation: u64,
    /// Number of the ring within the stream.
    pub ring: u32,
    /// Where everything stands.
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
    /// Another version.
    #[error(
        "the ring has protocol version {theirs}, this program speaks {PROTOCOL}; install the same version on both sides"
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
    /// An offset is not the one that follows from the shape.
    #[error("the ring's header has {found} for {field}, but its shape gives {expected}")]
    Offset {
        /// Name of the field.
        field: &'static str,
        /// What stands in the header.
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
}

impl Header {
    /// Bytes of the header that [`parse`](Self::parse) needs.
    pub const LEN: usize = size_of::<RawHeader>();

    /// The first bytes of the memory; the rest of the page is zero.
    pub fn encode(&self) -> [u8; Self::LEN] {
        bytemuck::cast(self.raw())
    }

    /// Reads a header that somebody else wrote. Nothing in it is believed: every offset must be the one that follows
    /// from the shape.
    pub fn parse(bytes: &[u8]) -> Result<Self, HeaderError> {
        let head = bytes.get(..Self::LEN).ok_or(HeaderError::Short(bytes.len()))?;
        let raw: RawHeader = bytemuck::pod_read_unaligned(head);
        if raw.magic != MAGIC {
            return Err(HeaderError::Magic);
        }
        if raw.protocol != PROTOCOL {
            return Err(HeaderError::Protocol { theirs: raw.protocol });
        }
        let dtype = Dtype::from_wire(raw.dtype)
            .ok_or_else(|| HeaderError::Field { field: "the type of values", value: raw.dtype.into() })?;
        let layout = Layout::from_wire(raw.layout)
            .ok_or_else(|| HeaderError::Field { field: "the order of axes", value: raw.layout.into() })?;
        let shape =
            Shape { batch: raw.batch, height: raw.height, width: raw.width, channels: raw.channels, dtype, layout };
        let geometry = Geometry::try_new(shape, raw.slots)?;
        let pinnable = match raw.pinnable {
            0 => false,
            1 => true,
            other => return Err(HeaderError::Field { field: "whether it is pinnable", value: other.into() }),
        };
        let header = Self { incarnation: raw.incarnation, ring: raw.ring, geometry, pinnable };
        header.agree(&raw)?;
        Ok(header)
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
            protocol: PROTOCOL,
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
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> Header {
        let shape = Shape { batch: 5, height: 33, width: 17, channels: 3, dtype: Dtype::F16, layout: Layout::Nchw };
        Header { incarnation: 7, ring: 2, geometry: Geometry::try_new(shape, 3).unwrap(), pinnable: false }
    }

    #[test]
    fn header_comes_back_as_written() {
        let header = header();
        for pinnable in [false, true] {
            let header = Header { pinnable, ..header };
            assert_eq!(Header::parse(&header.encode()), Ok(header));
        }
        assert_eq!(Header::parse(&header.encode()[1..]), Err(HeaderError::Short(Header::LEN - 1)));
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

    proptest! {
        /// Any byte of a header that is changed either changes what it says, or is refused; nothing panics.
        #[test]
        fn hostile_header_bytes_never_panic_and_never_lie(at in 0..Header::LEN, value: u8, noise: Vec<u8>) {
            let header = header();
            let mut bytes = header.encode();
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
