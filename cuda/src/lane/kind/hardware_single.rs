//! `hardware-single`: the NVJPG engines, a picture at a time for each of their cores, so that no picture waits for the others of a group.

use super::{Backend, Cost, Descriptor, Form, Gpu, LaneError, LaneKind, OnGpu};

/// The most threads; each core of an engine has one.
const MOST_WORKERS: usize = 16;

pub(super) const LANE: Descriptor = Descriptor {
    kind: LaneKind::HardwareSingle,
    name: "hardware-single",
    automatic: false,
    prior: Cost::new(0.3e-3, 0.6e-3, 0.0),
    on_gpu: Some(OnGpu {
        backend: Backend::Hardware,
        together: false,
        states: 1,
        group: |_| Ok(1),
        workers,
        // One picture of 2.7 megapixels in 4:4:4: there are many workers.
        surfaces: 8 << 20,
        // What the surfaces leave is the engines' own.
        parts: 4,
        // A few kilobytes a picture, and, should nvJPEG copy it, the file's bytes.
        page_locked: |surfaces| surfaces / 4,
        // The picture at work, and the next.
        engine_surfaces: Some(|_| 2),
        busy: false,
        several_scans: false,
        bare: &[(Form::Planes, 7, &[8]), (Form::Planes, 14, &[8]), (Form::Planes, 21, &[8])],
    }),
};

fn workers(gpu: &Gpu) -> Result<usize, LaneError> {
    let (engines, cores) = gpu.engines()?;
    Ok((engines as usize * cores.max(1) as usize).clamp(1, MOST_WORKERS))
}
