//! Finds pictures for the places of a batch that lack one. Such places are those of bad records, holes at the end of a
//! dynamic epoch, and copies at the end of a static one (semantics rules 7, 12 and 13).

use std::collections::VecDeque;

use crate::batch::batcher::Action;
use crate::batch::batcher::drafts::Drafts;
use crate::batch::draft::{Draft, DraftPlace, Fill};
use crate::place::At;

/// What is to be done, oldest first.
type Actions = VecDeque<Action>;

/// Settles the places of a batch that are to repeat a picture. False while one is being fetched. Where places `never_shift`, a
/// place without a picture is filled too.
pub(super) fn mend(batch: u64, never_shift: bool, drafts: &mut Drafts, actions: &mut Actions) -> bool {
    let Some(draft) = drafts.get(batch) else { return true };
    let is_wanting = draft.is_wanting();
    for place in 0..if is_wanting { draft.taken() } else { 0 } {
        if let Fill::Copy { asked } = drafts.of(batch).place(place).fill {
            repeat_record((batch, place), asked, drafts, actions);
        }
    }
    if drafts.of(batch).is_busy() {
        return false;
    }
    if drafts.of(batch).leaves_empty() {
        leave_empty(drafts.of_mut(batch));
        return true;
    }
    if is_wanting {
        replace_bad(batch, drafts, actions);
    }
    if never_shift {
        close_places(batch, drafts, actions);
    }
    true
}

/// The places of bad records, and those whose positions have not come, stay empty.
fn leave_empty(draft: &mut Draft) {
    for place in 0..draft.taken() {
        if matches!(draft.place(place).fill, Fill::Bad | Fill::Hole) {
            draft.set(place, DraftPlace::EMPTY);
        }
    }
}

/// The nearest earlier good record of the batch takes the place of a bad one, else the next good one of the batch. If the
/// batch has none, the place is a hole.
fn replace_bad(batch: u64, drafts: &mut Drafts, actions: &mut Actions) {
    for place in 0..drafts.of(batch).taken() {
        let draft = drafts.of(batch);
        if draft.place(place).fill != Fill::Bad {
            continue;
        }
        match draft.nearest_good(place) {
            Some(from) => repeat((batch, from), (batch, place), drafts, actions),
            None => drafts.of_mut(batch).fill(place, Fill::Hole),
        }
    }
}

/// For a copy: a place that shows its record, else the record itself, fetched once for all of its copies.
fn repeat_record(at: At, asked: bool, drafts: &mut Drafts, actions: &mut Actions) {
    let draft = drafts.of_mut(at.0);
    let (epoch, turn) = (draft.epoch(), draft.place(at.1).turn);
    if let Some(from) = draft.showing(turn) {
        repeat((at.0, from), at, drafts, actions);
    } else if asked {
        draft.fill(at.1, Fill::Hole);
    } else if draft.fetching(turn).is_none() {
        draft.fill(at.1, Fill::Fetching);
        actions.push_back(Action::Fetch { at, epoch, turn });
    }
}

/// Notes that what was fetched for a place is bad as well.
pub(super) fn copy_failed(at: At, drafts: &mut Drafts) {
    let draft = drafts.of_mut(at.0);
    let turn = draft.place(at.1).turn;
    for place in 0..draft.taken() {
        let other = draft.place(place);
        if place == at.1 || other.turn == turn && other.fill == (Fill::Copy { asked: false }) {
            draft.fill(place, Fill::Copy { asked: true });
        }
    }
}

/// If places never shift, a hole shows another picture of the batch. If there is none, it is black. Such a place has
/// no record.
fn close_places(batch: u64, drafts: &mut Drafts, actions: &mut Actions) {
    let draft = drafts.of_mut(batch);
    while let Some(place) = draft.hole() {
        let donor = draft.nearest_good(place);
        match donor {
            Some(from) => draft.repeat(from, place),
            // The label of the bad record is not that of a black picture.
            None => draft.set(place, DraftPlace::HOLE),
        }
        draft.fill(place, Fill::Anonymous);
        let to = (batch, place);
        let black = Action::Clear { at: to };
        actions.push_back(donor.map_or(black, |from| Action::Copy { from: (batch, from), to }));
    }
}

/// Moves the last pictures of an ended dynamic epoch into its holes. False while records or outcomes are still to come.
pub(super) fn close_holes(epoch: u64, drafts: &mut Drafts, actions: &mut Actions) -> bool {
    let batches: Vec<u64> = drafts.of_epoch(epoch).map(|(batch, _)| batch).collect();
    if batches.iter().any(|batch| drafts.of(*batch).is_busy())
        || !batches.iter().all(|batch| mend(*batch, false, drafts, actions))
    {
        return false;
    }
    let mut left = batches.as_slice();
    while let Some((&last, before)) = left.split_last() {
        if drafts.of_mut(last).trim() == 0 {
            drafts.remove(last);
            actions.push_back(Action::Discard { batch: last });
            left = before;
            continue;
        }
        let Some(to) = drafts.hole(epoch) else { break };
        let Some(moved) = drafts.of_mut(last).pop() else { break };
        let from = (last, drafts.of(last).taken());
        actions.push_back(Action::Copy { from, to });
        drafts.of_mut(to.0).set(to.1, moved);
    }
    true
}

fn repeat(from: At, to: At, drafts: &mut Drafts, actions: &mut Actions) {
    let shown = *drafts.of(from.0).place(from.1);
    drafts.of_mut(to.0).set(to.1, DraftPlace { own: None, fill: Fill::Good, ..shown });
    actions.push_back(Action::Copy { from, to });
}
