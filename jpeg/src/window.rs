//! The scan's data without its stuffing, a piece at a time, with room to read ahead.
use crate::fault::Fault;
use crate::header::next_marker;

/// Bytes of the window; a power of two, so that an index is bounded by a mask.
pub(crate) const WINDOW: usize = 1 << 15;

/// The window with what a read of 8 bytes at its last byte touches.
pub(crate) type Bytes = [u8; WINDOW + 8];

/// An MCU of 6 blocks of 64 values of 31 bits each takes less than this, the look ahead of the bits included.
pub(crate) const MARGIN: usize = 2048;

/// Bytes that are looked at together for an FF.
const CHUNK: usize = 32;

/// How a window is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reading {
    /// The place of the file behind which no data is wanted, if that is known. Hardly more is read.
    pub(crate) until: usize,
    /// Whether [`Window::place`] will be called.
    pub(crate) placed: bool,
}

/// Data up to the next marker. What lies beyond it reads as zeros.
#[derive(Debug)]
pub(crate) struct Window {
    bytes: Box<Bytes>,
    /// Bytes of data in the window.
    len: usize,
    /// Where in the file the next byte is.
    at: usize,
    /// Whether a marker, or the end of the file, is next.
    ended: bool,
    reading: Reading,
    /// Where in the file the window's first byte is.
    start: usize,
    /// The bytes FF of the window, each of which has a stuffed 0 behind it in the file, if [`Window::place`] will be called.
    stuffed: Vec<u16>,
    /// How many of them are before the byte that was asked for last.
    passed: usize,
}

impl Default for Reading {
    fn default() -> Self {
        Self { until: usize::MAX, placed: false }
    }
}

impl Default for Window {
    fn default() -> Self {
        let bytes = vec![0; WINDOW + 8].into_boxed_slice();
        let bytes = bytes.try_into().expect("it has the length");
        let (reading, stuffed) = (Reading::default(), Vec::new());
        Self { bytes, len: 0, at: 0, ended: true, reading, start: 0, stuffed, passed: 0 }
    }
}

impl Window {
    /// Begins at a place of the file.
    pub(crate) fn begin(&mut self, file: &[u8], at: usize, reading: Reading) {
        (self.len, self.at, self.ended) = (0, at, false);
        (self.reading, self.start, self.passed) = (reading, at, 0);
        self.stuffed.clear();
        if reading.placed {
            // As many as there can be: it never grows.
            self.stuffed.reserve_exact(WINDOW);
        }
        self.read_on(file);
    }

    /// The data. Zeros follow it, for as long as an MCU can take.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Bytes of data in the window.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where in the file the next byte is that is not in the window.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Whether a whole MCU that begins at `at` is in the window for sure, or all data that is wanted.
    pub(crate) fn has_mcu(&self, at: usize) -> bool {
        self.ended || at + MARGIN <= self.len || self.at >= self.reading.until
    }

    /// Where in the file a byte of the window is. `index` is at most the window's length, and no smaller than in the calls
    /// before, as far as its byte was not forgotten.
    pub(crate) fn place(&mut self, index: usize) -> usize {
        while self.stuffed.get(self.passed).is_some_and(|&at| usize::from(at) < index) {
            self.passed += 1;
        }
        self.start + index + self.passed
    }

    /// Forgets the first `used` bytes and reads on in the file.
    pub(crate) fn fill(&mut self, file: &[u8], used: usize) {
        if self.reading.placed {
            self.forget_places(used);
        }
        self.bytes.copy_within(used..self.len, 0);
        self.len -= used;
        self.read_on(file);
    }

    /// The window will begin `used` bytes later.
    fn forget_places(&mut self, used: usize) {
        let gone = self.stuffed.partition_point(|&at| usize::from(at) < used);
        self.start += used + gone;
        self.stuffed.drain(..gone);
        for at in &mut self.stuffed {
            *at -= index_of(used);
        }
        self.passed = self.passed.saturating_sub(gone);
    }

    fn read_on(&mut self, file: &[u8]) {
        while !self.ended && self.len + MARGIN + CHUNK < WINDOW && self.at < self.reading.until {
            self.take_chunk(file);
        }
        self.bytes[self.len..self.len + MARGIN].fill(0);
    }

