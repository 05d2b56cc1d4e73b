//! Pictures that are kept decoded: whole and upright, of bounded size if wanted; and a recipe carried out on one.

use std::time::Instant;

use crate::cpu::canvas::PlanInput;
use crate::cpu::{CpuDecoder, Loaded, PictureFile, Stored, Wanted, load};
use crate::decoded::Decoded;
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::picture::KeptPicture;
use crate::pipeline::Input;
use crate::recipe::Recipe;

/// In which form a decoded picture is kept.
///
/// ```
/// use forebay_pixels::Form;
///
/// let form = Form { max_side: Some(512), ..Form::default() };
/// assert_eq!(form.size(1024, 683), (512, 342));
/// assert_eq!(form.size(500, 375), (500, 375), "smaller pictures stay as they are");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Whether the picture is turned as its EXIF orientation says.
    pub adjust_orientation: bool,
    /// What shows through where the picture is transparent.
    pub background: [u8; 3],
    /// Longest side; a picture with a longer one is shrunk to it, by the antialiased triangle filter. None keeps every
    /// picture at its size.
    pub max_side: Option<u32>,
}

impl Default for Form {
    fn default() -> Self {
        Self { adjust_orientation: true, background: [0; 3], max_side: None }
    }
}

impl Form {
    /// Width and height of the kept form of a picture of this size.
    pub fn size(&self, width: u32, height: u32) -> (u32, u32) {
        let longer = width.max(height);
        match self.max_side.filter(|max| *max < longer) {
            None => (width, height),
            Some(max) => (scaled(width, max, longer), scaled(height, max, longer)),
        }
    }
}

impl CpuDecoder {
    /// Decodes a whole picture in this form, at its full size whatever a recipe says of `reducing_gap`.
    /// [`transform`](Self::transform) then gives the same bytes as [`decode`](Self::decode) of the file, unless the form has
    /// shrunk the picture. The second value is the one that `decode` returns.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn upright(&mut self, bytes: &[u8], form: Form, limits: &Limits) -> Result<(KeptPicture, Decoded), Fault> {
        let input = Input { adjust_orientation: form.adjust_orientation, reducing_gap: None };
        let all = |stored: &Stored, _| Ok(Wanted::all(stored));
        let file = PictureFile { bytes, points: None };
        let loaded = load(&mut self.jpeg, &mut self.canvas, file, input, form.background, limits, all);
        let picture = loaded.map(|Loaded { decoded, .. }| {
            let (width, height) = form.size(decoded.width, decoded.height);
            self.canvas.shrink(width, height);
            let size = (width, height);
            (KeptPicture::new(decoded.format, size, decoded.origin, self.canvas.rgb()), decoded)
        });
        self.canvas.trim();
        picture
    }

    /// Carries a recipe out on a kept picture, into a place of [`Recipe::place_len`] bytes. The recipe's background
    /// has no influence: what is transparent was blended when the picture was decoded.
    ///
    /// # Errors
    /// A step would make more pixels than the limits allow, or it takes more time. The place may hold anything then.
    ///
    /// # Panics
    /// If `out` has another length than [`Recipe::place_len`].
    pub fn transform(
        &mut self,
        picture: &KeptPicture,
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        let KeptPicture { format, width, height, origin, .. } = *picture;
        assert_eq!(out.len(), recipe.place_len(), "a place has the recipe's place length");
        let stored = Stored::turned(origin);
        let pipeline = recipe.pipeline();
        Wanted::of(pipeline, draw, &stored, false, limits, &mut self.plan, &mut self.stages)?;
        let begun = Instant::now();
        let look = || limits.check_time(begun);
        let made = self.canvas.carry_out(PlanInput::kept(picture), (&self.plan, &self.stages), pipeline, out, look);
        self.canvas.trim();
        made?;
        Ok(Decoded { format, width, height, origin, by: None })
    }
}

/// `side` x `max` / `longer`, to the nearest, at least 1.
fn scaled(side: u32, max: u32, longer: u32) -> u32 {
    let twice = u64::from(side) * u64::from(max) * 2 + u64::from(longer);
    u32::try_from(twice / (u64::from(longer) * 2)).unwrap_or(max).max(1)
}
