//! Columns of pictures that are turned.

use forebay_pixels::{AugMix, Fill, Jitter, RandomApply, RandomRotation};

use super::*;

fn turn(degrees: Jitter, expand: bool) -> Transform {
    let (interpolation, center, fill) = (Interpolation::Nearest, None, Fill::Gray(0.0));
    Transform::RandomRotation(RandomRotation { degrees, interpolation, expand, center, fill: Some(fill) })
}

#[test]
fn rule_45_columns_of_places_follow_a_turn_but_no_mixture_of_turned_pictures() {
    let schema = |role| {
        let column_type = if role == Role::Mask { "u8 [8, 8]" } else { "f32 [*, 4]" };
        Schema::try_new(vec![Field::new("it", column_type.parse().unwrap()).with_role(role)]).unwrap()
    };
    let recipe = |transform: Transform| {
        let crop = Transform::CenterCrop(CenterCrop { size: Size::One(8) });
        let apply = RandomApply { transforms: vec![transform], p: 0.5 };
        Recipe::new(vec![crop, Transform::RandomApply(apply)], Output::default()).unwrap()
    };
    let turn = recipe(turn(Jitter::By(5.0), false));
    assert_eq!(can_follow(&schema(Role::Boxes), &turn), Ok(()));
    assert_eq!(can_follow(&schema(Role::Mask), &turn), Ok(()));
    let (severity, mixture_width, chain_depth, alpha) = (3, 3, -1, 1.0);
    let (all_ops, interpolation, fill) = (true, Interpolation::Nearest, None);
    let mixture = AugMix { severity, mixture_width, chain_depth, alpha, all_ops, interpolation, fill };
    let mixture = recipe(Transform::AugMix(mixture));
    let refused = NotFollowed { column: "it".into(), place: 1, transform: "random_apply" };
    assert_eq!(can_follow(&schema(Role::Boxes), &mixture), Err(refused.clone()));
    assert_eq!(can_follow(&schema(Role::Mask), &mixture), Err(refused));
    assert_eq!(can_follow(&schema(Role::Plain), &mixture), Ok(()));
}

/// A quarter turn of 100 x 80, and no turn.
#[test]
fn rule_45_boxes_in_pixels_and_in_fractions_follow_a_turn_alike() {
    let field = |name: &str, role| Field::of_objects(name, "f32 [*, 4]".parse().unwrap(), "objects").with_role(role);
    let fields = vec![field("boxes", Role::Boxes), field("fractions", Role::FractionBoxes)];
    let mut columns: Vec<_> = fields.iter().map(|field| Column::new(field.column_type.clone())).collect();
    columns[0].push(&[10.0_f32, 20.0, 30.0, 60.0, 90.0, 0.0, 100.0, 8.0]);
    columns[1].push(&[0.1_f32, 0.25, 0.3, 0.75, 0.9, 0.0, 1.0, 0.1]);
    let table = Table::try_new(Schema::try_new(fields).unwrap(), columns, 1).unwrap();
    let targets = Targets::new(Arc::new(Annotations(table, Vec::new())), None, (1, 1)).unwrap();
    let crop = |height, width| Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([height, width]) });
    let turned = vec![turn(Jitter::Between([90.0, 90.0]), true), crop(80, 80)];
    let found = [turned, vec![crop(80, 100)]].map(|list| {
        let recipe = Recipe::new(list, Output::default()).unwrap();
        let origin = Some(Origin::of_recipe((100, 80), Orientation::AsStored, &recipe));
        let region = region(&recipe, &targets, 1);
        let settings =
            FollowSettings { recipe: Arc::new(recipe), seed: 0, annotated: Annotated::AsSeen, min_visible: 0.0 };
        let mut writer = targets.writer(settings);
        let (metadata, slot) = (metadata(vec![0], vec![origin]), region.slot(0).unwrap());
        drop(publish(SettledBatch { metadata, slot, in_gpu: vec![false] }, None, &mut writer));
        [0, 1].map(|number| column(&region, number, 1).concat())
    });
    // The turn takes the right side to the top, where the cut takes 10 rows away, and with them the second box.
    let expected = [vec![20.0, 60.0, 60.0, 80.0], vec![10.0, 20.0, 30.0, 60.0, 90.0, 0.0, 100.0, 8.0]];
    for (found, expected) in found.iter().zip(expected) {
        for found in found {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-3), "{found:?}, {expected:?}");
        }
    }
}
