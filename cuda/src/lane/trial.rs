//! The tests of a GPU's lanes on the GPU itself, for a machine that has no toolchain: `forebay doctor --self-test` runs them, as
//! does `cargo test`.

use std::time::Duration;

use forebay_pixels::sample::{JpegForm, photograph, photograph_rgb};
use forebay_pixels::{CpuDecoder, Dtype, Layout, Limits, Output};

use super::gpu::Gpu;
use super::recycle::{Recycled, recycle};
use super::self_test::{Difference, look};
use super::size::LaneSize;
use super::worker::Worker;
use super::{LaneKind, Refusal};
use crate::compose::beside::{Beside, beside, speed};

/// Bytes of a worker's surfaces.
const SURFACES: usize = 16 << 20;
/// Bytes that the engines' decoder may take of the GPU for a worker.
const ENGINES: usize = 64 << 20;
/// Pictures of [`recycle`].
const RECYCLED: usize = 200;
/// Groups over which nothing may be taken of the GPU's memory.
const GROUPS: usize = 10;

/// How far the kernel may be from its twin.
const MOST: u32 = 1;

/// The outcome of a test: its observations, or what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What is tested.
    pub name: &'static str,
    /// How it went, in words.
    pub outcome: Result<String, String>,
}

/// Tests a lane. One that the GPU does not have fails every test. `copy` is the length of the copies that [`recycle`] takes.
pub fn trials(gpu: &Gpu, kind: LaneKind, copy: usize) -> Vec<Trial> {
    let mut trials = vec![
        Trial { name: "known pictures", outcome: with_worker(gpu, kind, known) },
        Trial { name: "bad pictures among good ones", outcome: with_worker(gpu, kind, among_bad) },
        Trial { name: "memory", outcome: with_worker(gpu, kind, |worker| memory(gpu, worker)) },
    ];
    if kind.uses_engines() {
        trials.push(Trial { name: "surfaces used again", outcome: recycled(gpu, kind, copy) });
    }
    trials
}

/// Tests the kernel: compares it with its twin over random cases, and measures its speed with this many pictures in a
/// launch, for about this time.
pub fn kernel_trials(gpu: &Gpu, cases: u64, pictures: u32, time: Duration) -> Vec<Trial> {
    let beside = gpu.site().and_then(|site| beside(site, cases)).map_err(|error| error.to_string());
    let beside = beside.and_then(|Beside { cases, worst, differ }| {
        let told = format!("{cases} cases, worst difference {worst} of 255, {differ} values differ");
        if worst <= MOST { Ok(told) } else { Err(told) }
    });
    let forms = [(Dtype::Uint8, Layout::Nhwc, "uint8"), (Dtype::Float16, Layout::Nchw, "float16 in planes")];
    let speeds = forms.map(|(dtype, layout, name)| {
        let output = Output { dtype, layout, ..Output::default() };
        let rate =
            gpu.site().and_then(|site| speed(site, pictures, output, time)).map_err(|error| error.to_string())?;
        Ok(format!("{rate:.0} pictures/s to {name}"))
    });
    let speeds: Result<Vec<_>, String> = speeds.into_iter().collect();
    vec![
        Trial { name: "beside its twin", outcome: beside },
        Trial { name: "speed alone", outcome: speeds.map(|speeds| speeds.join(", ")) },
    ]
}

fn with_worker(
    gpu: &Gpu,
    kind: LaneKind,
    test: impl FnOnce(&mut Worker) -> Result<String, String>,
) -> Result<String, String> {
    let mut workers = Worker::all(gpu, kind, LaneSize { workers: 1, surfaces: SURFACES, engines: ENGINES })
        .map_err(|error| error.to_string())?;
    test(&mut workers[0])
}

fn known(worker: &mut Worker) -> Result<String, String> {
    let seen = look(worker).map_err(|error| error.to_string())?;
    let off = |Difference { worst, mean }| format!("off by up to {worst}, by {mean:.3} on average");
    let mut told = vec![format!("values are {}", off(seen.largest()))];
    let others = seen.differences.iter().filter(|(_, difference)| difference.worst > 0);
    told.extend(others.map(|(form, difference)| format!("{form}: {}", off(*difference))));
    told.extend(seen.refused.iter().map(|refused| format!("refused: {refused}")));
    let told = told.join("; ");
    // An error lists all figures, because they help to choose the limits of a lane.
    seen.judged().map_err(|error| format!("{error}; {told}"))?;
    Ok(told)
}

