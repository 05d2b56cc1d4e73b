//! What the functions of a recipe are called with, and what becomes of what they give.

use std::time::Duration;

use forebay_children::{Patience, Silence};
use forebay_pixels::{Draw, Fault, KeptPicture, Limits, Origin, PythonStep, Size};
use forebay_sources::ReaderFolders;
use parking_lot::Mutex;

use super::UNDER_WAY_BYTES;
use super::batch_form::BatchForm;
use super::call::{Call, CallAnswer};
use super::code::{self, StepCode, StepError};
use super::step_masks::{StepRoom, masks_behind};
use crate::decode::job::stepping::Stepping;
use crate::decode::maker::BehindStep;
use crate::decode::masks::Masks;
use crate::record::KeptRecord;
use crate::settings::StepSettings;
use crate::spare::Spare;
use crate::step_columns::StepColumns;
use crate::step_lists::{AwaitsStep, StepList, StepLists, fill};

/// Most pictures that a child gets at once, and about the bytes that they may have.
const FRAME: usize = 16;
pub(super) const FRAME_BYTES: u64 = 8 << 20;

/// What is called, and how.
#[derive(Debug)]
pub(super) struct StepPlan {
    pub(super) code: StepCode,
    pub(super) lists: StepLists,
    /// What functions get beside a picture.
    pub(super) columns: StepColumns,
    /// The masks of the stream, which they get too.
    pub(super) masks: Masks,
    /// What is called with finished batches.
    pub(super) batch: Option<BatchForm>,
    /// A picture's place in an arena, and how many places it has.
    pub(super) room: StepRoom,
    pub(super) frame: usize,
    pub(super) timeout: Duration,
    /// Bytes of memory that a child may take.
    pub(super) memory: u64,
    /// The limits of a picture.
    pub(super) limits: Limits,
    /// Memory of pictures, for others.
    spare: Mutex<Spare>,
}

impl StepPlan {
    /// Of the functions of these lists. Nothing if there are none.
    ///
    /// # Errors
    /// They may not be run.
    pub(super) fn new(
        lists: StepLists,
        (columns, masks): (StepColumns, Masks),
        batch: Option<BatchForm>,
        (settings, readers): (&StepSettings, &ReaderFolders),
        limits: &Limits,
    ) -> Result<Option<Self>, StepError> {
        let of_batches = batch.as_ref().map(BatchForm::function);
        let Some(first) = functions(&lists).chain(of_batches).next() else { return Ok(None) };
        let code = StepCode::new(first, settings, readers)?;
        // A picture that has a size of its own may have any up to the limits. Memory is taken as it is written.
        let bytes = |size: Option<(u32, u32)>| {
            size.map_or(limits.pixels, |(height, width)| u64::from(height) * u64::from(width)).saturating_mul(3)
        };
        let floats = |list: &StepList, step| code::floats(list, step).map_or(0, |whole| whole.place_len() as u64);
        let rooms = lists.each().flat_map(|list| {
            let steps = list.split.steps().iter();
            steps.map(move |step| bytes(step.takes).max(bytes(step.gives)).max(floats(list, step)))
        });
        let mask_bytes = |size: Option<(u32, u32)>| {
            size.map_or_else(|| masks.bytes((1, 1)).saturating_mul(limits.pixels), |size| masks.bytes(size))
        };
        let of_masks = lists.steps().map(|step| mask_bytes(step.takes).max(mask_bytes(step.gives)));
        let room = StepRoom::new(rooms.max().unwrap_or(1), of_masks.max().unwrap_or(0));
        // Nothing ends a call in the Loader's process: its user may look at it with a debugger.
        let timeout = if code.loader().is_some() { Duration::MAX } else { settings.timeout };
        let (memory, limits, spare) = (settings.memory.0, *limits, Mutex::new(Spare::beside(UNDER_WAY_BYTES)));
        let plan = Self { code, lists, columns, masks, batch, room, frame: 1, timeout, memory, limits, spare };
        let frame = plan.within(FRAME_BYTES).clamp(1, FRAME);
        Ok(Some(Self { frame, ..plan }))
    }

    /// The names of all functions: those of pictures, and behind them that of batches.
    pub(super) fn functions(&self) -> impl Iterator<Item = &str> {
        functions(&self.lists).chain(self.batch.as_ref().map(BatchForm::function))
    }

