//! What lanes make of pictures is what the CPU lane makes of them, wherever it goes.

use std::sync::Arc;

use forebay_cuda::lane::LaneKind;
use forebay_cuda::lane::order::{Made, Order, Target};
use forebay_cuda::{Context, Driver, SharedMemory, SharedPlace, Stream};
use forebay_fake_gpu::Fake;
use forebay_pixels::sample::JpegForm;
use forebay_pixels::{
    CpuDecoder, Draw, Dtype, Interpolation, Layout, Limits, Match, Output, Recipe, Transform, TrivialAugmentWide,
};

use crate::{LIMIT, all, gpu, jpeg, photographs, refs, whole, worker};

#[test]
fn planes_become_the_same_pixels_as_on_the_cpu_in_every_sampling_and_size() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let files = photographs(120);
    for kind in LaneKind::GPU {
        let mut worker = worker(&gpu, kind);
        for (file, outcome) in files.iter().zip(all(&mut worker, &files)) {
            assert!(outcome.unwrap() == whole(file), "{kind}");
        }
    }
}

fn trivial_augment() -> Transform {
    Transform::TrivialAugmentWide(TrivialAugmentWide {
        num_magnitude_bins: 31,
        interpolation: Interpolation::Nearest,
        fill: None,
    })
}

/// Streams of several forms share a lane, and so a launch.
#[test]
fn pictures_of_several_recipes_in_one_batch_are_the_cpu_lanes_to_the_byte_on_every_lane() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let floats = Output { dtype: Dtype::Float32, layout: Layout::Nchw, ..Output::default() };
    let augmented = [Transform::training(40), vec![trivial_augment()]].concat();
    let recipes = [
        Recipe::training(48).unwrap(),
        Recipe::evaluation(20).unwrap(),
        Recipe::new(Transform::training(31), floats).unwrap(),
        Recipe::new(augmented.clone(), Output::default()).unwrap(),
        Recipe::new(augmented, floats).and_then(|recipe| recipe.with_match(Match::Torch)).unwrap(),
    ];
    let files = photographs(60);
    let limits = Limits::default();
    let of = |number: usize| (&recipes[number % 5], Draw { seed: 4, epoch: 2, record: number as u64 });
    for kind in LaneKind::ALL.into_iter().filter(|kind| *kind != LaneKind::Cpu) {
        let mut worker = worker(&gpu, kind);
        let mut places: Vec<_> = (0..files.len()).map(|number| vec![0xA5; of(number).0.place_len()]).collect();
        let mut done = 0;
        while done < files.len() {
            let rest = (done..).zip(&files[done..]).zip(&mut places[done..]);
            let mut orders: Vec<_> = rest
                .map(|((number, bytes), out)| Order {
                    bytes,
                    made: Made::By(of(number).0, of(number).1, &limits),
                    out: Target::Host(out),
                })
                .collect();
            let outcomes = worker.decode(&mut orders).unwrap();
            assert!(outcomes.iter().all(Result::is_ok), "{kind}");
            done += outcomes.len();
        }
        for (number, (file, place)) in files.iter().zip(&places).enumerate() {
            let (recipe, draw) = of(number);
            let mut expected = vec![0; recipe.place_len()];
            CpuDecoder::new().decode(file, recipe, draw, &limits, &mut expected).unwrap();
            assert!(*place == expected, "{kind}, picture {number}");
        }
    }
}

#[test]
fn results_are_made_in_shared_memory_where_that_is_their_place_and_beside_them_others_go_to_the_host() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let context = Context::new(&Driver::open(Some(&fake.path())).unwrap(), 0).unwrap();
    let memory = Arc::new(SharedMemory::new(&context, 1).unwrap());
    // A picture in the GPU's ring is operated on beside the ring.
    let recipe = [Transform::training(32), vec![trivial_augment()]].concat();
    let recipe = Recipe::new(recipe, Output::default()).unwrap();
    let (len, limits) = (recipe.place_len(), Limits::default());
    let files = photographs(12);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let mut stream = Stream::new(&context).unwrap();
    let mut shared: Vec<_> = (0..12).map(|number| SharedPlace::new(&memory, number * len, len)).collect();
    let mut host = vec![vec![0; len]; 12];
    let of = |number: usize| Draw { seed: 4, epoch: 2, record: number as u64 };
    let orders = files.iter().zip(&mut shared).zip(&mut host).enumerate();
    let mut orders: Vec<_> = orders
        .map(|(number, ((bytes, shared), host))| Order {
            bytes,
            made: Made::By(&recipe, of(number), &limits),
            out: if number % 3 == 0 { Target::Host(host) } else { Target::Gpu(shared) },
        })
        .collect();
    assert_eq!(worker.decode(&mut orders).unwrap(), vec![Ok(()); 12]);
    drop(orders);
    for (number, file) in files.iter().enumerate() {
        let (mut expected, mut found) = (vec![0; len], vec![0; len]);
        CpuDecoder::new().decode(file, &recipe, of(number), &limits, &mut expected).unwrap();
        stream.read_place(&shared[number], &mut found).unwrap();
        let (there, elsewhere) = if number % 3 == 0 { (&host[number], &found) } else { (&found, &host[number]) };
        assert!(*there == expected, "picture {number}");
        assert!(elsewhere.iter().all(|byte| *byte == 0), "picture {number} is in its place alone");
    }
}

#[test]
fn pictures_that_do_not_fit_together_take_several_calls() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut worker = worker(&gpu, LaneKind::Hardware);
    let large = jpeg(1, 500, 800, JpegForm { sampling: [1, 1], ..JpegForm::default() });
    let files: Vec<_> = std::iter::repeat_n(large, 6).collect();
    assert_eq!(worker.whole(&refs(&files)).unwrap().len(), 1, "two take 2.4 MB, of 2 MiB");
    let expected = whole(&files[0]);
    assert!(all(&mut worker, &files).into_iter().all(|outcome| outcome.is_ok_and(|rgb| rgb == expected)));
}
