//! The conformance suite of the lanes. It checks every kind of lane in the table against the contract that is
//! documented there.

use std::sync::Arc;

use forebay_cuda::NvjpegPlaces;
use forebay_cuda::lane::LaneKind;
use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::order::{Made, Order, Target};
use forebay_cuda::lane::size::LaneSize;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::survey::Places;
use forebay_fake_gpu::Fake;
use forebay_pixels::{Draw, Fault, JpegHead, Limits, Origin, Recipe, sample};

use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::views::FurtherViews;
use crate::decode::{Decode, MakeDecode, Picture};
use crate::record::Input;
use crate::settings::JpegDecoder;

/// The ways to decode of a kind of lane, by name.
fn ways(kind: LaneKind) -> Vec<(String, MakeDecode)> {
    if kind.is_of_gpu() {
        return vec![(kind.to_string(), gpu(kind))];
    }
    let ways = [JpegDecoder::Auto, JpegDecoder::LibjpegTurbo];
    ways.map(|jpeg| (format!("{kind}, JPEGs by {jpeg:?}"), cpu(jpeg))).into()
}

fn cpu(jpeg: JpegDecoder) -> MakeDecode {
    CpuLane::maker(CpuShared::new(Limits::default(), Arc::new(Budget::new(128 << 20)), jpeg))
}

/// A GPU lane with the CPU lane behind it, as the pool puts them together, for one picture at a time.
struct OneByOne {
    worker: Worker,
    cpu: Decode,
    /// Holds the library.
    _fake: Arc<Fake>,
}

fn gpu(kind: LaneKind) -> MakeDecode {
    let fake = Arc::new(Fake::new());
    let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
    let places = Places { driver: Some(fake.path()), nvjpeg };
    let gpu = Gpu::open_all(&places, 64 << 20).unwrap().pop().unwrap().unwrap();
    Arc::new(move || {
        let size = LaneSize { workers: 1, surfaces: 1 << 20, engines: 8 << 20 };
        let worker = Worker::all(&gpu, kind, size).unwrap().pop().unwrap();
        let mut lane = OneByOne { worker, cpu: cpu(JpegDecoder::Auto)(), _fake: Arc::clone(&fake) };
        Box::new(move |picture| lane.decode(picture))
    })
}

impl OneByOne {
    fn decode(&mut self, picture: Picture<'_>) -> Result<Origin, Fault> {
        let Input::File(bytes) = picture.input else { return (self.cpu)(picture) };
        let limits = Limits::default();
        let made = Made::By(picture.recipe, picture.draw, &limits);
        let outcome = self.worker.decode(&mut [Order { bytes, made, out: Target::Host(picture.out) }]).unwrap()[0];
        if outcome.is_err() {
            return (self.cpu)(picture);
        }
        let head = JpegHead::read(bytes)?;
        Ok(Origin::of_recipe((head.width, head.height), head.orientation, picture.recipe))
    }
}

#[test]
fn every_lane_keeps_the_contract() {
    for (name, make) in LaneKind::ALL.into_iter().flat_map(ways) {
        println!("{name}");
        rule_8_pixels_follow_from_bytes_recipe_and_draw_alone(&make);
        every_byte_of_the_place_is_written(&make);
        a_bad_picture_is_a_fault_and_harms_no_later_one(&make);
    }
}

fn pictures() -> Vec<Vec<u8>> {
    vec![sample::photograph(1, 320, 200), sample::photograph(2, 64, 333), sample::photograph(3, 1, 1)]
}

fn draw(record: u64) -> Draw {
    Draw { seed: 42, epoch: 1, record }
}

fn decode(with: &mut Decode, bytes: &[u8], draw: Draw, before: u8) -> Result<Vec<u8>, Fault> {
    let recipe = Recipe::training(48).unwrap();
    let mut out = vec![before; recipe.place_len()];
    let input = Input::File(bytes);
    let record = draw.record;
    with(Picture {
        input,
        behind: &[],
        cache: None,
        seek: None,
        recipe: &recipe,
        record,
        draw,
        out: &mut out,
        further: FurtherViews::default(),
    })
    .map(|_| out)
}

fn rule_8_pixels_follow_from_bytes_recipe_and_draw_alone(make: &MakeDecode) {
    let mut used = make();
    for bytes in &pictures() {
        for record in 0..4 {
            let fresh = decode(&mut make(), bytes, draw(record), 0).unwrap();
            assert_eq!(decode(&mut used, bytes, draw(record), 0).unwrap(), fresh, "whatever was decoded before");
        }
    }
    let photograph = &pictures()[0];
    let crops = [0, 1].map(|record| decode(&mut used, photograph, draw(record), 0).unwrap());
    assert_ne!(crops[0], crops[1], "another record is cut in another way");
}

fn every_byte_of_the_place_is_written(make: &MakeDecode) {
    let mut decoder = make();
    for bytes in &pictures() {
        let dark = decode(&mut decoder, bytes, draw(0), 0).unwrap();
        assert_eq!(decode(&mut decoder, bytes, draw(0), 255).unwrap(), dark);
    }
}

fn a_bad_picture_is_a_fault_and_harms_no_later_one(make: &MakeDecode) {
    let photograph = &pictures()[0];
    let mut decoder = make();
    let expected = decode(&mut decoder, photograph, draw(0), 0).unwrap();
    let cut = photograph.len() / 2;
    let mut torn = photograph.clone();
    torn[2..40].fill(0);
    for bad in [&[][..], b"no picture at all", &photograph[..cut], &photograph[..3], &torn] {
        decode(&mut decoder, bad, draw(0), 0).unwrap_err();
        assert_eq!(decode(&mut decoder, photograph, draw(0), 0).unwrap(), expected);
    }
}
