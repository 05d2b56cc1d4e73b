//! A picture's way through the functions in Python of its stream, as far as its job knows it. `decode/steps.rs` has the rest.

use std::fmt;
use std::sync::Arc;

use forebay_columns::ValueBuf;
use forebay_pixels::{Draw, Fault, Origin};

use super::DecodeJob;
use crate::decode::maker::PictureMaker;
use crate::decode::suspect_order::SuspectOrder;
use crate::mask_numbers::MaskNumbers;
use crate::returned::Returned;
use crate::step_lists::{AwaitsStep, Beginning};

/// What calls the functions of a stream.
pub(crate) trait StepCalls: fmt::Debug + Send + Sync {
    /// Gives the picture back if it may be decoded now. Otherwise it waits until another one has left.
    fn admit(&self, job: DecodeJob) -> Option<DecodeJob>;

    /// A picture that was admitted, and counted with so many bytes, has left: others may be decoded.
    fn left(&self, bytes: u64);

    /// What is done with a picture before functions, and room for the results. `origin` says what the picture is made of.
    ///
    /// # Errors
    /// It does not, or what a function would get is above the limits.
    fn begin<'a>(
        &'a self,
        stepping: &'a mut Stepping,
        draw: Draw,
        origin: &dyn Fn() -> Result<Origin, Fault>,
    ) -> Result<Beginning<'a>, Fault>;

    /// Passes a picture on to a child, or ends it if no function is called for it. It was decoded, and made of this.
    fn call_first(&self, job: DecodeJob, origin: Origin);

    /// Continues with what a function has given, up to the next function or to the picture's place.
    ///
    /// # Errors
    /// The transforms behind the function cannot be carried out.
    fn carry_on(&self, maker: &mut PictureMaker, job: &mut DecodeJob) -> Result<(), Fault>;

    /// Passes a picture on that the pool has continued with.
    fn carried(&self, job: DecodeJob, carried: Result<(), Fault>);
}

/// A picture on its way through the functions of its stream.
#[derive(Debug)]
pub(crate) struct Stepping {
    /// What it waits for, and whether its outcome is still wanted.
    pub(in crate::decode) order: Arc<SuspectOrder>,
    pub(in crate::decode) repeat: u16,
    /// What is to be given to functions of other lists, as `pixels` are of the first one of these.
    pub(in crate::decode) awaiting: Vec<AwaitsStep>,
    /// The list of the function that is called.
    pub(in crate::decode) list: usize,
    /// The function that is called, by its number in the list; or the first one that may be called next.
    pub(in crate::decode) next: usize,
    /// What a function gets, or has given, and its height and width.
    pub(in crate::decode) pixels: Vec<u8>,
    pub(in crate::decode) size: (u32, u32),
    /// Height and width of what the function got that has given that.
    pub(in crate::decode) taken: (u32, u32),
    /// The masks of that picture.
    pub(in crate::decode) masks: Vec<MaskNumbers>,
    /// These are values of a batch in place of a picture.
    pub(in crate::decode) are_floats: bool,
    /// What the columns of the stream have at the next function.
    pub(in crate::decode) values: Vec<ValueBuf>,
    /// What functions have returned beside the picture so far.
    pub(in crate::decode) returned: Option<Box<Returned>>,
    /// What the picture was made of, once it is decoded.
    pub(in crate::decode) origin: Option<Origin>,
    /// It is one of those that may be on their way at once, and is counted with so many bytes.
    pub(in crate::decode) counted: Option<u64>,
}

impl Stepping {
    /// A picture that is not decoded yet.
    pub(in crate::decode) fn new(order: Arc<SuspectOrder>, repeat: u16) -> Self {
        let (pixels, values) = (Vec::new(), Vec::new());
        Self {
            order,
            repeat,
            awaiting: Vec::new(),
            list: 0,
            next: 0,
            pixels,
            size: (0, 0),
            taken: (0, 0),
            masks: Vec::new(),
            are_floats: false,
            values,
            returned: None,
            origin: None,
            counted: None,
        }
    }

    /// Whether it was decoded.
    pub(in crate::decode) fn is_decoded(&self) -> bool {
        self.origin.is_some()
    }
}
