//! The kernels of `benches/gpu/gate` on the CPU: segments of JPEGs to samples, and samples to pixels.
#![allow(unsafe_code, reason = "calls the kernels, which are C")]

use forebay_jpeg::Region;
use forebay_jpeg::segments::{Launch, Line, Planes, Segment};

/// In a step of a trace: it decodes a DC value.
pub const DC: u8 = 1;
/// Its code is longer than a look.
pub const LONG: u8 = 2;
/// It ends a block.
pub const BLOCK_END: u8 = 4;

/// A block's coefficients, which are read 16 bytes at a time.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
struct Block([i16; 64]);

/// The memory of a launch. Coefficients, samples and traces lie where a GPU's would.
#[derive(Debug, Default)]
pub struct Twin {
    words: Vec<u32>,
    tables: Vec<u32>,
    coefficients: Vec<Block>,
    samples: Vec<u64>,
    faults: Vec<u32>,
    traces: Vec<u8>,
    steps: Vec<u32>,
}

/// The arguments of `forebay_gate_twin`.
#[repr(C)]
struct Arguments {
    segments: *const Segment,
    lines: *const Line,
    words: *const u32,
    tables: *const u32,
    coefficients: *mut Block,
    samples: *mut u64,
    faults: *mut u32,
    traces: *mut u8,
    steps: *mut u32,
    segment_count: u32,
    line_count: u32,
    longest_line: u32,
}

/// `Planes`, as C has them.
#[repr(C)]
struct PlanesOfC {
    at: [u32; 3],
    pitches: [u32; 3],
    factors: [u32; 2],
    chroma: [u32; 2],
    count: u32,
}

unsafe extern "C" {
    fn forebay_gate_twin(arguments: *const Arguments);
    fn forebay_gate_rgb(samples: *const u64, planes: *const PlanesOfC, region: *const [u32; 4], rgb: *mut u8);
}

impl Twin {
    /// Decodes all pictures of a launch, of which there are so many. Gives those that have a fault.
    ///
    /// # Panics
    /// If a segment or a line is not in the launch's memory.
    pub fn run(&mut self, launch: &Launch, pictures: usize) -> Vec<usize> {
        let words = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        (self.words, self.tables) = (words(launch.data()), words(&launch.tables));
        self.coefficients.clear();
        self.coefficients.resize(launch.blocks as usize, Block([0; 64]));
        // What is not decoded is not black.
        self.samples.clear();
        self.samples.resize(launch.samples.div_ceil(8) as usize, 0xA5A5_A5A5_A5A5_A5A5);
        self.faults.clear();
        self.faults.resize(pictures, 0);
        self.traces.resize(launch.blocks as usize * 64, 0);
        self.steps.clear();
        self.steps.resize(launch.segments.len(), 0);
        self.check(launch);
        let count = |len: usize| u32::try_from(len).expect("launches are smaller");
        let arguments = Arguments {
            segments: launch.segments.as_ptr(),
            lines: launch.lines.as_ptr(),
            words: self.words.as_ptr(),
            tables: self.tables.as_ptr(),
            coefficients: self.coefficients.as_mut_ptr(),
            samples: self.samples.as_mut_ptr(),
            faults: self.faults.as_mut_ptr(),
            traces: self.traces.as_mut_ptr(),
            steps: self.steps.as_mut_ptr(),
            segment_count: count(launch.segments.len()),
            line_count: count(launch.lines.len()),
            longest_line: launch.lines.iter().map(|line| line.blocks).max().unwrap_or(0),
        };
        // SAFETY: `check` has seen that the words of every segment, its tables, blocks and picture, and the blocks and samples
        // of every line, are in the vectors that the pointers are of; a segment takes 64 steps for a block at most.
        unsafe { forebay_gate_twin(&raw const arguments) };
        (0..pictures).filter(|&picture| self.faults[picture] != 0).collect()
    }

    /// That the kernels stay in this memory.
    fn check(&self, launch: &Launch) {
        const SET: u64 = 2 * (2048 + 320 + 320);
        for segment in &launch.segments {
            let Segment { word, words, tables, slots, blocks, first, picture, bit, .. } = *segment;
            let sets = (0..6).map(|slot| slots >> (5 * slot) >> 1 & 3).max().unwrap_or(0);
            assert!(words >= 2 && bit < 32 && word as usize + words as usize <= self.words.len(), "{segment:?}");
            assert!(u64::from(tables) + u64::from(sets + 1) * SET <= self.tables.len() as u64 * 4, "{segment:?}");
            assert!(blocks > 0 && first as usize + blocks as usize <= self.coefficients.len(), "{segment:?}");
            assert!((picture as usize) < self.faults.len(), "{segment:?}");
        }
        for line in &launch.lines {
            let last = line.blocks - 1;
            let in_mcu = last & ((1 << line.shift) - 1);
            let block =
                u64::from(line.first) + u64::from(last >> line.shift) * u64::from(line.per_mcu) + u64::from(in_mcu);
            assert!(block < self.coefficients.len() as u64, "{line:?}");
            let end = u64::from(line.at) + 7 * u64::from(line.pitch) + u64::from(line.blocks) * 8;
            assert!(line.at % 8 == 0 && line.pitch % 8 == 0 && end <= self.samples.len() as u64 * 8, "{line:?}");
        }
    }

    /// The pixels of a region that was decoded.
    pub fn rgb(&self, planes: &Planes, region: Region) -> Vec<u8> {
        let Region { left, top, width, height } = region;
        let mut rgb = vec![0; width as usize * height as usize * 3];
        let planes = PlanesOfC {
            at: planes.at,
            pitches: planes.pitches,
            factors: planes.factors.into(),
            chroma: planes.chroma.into(),
            count: u32::from(planes.count == 3) * 2 + 1,
        };
        let region = [left, top, width, height];
        // SAFETY: the planes are those of a launch whose samples these are, and the region lies in the picture.
        unsafe { forebay_gate_rgb(self.samples.as_ptr(), &raw const planes, &raw const region, rgb.as_mut_ptr()) };
        rgb
    }

    /// The paths of each step of a segment.
    pub fn trace(&self, launch: &Launch, number: usize) -> &[u8] {
        &self.traces[launch.segments[number].first as usize * 64..][..self.steps[number] as usize]
    }

    /// A launch's descriptions, and what was made of it, as bytes by their names.
    pub fn memory(&self, launch: &Launch) -> [(&'static str, Vec<u8>); 5] {
        let Launch { segments, lines, .. } = launch;
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let segment = |one: &Segment| {
            let Segment { word, words, bit, tables, slots, blocks, first, picture, dc, least, most, known, end_dc } =
                *one;
            let head = [word, words, bit, tables, slots, blocks, first, picture];
            let [begin, end] = [dc, end_dc].map(|dc| dc.map(i32::cast_unsigned));
            [&head[..], &begin, &[least, most, known], &end].concat()
        };
        let line = |one: &Line| [one.first, one.per_mcu, one.shift, one.blocks, one.at, one.pitch];
        [
            ("segments", words(&segments.iter().flat_map(segment).collect::<Vec<_>>())),
            ("lines", words(&lines.iter().flat_map(line).collect::<Vec<_>>())),
            ("steps", words(&self.steps)),
            ("traces", self.traces.clone()),
            ("samples", self.samples.iter().flat_map(|eight| eight.to_le_bytes()).collect()),
        ]
    }
}
