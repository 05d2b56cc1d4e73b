//! A decoder's answer: its checks, and the picture that is copied into its place.

use std::io;
use std::sync::Arc;

use forebay_pixels::{Orientation, Origin};
use forebay_proto::v1::decoder_answer::Outcome;
use forebay_proto::v1::{DecoderAnswer, DecoderOrigin};

use super::lane::AnswerKind;
use super::share::RemoteShare;
use crate::place::PlaceRight;

/// A picture with its views, as a decoder has made them.
#[derive(Debug)]
pub(crate) struct AnsweredPicture {
    /// The picture, and behind it its views.
    bytes: Vec<u8>,
    /// What it was made of.
    pub origin: Origin,
    share: Arc<RemoteShare>,
}

impl Drop for AnsweredPicture {
    fn drop(&mut self) {
        self.share.give_back(std::mem::take(&mut self.bytes));
    }
}

/// A good answer, for a request.
pub fn made_answer(id: u64, origin: &Origin, body: &[u8]) -> DecoderAnswer {
    let origin = Some(told(origin));
    DecoderAnswer { id, outcome: Outcome::Made.into(), origin, checksum: crc32c::crc32c(body), words: String::new() }
}

/// What an answer with this body says, if it is one.
///
/// # Errors
/// The body is not what the answer says.
pub(crate) fn check(answer: &DecoderAnswer, body: &[u8], len: u64) -> io::Result<AnswerKind> {
    let invalid = |what| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    match answer.outcome() {
        Outcome::Made if body.len() as u64 != len => invalid("an answer has no picture, or one of another size"),
        Outcome::Made if answer.checksum != crc32c::crc32c(body) => invalid("the checksum of an answer is wrong"),
        Outcome::Made if answer.origin.as_ref().and_then(origin).is_none() => {
            invalid("an answer does not say what it was made of")
        }
        Outcome::Made => Ok(AnswerKind::Made),
        _ if !body.is_empty() => invalid("an answer without a picture has a body"),
        Outcome::Busy => Ok(AnswerKind::Busy),
        Outcome::TooLarge | Outcome::Other | Outcome::Unread | Outcome::Bad => Ok(AnswerKind::NotMade),
        Outcome::Unspecified => invalid("an answer has an outcome that this version does not know"),
    }
}

impl AnsweredPicture {
    /// That of an answer that was checked.
    pub(crate) fn of(answer: &DecoderAnswer, bytes: Vec<u8>, share: &Arc<RemoteShare>) -> Option<Self> {
        let origin = answer.origin.as_ref().and_then(origin)?;
        share.hold(&bytes);
        Some(Self { bytes, origin, share: Arc::clone(share) })
    }

    /// Copies it into its place, with its views in these columns. The length was checked when the answer came.
    pub(crate) fn write(&self, place: &mut PlaceRight, views: &[usize]) {
        let (picture, others) = place.with_views(views);
        let (own, mut rest) = self.bytes.split_at(picture.len());
        picture.copy_from_slice(own);
        for view in others.into_iter().take(views.len()) {
            let (own, behind) = rest.split_at(view.len());
            view.copy_from_slice(own);
            rest = behind;
        }
        for column in views {
            *place.column(*column).0 = 1;
        }
    }
}

/// Nothing if it is no picture's.
fn origin(told: &DecoderOrigin) -> Option<Origin> {
    let orientation = |number: u32| {
        let known = Orientation::from_exif(u16::try_from(number).ok()?);
        (known as u32 == number).then_some(known)
    };
    let sides = [told.stored_width, told.stored_height, told.width, told.height];
    let (orientation, turned) = (orientation(told.orientation)?, orientation(told.turned)?);
    let origin = Origin { stored: (sides[0], sides[1]), orientation, turned, size: (told.width, told.height) };
    (!sides.contains(&0)).then_some(origin)
}

fn told(origin: &Origin) -> DecoderOrigin {
    let Origin { stored, orientation, turned, size } = *origin;
    DecoderOrigin {
        stored_width: stored.0,
        stored_height: stored.1,
        orientation: orientation as u32,
        turned: turned as u32,
        width: size.0,
        height: size.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin =
        Origin { stored: (4, 3), orientation: Orientation::AsStored, turned: Orientation::AsStored, size: (4, 3) };

    #[test]
    fn rule_60_an_answer_that_is_not_what_it_says_is_refused() {
        let good = made_answer(7, &ORIGIN, &[1, 2, 3]);
        assert_eq!(check(&good, &[1, 2, 3], 3).unwrap(), AnswerKind::Made);
        let share = Arc::new(RemoteShare::new(3, true));
        let made = AnsweredPicture::of(&good, vec![1, 2, 3], &share).unwrap();
        assert_eq!((made.origin, share.held()), (ORIGIN, 3));
        drop(made);
        assert_eq!(share.held(), 0);
        let without = DecoderAnswer { origin: None, ..good.clone() };
        let flat = DecoderOrigin { width: 0, ..good.origin.unwrap() };
        let turned = DecoderOrigin { turned: 9, ..good.origin.unwrap() };
        let odd = [flat, turned].map(|origin| DecoderAnswer { origin: Some(origin), ..good.clone() });
        let unknown = DecoderAnswer { outcome: 99, ..good.clone() };
        let busy = DecoderAnswer { outcome: Outcome::Busy.into(), ..DecoderAnswer::default() };
        for (answer, body, len) in [
            (&good, &[1, 2, 4][..], 3),
            (&good, &[1, 2, 3], 4),
            (&good, &[], 3),
            (&without, &[1, 2, 3], 3),
            (&odd[0], &[1, 2, 3], 3),
            (&odd[1], &[1, 2, 3], 3),
            (&unknown, &[], 3),
            (&busy, &[1], 3),
        ] {
            check(answer, body, len).unwrap_err();
        }
        assert_eq!(check(&busy, &[], 3).unwrap(), AnswerKind::Busy);
        for outcome in [Outcome::TooLarge, Outcome::Other, Outcome::Unread, Outcome::Bad] {
            let answer = DecoderAnswer { outcome: outcome.into(), ..DecoderAnswer::default() };
            assert_eq!(check(&answer, &[], 3).unwrap(), AnswerKind::NotMade);
        }
    }
}
