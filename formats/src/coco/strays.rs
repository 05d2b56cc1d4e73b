//! Annotations of a COCO file that belong to no record.

use forebay_sources::{MOST_EXAMPLES, Oversight, OversightKind};

/// Annotations that no record has.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Of images that the file does not list.
    pub unlisted: u64,
    /// Ids of some of these images, sorted.
    pub images: Vec<i64>,
    /// Without an integer as `image_id`.
    pub without_image: u64,
}

impl Strays {
    /// Notes an annotation of an image that the file does not list.
    pub(super) fn note(&mut self, image: i64) {
        self.unlisted += 1;
        if let Err(place) = self.images.binary_search(&image) {
            self.images.insert(place, image);
            self.images.truncate(MOST_EXAMPLES);
        }
    }

    /// What is said of them when the dataset is opened.
    pub(super) fn oversights(&self) -> Vec<Oversight> {
        let oversight = |[one, several]: [&str; 2], count: u64, examples: Vec<String>, remedy: &str| Oversight {
            kind: OversightKind::Annotations,
            what: if count == 1 { one } else { several }.to_owned(),
            count,
            examples,
            remedy: format!("{remedy}, remove them, or give unread=\"accept\" if that is meant so."),
        };
        let mut all = Vec::new();
        if self.unlisted > 0 {
            let ids = self.images.iter().map(|image| format!("image_id {image}")).collect();
            let what = [
                "annotation of an image that the file does not list",
                "annotations of images that the file does not list",
            ];
            all.push(oversight(what, self.unlisted, ids, "Add their images to \"images\""));
        }
        if self.without_image > 0 {
            let what =
                ["annotation without an integer as \"image_id\"", "annotations without an integer as \"image_id\""];
            all.push(oversight(what, self.without_image, Vec::new(), "Give them one"));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_are_counted_with_the_first_images_that_are_missing() {
        let mut strays = Strays { without_image: 2, ..Strays::default() };
        for image in [9, 4, 9, 7, 1, 4] {
            strays.note(image);
        }
        assert_eq!((strays.unlisted, &*strays.images), (6, &[1, 4, 7][..]));
        let said: Vec<String> = strays.oversights().iter().map(ToString::to_string).collect();
        assert!(
            said[0].contains("6 annotations of images that the file does not list, such as \"image_id 1\""),
            "{}",
            said[0]
        );
        assert!(
            said[1].contains("2 annotations without an integer as \"image_id\"") && said[1].contains("accept"),
            "{}",
            said[1]
        );
        assert!(Strays::default().oversights().is_empty());
    }
}
