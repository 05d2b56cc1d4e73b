//! The order of a stream's epochs, as its ledger and its stages have to know it.

use std::borrow::Cow;
use std::sync::Arc;

use forebay_plan::{
    CHANGING_GRAIN_PERMUTATION, CHANGING_MIXTURE_PERMUTATION, CLASS_PERMUTATION, EpochPart, GRAIN_MIXTURE_PERMUTATION,
    GRAIN_PERMUTATION, GrainTable, MIXTURE_PERMUTATION, OrderTable, PERMUTATION, Plan, SELECTED, SelectionProblem,
    SelectionTable, SpecError, shares,
};
use forebay_proto::v1::{LedgerSpec, ShareChange, SourceShare};
use forebay_sources::{Grains, Member, Source};

use crate::classes::StreamClasses;
use crate::selected;
use crate::settings::{Shuffle, StreamSettings};

/// A spec, and the table and the selected records that it is about.
#[derive(Debug)]
pub(crate) struct StreamOrder {
    pub spec: LedgerSpec,
    pub table: Option<OrderTable>,
    pub selection: Option<Arc<SelectionTable>>,
}

impl StreamOrder {
    /// The order of one shard or rank of a dataset, or of all of it.
    ///
    /// # Errors
    /// The dataset has too many grains, or its sources cannot have the shares that the settings give them.
    pub(crate) fn new(
        source: &dyn Source,
        settings: &StreamSettings,
        part: Option<EpochPart>,
        classes: Option<&StreamClasses>,
    ) -> Result<Self, SpecError> {
        let selection = selected::table(source)?;
        let order = Self::of_selected(source, settings, part, classes, selection.as_deref())?;
        let Some(selection) = selection else { return Ok(order) };
        let LedgerSpec { permutation, .. } = order.spec;
        let spec = LedgerSpec { permutation: permutation + SELECTED, selection: Some(selection.order()), ..order.spec };
        Ok(Self { spec, selection: Some(selection), ..order })
    }

    /// The order of the selected records, as if the dataset had no others.
    fn of_selected(
        source: &dyn Source,
        settings: &StreamSettings,
        part: Option<EpochPart>,
        classes: Option<&StreamClasses>,
        selection: Option<&SelectionTable>,
    ) -> Result<Self, SpecError> {
        let records = selected::count(source);
        let (shard, lockstep) = match part {
            None => (None, None),
            Some(EpochPart::Shard(shard)) => (Some(shard), None),
            Some(EpochPart::Rank(rank)) => (None, Some(rank)),
        };
        let (sources, share_changes) = match classes {
            Some(classes) => (classes.sources(), Vec::new()),
            None => sources(source, settings)?,
        };
        let spec = LedgerSpec {
            fingerprint: source.fingerprint().to_vec(),
            records,
            shuffle: settings.shuffle.is_on(),
            seed: settings.seed,
            permutation: PERMUTATION,
            shard,
            grains: None,
            sources,
            share_changes,
            lockstep,
            classes: classes.map(StreamClasses::order),
            selection: None,
        };
        if let Some(classes) = classes {
            let table = Some(OrderTable::Classes(Arc::clone(classes.table())));
            return Ok(Self { spec: LedgerSpec { permutation: CLASS_PERMUTATION, ..spec }, table, selection: None });
        }
        let mixed = spec.sources.iter().any(|source| source.positions != source.records);
        let (by_records, by_grains) = match (spec.share_changes.is_empty(), mixed) {
            (false, _) => (CHANGING_MIXTURE_PERMUTATION, CHANGING_GRAIN_PERMUTATION),
            (true, true) => (MIXTURE_PERMUTATION, GRAIN_MIXTURE_PERMUTATION),
            (true, false) => (PERMUTATION, GRAIN_PERMUTATION),
        };
        let starts = match source.grains() {
            Grains::Starts(starts) => Some(grains_of(starts, selection)),
            Grains::Records => None,
        };
        match (settings.shuffle, starts) {
            // Where each record is a grain, the permutation of records is that of grains.
            (Shuffle::Grains { window }, Some(starts)) if (starts.len() as u64) < records => {
                let table = Arc::new(GrainTable::new(&starts, records)?);
                let grains = Some(table.order(window.get()));
                let table = Some(OrderTable::Grains(table));
                let spec = LedgerSpec { permutation: by_grains, grains, ..spec };
                Ok(Self { spec, table, selection: None })
            }
            _ => Ok(Self { spec: LedgerSpec { permutation: by_records, ..spec }, table: None, selection: None }),
        }
    }

    /// Which record has which position.
    ///
    /// # Errors
    /// No ledger can have the spec.
    pub(crate) fn plan(&self) -> Result<Plan, SpecError> {
        Plan::with_selection(&self.spec, self.table.clone(), self.selection.clone())
    }
}

/// The places of the first selected record of each grain that has one. A grain is what is selected of it (semantics rule 66).
fn grains_of<'s>(starts: &'s [u64], selection: Option<&SelectionTable>) -> Cow<'s, [u64]> {
    let Some(selection) = selection else { return starts.into() };
    let ends = starts.iter().skip(1).copied().chain([u64::MAX]);
    let spans = starts.iter().zip(ends).map(|(start, end)| (selection.below(*start), selection.below(end)));
    spans.filter(|(start, end)| start < end).map(|(start, _)| start).collect::<Vec<_>>().into()
}

/// The sources of a dataset with their shares of an epoch, and what later epochs have of each. None for a single source that is not
/// repeated.
fn sources(source: &dyn Source, settings: &StreamSettings) -> Result<(Vec<SourceShare>, Vec<ShareChange>), SpecError> {
    let members = selected::members(source, settings.repeats.get() > 1 || settings.weights.is_some());
    if let Some(empty) = members.iter().find(|member| member.records == 0) {
        return Err(SelectionProblem::Nothing(empty.name.clone()).into());
    }
    if members.is_empty() {
        return Ok(<_>::default());
    }
    let records: Vec<u64> = members.iter().map(|member| member.records).collect();
    let (positions, changes) = shares(&records, settings.weights.as_deref(), settings.repeats.get())?;
    let share = |(member, positions): (&Member, u64)| SourceShare {
        records: member.records,
        positions,
        name: member.name.clone(),
    };
    Ok((members.iter().zip(positions).map(share).collect(), changes))
}
