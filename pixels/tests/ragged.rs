//! Ragged pictures: each has a size of its own, which is known before it is decoded (semantics rule 63).

use forebay_pixels::{
    CpuDecoder, Draw, Dtype, Fault, Fit, Layout, Limits, Output, Recipe, RecipeError, Transform, TransformList, sample,
};
use proptest::prelude::*;

const FIT: Fit = Fit::Ragged { pixels: 1 };
const DRAW: Draw = Draw { seed: 3, epoch: 1, record: 7 };

fn list(text: &str) -> Vec<Transform> {
    serde_json::from_str(text).expect("a list of transforms")
}

/// Lists whose results follow from the size of the picture.
const ALLOWED: [&str; 7] = [
    "[]",
    r#"[{ "random_horizontal_flip": {} }, { "random_vertical_flip": {} }]"#,
    r#"[{ "resize": { "size": 40 } }, { "color_jitter": { "brightness": [0.5, 1.5] } }]"#,
    r#"[{ "resize": { "size": [31, 17] } }]"#,
    r#"[{ "center_crop": { "size": [24, 32] } }]"#,
    r#"[{ "random_resized_crop": { "size": 19 } }, { "random_horizontal_flip": {} }]"#,
    r#"[{ "random_apply": { "transforms": [{ "random_invert": {} }], "p": 0.5 } }]"#,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn rule_63_the_size_of_a_result_is_known_before_it_is_made_and_other_places_are_refused(
        (width, height) in (1..120_u32, 1..120_u32),
        of in prop::sample::select(ALLOWED.to_vec()),
        record in any::<u64>(),
        other in 0..20_000_usize,
    ) {
        let recipe = Recipe::fitting(FIT, list(of), Output::default()).unwrap();
        let (draw, limits) = (Draw { record, ..DRAW }, Limits::default());
        let bytes = sample::photograph(5, width, height);
        let mut decoder = CpuDecoder::new();
        let plain = TransformList::new(list(of), Output::default()).unwrap();
        let expected = decoder.decode_sized(&bytes, &plain, draw, &limits).unwrap();
        let size = recipe.made_size(height, width);
        prop_assert_eq!(size, Some((expected.height, expected.width)));
        let mut place = vec![0xA5; expected.bytes.len()];
        decoder.decode(&bytes, &recipe, draw, &limits, &mut place).unwrap();
        prop_assert_eq!(&place, &expected.bytes);
        let in_place = recipe.in_step(expected.height, expected.width).unwrap();
        prop_assert_eq!(in_place.place_len(), place.len());
        let mut wrong = vec![0xA5; other];
        let refused = decoder.decode(&bytes, &recipe, draw, &limits, &mut wrong);
        if other != expected.bytes.len() {
            let (height, width) = (expected.height, expected.width);
            prop_assert_eq!(refused, Err(Fault::NotPlanned { height, width, pixels: other as u64 / 3 }));
            prop_assert!(wrong.iter().all(|byte| *byte == 0xA5), "nothing is written");
        }
    }
}

#[test]
fn rule_63_what_draws_a_size_or_takes_it_from_elsewhere_is_refused_by_name() {
    for (of, name) in [
        (r#"[{ "random_shortest_size": { "min_size": [30, 40] } }]"#, "random_shortest_size"),
        (r#"[{ "random_horizontal_flip": {} }, { "scale_jitter": { "target_size": 64 } }]"#, "scale_jitter"),
        (r#"[{ "random_rotation": { "degrees": 30, "expand": true } }]"#, "random_rotation"),
        (r#"[{ "random_iou_crop": {} }]"#, "random_iou_crop"),
        (r#"[{ "random_zoom_out": {} }]"#, "random_zoom_out"),
        (r#"[{ "random_apply": { "transforms": [{ "resize": { "size": 9 } }], "p": 0.5 } }]"#, "random_apply"),
    ] {
        let refused = Recipe::fitting(FIT, list(of), Output::default()).unwrap_err();
        assert!(matches!(refused, RecipeError::RaggedSize { name: found, .. } if found == name), "{refused}");
    }
    for output in
        [Output { dtype: Dtype::Float32, ..Output::default() }, Output { layout: Layout::Nchw, ..Output::default() }]
    {
        assert_eq!(Recipe::fitting(FIT, Vec::new(), output), Err(RecipeError::RaggedOutput));
    }
}
