//! Counters of each lane's work, for the status and the metrics.

use forebay_cuda::lane::Refusal;

/// A lane, as the status shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneReport {
    /// `cpu`, `hardware on GPU 0`.
    pub name: String,
    /// Pictures that it has decoded.
    pub pictures: u64,
    /// Pictures that it took from another lane's line.
    pub stolen: u64,
    /// Pictures that it passed on to the next lane, by reason.
    pub refused: Vec<(Refusal, u64)>,
}

/// A lane's counts.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneCounts {
    pictures: u64,
    refused: [u64; Refusal::ALL.len()],
}

impl LaneCounts {
    /// It has decoded a picture.
    pub(super) fn decoded(&mut self) {
        self.pictures += 1;
    }

    /// It leaves a picture to the next lane.
    pub(super) fn refused(&mut self, refusal: Refusal) {
        self.refused[refusal as usize] += 1;
    }

    pub(super) fn report(&self, name: String, stolen: u64) -> LaneReport {
        let refused = Refusal::ALL.into_iter().zip(self.refused).filter(|(_, count)| *count > 0);
        LaneReport { name, pictures: self.pictures, stolen, refused: refused.collect() }
    }
}
