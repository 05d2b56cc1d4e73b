//! How much pixels differ: for one picture, and for many together.

use super::pillow::Pixels;

/// Of one picture. Values are those of single channels, 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Difference {
    pub greatest: u8,
    pub sum: u64,
    /// Values that differ by more than 1.
    pub over: u64,
    pub values: u64,
    /// The first pixel with the greatest difference: column and row.
    pub at: (u32, u32),
}

/// Of many pictures.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub pictures: u64,
    /// Those without any difference.
    pub equal: u64,
    pub greatest: u8,
    sum: u64,
    over: u64,
    values: u64,
    /// The one with the greatest mean difference.
    pub worst: Option<WorstPicture>,
}

/// Which picture differs most.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WorstPicture {
    pub picture: String,
    pub mean: f64,
}

impl Difference {
    /// None where the pictures are not of one size.
    pub(super) fn between(ours: &Pixels, theirs: &Pixels) -> Option<Self> {
        if (ours.width, ours.height) != (theirs.width, theirs.height) {
            return None;
        }
        let mut found = Self { values: ours.rgb.len() as u64, ..Self::default() };
        let mut place = 0;
        for (index, (a, b)) in ours.rgb.iter().zip(&theirs.rgb).enumerate() {
            let apart = a.abs_diff(*b);
            found.sum += u64::from(apart);
            found.over += u64::from(apart > 1);
            if apart > found.greatest {
                (found.greatest, place) = (apart, index / 3);
            }
        }
        let width = ours.width.max(1) as usize;
        let fits = |place| u32::try_from(place).expect("a place in a row or column of a picture");
        found.at = (fits(place % width), fits(place / width));
        Some(found)
    }

    pub(super) fn mean(&self) -> f64 {
        mean(self.sum, self.values)
    }
}

impl Tally {
    /// Counts a picture; says whether it is the worst so far.
    pub(super) fn add(&mut self, picture: &str, difference: &Difference) -> bool {
        self.pictures += 1;
        self.equal += u64::from(difference.greatest == 0);
        self.greatest = self.greatest.max(difference.greatest);
        self.sum += difference.sum;
        self.over += difference.over;
        self.values += difference.values;
        let mean = difference.mean();
        let worst = mean > self.worst.as_ref().map_or(0.0, |worst| worst.mean);
        if worst {
            self.worst = Some(WorstPicture { picture: picture.to_owned(), mean });
        }
        worst
    }

    /// Over all values of all pictures.
    pub(super) fn mean(&self) -> f64 {
        mean(self.sum, self.values)
    }

    /// The share of all values that differ by more than 1.
    pub(super) fn over(&self) -> f64 {
        mean(self.over, self.values)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a mean for people")]
fn mean(sum: u64, values: u64) -> f64 {
    sum as f64 / values.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rgb: &[u8]) -> Pixels {
        Pixels { width: u32::try_from(rgb.len() / 3).unwrap(), height: 1, rgb: rgb.to_vec() }
    }

    #[test]
    fn greatest_mean_and_place_are_those_of_single_values() {
        let found = Difference::between(&row(&[10, 10, 10, 20, 20, 20]), &row(&[10, 11, 10, 20, 20, 25])).unwrap();
        assert_eq!((found.greatest, found.sum, found.over, found.values, found.at), (5, 6, 1, 6, (1, 0)));
        assert!((found.mean() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn pictures_of_two_sizes_have_no_difference() {
        assert_eq!(Difference::between(&row(&[0; 3]), &row(&[0; 6])), None);
    }

    #[test]
    fn a_tally_counts_equal_pictures_and_knows_the_worst() {
        let mut tally = Tally::default();
        let of = |ours: &[u8], theirs: &[u8]| Difference::between(&row(ours), &row(theirs)).unwrap();
        assert!(!tally.add("same", &of(&[7; 3], &[7; 3])));
        assert!(tally.add("far", &of(&[7, 7, 7], &[7, 7, 13])));
        assert!(!tally.add("near", &of(&[7, 7, 7], &[7, 7, 10])));
        assert_eq!((tally.pictures, tally.equal, tally.greatest), (3, 1, 6));
        assert_eq!(tally.worst, Some(WorstPicture { picture: "far".into(), mean: 2.0 }));
        assert!((tally.mean() - 1.0).abs() < 1e-9);
        assert!((tally.over() - 2.0 / 9.0).abs() < 1e-9);
    }
}