/// The lane cannot decode one picture in three, or the picture's data are damaged; each of the others must have the same result as
/// alone, and no damaged one may show the others' picture.
fn among_bad(worker: &mut Worker) -> Result<String, String> {
    let good = photograph(1, 320, 240);
    let progressive = JpegForm { progressive: true, ..JpegForm::default() };
    let bad = [
        b"\x89PNG".to_vec(),
        good[..40].to_vec(),
        JpegForm { sampling: [4, 1], ..progressive }
            .encode(&photograph_rgb(2, 64, 48), 64, 48)
            .expect("such a picture can be encoded"),
        cut(&photograph(3, 320, 240)),
        flipped(&photograph(3, 320, 240)),
    ];
    // The hardware may take these two for good ones.
    let may_be_decoded = |number: usize| number / 3 >= bad.len() - 2;
    let files: Vec<_> = bad.iter().flat_map(|bad| [good.as_slice(), bad, &good]).collect();
    let expected = CpuDecoder::new().whole(&good, &Limits::default()).expect("the CPU lane decodes it").rgb;
    let (mut number, mut reasons) = (0, Vec::new());
    while number < files.len() {
        for outcome in worker.whole(&files[number..]).map_err(|error| error.to_string())? {
            match outcome {
                Ok(decoded) if number % 3 == 1 && may_be_decoded(number) => {
                    if Difference::between(&decoded.rgb, &expected).is_allowed() {
                        return Err(format!("picture {number} is damaged, and shows the one before it"));
                    }
                    reasons.push("damaged, and decoded");
                }
                Ok(_) if number % 3 == 1 => return Err(format!("picture {number} is bad, and was decoded")),
                Ok(decoded) => {
                    let difference = Difference::between(&decoded.rgb, &expected);
                    if !difference.is_allowed() {
                        return Err(format!("picture {number} is off by up to {}", difference.worst));
                    }
                }
                Err(refusal) if number % 3 == 1 => reasons.push(Refusal::name(refusal)),
                Err(refusal) => return Err(format!("picture {number} is good, and was refused: {}", refusal.name())),
            }
            number += 1;
        }
    }
    Ok(format!("refused: {}", reasons.join(", ")))
}

/// Without the last third of its scan, but with its end marker, so that only the data show it.
fn cut(picture: &[u8]) -> Vec<u8> {
    let mut kept = picture[..picture.len() * 2 / 3].to_vec();
    while kept.last() == Some(&0xFF) {
        kept.pop();
    }
    kept.extend([0xFF, 0xD9]);
    kept
}

/// With other bits in the middle of its scan, and no new marker.
fn flipped(picture: &[u8]) -> Vec<u8> {
    let mut changed = picture.to_vec();
    let middle = picture.len() / 2;
    for byte in &mut changed[middle..middle + 60] {
        if !matches!(*byte, 0 | 0x5A | 0xFF) {
            *byte ^= 0xA5;
        }
    }
    changed
}

/// Nothing more is taken once groups of every length have run, and the limit holds.
fn memory(gpu: &Gpu, worker: &mut Worker) -> Result<String, String> {
    let files =
        [(1, 320, 240), (2, 160, 120), (3, 99, 1)].map(|(index, width, height)| photograph(index, width, height));
    let files: Vec<_> = files.iter().cycle().take(worker.group()).map(Vec::as_slice).collect();
    let mut before = None;
    let most = files.len();
    let lengths = [most, 1, most / 2, most, most - 1];
    for (group, len) in lengths.into_iter().cycle().take(GROUPS).enumerate() {
        let files = &files[..len];
        let mut done = 0;
        while done < len {
            done += worker.whole(&files[done..]).map_err(|error| error.to_string())?.len();
        }
        let used = gpu.account().used();
        // nvJPEG decodes short groups in another way, with buffers of their own: the first of each length may take something.
        if group + 1 == lengths.len() {
            before = Some(used);
        }
        if let Some(before) = before.filter(|before| used > *before) {
            return Err(format!("{before} bytes became {used} over {GROUPS} groups"));
        }
    }
    let (peak, limit) = (gpu.account().peak(), gpu.account().limit());
    if peak > limit {
        return Err(format!("{peak} bytes were taken, of {limit}"));
    }
    Ok(format!("{peak} bytes at most, of {limit}"))
}

fn recycled(gpu: &Gpu, kind: LaneKind, copy: usize) -> Result<String, String> {
    let recycled = recycle(gpu, kind, RECYCLED, copy).map_err(|error| error.to_string())?;
    let Recycled { rounds, wrong, without_wait } = recycled;
    let text = format!("{wrong} wrong of {rounds}; {without_wait} without the host's wait");
    if wrong == 0 { Ok(text) } else { Err(text) }
}
