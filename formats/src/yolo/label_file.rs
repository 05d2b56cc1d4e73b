//! The text of one picture: a line for each object, with its class and a box or a polygon as fractions of the picture.

use super::keypoints::{Keypoints, PoseLines};
use crate::numbers::single;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct YoloObject {
    pub class: i64,
    /// Left, top, right and bottom. Those of a polygon are the box around it.
    pub corners: [f32; 4],
    /// The coordinates of its points; empty for a box.
    pub polygon: Vec<f32>,
    /// x, y and visibility of each of its keypoints.
    pub keypoints: Vec<f32>,
    /// Whether its polygon could as well be a box and keypoints whose visibilities are 0 or 1.
    pub could_be_pose: bool,
}

/// What the lines of a dataset have.
#[derive(Clone, Copy, Debug)]
pub(super) struct LabelLines<'a> {
    /// The number of classes; 0 if it is not known.
    pub classes: usize,
    pub pose: &'a PoseLines,
}

/// Tools round, so a fraction may be a little more than 1. Ultralytics has the same limit.
const MOST: f64 = 1.01;

/// By how much boxes of poses may leave the picture, and keypoints their box.
const ROUNDED: f32 = 0.02;

/// Numbers of a quadrilateral. Many datasets have these alone, as oriented boxes.
const LARGEST_COMMON: usize = 8;

/// # Errors
/// A line is no object. The error names it.
pub(super) fn parse(text: &[u8], of: LabelLines<'_>) -> Result<Vec<YoloObject>, String> {
    let text = str::from_utf8(text).map_err(|_| "the file is not text".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| object(line, of).map_err(|problem| format!("line {number} {problem}"))).collect()
}

fn object(line: &str, LabelLines { classes, pose }: LabelLines<'_>) -> Result<YoloObject, String> {
    let mut words = line.split_ascii_whitespace();
    let class = words.next().unwrap_or_default();
    let wrong_class = || format!("begins with \"{class}\", which is not the number of a class");
    // Some tools write 0.0 for 0.
    let class_number: i64 = class.strip_suffix(".0").unwrap_or(class).parse().map_err(|_| wrong_class())?;
    let place = usize::try_from(class_number).map_err(|_| wrong_class())?;
    if classes > 0 && place >= classes {
        return Err(format!("has the class {class_number}, but the last class is {}", classes - 1));
    }
    let words: Vec<&str> = words.collect();
    if let PoseLines::Keypoints(keypoints) = pose {
        return posed(class_number, &words, keypoints);
    }
    let visibilities = if *pose == PoseLines::Unknown { visibilities(&words) } else { None };
    // No polygon has a 2, or an odd number of coordinates.
    if visibilities.as_ref().is_some_and(|found| found.contains(&2) || !words.len().is_multiple_of(2)) {
        return Err(format!(
            "has {} numbers behind the class, which look like a box and {} keypoints of x, y and visibility. Write \
             \"kpt_shape: [{1}, 3]\" into data.yaml, or give kpt_shape=\"{1},3\".",
            words.len(),
            (words.len() - 4) / 3
        ));
    }
    let fractions: Vec<f64> = words.into_iter().map(fraction).collect::<Result<_, _>>()?;
    let (corners, polygon) = match fractions[..] {
        [x, y, width, height] => (box_of([x, y, width, height]), &[][..]),
        ref points if points.len() >= 6 && points.len() % 2 == 0 => (around(points), points),
        ref others => {
            let count = others.len();
            return Err(format!(
                "has {count} numbers behind the class. A box has 4 (middle, width and height), and a polygon has 2 for \
                 each of at least 3 points. Keypoints need \"kpt_shape\" in data.yaml."
            ));
        }
    };
    Ok(YoloObject {
        class: class_number,
        corners: corners.map(small),
        polygon: polygon.iter().copied().map(small).collect(),
        keypoints: Vec::new(),
        could_be_pose: visibilities.is_some(),
    })
}

/// An object with a box and keypoints.
fn posed(class: i64, words: &[&str], keypoints: &Keypoints) -> Result<YoloObject, String> {
    if words.len() != keypoints.numbers() {
        return Err(format!(
            "has {} numbers behind the class. With kpt_shape [{}, {}], a line has {}: a box of 4 and the keypoints.",
            words.len(),
            keypoints.count,
            keypoints.each(),
            keypoints.numbers()
        ));
    }
    let (corners, points) = words.split_at(4);
    let corners = corners.iter().map(|word| fraction(word)).collect::<Result<Vec<f64>, _>>()?;
    let corners: [f64; 4] = corners.try_into().expect("four words are four numbers");
    let mut found = Vec::with_capacity(3 * keypoints.count);
    for point in points.chunks_exact(keypoints.each()) {
        let (x, y) = (fraction(point[0])?, fraction(point[1])?);
        let visibility = match point.get(2) {
            Some(word) => {
                visibility(word).ok_or_else(|| format!("has the visibility \"{word}\", which is not 0, 1 or 2"))?
            }
            // What has no place is not labelled, as in COCO.
            None => u8::from(x != 0.0 || y != 0.0),
        };
        found.extend([small(x), small(y), visibility.into()]);
    }
    let corners = box_of(corners).map(small);
    Ok(YoloObject { class, corners, polygon: Vec::new(), keypoints: found, could_be_pose: false })
}

