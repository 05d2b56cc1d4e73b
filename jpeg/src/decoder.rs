//! A decoder and its memory, used for one picture after the other; rows come as they are decoded.

use crate::entropy::Order;
use crate::fault::Fault;
use crate::frame::{Frame, Scale};
use crate::header::Header;
use crate::idct::{self, Size};
use crate::path::Path;
use crate::progressive::Progressive;
use crate::region::{Cut, Region};
use crate::scan::{McuRow, Scan, Wanted};
use crate::seek::SeekPoints;
use crate::strip::Strips;
use crate::window::Reading;

/// Decodes pictures. It allocates only when a picture is wider than all before it: its memory is that of a row of MCUs, at
/// most some 7 MB for the 65,535 columns that a JPEG can have. A progressive picture takes more: for each block, 128 bytes if
/// it is in the region, and 8 bytes if it is in the region or above or beside it. That is at most 1,088 bytes for a byte of the
/// file. How many pixels are too many is for the caller to say, who has the [`Header`] first.
///
/// ```no_run
/// use forebay_jpeg::{Decoder, Header, Region, Scale};
///
/// let file = std::fs::read("photograph.jpg")?;
/// let header = Header::read(&file)?;
/// let region = Region { left: 100, top: 50, width: 224, height: 224 };
/// let mut rgb = vec![0; 224 * 224 * 3];
/// let mut decoder = Decoder::default();
/// let rows = decoder.begin(&header, &file, Scale::Full, region).read(&mut rgb)?;
/// assert_eq!(rows, 224);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    path: Path,
    order: Box<Order>,
    scan: Scan,
    progressive: Progressive,
    strips: Strips,
}

/// A picture that is being decoded.
#[derive(Debug)]
pub struct Rows<'a> {
    decoder: &'a mut Decoder,
    file: &'a [u8],
    /// Whether all rows are made of coefficients that are there before the first of them: the picture is progressive.
    is_progressive: bool,
    /// Whether these are not there yet.
    is_open: bool,
    frame: Frame,
    cut: Cut,
    points: Option<&'a mut SeekPoints>,
    /// Whether there were points when the picture began: then they may be to blame for anything irregular.
    is_led: bool,
    /// The next row of MCUs to be parsed, and the number of the MCU before which the scan is.
    mcu_row: u32,
    mcu: u32,
    /// The next row of pixels, and the first that is not ready.
    next: u32,
    ready: u32,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(Path::detect())
    }
}

impl Decoder {
    /// A decoder that uses the instructions of `path`.
    ///
    /// # Panics
    /// If this processor does not have them.
    pub fn new(path: Path) -> Self {
        assert!(path.is_available(), "this processor does not have the instructions of {path:?}");
        Self {
            path,
            order: Box::new(order()),
            scan: Scan::default(),
            progressive: Progressive::default(),
            strips: Strips::default(),
        }
    }

    /// Begins to decode a region of a picture at a scale, as RGB. `header` is the result of [`Header::read`] for `file`.
    ///
    /// # Panics
    /// If the region is empty, or not in the scaled picture.
    pub fn begin<'a>(&'a mut self, header: &Header, file: &'a [u8], scale: Scale, region: Region) -> Rows<'a> {
        self.begin_with(header, file, scale, region, None)
    }

