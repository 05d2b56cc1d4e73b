//! How much a scan reads at once. A file is read in small steps. A request to a store takes as long as many bytes do, so
//! where a scan passes over few bytes, these are read too.

/// Decides how much a scan reads next, by where it has looked so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    is_remote: bool,
    /// Where the last look ended.
    end: u64,
    /// The bytes that looks skip, on average of the latest ones.
    gap: u64,
    /// What the last request asked for; 0 before the first.
    asked: usize,
}

/// Bytes of a file that are read at once.
const OF_FILES: usize = 16 << 10;
/// Bytes of the first request, and of a request after a large gap.
const FIRST: usize = 64 << 10;
const FAR: usize = 16 << 10;
/// The most bytes of a request, unless one look is at more.
const MOST: usize = 8 << 20;
/// Reading a gap of this size takes as long as another request would.
const NEAR: u64 = 1 << 20;

impl Stride {
    pub(super) fn of_files() -> Self {
        Self { is_remote: false, end: 0, gap: 0, asked: 0 }
    }

    pub(super) fn of_requests() -> Self {
        Self { is_remote: true, ..Self::of_files() }
    }

    /// The scan looks at these bytes.
    pub(super) fn look(&mut self, offset: u64, len: usize) {
        if !self.is_remote {
            return;
        }
        // A scan that looks back does not continue from there.
        let gap = offset.checked_sub(self.end).unwrap_or(NEAR.saturating_mul(4));
        self.gap = self.gap - self.gap / 4 + gap / 4;
        self.end = offset.saturating_add(len as u64);
    }

    /// How many bytes to read now, because the bytes that are looked at were not read yet.
    pub(super) fn step(&mut self) -> usize {
        if !self.is_remote {
            return OF_FILES;
        }
        self.asked = match self.asked {
            0 => FIRST,
            _ if self.gap > NEAR => FAR,
            asked => asked.saturating_mul(4).clamp(FIRST, MOST),
        };
        self.asked
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    /// Requests of a scan that looks at a header before each of these bodies, with the bytes that they have together.
    fn requests(bodies: impl Iterator<Item = u64>) -> (u64, u64) {
        let mut stride = Stride::of_requests();
        let (mut at, mut held, mut count, mut bytes) = (0, 0, 0, 0);
        for body in bodies {
            stride.look(at, 512);
            if at + 512 > held {
                let step = stride.step() as u64;
                held = at + step;
                (count, bytes) = (count + 1, bytes + step);
            }
            at += 512 + body;
        }
        (count, bytes)
    }

    #[test]
    fn small_bodies_are_read_on_the_way_and_large_ones_passed_over() {
        let (count, bytes) = requests(iter::repeat_n(100 << 10, 10_000));
        let all = 10_000 * ((100 << 10) + 512);
        assert!(count < 150 && bytes <= all + (8 << 20), "{count} requests of {bytes} bytes");
        let (count, bytes) = requests(iter::repeat_n(10 << 20, 1000));
        assert!(count == 1000 && bytes < 1000 * (17 << 10) + (16 << 20), "{count} requests of {bytes} bytes");
    }

    #[test]
    fn one_long_body_among_small_ones_changes_little() {
        let bodies = (0..10_000_u64).map(|number| if number % 1000 == 0 { 64 << 20 } else { 100 << 10 });
        let (count, _) = requests(bodies);
        assert!(count < 600, "{count}");
    }

    #[test]
    fn files_are_read_in_small_steps() {
        let mut stride = Stride::of_files();
        for offset in [0, 100, 1 << 30, 5] {
            stride.look(offset, 10);
            assert_eq!(stride.step(), OF_FILES);
        }
    }
}
