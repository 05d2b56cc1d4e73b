//! Recipes with functions in Python: where they may be, and into which parts they are split.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::{
    Annotated, Background, CpuDecoder, Draw, Dtype, Fault, KeptPicture, Layout, Limits, MaskDecoder, MaskDepth,
    MaskOrder, Mode, Origin, Output, Recipe, RecipeError, SplitRecipe, probe, sample,
};
use proptest::prelude::*;
use serde_json::{Value, from_value, json};

const FLOAT: Output =
    Output { dtype: Dtype::Float32, layout: Layout::Nchw, background: Background::Colour([9, 8, 7]), mode: Mode::Rgb };

fn recipe(list: Value) -> Result<Recipe, RecipeError> {
    Recipe::new(from_value(list).unwrap(), FLOAT)
}

fn function() -> Value {
    json!({ "python": { "function": "steps:augment" } })
}

/// Carries the parts out one after the other, as if each function gave back what it gets.
fn in_parts(recipe: &Recipe, bytes: &[u8], draw: Draw) -> Vec<u8> {
    let (mut decoder, limits) = (CpuDecoder::new(), Limits::default());
    let split = SplitRecipe::new(recipe);
    let mut next = split.next(0, draw);
    let origin = probe(bytes).unwrap().origin_before(recipe.input(), None);
    let first = split.part(0, next).for_picture(&origin, draw, &limits).unwrap();
    let (mut out, (mut height, mut width, _)) = (vec![0; first.place_len()], first.shape());
    decoder.decode(bytes, &first, draw, &limits, &mut out).unwrap();
    while let Some(number) = next {
        assert!(split.steps()[number].takes.is_none_or(|size| size == (height, width)));
        let picture = KeptPicture::of_pixels((width, height), out);
        next = split.next(number + 1, draw);
        let then = split.part(number + 1, next).for_picture(&picture.origin, draw, &limits).unwrap();
        (out, (height, width, _)) = (vec![0; then.place_len()], then.shape());
        decoder.transform(&picture, &then, draw, &limits, &mut out).unwrap();
    }
    out
}

/// What a recipe makes of a mask whose picture has this size.
fn mask_of(recipe: &Recipe, mask: &[u8], size: (u32, u32), draw: Draw) -> Vec<u8> {
    let (origin, (height, width, _)) = (Origin::plain(size), recipe.shape());
    let order = MaskOrder { origin: &origin, recipe, draw, annotated: Annotated::AsSeen, fill: 65535 };
    let mut out = vec![0; height as usize * width as usize * 2];
    MaskDecoder::default().decode(mask, MaskDepth::U16, &order, &Limits::default(), &mut out).unwrap();
    out
}

/// The same by the parts one after the other, as if each function gave back what it gets.
fn mask_in_parts(recipe: &Recipe, mask: &[u8], size: (u32, u32), draw: Draw) -> Vec<u8> {
    let (mut decoder, split) = (MaskDecoder::default(), SplitRecipe::new(recipe));
    let mut next = split.next(0, draw);
    let (origin, limits) = (Origin::plain(size), Limits::default());
    let first = split.part(0, next).for_picture(&origin, draw, &limits).unwrap();
    let (mut height, mut width, _) = first.shape();
    let mut out = mask_of(&first, mask, size, draw);
    while let Some(number) = next {
        let before = split.before(number);
        let before = before.for_picture(&origin, draw, &limits).unwrap();
        assert!(out == mask_of(&before, mask, size, draw), "functions before are passed over");
        next = split.next(number + 1, draw);
        let then = split.part(number + 1, next);
        let then = then.for_picture(&Origin::plain((width, height)), draw, &limits).unwrap();
        let (high, wide, _) = then.shape();
        let numbers = std::mem::replace(&mut out, vec![0; high as usize * wide as usize * 2]);
        decoder.carry(&numbers, (width, height), MaskDepth::U16, (&then, draw, 65535), &mut out);
        (height, width) = (high, wide);
    }
    out
}

