//! The keypoints of a pose dataset: how many each object has, and which change places in a mirrored picture. `data.yaml` says
//! so, or the user.

use forebay_sources::{Options, SourceError};

use super::names;
use crate::option_key::OptionKey;

pub(super) const SHAPE: OptionKey = OptionKey {
    name: "kpt_shape",
    help: "the number of keypoints of an object, and of the numbers of each: \"17,3\", as in data.yaml; \"none\" if lines \
           have polygons",
};
pub(super) const FLIP: OptionKey = OptionKey {
    name: "flip_idx",
    help: "for each keypoint, the one that takes its place in a mirrored picture: \"0,2,1\", as in data.yaml",
};

/// More keypoints than an object has.
const MOST: usize = 1024;

/// The keypoints of each object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keypoints {
    pub count: usize,
    /// Whether each has a visibility behind x and y.
    pub have_visibility: bool,
    /// For each, the one that takes its place in a mirrored picture; empty if that is not known.
    pub flip: Vec<u32>,
}

/// What is known about keypoints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PoseLines {
    /// Lines have these keypoints behind the box.
    Keypoints(Keypoints),
    /// Lines have none, as far as is known.
    Unknown,
    /// The user says that lines have none.
    None,
}

impl PoseLines {
    /// What the user says, or the text of `data.yaml`.
    ///
    /// # Errors
    /// An option is wrong. The inner error is what is wrong with `data.yaml`.
    pub(super) fn find(options: &Options, yaml: Option<&str>) -> Result<Result<Self, String>, SourceError> {
        let given = |key: &OptionKey| {
            let text = options.own.get(key.name)?;
            let numbers = text.split(',').map(|word| word.trim().parse().ok()).collect::<Option<Vec<usize>>>();
            Some((text, numbers))
        };
        let of_yaml = |key: &OptionKey| yaml.map_or(Ok(None), |text| names::numbers(text, key.name));
        if options.own.get(SHAPE.name) == Some("none") {
            return Ok(Ok(Self::None));
        }
        let shape = match given(&SHAPE) {
            Some((text, numbers)) => {
                let wrong = || SourceError::bad_option(SHAPE.name, text, EXPECTED_SHAPE);
                Some(shape_of(&numbers.ok_or_else(wrong)?).ok_or_else(wrong)?)
            }
            None => match of_yaml(&SHAPE) {
                Ok(None) => None,
                Ok(Some(numbers)) => match shape_of(&numbers) {
                    Some(shape) => Some(shape),
                    None => return Ok(Err(format!("\"kpt_shape\" must be {EXPECTED_SHAPE}"))),
                },
                Err(problem) => return Ok(Err(problem)),
            },
        };
        let Some((count, have_visibility)) = shape else { return Ok(Ok(Self::Unknown)) };
        let flip = match given(&FLIP) {
            Some((text, numbers)) => {
                let wrong = || SourceError::bad_option(FLIP.name, text, EXPECTED_FLIP);
                flip_of(&numbers.ok_or_else(wrong)?, count).ok_or_else(wrong)?
            }
            None => match of_yaml(&FLIP) {
                Ok(None) => Vec::new(),
                Ok(Some(numbers)) => match flip_of(&numbers, count) {
                    Some(flip) => flip,
                    None => return Ok(Err(format!("\"flip_idx\" must be {EXPECTED_FLIP}"))),
                },
                Err(problem) => return Ok(Err(problem)),
            },
        };
        Ok(Ok(Self::Keypoints(Keypoints { count, have_visibility, flip })))
    }
}

const EXPECTED_SHAPE: &str = "a number of keypoints from 1 to 1024, and 2 (x and y) or 3 (x, y and visibility)";
const EXPECTED_FLIP: &str = "the numbers of all keypoints from 0 on, each once";

/// The number of keypoints, and whether each has a visibility.
fn shape_of(numbers: &[usize]) -> Option<(usize, bool)> {
    match *numbers {
        [count @ 1..=MOST, numbers @ 2..=3] => Some((count, numbers == 3)),
        _ => None,
    }
}

fn flip_of(numbers: &[usize], count: usize) -> Option<Vec<u32>> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let is_order = sorted.into_iter().eq(0..count);
    is_order.then(|| numbers.iter().filter_map(|&number| u32::try_from(number).ok()).collect())
}

impl Keypoints {
    /// The numbers that a line has behind its class.
    pub(super) fn numbers(&self) -> usize {
        4 + self.count * self.each()
    }

    /// The numbers of each.
    pub(super) fn each(&self) -> usize {
        if self.have_visibility { 3 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use forebay_sources::OwnOptions;

    use super::*;

    fn found(own: &[(&str, &str)], yaml: &str) -> Result<Result<PoseLines, String>, SourceError> {
        let own = own.iter().copied().collect::<OwnOptions>();
        PoseLines::find(&Options { own, ..Options::default() }, Some(yaml))
    }

    fn pose(count: usize, have_visibility: bool, flip: &[u32]) -> PoseLines {
        PoseLines::Keypoints(Keypoints { count, have_visibility, flip: flip.to_vec() })
    }

    #[test]
    fn the_shape_and_the_partners_come_from_the_yaml_or_from_the_user() {
        let yaml = "kpt_shape: [3, 2]\nflip_idx: [0, 2, 1]\n";
        assert_eq!(found(&[], yaml).unwrap().unwrap(), pose(3, false, &[0, 2, 1]));
        assert_eq!(found(&[("kpt_shape", "3, 3")], yaml).unwrap().unwrap(), pose(3, true, &[0, 2, 1]));
        assert_eq!(found(&[("flip_idx", "2,1,0")], yaml).unwrap().unwrap(), pose(3, false, &[2, 1, 0]));
        assert_eq!(found(&[], "kpt_shape: [5, 3]").unwrap().unwrap(), pose(5, true, &[]));
        assert_eq!(found(&[], "names: [a]\nflip_idx: [7]").unwrap().unwrap(), PoseLines::Unknown);
        assert_eq!(found(&[("kpt_shape", "none")], yaml).unwrap().unwrap(), PoseLines::None);
    }

    #[test]
    fn wrong_shapes_and_partners_are_refused_by_name() {
        for yaml in
            ["kpt_shape: [0, 3]", "kpt_shape: [17]", "kpt_shape: [17, 4]", "kpt_shape: [1025, 3]", "kpt_shape: x"]
        {
            assert!(found(&[], yaml).unwrap().unwrap_err().contains("kpt_shape"), "{yaml}");
        }
        for flip in ["[0, 1]", "[0, 1, 1]", "[1, 2, 3]", "[0, 1, 2, 3]"] {
            let problem = found(&[], &format!("kpt_shape: [3, 3]\nflip_idx: {flip}")).unwrap().unwrap_err();
            assert!(problem.contains("flip_idx"), "{flip}: {problem}");
        }
        for own in [("kpt_shape", "17"), ("kpt_shape", "a,3"), ("flip_idx", "0,0,1")] {
            let error = found(&[own], "kpt_shape: [3, 3]").unwrap_err().to_string();
            assert!(error.contains(own.0), "{error}");
        }
    }
}
