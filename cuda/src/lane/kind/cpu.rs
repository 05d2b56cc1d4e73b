//! `cpu`: the CPU lane, which is always there. What it finds bad is bad.

use super::{Cost, Descriptor, LaneKind};

pub(super) const LANE: Descriptor = Descriptor {
    kind: LaneKind::Cpu,
    name: "cpu",
    automatic: true,
    // A photograph of 0.2 megapixels takes two milliseconds.
    prior: Cost::new(0.2e-3, 2e-3, 1e-5),
    on_gpu: None,
};
