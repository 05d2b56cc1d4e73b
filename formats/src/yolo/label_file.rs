//! The text of one picture: a line for each object, with its class and a box or a polygon as fractions of the picture.

use crate::numbers::single;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct YoloObject {
    pub class: i64,
    /// Left, top, right and bottom. Those of a polygon are the box around it.
    pub corners: [f32; 4],
    /// The coordinates of its points; empty for a box.
    pub polygon: Vec<f32>,
}

/// Tools round, so a fraction may be a little more than 1. Ultralytics has the same limit.
const MOST: f64 = 1.01;

/// # Errors
/// A line is no object. The error names it. Without `classes`, any class is accepted.
pub(super) fn parse(text: &[u8], classes: usize) -> Result<Vec<YoloObject>, String> {
    let text = str::from_utf8(text).map_err(|_| "the file is not text".to_owned())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| object(line, classes).map_err(|problem| format!("line {number} {problem}"))).collect()
}

fn object(line: &str, classes: usize) -> Result<YoloObject, String> {
    let mut words = line.split_ascii_whitespace();
    let class = words.next().unwrap_or_default();
    let wrong_class = || format!("begins with \"{class}\", which is not the number of a class");
    // Some tools write 0.0 for 0.
    let class_number: i64 = class.strip_suffix(".0").unwrap_or(class).parse().map_err(|_| wrong_class())?;
    let place = usize::try_from(class_number).map_err(|_| wrong_class())?;
    if classes > 0 && place >= classes {
        return Err(format!("has the class {class_number}, but the last class is {}", classes - 1));
    }
    let fractions: Vec<f64> = words.map(fraction).collect::<Result<_, _>>()?;
    let (corners, polygon) = match fractions[..] {
        [x, y, width, height] => ([x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0], &[][..]),
        ref points if points.len() >= 6 && points.len() % 2 == 0 => (around(points), points),
        ref others => {
            let count = others.len();
            return Err(format!(
                "has {count} numbers behind the class. A box has 4 (middle, width and height), and a polygon has 2 for \
                 each of at least 3 points."
            ));
        }
    };
    let small = |number: f64| single(number).expect("fractions are small");
    Ok(YoloObject {
        class: class_number,
        corners: corners.map(small),
        polygon: polygon.iter().copied().map(small).collect(),
    })
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

    #[test]
    fn boxes_and_polygons_become_corners() {
        let objects = parse(b"\xef\xbb\xbf3 0.5 0.5 0.25 1\r\n\n0.0 0 0.25 1 0.5 0.5 1\n", 4).unwrap();
        assert_eq!(objects[0], YoloObject { class: 3, corners: [0.375, 0.0, 0.625, 1.0], polygon: Vec::new() });
        let polygon = vec![0.0, 0.25, 1.0, 0.5, 0.5, 1.0];
        assert_eq!(objects[1], YoloObject { class: 0, corners: [0.0, 0.25, 1.0, 1.0], polygon });
        assert!(parse(b" \n", 0).unwrap().is_empty());
        assert_eq!(parse(b"70 0 0 0 0", 0).unwrap()[0].class, 70);
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
            let problem = parse(text, 2).unwrap_err();
            assert!(problem.contains(words), "{words}: {problem}");
        }
    }

    #[test]
    fn bytes_that_were_changed_cause_no_panic() {
        let mut right = 0;
        crate::mutations::each(b"0 0.5 0.5 0.25 0.125\n1 0.1 0.2 0.3 0.4 0.5 0.6\n", 5000, |bytes| {
            let Ok(objects) = parse(bytes, 2) else { return };
            right += 1;
            assert!(objects.iter().all(|object| (0..2).contains(&object.class)));
            assert!(objects.iter().flat_map(|object| object.corners).all(|corner| (-1.0..2.1).contains(&corner)));
        });
        assert!(right > 100, "{right}");
    }
}
