//! Tests of which columns can be together, and of what is refused by name.

use super::*;

fn field(name: &str, column_type: &str, objects: Option<&str>) -> Field {
    Field { objects: objects.map(Into::into), ..Field::new(name, column_type.parse().unwrap()) }
}

#[test]
fn columns_of_the_same_objects_have_one_leader() {
    let fields = vec![
        field("caption", "u8 [*]", None),
        field("boxes", "f32 [*, 4]", Some("objects")),
        field("area", "f32 [*]", Some("objects")),
        field("parts", "f32 [*, 4]", Some("parts")),
    ];
    let schema = Schema::try_new(fields).unwrap();
    assert_eq!([0, 1, 2, 3].map(|column| schema.leader(column)), [0, 1, 1, 3]);
    assert_eq!((schema.find("area"), schema.find("images")), (Some(2), None));
}

#[test]
fn rule_45_the_first_boxes_of_the_same_objects_decide_which_are_shown() {
    let boxes = |name: &str, objects| field(name, "f32 [*, 4]", objects).with_role(Role::Boxes);
    let fields = vec![
        field("area", "f32 [*]", Some("objects")),
        boxes("boxes", Some("objects")),
        boxes("visible", Some("objects")),
        boxes("faces", None),
        field("caption", "u8 [*]", None),
        field("parts", "f32 [*, 4]", Some("parts")),
    ];
    let schema = Schema::try_new(fields).unwrap();
    let deciding: Vec<_> = (0..schema.len()).map(|column| schema.deciding_boxes(column)).collect();
    assert_eq!(deciding, [Some(1), Some(1), Some(1), Some(3), None, None]);
    assert!(schema.for_slots().fields().iter().all(|field| field.role == Role::Plain));
}

#[test]
fn rule_45_boxes_in_fractions_decide_too_and_a_ring_knows_of_masks_alone() {
    let boxes = field("boxes", "f32 [*, 4]", Some("objects")).with_role(Role::FractionBoxes);
    let masks = field("masks", "i32 [6, 8]", None).with_role(Role::Mask);
    let schema = Schema::try_new(vec![field("classes", "i64 [*]", Some("objects")), boxes, masks]).unwrap();
    assert_eq!([0, 1, 2].map(|column| schema.deciding_boxes(column)), [Some(1), Some(1), None]);
    let for_slots = schema.for_slots();
    let roles: Vec<Role> = for_slots.fields().iter().map(|field| field.role).collect();
    assert_eq!(roles, [Role::Plain, Role::Plain, Role::Mask]);
}

#[test]
fn rule_45_a_role_needs_a_type_that_has_its_numbers() {
    let suits = |role: Role, column_type: &str| role.suits(&column_type.parse().unwrap());
    for (role, fitting) in [
        (Role::Boxes, &["f32 [*, 4]"][..]),
        (Role::Points, &["f32 [2]", "f32 [*, 2]", "f32 [*][*][*, 2]", "f32 [*, 4, 2]"]),
        (Role::Keypoints, &["f32 [*, 3]", "f32 [*, 17, 3]"]),
        (Role::FractionKeypoints, &["f32 [*, 3]", "f32 [*, 17, 3]"]),
    ] {
        for column_type in
            ["f32 [2]", "f32 [*, 2]", "f32 [*][*][*, 2]", "f32 [*, 4, 2]", "f32 [*, 3]", "f32 [*, 17, 3]"]
                .into_iter()
                .chain(["f32 [*, 4]", "f32 [4]", "f32 [*]", "f32 [*][*, 4]", "i64 [*, 2]", "f64 [*, 4]", "i32 [*, 3]"])
        {
            assert_eq!(suits(role, column_type), fitting.contains(&column_type), "{role:?}, {column_type}");
            assert!(suits(Role::Plain, column_type));
        }
    }
}

#[test]
fn rule_45_only_keypoints_change_places_and_each_number_is_there_once() {
    let keypoints = |flip: &[u32]| field("points", "f32 [*, 3, 3]", None).with_role(Role::Keypoints).with_flip(flip);
    let schema = Schema::try_new(vec![keypoints(&[0, 2, 1])]).unwrap();
    assert!(schema.for_slots().fields()[0].flip.is_empty(), "a ring has what has changed places already");
    for flip in [&[0, 1][..], &[0, 2, 2], &[1, 2, 3], &[0, 1, 2, 3]] {
        assert!(matches!(Schema::try_new(vec![keypoints(flip)]), Err(SchemaError::Flip { .. })), "{flip:?}");
    }
    let crowds = field("points", "f32 [*, 2, 3, 3]", None).with_role(Role::Keypoints);
    assert!(Schema::try_new(vec![crowds.clone().with_flip(&[2, 1, 0])]).is_ok());
    assert!(Schema::try_new(vec![crowds.with_flip(&[1, 0])]).is_err(), "an object has 3 keypoints");
    let points = field("points", "f32 [*, 2]", None).with_role(Role::Points).with_flip(&[1, 0]);
    assert!(Schema::try_new(vec![points]).is_err());
    let ragged = field("points", "f32 [*][*, 3]", None).with_role(Role::FractionKeypoints).with_flip(&[1, 0]);
    assert!(Schema::try_new(vec![ragged]).is_ok());
}

#[test]
fn columns_that_cannot_be_are_refused_by_name() {
    let of = |fields: Vec<Field>| Schema::try_new(fields).unwrap_err();
    for name in ["", "1st", "a b", "a.b", "größe", &"x".repeat(64)] {
        assert_eq!(of(vec![field(name, "i64", None)]), SchemaError::Name(name.into()));
    }
    for taken in ["labels", "epoch"] {
        assert_eq!(of(vec![field(taken, "i64", None)]), SchemaError::Reserved(taken.into()));
    }
    assert_eq!(of(vec![field("a", "i64 [*]", Some(""))]), SchemaError::Name(String::new()));
    assert_eq!(of(vec![field("a", "i64", None), field("a", "u8", None)]), SchemaError::Twice("a".into()));
    assert!(matches!(of(vec![field("a", "i64 [2]", Some("o"))]), SchemaError::Objects { .. }));
    let boxes = Field::new("boxes", "f64 [*, 4]".parse().unwrap()).with_role(Role::Boxes);
    let refused = of(vec![boxes]).to_string();
    assert_eq!(refused, "the column \"boxes\" has the type f64 [*, 4], which cannot hold boxes");
    let many = (0..257).map(|number| field(&format!("c{number}"), "i64", None)).collect();
    assert_eq!(of(many), SchemaError::Many(257));
}
