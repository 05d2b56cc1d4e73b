//! Warps of segments, which take a step together: how many, and how often one of their threads takes a path of its own.

use std::fmt;
use std::ops::AddAssign;

use forebay_benches::gate::{BLOCK_END, LONG, Twin};
use forebay_jpeg::segments::Launch;

/// Threads of a warp.
const WARP: usize = 32;

/// What warps have done.
#[derive(Clone, Copy, Default)]
struct Count {
    /// Steps of warps, and those of threads.
    warp: usize,
    thread: usize,
    /// Steps in which a thread of the warp ends a block, and in which one has a long code.
    ends: usize,
    long: usize,
}

/// What warps of launches take, by how segments are put into them.
#[derive(Default)]
pub(crate) struct Warps {
    pictures: usize,
    segments: usize,
    blocks: usize,
    /// As they come.
    in_order: Count,
    /// A warp has segments of one picture, sorted by their bits: its tables can be in shared memory.
    by_picture: Count,
    /// Sorted by their bits across pictures.
    sorted: Count,
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.warp += other.warp;
        self.thread += other.thread;
        self.ends += other.ends;
        self.long += other.long;
    }
}

impl Count {
    fn of(traces: &[&[u8]]) -> Self {
        let warp = traces.iter().map(|trace| trace.len()).max().unwrap_or(0);
        let mut paths = vec![0; warp];
        for trace in traces {
            for (paths, path) in paths.iter_mut().zip(*trace) {
                *paths |= path;
            }
        }
        let with = |path: u8| paths.iter().filter(|&&paths| paths & path != 0).count();
        Self { warp, thread: traces.iter().map(|trace| trace.len()).sum(), ends: with(BLOCK_END), long: with(LONG) }
    }
}

impl Warps {
    /// Adds a launch of so many pictures.
    pub(crate) fn add(&mut self, launch: &Launch, twin: &Twin, pictures: usize) {
        self.pictures += pictures;
        self.segments += launch.segments.len();
        self.blocks += launch.lines.iter().map(|line| line.blocks as usize).sum::<usize>();
        let traces = |numbers: &[usize]| {
            let mut count = Count::default();
            for warp in numbers.chunks(WARP) {
                let traces: Vec<_> = warp.iter().map(|&number| twin.trace(launch, number)).collect();
                count += Count::of(&traces);
            }
            count
        };
        let mut numbers: Vec<_> = (0..launch.segments.len()).collect();
        self.in_order += traces(&numbers);
        let length = |number: usize| launch.segments[number].words;
        let picture = |number: usize| launch.segments[number].picture;
        numbers.sort_by_key(|&number| (picture(number), std::cmp::Reverse(length(number))));
        for of_picture in numbers.chunk_by(|&a, &b| picture(a) == picture(b)) {
            self.by_picture += traces(of_picture);
        }
        numbers.sort_by_key(|&number| std::cmp::Reverse(length(number)));
        self.sorted += traces(&numbers);
    }
}

impl fmt::Display for Warps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |number: usize| number as f64 / self.pictures as f64;
        write!(f, ", {:.0} segments and {:.0} blocks to transform each", each(self.segments), each(self.blocks))?;
        for (name, count) in [("in order", self.in_order), ("by picture", self.by_picture), ("sorted", self.sorted)] {
            let share = |number: usize| number as f64 / count.warp as f64;
            let (busy, steps) = (share(count.thread) / WARP as f64, each(count.warp));
            write!(f, "\n    {name}: {steps:.0} steps of warps, {busy:.2} of threads busy; ")?;
            write!(f, "in {:.2} of them a block ends, in {:.3} a code is long", share(count.ends), share(count.long))?;
        }
        Ok(())
    }
}
