//! Which ways to decode are used, and how a picture is assigned to one of them.

use forebay_cuda::lane::LaneKind;

/// The requested lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// These lanes. Each must be available.
    Named(Vec<LaneKind>),
    /// Hardware if there is any, and the CPU.
    Auto,
    /// As [`Lanes::Auto`], with the lane of a picture chosen by its record's number.
    Fixed,
}

impl Default for Lanes {
    fn default() -> Self {
        Self::Named(vec![LaneKind::Cpu])
    }
}

impl Lanes {
    /// The kinds that are used if they are available.
    pub fn kinds(&self) -> Vec<LaneKind> {
        match self {
            Self::Named(kinds) => kinds.clone(),
            Self::Auto | Self::Fixed => LaneKind::ALL.into_iter().filter(|kind| kind.is_automatic()).collect(),
        }
    }

    /// Whether any of them is a GPU's.
    pub fn want_gpu(&self) -> bool {
        self.kinds().into_iter().any(LaneKind::is_of_gpu)
    }
}
