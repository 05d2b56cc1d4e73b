//! Keypoints in mirrored pictures: what was a left hand is a right one.

use forebay_pixels::{KeypointFlip, RandomVerticalFlip};

use super::*;

#[test]
fn rule_45_keypoints_of_a_mirrored_picture_change_places_with_their_partners() {
    let pose = |role: Role| Field::new("pose", "f32 [*, 3]".parse().unwrap()).with_role(role).with_flip(&[1, 0, 2]);
    let schema = Schema::try_new(vec![pose(Role::Keypoints)]).unwrap();
    let mut column_of = Column::new("f32 [*, 3]".parse().unwrap());
    // Two objects: left hand, right hand, nose.
    column_of
        .push(&[10.0_f32, 10.0, 2.0, 30.0, 10.0, 1.0, 20.0, 5.0, 2.0, 12.0, 40.0, 1.0, 0.0, 0.0, 0.0, 22.0, 35.0, 2.0]);
    let table = Table::try_new(schema, vec![column_of], 1).unwrap();
    let targets = Targets::new(Arc::new(Annotations(table, Vec::new())), None, (1, 1)).unwrap();
    let posed = |p: f64, orientation: Orientation, annotated: Annotated| {
        let flip = Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(p));
        let size = Size::HeightWidth([80, 100]);
        let crop = Transform::CenterCrop(CenterCrop { size });
        let recipe = Recipe::new(vec![flip, crop], Output::default()).unwrap();
        let stored = orientation.seen(100, 80);
        let origin = Some(Origin::of_recipe(stored, orientation, &recipe));
        let region = region(&recipe, &targets, 1);
        let settings = FollowSettings { recipe: Arc::new(recipe), seed: 0, annotated, min_visible: 0.0 };
        let (metadata, slot) = (metadata(vec![0], vec![origin]), region.slot(0).unwrap());
        drop(publish(SettledBatch { metadata, slot, in_gpu: vec![false] }, None, &mut targets.writer(settings)));
        column(&region, 0, 1).remove(0)
    };
    let kept = [10.0, 10.0, 2.0, 30.0, 10.0, 1.0, 20.0, 5.0, 2.0, 12.0, 40.0, 1.0, 0.0, 0.0, 0.0, 22.0, 35.0, 2.0];
    // A point without a label keeps its numbers, and takes its partner's place.
    let mirrored = [70.0, 10.0, 1.0, 90.0, 10.0, 2.0, 80.0, 5.0, 2.0, 0.0, 0.0, 0.0, 88.0, 40.0, 1.0, 78.0, 35.0, 2.0];
    assert_eq!(posed(0.0, Orientation::AsStored, Annotated::AsSeen), kept);
    assert_eq!(posed(1.0, Orientation::AsStored, Annotated::AsSeen), mirrored);
    // Two mirrors are none: the numbers count the stored picture, which EXIF mirrors already.
    assert_eq!(posed(1.0, Orientation::Mirrored, Annotated::AsStored), kept);
    assert_eq!(posed(0.0, Orientation::Mirrored, Annotated::AsStored), mirrored);
}

/// What a flip, or an EXIF orientation, and these pairs make of a record of one column, whose pictures have 40 x 40 pixels.
fn flipped(field: Field, column: Column, mut list: Vec<Transform>, orientation: Orientation) -> Vec<f32> {
    let column_type = field.column_type.clone();
    let table = Table::try_new(Schema::try_new(vec![field]).unwrap(), vec![column], 1).unwrap();
    list.push(Transform::CenterCrop(CenterCrop { size: Size::One(40) }));
    let recipe = Recipe::new(list, Output::default()).unwrap();
    let origin = Origin::of_recipe((40, 40), orientation, &recipe);
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let maps = PictureMaps::new(&origin, &recipe, draw, Annotated::AsStored, &mut Plan::default());
    let mut copy = ValueBuf::default();
    let partners = flip_partners(recipe.flip_pairs());
    Follower::of(&table, 0).unwrap().copy((&table, 0), &maps, 0.0, &partners, &mut copy);
    copy.value().numbers::<f32>(&column_type).unwrap()
}

/// Mirrors left to right with this probability, and has pairs.
fn paired(p: f64, keypoints: KeypointFlip) -> Transform {
    Transform::RandomHorizontalFlip(RandomHorizontalFlip { p, keypoints, flip_pairs: vec![[2, 1], [0, 7]] })
}

/// Three keypoints beside each other, the first one in this column. One is not labelled.
fn three(x: f32) -> [f32; 9] {
    [x, 1.0, 2.0, x + 1.0, 2.0, 1.0, x + 2.0, 3.0, 0.0]
}

/// What the pairs make of them in a picture that was mirrored. One that is not labelled keeps its numbers, and changes places
/// all the same. There is no keypoint 7, so that keypoint 0 stays.
fn three_flipped(width: f32, x: f32) -> [f32; 9] {
    [width - x, 1.0, 2.0, x + 2.0, 3.0, 0.0, width - x - 1.0, 2.0, 1.0]
}

