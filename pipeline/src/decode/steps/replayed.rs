//! Calls the functions of a recipe for one picture at a time, without a stream: a replay does that.

use std::sync::Arc;

use forebay_children::{Patience, Silence};
use forebay_pixels::{Draw, Fault, Limits, Origin};
use forebay_sources::ReaderFolders;

use super::call::CallAnswer;
use super::child::{STARTING, StepChild};
use super::code::StepError;
use super::plan::StepPlan;
use crate::decode::job::stepping::Stepping;
use crate::decode::maker::BehindStep;
use crate::decode::masks::Masks;
use crate::settings::StepSettings;
use crate::step_columns::StepColumns;
use crate::step_lists::{AwaitsStep, Beginning, StepLists};

/// A child that calls the functions of a stream. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct ReplayedSteps {
    plan: StepPlan,
    child: StepChild,
}

impl ReplayedSteps {
    /// Starts a child. Nothing if there are no functions.
    ///
    /// # Errors
    /// A function cannot be used, or the system lacks what that takes.
    pub(crate) fn open(
        lists: StepLists,
        (columns, masks): (StepColumns, Masks),
        (settings, readers): (&StepSettings, &ReaderFolders),
        limits: &Limits,
    ) -> Result<Option<Self>, StepError> {
        // There is no Loader that could call them.
        let settings = StepSettings { workers: None, ..settings.clone() };
        let Some(plan) = StepPlan::new(lists, (columns, masks), None, (&settings, readers), limits)? else {
            return Ok(None);
        };
        let (child, _) = StepChild::start(&plan, &Patience::lasting(STARTING))?;
        Ok(Some(Self { plan, child }))
    }

    /// The masks that functions get.
    pub(crate) fn masks(&self) -> &Masks {
        &self.plan.masks
    }

    /// What is done with a picture before functions, and room for the results.
    ///
    /// # Errors
    /// `origin` does not say what the picture is made of, or what a function would get is above the limits.
    pub(crate) fn begin<'a>(
        &'a self,
        draw: Draw,
        origin: &dyn Fn() -> Result<Origin, Fault>,
        awaiting: &'a mut Vec<AwaitsStep>,
    ) -> Result<Beginning<'a>, Fault> {
        self.plan.lists.begin(draw, (origin, &self.plan.limits), awaiting)
    }

    /// Calls all functions with what awaits them, which was made of this. Writes the results: `images`, and behind it further views.
    ///
    /// # Errors
    /// There is none. The words say why.
    pub(crate) fn play(
        &mut self,
        (origin, awaiting): (Origin, Vec<AwaitsStep>),
        (record, draw, repeat): (u64, Draw, u16),
        mut behind: BehindStep<'_>,
        out: &mut [&mut [u8]],
    ) -> Result<(), String> {
        let Self { plan, child } = self;
        let mut stepping = Stepping::new(Arc::default(), repeat);
        (stepping.origin, stepping.awaiting) = (Some(origin), awaiting);
        while plan.prepare(&mut stepping, (record, draw)) {
            let function = plan.function(&stepping).to_owned();
            let answer = answer(plan, child, &mut stepping, (record, draw));
            let answer = answer.map_err(|silence| match silence {
                Silence::Late => format!("The function {function} took longer than python_timeout."),
                _ => format!("The process of the function {function} has ended, or sent no answer."),
            })?;
            if let Some(trouble) = answer.trouble(&function) {
                return Err(trouble);
            }
            stepping.next += 1;
            let view = plan.lists.list(stepping.list).view.map_or(0, |view| 1 + view);
            let carried = plan.carry_on(&mut stepping, (record, draw), &mut behind, out[view]);
            carried.map_err(|fault| fault.to_string())?;
        }
        Ok(())
    }
}

/// Has the next function called.
fn answer(
    plan: &StepPlan,
    child: &mut StepChild,
    stepping: &mut Stepping,
    turn: (u64, Draw),
) -> Result<CallAnswer, Silence> {
    let mut ask = || {
        let patience = Patience::lasting(if child.has_answered { plan.timeout } else { plan.timeout.max(STARTING) });
        child.ask(&[plan.call(stepping, turn)], plan.room, &patience)?;
        let answer = child.answer(&patience)?;
        child.finish(&patience).map(|()| answer)
    };
    let mut answer = ask()?;
    if answer == CallAnswer::Again {
        answer = ask()?;
    }
    if answer == CallAnswer::Again {
        return Err(Silence::Garbage);
    }
    plan.take(stepping, answer, |at, into| child.result(at, into), &mut Vec::new())
}
