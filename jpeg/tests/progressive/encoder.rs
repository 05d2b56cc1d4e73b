//! Writes progressive pictures of given coefficients, in whatever scans are asked for (T.81, annex G, and K for the ends of
//! blocks). It knows nothing of pixels.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]

use super::codes::{CodeBook, Symbols};

/// A picture's components and their coefficients.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) planes: Vec<Plane>,
    /// MCUs between restart markers; 0: none.
    pub(crate) restart: u32,
    /// Blocks that end together, at most.
    pub(crate) longest_end: u32,
    /// Chooses the Huffman codes.
    pub(crate) seed: u64,
}

/// A component.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub(crate) factors: (u32, u32),
    /// Blocks in a row and rows of them, those that only fill MCUs among them.
    pub(crate) stored: (u32, u32),
    /// Those that are real.
    pub(crate) real: (u32, u32),
    /// In zigzag order.
    pub(crate) blocks: Vec<[i16; 64]>,
}

/// A scan: its components, the first and the last of its coefficients, and the bits that are known before and behind it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) components: Vec<usize>,
    pub(crate) band: (usize, usize),
    /// The lowest bit before; none if this is the first scan with these coefficients.
    pub(crate) high: Option<u8>,
    pub(crate) low: u8,
}

impl Model {
    fn most(&self) -> (u32, u32) {
        let factors = || self.planes.iter().map(|plane| plane.factors);
        (factors().map(|f| f.0).max().unwrap(), factors().map(|f| f.1).max().unwrap())
    }

    /// A picture of these sampling factors whose coefficients are `coefficient(component, zigzag index)`, block by block.
    pub(crate) fn new(
        (width, height): (u32, u32),
        factors: &[(u32, u32)],
        mut coefficient: impl FnMut(usize, usize) -> i16,
    ) -> Self {
        let most = (factors.iter().map(|f| f.0).max().unwrap(), factors.iter().map(|f| f.1).max().unwrap());
        let mcus = (width.div_ceil(most.0 * 8), height.div_ceil(most.1 * 8));
        let plane = |(component, &(h, v)): (usize, &(u32, u32))| {
            // A component alone has its blocks one by one, whatever its factors.
            let stored = (mcus.0 * h, mcus.1 * v);
            let blocks = (0..stored.0 * stored.1).map(|_| std::array::from_fn(|k| coefficient(component, k))).collect();
            let real = ((width * h).div_ceil(most.0 * 8), (height * v).div_ceil(most.1 * 8));
            Plane { factors: (h, v), stored, real, blocks }
        };
        let planes = factors.iter().enumerate().map(plane).collect();
        Self { width, height, planes, restart: 0, longest_end: 0x7FFF, seed: 1 }
    }

    /// The file.
    pub(crate) fn encode(&self, parts: &[Part]) -> Vec<u8> {
        let mut file = vec![0xFF, 0xD8];
        segment(&mut file, 0xDB, &[&[0_u8][..], &[3; 64]].concat());
        let sides = [(self.height as u16).to_be_bytes(), (self.width as u16).to_be_bytes()].concat();
        let listed = (1..).zip(&self.planes).flat_map(|(id, plane)| {
            let (h, v) = plane.factors;
            [id, (h << 4 | v) as u8, 0]
        });
        let frame: Vec<u8> =
            [&[8][..], &sides, &[self.planes.len() as u8]].concat().into_iter().chain(listed).collect();
        segment(&mut file, 0xC2, &frame);
        if self.restart > 0 {
            segment(&mut file, 0xDD, &(self.restart as u16).to_be_bytes());
        }
        for (number, part) in parts.iter().enumerate() {
            self.scan(&mut file, part, self.seed.wrapping_add(number as u64));
        }
        file.extend([0xFF, 0xD9]);
        file
    }

    fn scan(&self, file: &mut Vec<u8>, part: &Part, seed: u64) {
        let is_dc = part.band.0 == 0;
        let book = CodeBook::new(if is_dc { Symbols::Dc } else { Symbols::Ac }, seed);
        let kind = if is_dc { 0x00 } else { 0x10 };
        segment(file, 0xC4, &[&[kind][..], &book.counts, &book.symbols].concat());
        let mut header = vec![part.components.len() as u8];
        header.extend(part.components.iter().flat_map(|&component| [component as u8 + 1, 0]));
        let bits = part.high.unwrap_or(0) << 4 | part.low;
        header.extend([part.band.0 as u8, part.band.1 as u8, bits]);
        segment(file, 0xDA, &header);
        let mut writer = Writer { book, part, longest_end: self.longest_end, ..Writer::new(part) };
        for (number, mcu) in self.mcus(part).into_iter().enumerate() {
            if self.restart > 0 && number > 0 && (number as u32).is_multiple_of(self.restart) {
                writer.restart(((number as u32 / self.restart - 1) % 8) as u8);
            }
            for (place, component, block) in mcu {
                writer.block(place, &self.planes[component].blocks[block]);
            }
        }
        writer.end_blocks();
        file.extend(writer.finish());
    }

