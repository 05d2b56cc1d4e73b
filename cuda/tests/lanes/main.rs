//! The lanes of a GPU, on the fake: pictures, refusals, failures, memory, and hardware that ignores the order of its stream.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

mod ceiling;
mod pictures;
mod refusals;
mod self_test;
mod surfaces;

use forebay_cuda::NvjpegPlaces;
use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::size::LaneSize;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::lane::{LaneKind, Refusal};
use forebay_cuda::survey::Places;
use forebay_fake_gpu::Fake;
use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Limits};

const LIMIT: usize = 256 << 20;
const SIZE: LaneSize = LaneSize { workers: 1, surfaces: 2 << 20, engines: 48 << 20 };

fn gpu(fake: &Fake, limit: usize) -> Gpu {
    let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
    let places = Places { driver: Some(fake.path()), nvjpeg };
    Gpu::open_all(&places, limit).unwrap().pop().unwrap().unwrap()
}

fn worker(gpu: &Gpu, kind: LaneKind) -> Worker {
    Worker::all(gpu, kind, SIZE).unwrap().pop().unwrap()
}

fn jpeg(index: u64, width: u32, height: u32, form: JpegForm) -> Vec<u8> {
    form.encode(&photograph_rgb(index, width, height), width, height).unwrap()
}

/// The pixels of all pictures, or why another lane has to take them, over as many calls as it takes.
fn all(worker: &mut Worker, files: &[Vec<u8>]) -> Vec<Result<Vec<u8>, Refusal>> {
    let mut outcomes = Vec::new();
    while outcomes.len() < files.len() {
        let decoded = worker.whole(&refs(&files[outcomes.len()..])).unwrap();
        outcomes.extend(decoded.into_iter().map(|outcome| outcome.map(|whole| whole.rgb)));
    }
    outcomes
}

fn whole(bytes: &[u8]) -> Vec<u8> {
    CpuDecoder::new().whole(bytes, &Limits::default()).unwrap().rgb
}

fn refs(files: &[Vec<u8>]) -> Vec<&[u8]> {
    files.iter().map(Vec::as_slice).collect()
}

/// Pictures of many sizes, among them all kinds of edges.
fn photographs(count: u64) -> Vec<Vec<u8>> {
    let forms = [[1, 1], [2, 1], [2, 2], [1, 2]];
    let side = |number: u64, step: u64| u32::try_from(1 + number * step % 97).unwrap();
    (0..count)
        .map(|number| {
            let sampling = forms[usize::try_from(number % 4).unwrap()];
            jpeg(number, side(number, 29), side(number, 41), JpegForm { sampling, ..JpegForm::default() })
        })
        .collect()
}
