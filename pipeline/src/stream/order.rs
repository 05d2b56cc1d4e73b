//! The order of a stream's epochs, as its ledger and its stages have to know it.

use std::sync::Arc;

use forebay_plan::{
    CLASS_PERMUTATION, EpochPart, GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainTable, MIXTURE_PERMUTATION,
    OrderTable, PERMUTATION, Plan, SpecError, shares,
};
use forebay_proto::v1::{LedgerSpec, SourceShare};
use forebay_sources::{Grains, Member, Source};

use crate::classes::StreamClasses;
use crate::settings::{Shuffle, StreamSettings};

/// A spec, and the table that it is about.
#[derive(Debug)]
pub(crate) struct StreamOrder {
    pub spec: LedgerSpec,
    pub table: Option<OrderTable>,
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
        let records = source.len();
        let (shard, lockstep) = match part {
            None => (None, None),
            Some(EpochPart::Shard(shard)) => (Some(shard), None),
            Some(EpochPart::Rank(rank)) => (None, Some(rank)),
        };
        let spec = LedgerSpec {
            fingerprint: source.fingerprint().to_vec(),
            records,
            shuffle: settings.shuffle.is_on(),
            seed: settings.seed,
            permutation: PERMUTATION,
            shard,
            grains: None,
            sources: match classes {
                Some(classes) => classes.sources(),
                None => sources(source, settings)?,
            },
            lockstep,
            classes: classes.map(StreamClasses::order),
        };
        if let Some(classes) = classes {
            let table = Some(OrderTable::Classes(Arc::clone(classes.table())));
            return Ok(Self { spec: LedgerSpec { permutation: CLASS_PERMUTATION, ..spec }, table });
        }
        let mixed = spec.sources.iter().any(|source| source.positions != source.records);
        let (by_records, by_grains) =
            if mixed { (MIXTURE_PERMUTATION, GRAIN_MIXTURE_PERMUTATION) } else { (PERMUTATION, GRAIN_PERMUTATION) };
        match (settings.shuffle, source.grains()) {
            // Where each record is a grain, the permutation of records is that of grains.
            (Shuffle::Grains { window }, Grains::Starts(starts)) if (starts.len() as u64) < records => {
                let table = Arc::new(GrainTable::new(starts, records)?);
                let grains = Some(table.order(window.get()));
                let table = Some(OrderTable::Grains(table));
                Ok(Self { spec: LedgerSpec { permutation: by_grains, grains, ..spec }, table })
            }
            _ => Ok(Self { spec: LedgerSpec { permutation: by_records, ..spec }, table: None }),
        }
    }

    /// Which record has which position.
    ///
    /// # Errors
    /// No ledger can have the spec.
    pub(crate) fn plan(&self) -> Result<Plan, SpecError> {
        Plan::with_table(&self.spec, self.table.clone())
    }
}

/// The sources of a dataset with their shares of an epoch. None for a single source that is not repeated.
fn sources(source: &dyn Source, settings: &StreamSettings) -> Result<Vec<SourceShare>, SpecError> {
    let single = [Member { name: String::new(), records: source.len() }];
    let members = match source.members() {
        [] if settings.repeats.get() == 1 && settings.weights.is_none() => return Ok(Vec::new()),
        [] => &single[..],
        members => members,
    };
    let records: Vec<u64> = members.iter().map(|member| member.records).collect();
    let positions = shares(&records, settings.weights.as_deref(), settings.repeats.get())?;
    let share = |(member, positions): (&Member, u64)| SourceShare {
        records: member.records,
        positions,
        name: member.name.clone(),
    };
    Ok(members.iter().zip(positions).map(share).collect())
}