    /// The blocks of each MCU: the place of the component in the scan, the component, and the number of the block.
    fn mcus(&self, part: &Part) -> Vec<Vec<(usize, usize, usize)>> {
        if let [component] = part.components[..] {
            let plane = &self.planes[component];
            let number = move |x, y| (y * plane.stored.0 + x) as usize;
            let rows = (0..plane.real.1).flat_map(|y| (0..plane.real.0).map(move |x| (x, y)));
            return rows.map(|(x, y)| vec![(0, component, number(x, y))]).collect();
        }
        let most = self.most();
        let mcus = (self.width.div_ceil(most.0 * 8), self.height.div_ceil(most.1 * 8));
        let of_mcu = |column: u32, row: u32| {
            let mut blocks = Vec::new();
            for (place, &component) in part.components.iter().enumerate() {
                let plane = &self.planes[component];
                for i in 0..plane.factors.0 * plane.factors.1 {
                    let x = column * plane.factors.0 + i % plane.factors.0;
                    let y = row * plane.factors.1 + i / plane.factors.0;
                    blocks.push((place, component, (y * plane.stored.0 + x) as usize));
                }
            }
            blocks
        };
        (0..mcus.1).flat_map(|row| (0..mcus.0).map(move |column| (column, row))).map(|(x, y)| of_mcu(x, y)).collect()
    }
}

fn segment(file: &mut Vec<u8>, marker: u8, bytes: &[u8]) {
    file.extend([0xFF, marker]);
    file.extend((bytes.len() as u16 + 2).to_be_bytes());
    file.extend(bytes);
}

/// A scan's data.
struct Writer<'a> {
    book: CodeBook,
    part: &'a Part,
    longest_end: u32,
    bytes: Vec<u8>,
    current: u32,
    count: u32,
    dc: [i32; 3],
    /// Blocks that have ended without a symbol for it, and the bits of what is known in them.
    ended: u32,
    pending: Vec<bool>,
}

impl<'a> Writer<'a> {
    fn new(part: &'a Part) -> Self {
        let book = CodeBook::new(Symbols::Dc, 0);
        let (bytes, pending) = (Vec::new(), Vec::new());
        Self { book, part, longest_end: 1, bytes, current: 0, count: 0, dc: [0; 3], ended: 0, pending }
    }

    fn put(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            self.current = self.current << 1 | (value >> bit & 1);
            self.count += 1;
            if self.count == 8 {
                self.bytes.push(self.current as u8);
                if self.current == 0xFF {
                    self.bytes.push(0);
                }
                (self.current, self.count) = (0, 0);
            }
        }
    }

    fn symbol(&mut self, symbol: u8) {
        let (code, length) = self.book.code(symbol);
        self.put(code, length);
    }

    fn align(&mut self) {
        while self.count > 0 {
            self.put(1, 1);
        }
    }

    fn restart(&mut self, number: u8) {
        self.end_blocks();
        self.align();
        self.bytes.extend([0xFF, 0xD0 + number]);
        self.dc = [0; 3];
    }

    fn finish(mut self) -> Vec<u8> {
        self.align();
        self.bytes
    }

    fn block(&mut self, place: usize, block: &[i16; 64]) {
        match (self.part.band.0, self.part.high) {
            (0, None) => {
                let value = i32::from(block[0]) >> self.part.low;
                let difference = value - self.dc[place];
                self.dc[place] = value;
                let size = 32 - difference.unsigned_abs().leading_zeros();
                self.symbol(size as u8);
                self.put((if difference < 0 { difference - 1 } else { difference }) as u32, size);
            }
            (0, Some(_)) => self.put((block[0] >> self.part.low & 1) as u32, 1),
            (_, None) => self.begin(block),
            (_, Some(_)) => self.refine(block),
        }
    }

    /// A coefficient without the bits that are not known yet: it is cut towards zero.
    fn known(value: i16, low: u8) -> i32 {
        i32::from(value.signum()) * (i32::from(value).abs() >> low)
    }

    fn begin(&mut self, block: &[i16; 64]) {
        let mut run = 0;
        for &value in &block[self.part.band.0..=self.part.band.1] {
            let value = Self::known(value, self.part.low);
            if value == 0 {
                run += 1;
                continue;
            }
            self.end_blocks();
            while run > 15 {
                self.symbol(0xF0);
                run -= 16;
            }
            let size = 32 - value.unsigned_abs().leading_zeros();
            self.symbol((run as u8) << 4 | size as u8);
            self.put((if value < 0 { value - 1 } else { value }) as u32, size);
            run = 0;
        }
        if run > 0 {
            self.ended += 1;
            if self.ended == self.longest_end {
                self.end_blocks();
            }
        }
    }

    fn refine(&mut self, block: &[i16; 64]) {
        let (low, (first, last)) = (self.part.low, self.part.band);
        let value = |k: usize| Self::known(block[k], low);
        let last_new = (first..=last).rev().find(|&k| value(k).abs() == 1);
        let (mut run, mut bits) = (0, Vec::new());
        for k in first..=last {
            let value = value(k);
            if value == 0 {
                run += 1;
                continue;
            }
            while run > 15 && last_new.is_some_and(|last| k <= last) {
                self.end_blocks();
                self.symbol(0xF0);
                self.bits(&mut bits);
                run -= 16;
            }
            if value.abs() > 1 {
                bits.push(value.abs() & 1 != 0);
                continue;
            }
            self.end_blocks();
            self.symbol((run as u8) << 4 | 1);
            self.put(u32::from(value > 0), 1);
            self.bits(&mut bits);
            run = 0;
        }
        if run > 0 || !bits.is_empty() {
            self.ended += 1;
            self.pending.append(&mut bits);
            if self.ended == self.longest_end {
                self.end_blocks();
            }
        }
    }

    fn bits(&mut self, bits: &mut Vec<bool>) {
        bits.drain(..).for_each(|bit| self.put(bit.into(), 1));
    }

    /// Writes the end of the blocks that have ended.
    fn end_blocks(&mut self) {
        if self.ended > 0 {
            let size = self.ended.ilog2();
            self.symbol((size as u8) << 4);
            self.put(self.ended, size);
            self.ended = 0;
            let mut pending = std::mem::take(&mut self.pending);
            self.bits(&mut pending);
        }
    }
}
