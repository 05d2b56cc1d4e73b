//! A picture whose segments are added to a launch.

use std::ops::Range;

use super::{Launch, Segment, Unfit, u32_of};
use crate::header::next_marker;
use crate::region::Cut;
use crate::seek::{Point, SeekPoints};

/// Bytes that are looked at together for an FF.
const CHUNK: usize = 32;

/// A picture that is being added.
pub(super) struct Added<'a> {
    pub(super) launch: &'a mut Launch,
    pub(super) file: &'a [u8],
    pub(super) restart_interval: u32,
    /// Of a segment of it: tables, slots and picture.
    pub(super) like: Segment,
    pub(super) per_mcu: u32,
    /// The number of its first block, and the MCU that this is of.
    pub(super) block: u32,
    pub(super) base: u32,
}

/// Where the data of a segment end.
#[derive(Clone, Copy)]
enum End {
    /// There.
    Point(Point),
    /// Not behind this byte.
    Before(usize),
}

impl Added<'_> {
    /// The segments of a row, of which it is known where it begins.
    pub(super) fn row(
        &mut self,
        points: &SeekPoints,
        row: u32,
        columns: u32,
        wanted: &Range<u32>,
    ) -> Result<(), Unfit> {
        let mut entry = points.entry(row, wanted.start).filter(|entry| entry.row == row).ok_or(Unfit::NoEntry)?;
        loop {
            let next = points.next_column(entry.column + 1);
            let begin = row * columns + entry.column;
            if next >= wanted.end {
                let end = End::Before(points.end(row, wanted.end));
                return self.mcus(&entry.point, begin..row * columns + wanted.end, end);
            }
            let known = points.entry(row, next).filter(|entry| (entry.row, entry.column) == (row, next));
            let Some(known) = known else {
                // The points end in this row.
                return self.mcus(&entry.point, begin..row * columns + wanted.end, End::Before(usize::MAX));
            };
            self.mcus(&entry.point, begin..row * columns + next, End::Point(known.point))?;
            entry = known;
        }
    }

    /// MCUs from a point on, with a segment for each restart interval.
    fn mcus(&mut self, from: &Point, mcus: Range<u32>, end: End) -> Result<(), Unfit> {
        let (mut byte, mut bit) = (usize::try_from(from.at / 8).map_err(|_| Unfit::Irregular)?, (from.at % 8) as u32);
        let (mut mcu, mut dc) = (mcus.start, from.dc);
        while mcu < mcus.end {
            let due = mcu.checked_rem(self.restart_interval) == Some(0) && mcu > 0;
            if due {
                if bit > 0 {
                    // A last byte FF is stuffed too.
                    byte += 1 + usize::from(self.file.get(byte) == Some(&0xFF));
                }
                let number = mcu / self.restart_interval - 1;
                if next_marker(self.file, &mut byte)? != 0xD0 + (number % 8) as u8 {
                    return Err(Unfit::Irregular);
                }
                (bit, dc) = (0, [0; 3]);
            }
            let behind =
                mcu.checked_div(self.restart_interval).map_or(u32::MAX, |past| (past + 1) * self.restart_interval);
            let segment = Segment { bit, dc, ..self.like };
            let (stop, ended) = if behind < mcus.end { (End::Before(usize::MAX), true) } else { (end, false) };
            byte = self.segment(segment, byte, mcu..behind.min(mcus.end), stop, ended)?;
            (mcu, bit) = (behind.min(mcus.end), 0);
        }
        Ok(())
    }

    /// Adds a segment that begins in a byte of the file, and gives the byte behind its data. `ended` says that a marker has to
    /// follow them.
    fn segment(
        &mut self,
        mut segment: Segment,
        from: usize,
        mcus: Range<u32>,
        end: End,
        ended: bool,
    ) -> Result<usize, Unfit> {
        let until = match end {
            End::Point(point) => usize::try_from(point.at.div_ceil(8)).map_err(|_| Unfit::Irregular)?,
            End::Before(byte) => byte,
        };
        let begin = self.launch.used;
        let behind = self.unstuff(from, until);
        let bits = u32_of((self.launch.used - begin) * 8)?;
        (segment.least, segment.most) = match end {
            End::Point(point) => {
                if behind < until {
                    return Err(Unfit::Irregular);
                }
                (segment.known, segment.end_dc) = (1, point.dc);
                let end = bits.checked_sub((point.at.wrapping_neg() % 8) as u32).ok_or(Unfit::Irregular)?;
                (end, end)
            }
            End::Before(_) => (if ended { bits.saturating_sub(7) } else { 0 }, bits),
        };
        // A block takes two bits at least.
        let blocks = (mcus.end - mcus.start) * self.per_mcu;
        if bits / 2 < blocks {
            return Err(Unfit::Irregular);
        }
        // A word of zeros at least, and two words in all.
        let Launch { data, used, .. } = &mut *self.launch;
        let end = (*used + 7).next_multiple_of(4).max(begin + 8);
        data[*used..end].fill(0);
        *used = end;
        (segment.word, segment.words) = (u32_of(begin / 4)?, u32_of((end - begin) / 4)?);
        segment.blocks = blocks;
        segment.first = self.block.checked_add((mcus.start - self.base) * self.per_mcu).ok_or(Unfit::NoEntry)?;
        self.launch.segments.push(segment);
        Ok(behind)
    }

    /// The segments between restart markers that the cut needs.
    pub(super) fn restarts(&mut self, start: usize, columns: u32, cut: &Cut, wanted: &Range<u32>) -> Result<(), Unfit> {
        let (mut byte, mut mcu) = (start, 0);
        while mcu < wanted.end {
            if mcu > 0 && next_marker(self.file, &mut byte)? != 0xD0 + ((mcu / self.restart_interval - 1) % 8) as u8 {
                return Err(Unfit::Irregular);
            }
            let behind = (mcu + self.restart_interval).min(wanted.end);
            let begin = self.launch.used;
            let (first, last) = ((mcu / columns, mcu % columns), ((behind - 1) / columns, (behind - 1) % columns));
            let beside = first.0 == last.0 && (first.1 >= cut.columns.end || last.1 < cut.columns.start);
            if behind <= wanted.start || beside {
                byte = self.unstuff(byte, usize::MAX);
                self.launch.used = begin;
            } else {
                byte = self.segment(self.like, byte, mcu..behind, End::Before(usize::MAX), behind < wanted.end)?;
            }
            mcu = behind;
        }
        Ok(())
    }

    /// Adds the data from a byte of the file on, up to `until` or a marker, without their stuffing. Gives the byte behind them.
    fn unstuff(&mut self, mut at: usize, until: usize) -> usize {
        let file = self.file;
        let end = until.min(file.len());
        let Launch { data, used, .. } = &mut *self.launch;
        // With room for a chunk and for the zeros behind the data.
        let most = *used + end.saturating_sub(at) + CHUNK + 16;
        if data.len() < most {
            data.resize(most.next_power_of_two(), 0);
        }
        let mut to = *used;
        while at < end {
            let rest = &file[at..end];
            let taken = if let Some(chunk) = rest.first_chunk::<CHUNK>() {
                data[to..to + CHUNK].copy_from_slice(chunk);
                // Without a way out in the middle this becomes a few vector instructions.
                let found = chunk.iter().fold(0, |found, &byte| found | u8::from(byte == 0xFF));
                if found == 0 { CHUNK } else { chunk.iter().position(|&byte| byte == 0xFF).unwrap_or(CHUNK) }
            } else {
                let taken = rest.iter().position(|&byte| byte == 0xFF).unwrap_or(rest.len());
                data[to..to + taken].copy_from_slice(&rest[..taken]);
                taken
            };
            to += taken;
            at += taken;
            if taken < CHUNK && at < end {
                if file.get(at + 1) != Some(&0) {
                    break;
                }
                data[to] = 0xFF;
                to += 1;
                at += 2;
            }
        }
        *used = to;
        at
    }
}