    /// As [`begin`](Self::begin), with the picture's seek points: the decode uses those that are loaded, if they are this
    /// file's, and adds those that it passes. The pixels are the same.
    ///
    /// # Panics
    /// If the region is empty, or not in the scaled picture.
    pub fn begin_seeking<'a>(
        &'a mut self,
        header: &Header,
        file: &'a [u8],
        scale: Scale,
        region: Region,
        points: &'a mut SeekPoints,
    ) -> Rows<'a> {
        self.begin_with(header, file, scale, region, Some(points))
    }

    /// Gives memory back that only large progressive pictures need: of a buffer that is larger than `bytes`, all of it.
    pub fn trim(&mut self, bytes: usize) {
        self.progressive.trim(bytes);
    }

    /// Finds the seek points of a whole picture, in place of those that are loaded, and decodes nothing.
    ///
    /// # Errors
    /// The first irregularity in the data. Then there are no points.
    pub fn note(&mut self, header: &Header, file: &[u8], points: &mut SeekPoints) -> Result<(), Fault> {
        let frame = Frame::new(header, Scale::Full);
        points.load(&[]);
        points.open(header, &frame, file);
        if points.is_complete() {
            // A picture like this has none, and neither has a progressive one.
            return Ok(());
        }
        let Self { path, order, scan, .. } = self;
        scan.begin(header, file, &frame, &Cut::nothing(), Reading { until: usize::MAX, placed: true });
        for number in 0..frame.mcus.1 {
            let row = McuRow { number, mcus: 0..frame.mcus.0, columns: 0..0, wanted: [Wanted::Nothing; 3] };
            scan.next_row(*path, file, order, &row, Some(points)).inspect_err(|_| points.forget())?;
        }
        Ok(())
    }

    fn begin_with<'a>(
        &'a mut self,
        header: &Header,
        file: &'a [u8],
        scale: Scale,
        region: Region,
        mut points: Option<&'a mut SeekPoints>,
    ) -> Rows<'a> {
        let frame = Frame::new(header, scale);
        assert!(region.is_in(frame.width, frame.height), "the region is in the picture");
        let cut = Cut::new(&frame, region);
        if let Some(points) = &mut points {
            points.open(header, &frame, file);
        }
        // Rows above the region are passed over if it is known where a later one begins.
        let entry = points.as_deref().and_then(|points| points.entry(cut.rows.start, cut.columns.start));
        let is_progressive = header.progressive;
        let mcu_row = if is_progressive { cut.rows.start } else { entry.map_or(0, |entry| entry.row) };
        // Nothing is read yet if the scan is entered at a point.
        let until = if entry.is_some() { 0 } else { usize::MAX };
        if is_progressive {
            self.progressive.begin(header, &frame, &cut);
        } else {
            self.scan.begin(header, file, &frame, &cut, Reading { until, placed: points.is_some() });
        }
        self.strips.begin(header, &frame, &cut);
        let (next, ready) = (region.top, region.top);
        let is_led = entry.is_some();
        let is_open = is_progressive;
        Rows { decoder: self, file, is_progressive, is_open, frame, is_led, points, mcu_row, mcu: 0, next, ready, cut }
    }
}

