//! `hardware`: the NVJPG engines, a group of pictures at a time.

use super::{Backend, Cost, Descriptor, Form, Gpu, LaneError, LaneKind, OnGpu};

/// The size of a group, in units of the pictures that the engines decode at once. nvJPEG has room for only so much: with a
/// larger group, the call that queues it spins until there is room. Other workers keep the engines busy meanwhile.
const ROUNDS: usize = 2;
/// Lengths of measured batches: powers of two, and multiples of an H100's and H200's seven engines.
const BATCHES: &[usize] = &[16, 28, 32, 56, 64, 112, 128, 256];

pub(super) const LANE: Descriptor = Descriptor {
    kind: LaneKind::Hardware,
    name: "hardware",
    automatic: true,
    // An engine decodes a photograph of 0.2 megapixels in 0.4 milliseconds.
    prior: Cost::new(0.15e-3, 0.3e-3, 0.0),
    on_gpu: Some(OnGpu {
        backend: Backend::Hardware,
        together: true,
        states: 1,
        group,
        // While the group of one is composed and copied to its places, the engines work for the others.
        workers: |_| Ok(3),
        // A group of photographs, or one of eight megapixels in 4:4:4.
        surfaces: 24 << 20,
        // What the surfaces leave is the engines' own.
        parts: 4,
        // A few kilobytes a picture, and, should nvJPEG copy them, the files' bytes.
        page_locked: |surfaces| surfaces / 4,
        engine_surfaces: Some(|group| group),
        busy: false,
        several_scans: false,
        bare: &[
            (Form::Planes, 1, BATCHES),
            (Form::Planes, 2, BATCHES),
            (Form::Planes, 3, BATCHES),
            (Form::Rgb, 2, &[32, 112, 256]),
        ],
    }),
};

fn group(gpu: &Gpu) -> Result<usize, LaneError> {
    let (engines, cores) = gpu.engines()?;
    Ok((engines as usize * cores.max(1) as usize * ROUNDS).max(1))
}
