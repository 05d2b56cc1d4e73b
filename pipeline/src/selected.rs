//! What is read of a dataset: all of its records, or the selected ones (semantics rule 66).

use std::sync::Arc;

use forebay_plan::{SelectionProblem, SelectionTable};
use forebay_sources::{Member, Selection, Source};

/// How many records are read.
pub(crate) fn count(source: &dyn Source) -> u64 {
    source.selection().map_or_else(|| source.len(), Selection::count)
}

/// The selected records as the plan has them. Nothing if all records are read.
///
/// # Errors
/// They are not of this source.
pub(crate) fn table(source: &dyn Source) -> Result<Option<Arc<SelectionTable>>, SelectionProblem> {
    let table = |own: &Selection| SelectionTable::new(Arc::clone(own.words()), own.records());
    Ok(source.selection().map(table).transpose()?.map(Arc::new))
}

/// The records that are read, in the dataset's order.
pub(crate) fn records(source: &dyn Source) -> Box<dyn Iterator<Item = u64> + '_> {
    match source.selection() {
        Some(selection) => Box::new(selection.iter()),
        None => Box::new(0..source.len()),
    }
}

/// The sources that the dataset is made of, with the numbers of records that are read of each. A single source is one if `is_single`
/// asks for it, and otherwise there is none.
pub(crate) fn members(source: &dyn Source, is_single: bool) -> Vec<Member> {
    let mut members = source.members().to_vec();
    if members.is_empty() && is_single {
        members.push(Member { name: String::new(), records: source.len() });
    }
    let mut first = 0;
    for member in &mut members {
        let own = first..first + member.records;
        first = own.end;
        if let Some(selection) = source.selection() {
            member.records = selection.count_in(own);
        }
    }
    members
}
