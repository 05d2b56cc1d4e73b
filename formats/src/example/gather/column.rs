//! The values of one feature over all records, and the column that they become.

use forebay_columns::{Column, ColumnType, ElementType};

use crate::faults::Faults;

/// What one record has in a feature.
#[derive(Debug)]
pub(super) enum FeatureCell {
    Absent,
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Texts(Vec<Vec<u8>>),
    /// Boxes in fractions of the picture's size.
    Boxes(Vec<[f32; 4]>),
}

/// A column whose type is known once all records are.
#[derive(Debug)]
pub(super) struct GatheredColumn {
    is_of_objects: bool,
    /// The values of each record; nothing where the feature is absent.
    counts: Vec<Option<usize>>,
    values: FeatureValues,
}

#[derive(Debug)]
enum FeatureValues {
    /// No record had the feature.
    None,
    Integers(Vec<i64>),
    Floats(Vec<f32>),
    Texts {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
    Boxes(Vec<[f32; 4]>),
}

impl GatheredColumn {
    pub(super) fn new(is_of_objects: bool) -> Self {
        Self { is_of_objects, counts: Vec::new(), values: FeatureValues::None }
    }

    /// Whether the values have the type of the earlier ones.
    pub(super) fn takes(&self, cell: &FeatureCell) -> bool {
        matches!(
            (&self.values, cell),
            (FeatureValues::None, _)
                | (_, FeatureCell::Absent)
                | (FeatureValues::Integers(_), FeatureCell::Integers(_))
                | (FeatureValues::Floats(_), FeatureCell::Floats(_))
                | (FeatureValues::Texts { .. }, FeatureCell::Texts(_))
                | (FeatureValues::Boxes(_), FeatureCell::Boxes(_))
        )
    }

    /// The next record, whose values the column [`takes`](Self::takes).
    pub(super) fn push(&mut self, cell: FeatureCell) {
        let mut count = None;
        match (&mut self.values, cell) {
            (_, FeatureCell::Absent) => {}
            // A picture without objects has no boxes, and a writer may leave the lists out then.
            (_, FeatureCell::Boxes(boxes)) if boxes.is_empty() => {}
            (FeatureValues::None, FeatureCell::Integers(new)) => {
                count = Some(new.len());
                self.values = FeatureValues::Integers(new);
            }
            (FeatureValues::None, FeatureCell::Floats(new)) => {
                count = Some(new.len());
                self.values = FeatureValues::Floats(new);
            }
            (FeatureValues::None, FeatureCell::Boxes(new)) => {
                count = Some(new.len());
                self.values = FeatureValues::Boxes(new);
            }
            (FeatureValues::Integers(values), FeatureCell::Integers(new)) => {
                count = Some(new.len());
                values.extend(new);
            }
            (FeatureValues::Floats(values), FeatureCell::Floats(new)) => {
                count = Some(new.len());
                values.extend(new);
            }
            (FeatureValues::Boxes(values), FeatureCell::Boxes(new)) => {
                count = Some(new.len());
                values.extend(new);
            }
            (values, FeatureCell::Texts(new)) => {
                count = Some(new.len());
                if matches!(values, FeatureValues::None) {
                    *values = FeatureValues::Texts { bytes: Vec::new(), ends: Vec::new() };
                }
                if let FeatureValues::Texts { bytes, ends } = values {
                    for text in new {
                        bytes.extend(text);
                        ends.push(bytes.len());
                    }
                }
            }
            (_, FeatureCell::Integers(_) | FeatureCell::Floats(_) | FeatureCell::Boxes(_)) => {
                unreachable!("the column takes the cell")
            }
        }
        self.counts.push(count);
    }

    /// Whether no record has the feature.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.values, FeatureValues::None)
    }

    /// The column. Damaged records have no value in it.
    pub(super) fn build(&self, damaged: &Faults) -> Column {
        let good = |record: usize| !damaged.has(record as u64);
        let counts = || self.counts.iter().enumerate().filter(|(record, _)| good(*record)).map(|(_, count)| *count);
        let is_single = !self.is_of_objects && counts().all(|count| count == Some(1));
        let is_list = self.is_of_objects || counts().flatten().any(|count| count > 1);
        let of = match &self.values {
            FeatureValues::Integers(_) if is_single => ColumnType::scalar(ElementType::I64),
            FeatureValues::Floats(_) if is_single => ColumnType::scalar(ElementType::F32),
            FeatureValues::None | FeatureValues::Integers(_) => ColumnType::list(ElementType::I64),
            FeatureValues::Floats(_) => ColumnType::list(ElementType::F32),
            FeatureValues::Texts { .. } if is_list => {
                ColumnType::try_new(ElementType::U8, 2, &[]).expect("a column may have two levels")
            }
            FeatureValues::Texts { .. } => ColumnType::text(),
            FeatureValues::Boxes(_) => ColumnType::try_new(ElementType::F32, 1, &[4]).expect("a box has four sides"),
        };
        let mut column = Column::new(of);
        let mut start = 0;
        for (record, count) in self.counts.iter().enumerate() {
            let end = start + count.unwrap_or(0);
            match count {
                _ if !good(record) => column.push_null(),
                None if !self.is_of_objects => column.push_null(),
                _ => self.push_to(&mut column, start..end),
            }
            start = end;
        }
        column
    }

    fn push_to(&self, column: &mut Column, range: std::ops::Range<usize>) {
        match &self.values {
            FeatureValues::None => column.push_null(),
            FeatureValues::Integers(values) => column.push(&values[range]),
            FeatureValues::Floats(values) => column.push(&values[range]),
            FeatureValues::Boxes(values) => column.push(values[range].as_flattened()),
            FeatureValues::Texts { bytes, ends } => {
                let text = |place: usize| {
                    let start = if place == 0 { 0 } else { ends[place - 1] };
                    &bytes[start..ends[place]]
                };
                if column.column_type().depth() == 1 {
                    // A feature without a value is as good as an empty text.
                    column.push(if range.is_empty() { &[] } else { text(range.start) });
                    return;
                }
                for place in range {
                    column.extend(text(place));
                    column.close(2);
                }
                column.close(1);
            }
        }
    }
}

/// Finds records whose columns of objects do not have equal numbers of them.
pub(super) fn agree<'c>(columns: impl Iterator<Item = &'c GatheredColumn>, damaged: &mut Faults) {
    let columns: Vec<&GatheredColumn> = columns.filter(|column| column.is_of_objects).collect();
    let Some((first, others)) = columns.split_first() else { return };
    for (record, count) in first.counts.iter().enumerate() {
        let count = count.unwrap_or(0);
        if let Some(other) = others.iter().map(|other| other.counts[record].unwrap_or(0)).find(|&other| other != count)
        {
            let cause = format!("the Example has {count} objects in one feature, and {other} in another one");
            damaged.add(record as u64, &cause);
        }
    }
}
