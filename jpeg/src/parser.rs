//! Entropy decoding with nothing behind it: what takes most of the time of a decode, to be measured by itself.

use crate::decoder::order;
use crate::entropy::Order;
use crate::fault::Fault;
use crate::frame::{Frame, Scale};
use crate::header::Header;
use crate::path::Path;
use crate::progressive::Progressive;
use crate::region::{Cut, Region};
use crate::scan::{McuRow, Scan, Wanted};
use crate::window::Reading;

/// Finds all coefficients of pictures, a row of MCUs at a time, and makes nothing of them. For the benchmark.
#[derive(Debug)]
pub struct Parser {
    path: Path,
    order: Box<Order>,
    scan: Scan,
    progressive: Progressive,
}

impl Parser {
    /// One that uses the instructions of `path`.
    ///
    /// # Panics
    /// If this processor does not have them.
    pub fn new(path: Path) -> Self {
        assert!(path.is_available(), "this processor does not have the instructions of {path:?}");
        Self { path, order: Box::new(order()), scan: Scan::default(), progressive: Progressive::default() }
    }

    /// Parses a picture's scans.
    ///
    /// # Errors
    /// What is irregular in the data.
    pub fn parse(&mut self, header: &Header, file: &[u8]) -> Result<(), Fault> {
        let frame = Frame::new(header, Scale::Full);
        let cut = Cut::new(&frame, Region::whole(frame.width, frame.height));
        if header.progressive {
            self.progressive.begin(header, &frame, &cut);
            while self.progressive.step(self.path, file, &frame, &cut)? {}
            return Ok(());
        }
        self.scan.begin(header, file, &frame, &cut, Reading::default());
        let mut row = McuRow { number: 0, mcus: 0..frame.mcus.0, columns: cut.columns, wanted: [Wanted::All; 3] };
        (0..frame.mcus.1).try_for_each(|number| {
            row.number = number;
            self.scan.next_row(self.path, file, &self.order, &row, None)
        })
    }
}