/// A column of two objects with three keypoints each, or of as many as the type has.
fn threes(column_type: &str, unit: f32) -> Column {
    let three = |x: f32| -> Vec<f32> {
        three(x).as_chunks::<3>().0.iter().flat_map(|[x, y, visibility]| [x / unit, y / unit, *visibility]).collect()
    };
    let mut column = Column::new(column_type.parse().unwrap());
    match column.column_type().depth() {
        2 => {
            for x in [5.0, 15.0] {
                column.extend(&three(x));
                column.close(2);
            }
            column.close(1);
        }
        1 => column.push(&[three(5.0), three(15.0)].concat()),
        _ => column.push(&three(5.0)),
    }
    column
}

#[test]
fn rule_45_pairs_of_a_flip_change_places_in_each_object_if_the_dataset_names_no_partners() {
    let flip = || vec![paired(1.0, KeypointFlip::Corners)];
    let by_centers = || vec![paired(1.0, KeypointFlip::Centers)];
    let twice = || [flip(), vec![Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(1.0))]].concat();
    for (column_type, objects) in
        [("f32 [*][*, 3]", 2), ("f32 [*, 3, 3]", 2), ("f32 [*, 2, 3, 3]", 2), ("f32 [3, 3]", 1)]
    {
        for role in [Role::Keypoints, Role::FractionKeypoints] {
            let unit = if role == Role::FractionKeypoints { 40.0 } else { 1.0 };
            let seen = |list: Vec<Transform>, orientation: Orientation, flip: &[u32]| {
                let field = Field::new("pose", column_type.parse().unwrap()).with_role(role).with_flip(flip);
                let found = flipped(field, threes(column_type, unit), list, orientation);
                // One that is not labelled keeps its fractions.
                let points = found.as_chunks::<3>().0.iter();
                points
                    .flat_map(|[x, y, visibility]| {
                        let times = if *visibility == 0.0 { unit } else { 1.0 };
                        [x * times, y * times, *visibility].map(|at| (at * 1000.0).round() / 1000.0)
                    })
                    .collect::<Vec<f32>>()
            };
            let of = |each: &dyn Fn(f32) -> [f32; 9]| -> Vec<f32> {
                [5.0, 15.0].into_iter().take(objects).flat_map(each).collect()
            };
            let plain = Orientation::AsStored;
            assert_eq!(seen(Vec::new(), plain, &[]), of(&three), "{column_type}, {role:?}");
            assert_eq!(seen(flip(), plain, &[]), of(&|x| three_flipped(40.0, x)), "{column_type}, {role:?}");
            assert_eq!(seen(by_centers(), plain, &[]), of(&|x| three_flipped(39.0, x)), "{column_type}, {role:?}");
            // EXIF mirrors too, and once more is not at all.
            let exif = seen(vec![paired(0.0, KeypointFlip::Centers)], Orientation::Mirrored, &[]);
            assert_eq!(exif, of(&|x| three_flipped(40.0, x)), "{column_type}, {role:?}");
            assert_eq!(seen(flip(), Orientation::Mirrored, &[]), of(&three), "{column_type}, {role:?}");
            // A picture that is mirrored in both directions is turned: nothing changes places.
            let turned = of(&|x| [40.0 - x, 39.0, 2.0, 39.0 - x, 38.0, 1.0, x + 2.0, 3.0, 0.0]);
            assert_eq!(seen(twice(), plain, &[]), turned, "{column_type}, {role:?}");
            // The dataset knows better.
            let own = of(&|x| [39.0 - x, 2.0, 1.0, 40.0 - x, 1.0, 2.0, x + 2.0, 3.0, 0.0]);
            assert_eq!(seen(flip(), plain, &[1, 0, 2]), own, "{column_type}, {role:?}");
        }
    }
}

#[test]
fn rule_45_pairs_do_not_exchange_keypoints_of_different_objects() {
    let flip = || vec![paired(1.0, KeypointFlip::Corners)];
    let field = Field::of_objects("pose", "f32 [*, 3]".parse().unwrap(), "objects").with_role(Role::Keypoints);
    let single = flipped(field, threes("f32 [*, 3]", 1.0), flip(), Orientation::AsStored);
    assert_eq!(single[3..6].to_vec(), [34.0, 2.0, 1.0], "each object has one keypoint");
    // Without objects, the list is one object's.
    let field = Field::new("pose", "f32 [*, 3]".parse().unwrap()).with_role(Role::Keypoints);
    let list = flipped(field, threes("f32 [*, 3]", 1.0), flip(), Orientation::AsStored);
    assert_eq!(list[3..6].to_vec(), [7.0, 3.0, 0.0]);
    assert_eq!(list[12..15].to_vec(), [24.0, 2.0, 1.0], "places that no pair names");
}
