//! Headers put together segment by segment, for tests.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

/// The sampling factors of three components, 4:2:0.
pub(crate) const S420: [u8; 3] = [0x22, 0x11, 0x11];

/// The markers of a picture, and the bytes of their segments.
#[derive(Clone, Debug)]
pub(crate) struct Crafted(pub(crate) Vec<(u8, Vec<u8>)>);

impl Crafted {
    /// A good header: three components or one, each with its sampling factors, and one table of each kind.
    pub(crate) fn new(width: u16, height: u16, factors: &[u8]) -> Self {
        let ids = (1..).zip(factors);
        let mut quants = vec![0];
        quants.extend([1; 64]);
        let ([h0, h1], [w0, w1], count) = (height.to_be_bytes(), width.to_be_bytes(), factors.len() as u8);
        let mut frame = vec![8, h0, h1, w0, w1, count];
        frame.extend(ids.clone().flat_map(|(id, &factors)| [id, factors, 0]));
        let mut scan = vec![count];
        scan.extend(ids.flat_map(|(id, _)| [id, 0]));
        scan.extend([0, 63, 0]);
        Self(vec![(0xDB, quants), (0xC0, frame), (0xC4, Self::code(0x00)), (0xC4, Self::code(0x10)), (0xDA, scan)])
    }

    /// A DHT of one code of one bit, for the symbol 0.
    fn code(kind: u8) -> Vec<u8> {
        let mut segment = vec![kind, 1];
        segment.extend([0; 16]);
        segment
    }

    /// With the segment of a marker changed, the first if there are several.
    pub(crate) fn with(mut self, marker: u8, change: impl FnOnce(&mut Vec<u8>)) -> Self {
        let segment = self.0.iter_mut().find(|(of, _)| *of == marker);
        change(&mut segment.expect("a good header has the marker").1);
        self
    }

    /// With another marker for a segment.
    pub(crate) fn renamed(mut self, marker: u8, name: u8) -> Self {
        let segment = self.0.iter_mut().find(|(of, _)| *of == marker);
        segment.expect("a good header has the marker").0 = name;
        self
    }

    /// With a segment at its beginning.
    pub(crate) fn after(mut self, marker: u8, segment: &[u8]) -> Self {
        self.0.insert(0, (marker, segment.to_vec()));
        self
    }

    /// Without the segments of a marker.
    pub(crate) fn without(mut self, marker: u8) -> Self {
        self.0.retain(|(of, _)| *of != marker);
        self
    }

    /// As a file has it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0xFF, 0xD8];
        for (marker, segment) in &self.0 {
            bytes.extend([0xFF, *marker]);
            bytes.extend((segment.len() as u16 + 2).to_be_bytes());
            bytes.extend(segment);
        }
        bytes
    }
}