impl Rows<'_> {
    /// Decodes some of what has to be decoded before the first row: of a progressive picture, a part of its scans. Gives false
    /// once there is nothing left, as for all other pictures. [`read`](Self::read) does what was not done here. So this is
    /// for a caller who looks at the clock now and then.
    ///
    /// # Errors
    /// The first irregularity in the data.
    pub fn prepare(&mut self) -> Result<bool, Fault> {
        if self.is_open {
            let Decoder { path, progressive, .. } = &mut *self.decoder;
            self.is_open = progressive.step(*path, self.file, &self.frame, &self.cut)?;
        }
        Ok(self.is_open)
    }

    /// Decodes the next rows of the region into `out`, RGB without gaps, as many as fit; gives how many these are: none
    /// after the last.
    ///
    /// # Errors
    /// The first irregularity in the data. The rows before it may be wrong. [`Fault::Misled`] if seek points may have caused
    /// it: they are dropped, and the picture must be begun again.
    ///
    /// # Panics
    /// If `out` has no room for a row.
    pub fn read(&mut self, out: &mut [u8]) -> Result<u32, Fault> {
        let width = self.cut.region.width as usize * 3;
        assert!(out.len() >= width, "there is room for a row");
        let first = self.next;
        let end = self.cut.region.top + self.cut.region.height;
        for row in out.chunks_exact_mut(width) {
            if self.next == end {
                break;
            }
            while self.next == self.ready {
                self.decode_mcu_row().map_err(|fault| self.blame(fault))?;
            }
            self.decoder.strips.write_row(self.decoder.path, &self.cut, self.next, row);
            self.next += 1;
        }
        Ok(self.next - first)
    }

    fn decode_mcu_row(&mut self) -> Result<(), Fault> {
        let this = self.mcu_row;
        self.mcu_row += 1;
        let wanted = self.wanted(this);
        if self.is_progressive {
            while self.prepare()? {}
            let Decoder { path, progressive, strips, .. } = &mut *self.decoder;
            strips.transform(*path, &mut progressive.mcu_row(this), this, &wanted[..self.frame.count]);
            self.make_ready(this);
            return Ok(());
        }
        let Self { decoder: Decoder { path, order, scan, strips, .. }, frame, cut, points, .. } = self;
        let wanted_all = cut.rows.contains(&this);
        // Only the rows of the cut are left early: those above are parsed because more is not known of them.
        let knows_next = points.as_deref().is_some_and(|points| points.know_row(this + 1));
        let leaves = wanted_all && (knows_next || this + 1 == cut.rows.end);
        let end = if leaves { cut.columns.end } else { frame.mcus.0 };
        let (columns, target) = if wanted_all { (cut.columns.clone(), cut.columns.start) } else { (0..0, end) };
        let row_start = this * frame.mcus.0;
        let entry = points.as_deref().and_then(|points| points.entry(this, target)).filter(|entry| entry.row == this);
        // A row that begins where the one before ended is entered too: no data was read for it.
        if let (Some(entry), Some(points)) = (entry, points.as_deref())
            && row_start + entry.column >= self.mcu
        {
            self.mcu = row_start + entry.column;
            scan.enter(self.file, &entry.point, self.mcu, points.end(this, end));
        }
        let mcus = self.mcu - row_start..end;
        self.mcu = row_start + end;
        let row = McuRow { number: this, mcus, columns, wanted };
        scan.next_row(*path, self.file, order, &row, points.as_deref_mut())?;
        if wanted_all {
            strips.transform(*path, scan.blocks(), this, &wanted[..frame.count]);
            self.make_ready(this);
        }
        Ok(())
    }

    /// What is wanted of the components in an MCU row.
    fn wanted(&self, mcu_row: u32) -> [Wanted; 3] {
        let Self { cut, frame, .. } = self;
        std::array::from_fn(|component| {
            let rows = if component == 0 { &cut.luma_rows } else { &cut.rows };
            match (rows.contains(&mcu_row), frame.layouts[component].size) {
                (false, _) => Wanted::Nothing,
                (true, Size::One) => Wanted::Dc,
                (true, _) => Wanted::All,
            }
        })
    }

    /// An MCU row of the cut has been transformed: more rows of pixels can be made.
    fn make_ready(&mut self, mcu_row: u32) {
        let Self { cut, frame, .. } = self;
        // The last row of pixels may lean on the chroma of the next MCU row.
        let leans = frame.layouts[frame.count - 1].upsampling.needs_far() && mcu_row + 1 < frame.mcus.1;
        let ready = (mcu_row + 1) * frame.mcu.1 - u32::from(leans);
        self.ready = ready.clamp(self.ready, cut.region.top + cut.region.height);
    }

    /// The fault to report. Drops the points that may have led there, and those that were recorded on the way.
    fn blame(&mut self, fault: Fault) -> Fault {
        let Some(points) = &mut self.points else { return fault };
        points.forget();
        if self.is_led { Fault::Misled } else { fault }
    }
}

/// Where coefficients go: in a block as the inverse DCT has it, those past its end behind it.
pub(crate) fn order() -> Order {
    let mut order = [64; 320];
    order[..64].copy_from_slice(&idct::ORDER);
    order
}
