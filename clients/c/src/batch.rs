//! A batch for C: its columns by name.

use forebay_client::{Batch as Lent, ColumnView};

use crate::failure::Failure;
use crate::handle::Handles;
use crate::view::{View, ViewType};

/// The batches that this process holds.
pub(crate) static BATCHES: Handles<OpenBatch> = Handles::new("batch");

/// The columns that every batch has, in the order of their numbers.
const FIXED: [&str; 4] = ["images", "labels", "records", "mask"];

/// A batch that the caller holds.
#[derive(Debug)]
pub(crate) struct OpenBatch {
    pub(crate) lent: Lent,
}

impl OpenBatch {
    /// How many columns it has.
    pub(crate) fn columns(&self) -> usize {
        FIXED.len() + self.lent.columns().len()
    }

    /// The name of a column.
    pub(crate) fn name(&self, column: usize) -> Result<&str, Failure> {
        let further = column.checked_sub(FIXED.len()).and_then(|further| self.lent.columns().fields().get(further));
        let name = FIXED.get(column).copied().or_else(|| further.map(|field| &*field.name));
        name.ok_or_else(|| Failure::invalid(format!("column {column}: this batch has {} columns", self.columns())))
    }

    /// The values of a column: of the places that are shown, or of a ragged column the rows of all their lists.
    pub(crate) fn view(&self, name: &str) -> Result<View, Failure> {
        let shown = self.lent.shown();
        Ok(match name {
            "images" => View::images(self.lent.images(), self.lent.shape(), shown),
            "labels" => View::new(self.lent.labels(), ViewType::I64, &[shown]),
            "records" => View::new(self.lent.records(), ViewType::I64, &[shown]),
            "mask" => View::new(self.lent.mask(), ViewType::Bool, &[shown]),
            _ => {
                let column = self.further(name)?;
                let of = column.column_type();
                let rows = column.counts(shown)[of.depth()];
                let shape: Vec<_> = [rows].into_iter().chain(of.dims().iter().map(|&dim| dim as usize)).collect();
                View::new(column.values(), of.element().into(), &shape)
            }
        })
    }

    /// The offsets of a ragged level, counted from 1.
    pub(crate) fn offsets(&self, name: &str, level: usize) -> Result<View, Failure> {
        let depth = if FIXED.contains(&name) { 0 } else { self.further(name)?.column_type().depth() };
        if !(1..=depth).contains(&level) {
            return Err(Failure::invalid(format!("level {level}: column {name:?} has {depth} ragged levels")));
        }
        let column = self.further(name)?;
        let lists = column.counts(self.lent.shown())[level - 1];
        Ok(View::new(column.offsets(level), ViewType::I64, &[lists + 1]))
    }

    /// For each place that is shown, whether it has a value of a further column.
    pub(crate) fn validity(&self, name: &str) -> Result<View, Failure> {
        if FIXED.contains(&name) {
            return Err(Failure::invalid(format!("column {name:?} has no validity: every place has its values")));
        }
        Ok(View::new(self.further(name)?.validity(), ViewType::Bool, &[self.lent.shown()]))
    }

    fn further(&self, name: &str) -> Result<ColumnView<'_>, Failure> {
        self.lent.column(name).ok_or_else(|| {
            let names: Vec<_> = (0..self.columns()).filter_map(|column| self.name(column).ok()).collect();
            Failure::invalid(format!("this batch has no column {name:?}; it has {}", names.join(", ")))
        })
    }
}