fn small(number: f64) -> f32 {
    single(number).expect("fractions are small")
}

/// The corners of a box of its middle, width and height.
fn box_of([x, y, width, height]: [f64; 4]) -> [f64; 4] {
    [x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0]
}

fn visibility(word: &str) -> Option<u8> {
    let number: f64 = word.parse().ok()?;
    [0_u8, 1, 2].into_iter().find(|known| (f64::from(*known) - number).abs() < 1e-9)
}

/// The visibilities of keypoints, if the numbers behind a class could be a box and keypoints.
fn visibilities(words: &[&str]) -> Option<Vec<u8>> {
    let (_, points) = words.split_at_checked(4)?;
    let is_whole = !points.is_empty() && points.len().is_multiple_of(3);
    if is_whole { points.chunks_exact(3).map(|point| visibility(point[2])).collect() } else { None }
}

/// Whether all objects could be boxes with keypoints, and none is a box alone.
pub(super) fn look_like_poses<'a>(objects: impl Iterator<Item = &'a YoloObject>) -> bool {
    let mut objects = objects.peekable();
    objects.peek().is_some() && objects.all(|object| object.could_be_pose)
}

/// How many keypoints of x and y alone the objects of a dataset have, if that is what their polygons are. Each line then has as
/// many numbers, and the first four are a box within the picture that most of the points are in. Polygons are not like that,
/// except by chance in a dataset of few objects. Triangles and quadrilaterals have as many numbers each: they are told apart by
/// width and height, which would be a point far from the others in some lines.
pub(super) fn look_like_points<'a>(objects: impl Iterator<Item = &'a YoloObject>) -> Option<usize> {
    let (mut numbers, mut labelled, mut inside, mut is_far) = (None, 0_u64, 0_u64, false);
    for YoloObject { polygon, .. } in objects.filter(|object| !object.polygon.is_empty()) {
        let (found, points) = polygon.split_at_checked(4)?;
        if points.is_empty() || *numbers.get_or_insert(polygon.len()) != polygon.len() {
            return None;
        }
        let [x, y, width, height] = [found[0], found[1], found[2], found[3]];
        let is_within =
            |middle: f32, side: f32| middle - side / 2.0 >= -ROUNDED && middle + side / 2.0 <= 1.0 + ROUNDED;
        if !is_within(x, width) || !is_within(y, height) {
            return None;
        }
        let near = |at: f32, middle: f32, side: f32| (at - middle).abs() <= side / 2.0 + ROUNDED;
        // What has no place is not labelled.
        let placed = || points.chunks_exact(2).filter(|point| **point != [0.0, 0.0]);
        for point in placed() {
            labelled += 1;
            inside += u64::from(near(point[0], x, width) && near(point[1], y, height));
        }
        let others = |axis: usize| placed().map(move |point| point[axis]);
        is_far |= is_beyond(width, others(0).chain([x])) || is_beyond(height, others(1).chain([y]));
    }
    let numbers = numbers?;
    let is_told = is_far || numbers > LARGEST_COMMON;
    (is_told && labelled > 0 && inside * 10 >= labelled * 8).then_some((numbers - 4) / 2)
}

/// Whether a coordinate is further from others than these are from each other. A corner of a quadrilateral is not, as a rule.
fn is_beyond(at: f32, others: impl Iterator<Item = f32>) -> bool {
    let (least, most) = others.fold((f32::MAX, f32::MIN), |(least, most), other| (least.min(other), most.max(other)));
    let far = most - least + ROUNDED;
    at < least - far || at > most + far
}

fn fraction(word: &str) -> Result<f64, String> {
    let number = word.parse::<f64>().ok().filter(|number| (0.0..=MOST).contains(number));
    number.ok_or_else(|| {
        format!(
            "has \"{word}\", which is not a fraction of the picture. Divide coordinates by the picture's width and height."
        )
    })
}

