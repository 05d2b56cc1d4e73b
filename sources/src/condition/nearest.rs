//! The name that was probably meant.

/// The name that differs from this one by the fewest letters, if these are few.
pub(super) fn nearest<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let most = name.chars().count().div_ceil(3).min(3);
    let near = names.into_iter().map(|known| (distance(name, known, most), known));
    near.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// How many letters are added, left out or changed between two names; case does not count. Above `most`, any such number.
fn distance(one: &str, other: &str, most: usize) -> usize {
    let letters = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (one, other) = (letters(one), letters(other));
    if one.len().abs_diff(other.len()) > most {
        return most + 1;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (place, letter) in one.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], place + 1);
        for (column, own) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != own);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_differs_by_few_letters() {
        let known = ["pixels", "aspect", "label", "score"];
        let found = ["aspct", "Pixel", "labels", "scoer", "height", "x"].map(|name| nearest(name, known));
        assert_eq!(found, [Some("aspect"), Some("pixels"), Some("label"), Some("score"), None, None]);
        assert_eq!(nearest("abel", known), Some("label"));
        assert_eq!(nearest("x", []), None);
    }
}
