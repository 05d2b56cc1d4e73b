//! What the functions of a recipe are called with, and what becomes of what they give.

use std::time::Duration;

use forebay_children::Silence;
use forebay_pixels::{Draw, Fault, KeptPicture, PythonStep, Recipe};
use forebay_sources::ReaderFolders;

use super::call::{Call, CallAnswer};
use super::code::{self, StepCode, StepError};
use crate::decode::job::stepping::Stepping;
use crate::record::KeptRecord;
use crate::settings::StepSettings;
use crate::step_columns::StepColumns;

/// Most pictures that a child gets at once, and about the bytes that they may have.
const FRAME: usize = 16;
const FRAME_BYTES: u64 = 8 << 20;

/// Applies a recipe to a picture.
type MakePicture<'a> = dyn FnMut(&KeptRecord, &Recipe, &mut [u8]) -> Result<(), Fault> + 'a;

/// What is called, and how.
#[derive(Debug)]
pub(super) struct StepPlan {
    pub(super) code: StepCode,
    /// What is done with a picture before the first function.
    pub(super) first: Recipe,
    pub(super) steps: Vec<PythonStep>,
    /// What functions get beside a picture.
    pub(super) columns: StepColumns,
    /// Bytes of a picture's place in an arena, and how many places it has.
    pub(super) room: u64,
    pub(super) frame: usize,
    pub(super) timeout: Duration,
    /// Bytes of memory that a child may take.
    pub(super) memory: u64,
}

impl StepPlan {
    /// Of the functions of a recipe. Nothing if it has none.
    ///
    /// # Errors
    /// They may not be run.
    pub(super) fn new(
        recipe: &Recipe,
        columns: StepColumns,
        settings: &StepSettings,
        readers: &ReaderFolders,
    ) -> Result<Option<Self>, StepError> {
        let (first, steps) = recipe.split();
        if steps.is_empty() {
            return Ok(None);
        }
        let code = StepCode::new(&steps, settings, readers)?;
        let bytes = |(height, width): (u32, u32)| u64::from(height) * u64::from(width) * 3;
        let floats = |number| code::floats(&steps, number).map_or(0, |_| steps[number].then.place_len() as u64);
        let rooms = steps.iter().enumerate();
        let rooms = rooms.map(|(number, step)| bytes(step.takes).max(bytes(step.gives)).max(floats(number)));
        let room = rooms.max().unwrap_or(1);
        // Nothing ends a call in the Loader's process: its user may look at it with a debugger.
        let timeout = if code.loader().is_some() { Duration::MAX } else { settings.timeout };
        let plan = Self { code, first, steps, columns, room, frame: 1, timeout, memory: settings.memory.0 };
        let frame = plan.within(FRAME_BYTES).clamp(1, FRAME);
        Ok(Some(Self { frame, ..plan }))
    }

    /// How many pictures have about so many bytes.
    pub(super) fn within(&self, bytes: u64) -> usize {
        usize::try_from(bytes / self.room).unwrap_or(usize::MAX)
    }

    /// Finds what the columns have where a picture is now, for the next function.
    pub(super) fn prepare(&self, stepping: &mut Stepping, turn: (u64, Draw)) {
        let origin = stepping.origin.expect("it was decoded");
        stepping.values = self.columns.at(stepping.next, &origin, turn);
        let returned = stepping.returned.iter().flat_map(|returned| &returned.values);
        for (value, returned) in stepping.values.iter_mut().zip(returned) {
            if let Some(returned) = returned {
                value.clone_from(returned);
            }
        }
    }

    /// The call of the next function.
    pub(super) fn call<'a>(&self, stepping: &'a Stepping, (record, draw): (u64, Draw)) -> Call<'a> {
        let draws = draw.at(self.steps[stepping.next].place);
        let label = stepping.returned.as_deref().and_then(|returned| returned.label);
        Call {
            step: stepping.next,
            record,
            epoch: draw.epoch,
            repeat: stepping.repeat,
            seed: u128::from(draws.bits(0)) | u128::from(draws.bits(1)) << 64,
            pixels: &stepping.pixels,
            label: label.unwrap_or_else(|| self.columns.label(record)),
            columns: self.columns.sent(&stepping.values),
        }
    }

    /// Takes what a function has given. `read` copies a result out of its child's memory. What the function got is as it was until
    /// all of that is there. `spare` is memory for it.
    ///
    /// # Errors
    /// The child has sent something that is no answer.
    pub(super) fn take(
        &self,
        stepping: &mut Stepping,
        answer: CallAnswer,
        read: impl FnOnce(&mut [u8]) -> Result<(), Silence>,
        spare: &mut Vec<u8>,
    ) -> Result<CallAnswer, Silence> {
        let CallAnswer::Made { are_floats, beside } = &answer else { return Ok(answer) };
        let step = &self.steps[stepping.next];
        if *are_floats && code::floats(&self.steps, stepping.next).is_none() {
            return Err(Silence::Garbage);
        }
        let (height, width) = step.gives;
        let picture = height as usize * width as usize * 3;
        fill(spare, if *are_floats { step.then.place_len() } else { picture });
        read(spare)?;
        match self.columns.returned(beside, &stepping.values, stepping.returned.as_deref()) {
            Ok(returned) => stepping.returned = returned,
            Err(words) => return Ok(CallAnswer::Wrong(words)),
        }
        stepping.are_floats = *are_floats;
        std::mem::swap(&mut stepping.pixels, spare);
        Ok(answer)
    }

    /// Carries out what follows the function that was called last: up to the next one, or up to the picture's place, which is
    /// `out`. `make` applies a recipe to a picture.
    ///
    /// # Errors
    /// The transforms behind the function cannot be carried out.
    pub(super) fn carry_on(
        &self,
        stepping: &mut Stepping,
        draw: Draw,
        make: &mut MakePicture<'_>,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        let step = &self.steps[stepping.next - 1];
        if let Some(returned) = &mut stepping.returned {
            self.columns.carry(returned, step, draw);
        }
        let pixels = std::mem::take(&mut stepping.pixels);
        if stepping.are_floats {
            // They are in the form of the batch already.
            out.copy_from_slice(&pixels);
            return Ok(());
        }
        let (height, width) = step.gives;
        let kept = KeptRecord { picture: KeptPicture::of_pixels((width, height), pixels), masks: Box::default() };
        if stepping.next == self.steps.len() {
            return make(&kept, &step.then, out);
        }
        let mut next = Vec::new();
        fill(&mut next, step.then.place_len());
        make(&kept, &step.then, &mut next)?;
        stepping.pixels = next;
        Ok(())
    }

    /// The name of the function that a picture is at.
    pub(super) fn function(&self, stepping: &Stepping) -> &str {
        &self.steps[stepping.next].python.function
    }
}

/// Makes room for so many bytes, and for the few that a picture has behind its pixels.
pub(super) fn fill(pixels: &mut Vec<u8>, len: usize) {
    pixels.clear();
    let behind = usize::try_from(KeptPicture::bytes_of(0, 0)).unwrap_or_default();
    pixels.reserve_exact(len + behind);
    pixels.resize(len, 0);
}