    /// The number of the function of batches among all functions.
    pub(super) fn of_batches(&self) -> usize {
        self.lists.steps().count()
    }

    /// Bytes of the memory that a child shares with the daemon: a child has some pictures in it, or a batch.
    pub(super) fn arena(&self) -> u64 {
        (self.room.whole * self.frame as u64).max(self.batch.as_ref().map_or(0, BatchForm::len))
    }

    /// How long a child may take that has answered before.
    pub(super) fn patience<'a>(&self, is_withdrawn: &'a (dyn Fn() -> bool + 'a)) -> Patience<'a> {
        Patience::lasting(self.timeout).unless(is_withdrawn)
    }

    /// Memory for a picture before a function, which was another one's before if there is some.
    pub(super) fn room(&self) -> Vec<u8> {
        self.spare.lock().take(0)
    }

    /// What functions get of a picture that is decoded, in bytes with its masks.
    pub(super) fn bytes(&self, origin: &Origin, draw: Draw) -> u64 {
        let of_list = |list: &StepList| {
            let part = list.split.part(0, Some(list.next(0, draw)?));
            let part = part.for_picture(origin, list.draw(draw), &self.limits).ok()?;
            let (height, width, _) = part.shape();
            Some(part.place_len() as u64 + self.masks.bytes((height, width)))
        };
        self.lists.each().filter_map(of_list).sum()
    }

    /// How many pictures have about so many bytes.
    pub(super) fn within(&self, bytes: u64) -> usize {
        usize::try_from(bytes / self.room.whole).unwrap_or(usize::MAX)
    }

    /// Finds the function that is called for a picture next, in its list or in those that await it, and what that gets. False if there
    /// is none.
    pub(super) fn prepare(&self, stepping: &mut Stepping, (record, draw): (u64, Draw)) -> bool {
        let called = loop {
            let in_list = self.lists.list(stepping.list).next(stepping.next, draw);
            if let Some(next) = in_list.filter(|_| !stepping.pixels.is_empty()) {
                break next;
            }
            if stepping.awaiting.is_empty() {
                return false;
            }
            let AwaitsStep { list, size, pixels, masks } = stepping.awaiting.remove(0);
            (stepping.list, stepping.next, stepping.pixels, stepping.are_floats) = (list, 0, pixels, false);
            (stepping.size, stepping.masks) = (size, masks);
        };
        stepping.next = called;
        let (list, origin) = (self.lists.list(stepping.list), stepping.origin.expect("it was decoded"));
        stepping.values = self.columns.at(list.first + called, &origin, (record, list.draw(draw)));
        let returned = stepping.returned.iter().filter(|_| list.view.is_none()).flat_map(|returned| &returned.values);
        for (value, returned) in stepping.values.iter_mut().zip(returned) {
            if let Some(returned) = returned {
                value.clone_from(returned);
            }
        }
        true
    }

    /// The call of the next function.
    pub(super) fn call<'a>(&'a self, stepping: &'a Stepping, (record, draw): (u64, Draw)) -> Call<'a> {
        let list = self.lists.list(stepping.list);
        let draws = list.split.draws(stepping.next, list.draw(draw)).expect("it is one that is called");
        let returned = stepping.returned.as_deref().filter(|_| list.view.is_none());
        Call {
            step: self.number(stepping),
            view: &list.name,
            record,
            epoch: draw.epoch,
            repeat: stepping.repeat,
            seed: u128::from(draws.bits(0)) | u128::from(draws.bits(1)) << 64,
            size: stepping.size,
            pixels: &stepping.pixels,
            masks: &stepping.masks,
            label: returned.and_then(|returned| returned.label).unwrap_or_else(|| self.columns.label(record)),
            columns: self.columns.sent(&stepping.values),
        }
    }

    /// Takes what a function has given. `read` copies a result out of its room in its child's memory, from a byte on. What the function
    /// got is as it was until all of that is there. `spare` is memory for it.
    ///
    /// # Errors
    /// The child has sent something that is no answer.
    pub(super) fn take(
        &self,
        stepping: &mut Stepping,
        answer: CallAnswer,
        read: impl Fn(u64, &mut [u8]) -> Result<(), Silence>,
        spare: &mut Vec<u8>,
    ) -> Result<CallAnswer, Silence> {
        let CallAnswer::Made { are_floats, beside } = &answer else { return Ok(answer) };
        let (list, step) = (self.lists.list(stepping.list), self.step(stepping));
        let gives = step.python.output.map_or(stepping.size, Size::square);
        let (height, width) = gives;
        let len = match code::floats(list, step) {
            Some(whole) if *are_floats => whole.place_len(),
            None if *are_floats => return Err(Silence::Garbage),
            _ => height as usize * width as usize * 3,
        };
        fill(spare, len);
        read(0, spare)?;
        // Columns are those of `images`.
        if list.view.is_none() {
            let masks = match masks_behind(step, gives, (&self.masks, self.room), &stepping.masks, beside, read)? {
                Ok(masks) => masks,
                Err(words) => return Ok(CallAnswer::Wrong(words)),
            };
            let resizes = step.python.output.is_some();
            match self.columns.returned(beside, &stepping.values, stepping.returned.as_deref(), resizes) {
                Ok(returned) => stepping.returned = returned,
                Err(words) => return Ok(CallAnswer::Wrong(words)),
            }
            stepping.masks = masks;
        }
        stepping.are_floats = *are_floats;
        stepping.taken = std::mem::replace(&mut stepping.size, gives);
        std::mem::swap(&mut stepping.pixels, spare);
        Ok(answer)
    }

    /// Carries out what follows the function that was called last: up to the next one, or up to its view, which is `out`. Says whether
    /// the view is there.
    ///
    /// # Errors
    /// The transforms behind the function cannot be carried out.
    pub(super) fn carry_on(
        &self,
        stepping: &mut Stepping,
        (record, draw): (u64, Draw),
        behind: &mut BehindStep<'_>,
        out: &mut [u8],
    ) -> Result<bool, Fault> {
        let list = self.lists.list(stepping.list);
        let (number, own) = (stepping.next - 1, list.draw(draw));
        let (takes, gives) = (stepping.taken, stepping.size);
        let next = list.next(stepping.next, draw);
        let then = list.split.part(stepping.next, next);
        let then = &*then.for_picture(&Origin::plain((gives.1, gives.0)), own, &self.limits)?;
        if let (Some(returned), None) = (&mut stepping.returned, list.view) {
            self.columns.carry(returned, gives, then, own);
        }
        // No masks are in the place of a further view.
        if !self.masks.is_empty() && (list.view.is_none() || next.is_some()) {
            if let Some(resize) = list.view.and_then(|_| list.split.in_place_of(number)) {
                behind.masks.carry(&self.masks, takes, (&resize, own), &mut stepping.masks);
            }
            behind.masks.carry(&self.masks, gives, (then, own), &mut stepping.masks);
        }
        let pixels = std::mem::take(&mut stepping.pixels);
        if stepping.are_floats {
            // They are in the form of the batch already.
            out.copy_from_slice(&pixels);
            self.spare.lock().keep(pixels);
            return Ok(true);
        }
        let kept = KeptRecord { picture: KeptPicture::of_pixels((gives.1, gives.0), pixels), masks: Box::default() };
        if next.is_none() {
            behind.make(&kept, then, (record, own), out)?;
        } else {
            let mut made = self.room();
            fill(&mut made, then.place_len());
            behind.make(&kept, then, (record, own), &mut made)?;
            let (height, width, _) = then.shape();
            (stepping.pixels, stepping.size) = (made, (height, width));
        }
        self.spare.lock().keep(kept.picture.into_pixels());
        Ok(next.is_none())
    }

    /// The function that a picture is at.
    fn step(&self, stepping: &Stepping) -> &PythonStep {
        &self.lists.list(stepping.list).split.steps()[stepping.next]
    }

    /// Its number among all functions.
    pub(super) fn number(&self, stepping: &Stepping) -> usize {
        self.lists.list(stepping.list).first + stepping.next
    }

    /// Its name.
    pub(super) fn function(&self, stepping: &Stepping) -> &str {
        &self.step(stepping).python.function
    }
}

/// The functions of pictures.
fn functions(lists: &StepLists) -> impl Iterator<Item = &str> {
    lists.steps().map(|step| step.python.function.as_str())
}
