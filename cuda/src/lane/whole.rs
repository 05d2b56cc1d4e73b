//! Whole pictures as a lane decodes them, for tests of lanes and for comparisons with other decoders.

use super::Refusal;
use super::worker::{Made, Order, Target, Worker};
use crate::driver::CudaError;
use crate::frame::Frame;

/// A whole picture, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Stored width.
    pub width: u32,
    /// Stored height.
    pub height: u32,
    /// Packed RGB.
    pub rgb: Vec<u8>,
}

impl Whole {
    /// The picture of a file before it is decoded. One that a worker will refuse has no pixels.
    fn expected(bytes: &[u8], room: usize) -> Self {
        let (width, height) = Frame::head(bytes).map_or((0, 0), |head| (head.width, head.height));
        let len = width as usize * height as usize * 3;
        Self { width, height, rgb: vec![0; if len <= room { len } else { 0 }] }
    }
}

impl Worker {
    /// Decodes the first of these files whole, as many as its memory holds; otherwise as [`Worker::decode`].
    ///
    /// # Errors
    /// The GPU is broken.
    pub fn whole(&mut self, files: &[&[u8]]) -> Result<Vec<Result<Whole, Refusal>>, CudaError> {
        let room = self.room();
        let mut pictures: Vec<_> = files.iter().map(|bytes| Whole::expected(bytes, room)).collect();
        let orders = files.iter().zip(&mut pictures);
        let mut orders: Vec<_> = orders
            .map(|(bytes, picture)| Order { bytes, made: Made::Whole, out: Target::Host(&mut picture.rgb) })
            .collect();
        let outcomes = self.decode(&mut orders)?;
        drop(orders);
        Ok(outcomes.into_iter().zip(pictures).map(|(outcome, picture)| outcome.map(|()| picture)).collect())
    }
}
