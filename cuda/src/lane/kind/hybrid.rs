//! `hybrid`: Huffman coding on a CPU thread, the rest on the GPU's multiprocessors.

use super::{Backend, Cost, Descriptor, Form, LaneKind, OnGpu};

pub(super) const LANE: Descriptor = Descriptor {
    kind: LaneKind::Hybrid,
    name: "hybrid",
    automatic: false,
    prior: Cost::new(0.2e-3, 0.5e-3, 6e-6),
    on_gpu: Some(OnGpu {
        backend: Backend::Hybrid,
        together: false,
        // While the GPU is at a picture, the thread reads the next one.
        states: 2,
        group: |_| Ok(4),
        // Each keeps a core busy.
        workers: |_| Ok(2),
        // A group of photographs, or one of eight megapixels in 4:4:4.
        surfaces: 24 << 20,
        // In each state, nvJPEG has two bytes a coefficient and one a sample.
        parts: 9,
        // nvJPEG's host decoder keeps two bytes a coefficient there, of whole blocks, as versions 12 and 13 have been seen to ask
        // for.
        page_locked: |surfaces| 2 * surfaces + surfaces / 4,
        engine_surfaces: None,
        busy: true,
        several_scans: true,
        bare: &[
            (Form::Planes, 1, &[8]),
            (Form::Planes, 2, &[8]),
            (Form::Planes, 4, &[8]),
            (Form::Planes, 8, &[8]),
            (Form::Planes, 16, &[8]),
        ],
    }),
};
