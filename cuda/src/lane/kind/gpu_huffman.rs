//! `gpu-huffman`: all on the GPU's multiprocessors, a group of pictures at a time.

use super::{Backend, Cost, Descriptor, Form, LaneKind, OnGpu};

pub(super) const LANE: Descriptor = Descriptor {
    kind: LaneKind::GpuHuffman,
    name: "gpu-huffman",
    automatic: false,
    prior: Cost::new(0.15e-3, 0.3e-3, 0.0),
    on_gpu: Some(OnGpu {
        backend: Backend::GpuHybrid,
        together: true,
        states: 1,
        // nvJPEG does Huffman coding on the GPU for more than 50 pictures at once.
        group: |_| Ok(64),
        // The group of one is copied to its places while the other's is decoded.
        workers: |_| Ok(2),
        // A group of photographs in 4:4:4, or as many results of 224 x 224 in single precision.
        surfaces: 40 << 20,
        // nvJPEG has two bytes a coefficient and one a sample.
        parts: 6,
        // A few kilobytes a picture, and, should nvJPEG copy them, the files' bytes.
        page_locked: |surfaces| surfaces / 4,
        engine_surfaces: None,
        busy: false,
        several_scans: false,
        bare: &[(Form::Planes, 1, &[64, 256]), (Form::Planes, 2, &[128])],
    }),
};
