//! Which keypoints change places in a mirrored picture, by their names: the left ones and the right ones.

/// Words for one side, and the other.
const SIDES: [(&str, &str); 3] = [("left", "right"), ("l", "r"), ("lft", "rgt")];

/// For each keypoint, the one that takes its place in a mirrored picture. One whose partner has no name here stays. Empty if
/// none of them has a partner: then nothing is known.
pub(super) fn of_names(names: &[String]) -> Vec<u32> {
    let words: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    let mirrored: Vec<Vec<String>> =
        words.iter().map(|own| own.iter().map(|word| other_side(word)).collect()).collect();
    let partner = |place: usize| {
        let found = words.iter().position(|other| *other == mirrored[place] && mirrored[place] != words[place]);
        u32::try_from(found.unwrap_or(place)).unwrap_or(u32::MAX)
    };
    let flip: Vec<u32> = (0..names.len()).map(partner).collect();
    let is_own_way_back =
        (0..).zip(&flip).all(|(place, partner): (u32, _)| flip.get(*partner as usize) == Some(&place));
    let has_partners = (0..).zip(&flip).any(|(place, partner): (u32, _)| place != *partner);
    if is_own_way_back && has_partners { flip } else { Vec::new() }
}

/// The words of a name: `left_eye`, `Left Eye` and `leftEye` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = None;
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_some_and(char::is_lowercase);
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if letter.is_alphanumeric() {
            words.last_mut().expect("there is always one").extend(letter.to_lowercase());
        }
        before = Some(letter);
    }
    words.retain(|word| !word.is_empty());
    words
}

fn other_side(word: &str) -> String {
    let other = SIDES.iter().find_map(|(left, right)| match word {
        word if word == *left => Some(*right),
        word if word == *right => Some(*left),
        _ => None,
    });
    other.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Vec<u32> {
        of_names(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn left_and_right_change_places_and_all_others_stay() {
        assert_eq!(of(&["nose", "left_eye", "right_eye", "left_ear", "right_ear"]), [0, 2, 1, 4, 3]);
        assert_eq!(of(&["L_Paw", "tail", "R_Paw"]), [2, 1, 0]);
        assert_eq!(of(&["handLeft", "handRight", "Left Foot", "right-foot"]), [1, 0, 3, 2]);
        assert_eq!(of(&["left_eye", "nose", "right_eye", "left_wing"]), [2, 1, 0, 3]);
    }

    #[test]
    fn names_that_say_nothing_give_no_partners() {
        for names in [&["nose", "tail"][..], &["left_eye", "left_ear"], &["0", "1"], &[], &["left", "left", "right"]] {
            assert!(of(names).is_empty(), "{names:?}");
        }
    }
}