#[test]
fn a_recipe_without_functions_has_one_part() {
    let recipe = Recipe::training(32).unwrap();
    let split = SplitRecipe::new(&recipe);
    assert!(split.steps().is_empty() && recipe.python().next().is_none());
    let draw = Draw { seed: 1, epoch: 2, record: 3 };
    assert_eq!(split.part(0, split.next(0, draw)).plan(80, 60, draw), recipe.plan(80, 60, draw));
}

#[test]
fn a_part_knows_its_sizes_and_only_the_last_one_has_the_form_of_the_output() {
    let recipe = recipe(json!([
        { "center_crop": { "size": 20 } },
        { "python": { "function": "steps:augment", "output": [10, 30] } },
        { "random_crop": { "size": [8, 9] } },
        function(),
        { "normalize": { "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5] } },
    ]))
    .unwrap();
    assert_eq!(recipe.shape(), (8, 9, 3));
    let split = SplitRecipe::new(&recipe);
    let (steps, first) = (split.steps(), split.part(0, Some(0)));
    let (output, background) = (Output::default(), FLOAT.background);
    assert_eq!((first.shape(), first.output()), ((20, 20, 3), Output { background, ..output }));
    let sizes: Vec<_> = steps.iter().map(|step| (step.takes, step.gives)).collect();
    assert_eq!(sizes, [(Some((20, 20)), Some((10, 30))), (Some((8, 9)), Some((8, 9)))]);
    let (between, last) = (split.part(1, Some(1)), split.part(2, None));
    assert_eq!((between.shape(), between.output().dtype), ((8, 9, 3), Dtype::Uint8));
    assert_eq!((last.shape(), last.output(), last.normalize().is_some()), ((8, 9, 3), FLOAT, true));
}

/// The functions that are called for a picture, in their order.
fn called(split: &SplitRecipe, draw: Draw) -> Vec<usize> {
    std::iter::successors(split.next(0, draw), |before| split.next(before + 1, draw)).collect()
}

fn named(function: &str) -> Value {
    json!({ "python": { "function": function } })
}

#[test]
fn functions_inside_other_transforms_are_called_by_the_draws_of_these_alone() {
    let either = json!({ "random_choice": { "transforms": [named("a:b"), { "random_apply": { "transforms": [named("a:c")] } }] } });
    let list = json!([{ "center_crop": { "size": 8 } }, either, { "random_apply": { "transforms": [named("a:d")], "p": 0.25 } }]);
    let split = SplitRecipe::new(&recipe(list).unwrap());
    let names: Vec<_> = split.steps().iter().map(|step| step.python.function.as_str()).collect();
    assert_eq!(names, ["a:b", "a:c", "a:d"]);
    assert_eq!(split.steps().iter().map(|step| step.is_last).collect::<Vec<_>>(), [false, false, true]);
    let called = |record| {
        let draw = Draw { seed: 5, epoch: 0, record };
        let called = called(&split, draw);
        let draws: Vec<_> = (0..3).filter(|&number| split.draws(number, draw).is_some()).collect();
        assert_eq!(called, draws);
        // The draws that these transforms would make themselves.
        let (choice, apply) = (draw.at(1), draw.at(2));
        let first = choice.below(0, 2) == 0;
        let second = !first && choice.part(1).unit(0) < 0.5;
        let expected = [first, second, apply.unit(0) < 0.25];
        assert_eq!(called, (0..3).filter(|&number| expected[number]).collect::<Vec<_>>());
        let seeds = [choice.part(0), choice.part(1).part(0), apply.part(0)];
        assert!(called.iter().all(|&number| split.draws(number, draw) == Some(seeds[number])));
        called
    };
    let all: Vec<_> = (0..400).map(called).collect();
    for expected in [vec![], vec![0], vec![1], vec![2], vec![0, 2], vec![1, 2]] {
        assert!(all.contains(&expected), "{expected:?}");
    }
}

#[test]
fn a_function_of_a_choice_at_the_end_of_a_list_is_its_last() {
    let last = |list: Value| {
        SplitRecipe::new(&recipe(list).unwrap()).steps().iter().map(|step| step.is_last).collect::<Vec<_>>()
    };
    let crop = json!({ "center_crop": { "size": 8 } });
    let choice = json!({ "random_choice": { "transforms": [function(), function()] } });
    assert_eq!(last(json!([crop, choice])), [true, true]);
    let apply = json!({ "random_apply": { "transforms": [choice, function()] } });
    assert_eq!(last(json!([crop, apply])), [false, false, true]);
    assert_eq!(last(json!([crop, apply, { "random_invert": {} }])), [false; 3]);
}

#[test]
fn a_function_is_where_the_list_still_gives_pictures_of_one_size() {
    for (list, words) in [
        (json!([{ "resize": { "size": 8 } }, function()]), "give pictures of different sizes"),
        (json!([function()]), "or `output` of a function in Python"),
        (
            json!([{ "center_crop": { "size": 8 } }, { "random_order": { "transforms": [function(), { "center_crop": { "size": 6 } }] } }]),
            "transform 1 (random_order): it has python in it, so none of its transforms may change the size of pictures, as center_crop does",
        ),
        (
            json!([
                { "center_crop": { "size": 8 } },
                { "random_apply": { "transforms": [{ "random_order": { "transforms": [
                    { "random_apply": { "transforms": [{ "python": { "function": "a:b", "output": 4 } }] } },
                ] } }] } },
                { "center_crop": { "size": 8 } },
            ]),
            "transform 1 (random_apply): transforms[0] (random_order): it has python in it",
        ),
        (
            json!([
                { "center_crop": { "size": 8 } },
                { "random_order": { "transforms": [
                    { "random_apply": { "transforms": [{ "random_iou_crop": {} }, { "center_crop": { "size": 8 } }], "p": 1.0 } },
                    function(),
                ] } },
            ]),
            "transform 1 (random_order): transforms[0] (random_apply): it cannot follow python",
        ),
        (
            json!([{ "random_choice": { "transforms": [{ "center_crop": { "size": 8 } }, function()] } }]),
            "give pictures of different sizes",
        ),
        (
            json!([
                { "center_crop": { "size": 8 } },
                { "random_apply": { "transforms": [{ "python": { "function": "a:b", "output": 4 } }] } },
                function(),
            ]),
            "give pictures of different sizes",
        ),
        (
            json!([
                { "center_crop": { "size": 8 } },
                { "random_apply": { "transforms": [function(), { "random_iou_crop": {} }, { "center_crop": { "size": 8 } }] } },
            ]),
            "transforms[1] (random_iou_crop): it cannot follow python",
        ),
        (
            json!([{ "center_crop": { "size": 8 } }, function(), { "random_iou_crop": {} }, { "center_crop": { "size": 8 } }]),
            "it cannot follow python",
        ),
        (json!([{ "mosaic": { "size": 8 } }, function()]), "it cannot follow mosaic"),
    ] {
        let refused = recipe(list).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}

#[test]
fn a_function_before_the_first_crop_gets_each_picture_in_its_own_size() {
    let split = |list: Value| SplitRecipe::new(&recipe(list).unwrap());
    let (draw, limits) = (Draw { seed: 1, epoch: 2, record: 3 }, Limits::default());
    let declared = json!({ "python": { "function": "a:b", "output": [6, 7] } });
    let first = split(json!([declared]));
    let step = &first.steps()[0];
    assert_eq!((step.takes, step.gives, step.is_last), (None, Some((6, 7)), true));
    let part = first.part(0, Some(0));
    assert!(part.is_open() && !first.part(1, None).is_open());
    let of = |part: &Recipe, size| {
        let fixed = part.for_picture(&Origin::plain(size), draw, &limits).unwrap();
        assert!(!fixed.is_open());
        fixed.shape()
    };
    assert_eq!((of(part, (31, 17)), of(part, (1, 90))), ((17, 31, 3), (90, 1, 3)));

    let later = split(
        json!([{ "resize": { "size": 20 } }, function(), { "pad_by": { "padding": 1 } }, function(), { "center_crop": { "size": 8 } }]),
    );
    let sizes: Vec<_> = later.steps().iter().map(|step| (step.takes, step.gives)).collect();
    assert_eq!(sizes, [(None, None), (None, None)]);
    assert_eq!(of(later.part(0, Some(0)), (80, 40)), (20, 40, 3));
    assert_eq!(of(later.part(1, Some(1)), (40, 20)), (22, 42, 3));
    assert_eq!(later.part(2, None).shape(), (8, 8, 3));

    // What it would make is looked at before there is memory for it.
    let few = Limits { pixels: 800, ..limits };
    let too_large = later.part(0, Some(0)).for_picture(&Origin::plain((90, 40)), draw, &few).unwrap_err();
    assert_eq!(too_large, Fault::TooLarge { pixels: 900, limit: 800 });
}

#[test]
fn the_functions_of_an_order_are_called_in_each_order_by_its_draws_alone() {
    let apply = json!({ "random_apply": { "transforms": [named("a:d"), named("a:e")] } });
    let order =
        json!({ "random_order": { "transforms": [named("a:b"), { "random_invert": {} }, named("a:c"), apply] } });
    let list = json!([{ "center_crop": { "size": 8 } }, named("a:a"), order, { "random_apply": { "transforms": [named("a:f")] } }]);
    let split = SplitRecipe::new(&recipe(list).unwrap());
    assert_eq!(
        split.steps().iter().map(|step| step.is_last).collect::<Vec<_>>(),
        [false, false, false, false, false, true]
    );
    let mut orders = std::collections::BTreeMap::<Vec<usize>, u32>::new();
    for record in 0..2400 {
        let draw = Draw { seed: 5, epoch: 0, record };
        let called = called(&split, draw);
        let mut sorted = called.clone();
        sorted.sort_unstable();
        let drawn: Vec<_> = (0..6).filter(|&number| split.draws(number, draw).is_some()).collect();
        assert_eq!(sorted, drawn, "each is called once");
        assert_eq!(called[0], 0);
        let seeds = |number| split.draws(number, draw).unwrap();
        assert_eq!((seeds(1), seeds(2)), (draw.at(2).part(0), draw.at(2).part(2)), "the order decides about no seed");
        let parts = called.iter().map(|number| number + 1).zip(called.iter().skip(1));
        assert!(parts.clone().all(|(from, to)| split.part(from, Some(*to)).shape() == (8, 8, 3)));
        *orders.entry(called.into_iter().filter(|number| (1..5).contains(number)).collect()).or_default() += 1;
    }
    let expected: [&[usize]; 8] =
        [&[1, 2], &[2, 1], &[1, 2, 3, 4], &[2, 1, 3, 4], &[1, 3, 4, 2], &[2, 3, 4, 1], &[3, 4, 1, 2], &[3, 4, 2, 1]];
    assert!(
        orders.keys().map(Vec::as_slice).collect::<std::collections::BTreeSet<_>>() == expected.into(),
        "{orders:?}"
    );
    assert!(orders.values().all(|count| (100..800).contains(count)), "{orders:?}");

    let alone = json!([{ "center_crop": { "size": 8 } }, { "random_order": { "transforms": [function()] } }]);
    assert!(SplitRecipe::new(&recipe(alone).unwrap()).steps()[0].is_last);
}

#[test]
fn no_decoder_passes_over_a_function() {
    let recipe = recipe(json!([{ "center_crop": { "size": 8 } }, function()])).unwrap();
    let mut out = vec![0; recipe.place_len()];
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let bytes = sample::photograph(1, 20, 20);
    let fault = CpuDecoder::new().decode(&bytes, &recipe, draw, &Limits::default(), &mut out).unwrap_err();
    assert_eq!(fault, Fault::Python { function: "steps:augment".to_owned() });
}

/// Puts something behind each transform whose number is in a list, in others too. Gives the number of the next one.
fn put_in(list: &[Value], places: &[usize], mut number: usize, each: &Value) -> (Vec<Value>, usize) {
    let mut made = Vec::new();
    for transform in list {
        let mut transform = transform.clone();
        let inside = transform.as_object_mut().unwrap().values_mut().next().unwrap();
        if let Some(list) = inside.get("transforms").cloned() {
            let (put, next) = put_in(list.as_array().unwrap(), places, number, each);
            (inside["transforms"], number) = (Value::Array(put), next);
        }
        made.push(transform);
        made.extend(places.contains(&number).then(|| each.clone()));
        number += 1;
    }
    (made, number)
}

proptest! {
    #[test]
    fn parts_behind_each_other_make_what_the_whole_list_makes(
        (seed, record) in (any::<u64>(), any::<u64>()),
        (width, height) in (1_u32..60, 1_u32..60),
        places in prop::collection::btree_set(0_usize..16, 1..6),
    ) {
        let places: Vec<usize> = places.into_iter().collect();
        let list = [
            json!({ "resize": { "size": 21 } }),
            json!({ "random_rotation": { "degrees": 40, "expand": true } }),
            json!({ "random_resized_crop": { "size": 24 } }),
            json!({ "random_apply": { "p": 0.6, "transforms": [
                { "color_jitter": { "brightness": 0.4, "hue": 0.1 } },
                { "random_apply": { "transforms": [{ "random_crop": { "size": [24, 24], "padding": 3 } }] } },
                { "random_vertical_flip": {} },
            ] } }),
            json!({ "random_crop": { "size": [16, 20] } }),
            json!({ "random_order": { "transforms": [
                { "random_crop": { "size": [16, 20], "padding": 2 } },
                { "random_apply": { "p": 0.8, "transforms": [{ "random_horizontal_flip": {} }, { "random_solarize": { "threshold": 99.0 } }] } },
                { "random_affine": { "degrees": 30, "translate": [0.2, 0.3] } },
            ] } }),
            json!({ "random_horizontal_flip": {} }),
        ];
        // In the whole list, something that changes nothing is where a function is. What is chosen among does not depend on it.
        let with = |each: Value| {
            let mut made = put_in(&list, &places, 0, &each).0;
            made.push(json!({ "random_choice": { "transforms": [{ "random_invert": { "p": 1.0 } }, each, { "random_solarize": { "threshold": 99.0 } }] } }));
            made.push(json!({ "normalize": { "mean": [0.4, 0.5, 0.6], "std": [0.2, 0.3, 0.4] } }));
            recipe(json!(made)).unwrap()
        };
        let whole = with(json!({ "random_invert": { "p": 0.0 } }));
        let (bytes, draw) = (sample::photograph(record, width, height), Draw { seed, epoch: 3, record });
        let mut expected = vec![0; whole.place_len()];
        CpuDecoder::new().decode(&bytes, &whole, draw, &Limits::default(), &mut expected).unwrap();
        prop_assert!(in_parts(&with(function()), &bytes, draw) == expected);
        let mask = sample::mask_png_of(MaskDepth::U16, width, height, |x, y| x + 300 * y);
        prop_assert!(mask_in_parts(&with(function()), &mask, (width, height), draw) == mask_of(&whole, &mask, (width, height), draw));
    }
}

#[test]
fn a_function_of_batches_is_apart_from_the_transforms_of_pictures() {
    let of_batches = json!({ "python": { "function": "steps:mix", "scope": "batch" } });
    let whole = recipe(json!([{ "center_crop": { "size": 8 } }, function(), of_batches])).unwrap();
    let pictures = recipe(json!([{ "center_crop": { "size": 8 } }, function()])).unwrap();
    assert_eq!(whole.transforms(), pictures.transforms());
    let found = whole.batch_function().unwrap();
    assert_eq!((&*found.python.function, pictures.batch_function()), ("steps:mix", None));
    let draw = Draw { seed: 1, epoch: 2, record: 3 };
    assert_eq!(found.draws(draw), draw.at(2), "its draws are those of its place");
    let split = SplitRecipe::new(&whole);
    assert!(split.steps().len() == 1 && split.steps()[0].is_last, "the last transform of pictures may give floats");

    let normalize = json!({ "normalize": { "mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5] } });
    let behind = recipe(json!([{ "center_crop": { "size": 8 } }, normalize, of_batches])).unwrap();
    assert!(behind.batch_function().is_some() && behind.normalize().is_some());
    let inside = json!({ "random_apply": { "transforms": [of_batches], "p": 0.5 } });
    let crop = json!({ "center_crop": { "size": 8 } });
    for list in [json!([of_batches, crop]), json!([crop, of_batches, of_batches]), json!([crop, inside])] {
        let refused = recipe(list).unwrap_err().to_string();
        assert!(refused.contains("must be the last transform of the list itself"), "{refused}");
    }
}
