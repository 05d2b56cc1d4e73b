//! Labels of a record that are objects, as `im2rec` packs them (`--pack-label`) and `ImageDetIter` reads them: the length of a
//! head, the length of an object, the rest of the head, and the objects. An object is its class, and left, top, right and
//! bottom in fractions of the picture's size. More may follow, and is not read.

use crate::example::gather::whole;

/// The objects of a record.
#[derive(Debug, Default)]
pub(super) struct MxObjects {
    pub boxes: Vec<[f32; 4]>,
    pub classes: Vec<i64>,
}

impl MxObjects {
    /// The objects that these labels are.
    ///
    /// # Errors
    /// They are none. The text says why.
    pub(super) fn of(labels: &[f32]) -> Result<Self, String> {
        let len = |place: usize| whole(*labels.get(place)?).and_then(|len| usize::try_from(len).ok());
        let (Some(head), Some(object)) = (len(0), len(1)) else {
            return Err("the first two of them are not the lengths of a head and of an object".into());
        };
        let rest = labels.get(head..).filter(|_| head >= 2 && object >= 5);
        let Some(rest) = rest.filter(|rest| rest.len().is_multiple_of(object)) else {
            return Err(format!("{} numbers cannot be a head of {head} and objects of {object}", labels.len()));
        };
        let mut objects = Self::default();
        for numbers in rest.chunks(object) {
            let [class, left, top, right, bottom, ..] = numbers else { break };
            let corners = [*left, *top, *right, *bottom];
            let class = whole(*class).ok_or_else(|| format!("the class {class} is not a whole number"))?;
            if corners.iter().any(|side| !side.is_finite()) {
                return Err(format!("an object has the corners {corners:?}"));
            }
            // Rows of -1 fill labels up to one length.
            if class >= 0 {
                objects.boxes.push(corners);
                objects.classes.push(class);
            }
        }
        Ok(objects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_behind_a_head_of_any_length_and_rows_that_fill_up_are_none() {
        let packed = [4.0, 6.0, 640.0, 480.0, 3.0, 0.1, 0.2, 0.3, 0.4, 1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0];
        let objects = MxObjects::of(&packed).unwrap();
        assert_eq!((objects.boxes, objects.classes), (vec![[0.1, 0.2, 0.3, 0.4]], vec![3]));
        assert!(MxObjects::of(&[2.0, 5.0]).unwrap().classes.is_empty());
        for labels in [
            &[][..],
            &[7.0],
            &[1.0, 5.0],
            &[2.0, 4.0],
            &[2.0, 5.0, 1.0],
            &[9.0, 5.0, 1.0],
            &[0.5, 5.0],
            &[2.0, 5.0, 0.5, 0.1, 0.2, 0.3, 0.4],
            &[2.0, 5.0, 1.0, f32::NAN, 0.2, 0.3, 0.4],
        ] {
            assert!(MxObjects::of(labels).is_err(), "{labels:?}");
        }
    }
}
