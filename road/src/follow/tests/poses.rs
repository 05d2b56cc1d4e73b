//! Keypoints in mirrored pictures: what was a left hand is a right one.

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
        let flip = Transform::RandomHorizontalFlip(RandomHorizontalFlip { p });
        let size = Size::HeightWidth([80, 100]);
        let crop = Transform::CenterCrop(CenterCrop { size });
        let recipe = Recipe::new(vec![flip, crop], Output::default()).unwrap();
        let stored = orientation.seen(100, 80);
        let origin = Some(Origin::of_recipe(stored, orientation, &recipe));
        let region = region(&recipe, &targets, 1);
        let settings = FollowSettings { recipe: Arc::new(recipe), seed: 0, annotated, min_visible: 0.0 };
        let (sheet, slot) = (sheet(vec![0], vec![origin]), region.slot(0).unwrap());
        drop(Ready::publish(SettledBatch { sheet, slot, in_gpu: vec![false] }, None, &mut targets.writer(settings)));
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