    fn take_chunk(&mut self, file: &[u8]) {
        let rest = &file[self.at..];
        let to = &mut self.bytes[self.len..];
        let taken = if let Some(chunk) = rest.first_chunk::<CHUNK>() {
            to[..CHUNK].copy_from_slice(chunk);
            // Without a way out in the middle this becomes a few vector instructions.
            let found = chunk.iter().fold(0, |found, &byte| found | u8::from(byte == 0xFF));
            if found == 0 { CHUNK } else { chunk.iter().position(|&byte| byte == 0xFF).unwrap_or(CHUNK) }
        } else {
            let taken = rest.iter().position(|&byte| byte == 0xFF).unwrap_or(rest.len());
            to[..taken].copy_from_slice(&rest[..taken]);
            taken
        };
        self.len += taken;
        self.at += taken;
        if taken == CHUNK {
            return;
        }
        if let Some([0xFF, 0]) = file.get(self.at..self.at + 2) {
            if self.reading.placed {
                self.stuffed.push(index_of(self.len));
            }
            self.bytes[self.len] = 0xFF;
            self.len += 1;
            self.at += 2;
        } else {
            self.ended = true;
        }
    }

    /// Continues after the restart marker with this number. The caller has used the data before it up to `used`.
    pub(crate) fn restart(&mut self, file: &[u8], used: usize, number: u8) -> Result<(), Fault> {
        if !self.ended || used != self.len {
            return Err(Fault::Irregular("there is data before a restart marker"));
        }
        let mut at = self.at;
        if next_marker(file, &mut at)? != 0xD0 + number {
            return Err(Fault::Irregular("another marker than the next restart marker"));
        }
        self.begin(file, at, self.reading);
        Ok(())
    }
}

/// The number of a byte of the window.
fn index_of(index: usize) -> u16 {
    const { assert!(WINDOW <= 1 << 16) };
    u16::try_from(index).expect("the window has fewer bytes than that")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stuffing_is_taken_out_wherever_it_stands_and_a_marker_ends_the_data() {
        for offset in 0..100 {
            let mut file = vec![7; offset];
            file.extend([0xFF, 0, 0xFF, 0, 1, 0xFF, 0xFF, 0xD3, 9, 9, 0xFF, 0xD9]);
            let mut window = Window::default();
            window.begin(&file, 0, Reading::default());
            let mut expected = vec![7; offset];
            expected.extend([0xFF, 0xFF, 1]);
            assert_eq!(&window.bytes()[..window.len()], expected);
            assert!(window.has_mcu(window.len()));
            assert!(window.restart(&file, window.len() - 1, 3).is_err());
            assert!(window.restart(&file, window.len(), 4).is_err());
            window.restart(&file, window.len(), 3).unwrap();
            assert_eq!(&window.bytes()[..window.len()], [9, 9]);
        }
    }

    #[test]
    fn a_long_scan_comes_piece_by_piece() {
        let file: Vec<u8> =
            (0..200_000_u32).flat_map(|i| if i % 97 == 0 { vec![0xFF, 0] } else { vec![(i % 251) as u8] }).collect();
        let expected: Vec<u8> = (0..200_000_u32).map(|i| if i % 97 == 0 { 0xFF } else { (i % 251) as u8 }).collect();
        let mut window = Window::default();
        window.begin(&file, 0, Reading::default());
        let mut seen = Vec::new();
        loop {
            let used = if window.has_mcu(1000) { window.len().min(1000) } else { 0 };
            seen.extend_from_slice(&window.bytes()[..used]);
            window.fill(&file, used);
            if window.len() == 0 {
                break;
            }
        }
        assert_eq!(seen, expected);
    }

    #[test]
    fn each_byte_of_the_window_has_its_place_in_the_file_wherever_the_window_is() {
        // Stuffing in all distances, some of it at the edges of what is read at once.
        let file: Vec<u8> =
            (0..90_000_u64).flat_map(|i| if i * i % 61 < 3 { vec![0xFF, 0] } else { vec![(i % 251) as u8] }).collect();
        let places: Vec<usize> = (5..file.len()).filter(|&at| file[at - 1] != 0xFF || file[at] != 0).collect();
        for (step, kept) in [(1, 0), (7, 8), (999, 3)] {
            let mut window = Window::default();
            window.begin(&file, 5, Reading { until: usize::MAX, placed: true });
            let (mut dropped, mut at) = (0, 0);
            while dropped + at < places.len() {
                if !window.has_mcu(at) {
                    // A decode drops less than it has used.
                    let used = at.saturating_sub(kept);
                    window.fill(&file, used);
                    (dropped, at) = (dropped + used, at - used);
                }
                assert_eq!(window.place(at), places[dropped + at], "byte {} in steps of {step}", dropped + at);
                at += step;
            }
        }
    }
}
