//! The masks that functions in Python get and return, beside pictures in the memory of their child.

use forebay_children::Silence;
use forebay_pixels::PythonStep;
use serde_json::{Value, json};

use crate::decode::masks::Masks;
use crate::mask_numbers::MaskNumbers;

/// The room of a picture in an arena: the pixels, and behind them its masks, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepRoom {
    /// Where the masks begin.
    pub masks: u64,
    /// Bytes of all.
    pub whole: u64,
}

impl StepRoom {
    /// For so many bytes of pixels and of masks.
    pub(super) fn new(pixels: u64, masks: u64) -> Self {
        if masks == 0 {
            return Self { masks: pixels, whole: pixels };
        }
        // Numbers of all types are aligned there.
        let first = pixels.next_multiple_of(8);
        Self { masks: first, whole: (first + masks).next_multiple_of(8) }
    }
}

/// What a child is told of masks once.
pub(super) fn forms(masks: &Masks, room: StepRoom) -> Value {
    let form = |(name, element): (&str, &str)| json!({ "name": name, "element": element });
    let forms = masks.targets.iter().map(|target| form((&target.name, target.depth.name())));
    json!({ "at": room.masks, "forms": forms.collect::<Vec<_>>() })
}

/// The masks behind a function of `images`, which got these and has returned this beside its picture of this size. `read` copies bytes out of the
/// picture's room.
///
/// # Errors
/// The memory cannot be read; or the function has not returned what it must, in words.
pub(super) fn masks_behind(
    step: &PythonStep,
    gives: (u32, u32),
    (masks, room): (&Masks, StepRoom),
    got: &[MaskNumbers],
    beside: &[u8],
    read: impl Fn(u64, &mut [u8]) -> Result<(), Silence>,
) -> Result<Result<Vec<MaskNumbers>, String>, Silence> {
    let Some(returned) = returned(beside, masks.targets.len()) else {
        return Ok(Err("what it returned for masks has arrived damaged".to_owned()));
    };
    let (mut made, mut at) = (Vec::with_capacity(returned.len()), room.masks);
    for (number, (returned, before)) in returned.into_iter().zip(got).enumerate() {
        let mut mask = masks.missing(number, gives);
        match returned {
            Some(is_there) => {
                mask.is_there = is_there;
                if is_there {
                    read(at, &mut mask.numbers)?;
                }
            }
            None if step.python.output.is_none() => mask.clone_from(before),
            None if before.is_there => {
                return Ok(Err(format!(
                    "its output has a size of its own, so it must return the mask \"{}\" too. Or leave this column out of the stream \
                     with `columns`",
                    masks.targets[number].name
                )));
            }
            None => {}
        }
        at += mask.numbers.len() as u64;
        made.push(mask);
    }
    Ok(Ok(made))
}

/// For each mask whether a function has returned it, and whether that is one. Nothing if the answer is none.
fn returned(beside: &[u8], masks: usize) -> Option<Vec<Option<bool>>> {
    let mut returned = vec![None; masks];
    if masks == 0 || beside.is_empty() {
        return Some(returned);
    }
    let answer: Value = serde_json::from_slice(beside).ok()?;
    for (number, is_there) in answer.get("masks").and_then(Value::as_object).into_iter().flatten() {
        *returned.get_mut(number.parse::<usize>().ok()?)? = Some(is_there.as_bool()?);
    }
    Some(returned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_behind_the_pixels_where_all_types_are_aligned() {
        assert_eq!(StepRoom::new(75, 0), StepRoom { masks: 75, whole: 75 });
        assert_eq!(StepRoom::new(75, 25), StepRoom { masks: 80, whole: 112 });
    }

    #[test]
    fn rule_59_an_answer_about_masks_that_is_none_is_found() {
        let of = |answer: &Value| returned(answer.to_string().as_bytes(), 2);
        assert_eq!(returned(b"", 2), Some(vec![None, None]));
        assert_eq!(returned(b"no JSON", 0), Some(vec![]));
        assert_eq!(of(&json!({ "label": 3 })), Some(vec![None, None]));
        assert_eq!(of(&json!({ "masks": { "1": true } })), Some(vec![None, Some(true)]));
        assert_eq!(of(&json!({ "masks": { "0": false, "1": true } })), Some(vec![Some(false), Some(true)]));
        for damaged in
            [json!({ "2": true }), json!({ "-1": true }), json!({ "0": 1 }), json!({ "0": null }), json!({ "": true })]
        {
            assert_eq!(of(&json!({ "masks": damaged })), None, "{damaged}");
        }
        assert_eq!(returned(b"no JSON", 1), None);
    }
}