/// The box around points.
fn around(points: &[f64]) -> [f64; 4] {
    let mut corners = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    for point in points.chunks_exact(2) {
        corners =
            [corners[0].min(point[0]), corners[1].min(point[1]), corners[2].max(point[0]), corners[3].max(point[1])];
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(classes: usize) -> LabelLines<'static> {
        LabelLines { classes, pose: &PoseLines::Unknown }
    }

    fn plain(class: i64, corners: [f32; 4], polygon: Vec<f32>) -> YoloObject {
        YoloObject { class, corners, polygon, keypoints: Vec::new(), could_be_pose: false }
    }

    #[test]
    fn boxes_and_polygons_become_corners() {
        let objects = parse(b"\xef\xbb\xbf3 0.5 0.5 0.25 1\r\n\n0.0 0 0.25 1 0.5 0.5 1\n", of(4)).unwrap();
        assert_eq!(objects[0], plain(3, [0.375, 0.0, 0.625, 1.0], Vec::new()));
        let polygon = vec![0.0, 0.25, 1.0, 0.5, 0.5, 1.0];
        assert_eq!(objects[1], plain(0, [0.0, 0.25, 1.0, 1.0], polygon));
        assert!(parse(b" \n", of(0)).unwrap().is_empty());
        assert_eq!(parse(b"70 0 0 0 0", of(0)).unwrap()[0].class, 70);
    }

    #[test]
    fn a_line_that_is_no_object_is_named() {
        for (text, words) in [
            (&b"0 0.5 0.5 0.1 0.1\ncat 0.5 0.5 0.1 0.1"[..], "line 2 begins with \"cat\""),
            (b"-1 0.5 0.5 0.1 0.1", "not the number of a class"),
            (b"0.5 0.5 0.5 0.1 0.1", "not the number of a class"),
            (b"2 0.5 0.5 0.1 0.1", "the class 2, but the last class is 1"),
            (b"0 0.5 0.5 0.1", "3 numbers"),
            (b"0 0.5 0.5 0.1 0.1 0.9", "5 numbers"),
            (b"0", "0 numbers"),
            (b"0 120 0.5 0.1 0.1", "\"120\", which is not a fraction"),
            (b"0 nan 0.5 0.1 0.1", "\"nan\""),
            (b"0 -0.1 0.5 0.1 0.1", "\"-0.1\""),
            (b"\xff", "not text"),
        ] {
            let problem = parse(text, of(2)).unwrap_err();
            assert!(problem.contains(words), "{words}: {problem}");
        }
    }

    #[test]
    fn a_line_of_a_pose_has_a_box_and_keypoints_and_nothing_else() {
        let pose =
            |count, have_visibility| PoseLines::Keypoints(Keypoints { count, have_visibility, flip: Vec::new() });
        let three = pose(2, true);
        let lines = LabelLines { classes: 0, pose: &three };
        let object = &parse(b"0 0.5 0.5 0.5 1 0.25 0.75 2 0 0 0", lines).unwrap()[0];
        assert_eq!(
            (object.corners, &*object.keypoints),
            ([0.25, 0.0, 0.75, 1.0], &[0.25, 0.75, 2.0, 0.0, 0.0, 0.0][..])
        );
        assert!(object.polygon.is_empty());
        let two = pose(3, false);
        let object = &parse(b"0 0.5 0.5 1 1 0 0.5 0 0 0.125 0", LabelLines { classes: 0, pose: &two }).unwrap()[0];
        assert_eq!(*object.keypoints, [0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.125, 0.0, 1.0]);
        for (text, words) in [
            (&b"0 0.5 0.5 0.5 1"[..], "has 4 numbers behind the class. With kpt_shape [2, 3], a line has 10"),
            (b"0 0.5 0.5 0.5 1 0.25 0.75 2 0 0 0 0", "has 11 numbers"),
            (b"0 0.5 0.5 0.5 1 0.25 0.75 3 0 0 0", "the visibility \"3\""),
            (b"0 0.5 0.5 0.5 1 25 0.75 2 0 0 0", "\"25\", which is not a fraction"),
        ] {
            let problem = parse(text, lines).unwrap_err();
            assert!(problem.contains(words), "{words}: {problem}");
        }
    }

    #[test]
    fn keypoints_without_a_shape_are_never_taken_for_a_polygon() {
        for line in
            ["0 .5 .5 .1 .1 .5 .5 2 .25 .5 0", "0 .5 .5 .1 .1 .5 .5 1 .25 .5 1 .75 .5 0", "3 .5 .5 .1 .1 .1 .1 1"]
        {
            let problem = parse(line.as_bytes(), of(0)).unwrap_err();
            assert!(problem.contains("look like a box and") && problem.contains("kpt_shape"), "{problem}");
        }
        let ambiguous = parse(b"0 .5 .5 .1 .1 .5 .5 1 .25 .5 1", of(0)).unwrap();
        let polygon = parse(b"0 .5 .5 .1 .1 .5 .5 .75 .25 .5 1", of(0)).unwrap();
        assert!(look_like_poses(ambiguous.iter()) && !look_like_poses(ambiguous.iter().chain(&polygon)));
        assert!(!look_like_poses([].iter()));
        let none = LabelLines { classes: 0, pose: &PoseLines::None };
        assert!(!look_like_poses(parse(b"0 .5 .5 .1 .1 .5 .5 1 .25 .5 1", none).unwrap().iter()));
    }

    #[test]
    fn bytes_that_were_changed_cause_no_panic() {
        let mut right = 0;
        crate::mutations::each(b"0 0.5 0.5 0.25 0.125\n1 0.1 0.2 0.3 0.4 0.5 0.6\n", 5000, |bytes| {
            let Ok(objects) = parse(bytes, of(2)) else { return };
            right += 1;
            assert!(objects.iter().all(|object| (0..2).contains(&object.class)));
            assert!(objects.iter().flat_map(|object| object.corners).all(|corner| (-1.0..2.1).contains(&corner)));
        });
        assert!(right > 100, "{right}");
    }
}
