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
    /// Boxes in parts of the picture's size, and the size.
    Boxes(Vec<[f32; 4]>, Option<[f32; 2]>),
}

/// A column whose type is known once all records are.
#[derive(Debug)]
pub(super) struct GatheredColumn {
    is_of_objects: bool,
    /// The values of each record; nothing where the feature is absent.
    counts: Vec<Option<usize>>,
    values: FeatureValues,
    /// Of boxes: the size of each record's picture.
    sizes: Vec<Option<[f32; 2]>>,
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
        Self { is_of_objects, counts: Vec::new(), values: FeatureValues::None, sizes: Vec::new() }
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
                | (FeatureValues::Boxes(_), FeatureCell::Boxes(..))
        )
    }

    /// The next record, whose values the column [`takes`](Self::takes).
    pub(super) fn push(&mut self, cell: FeatureCell) {
        let (mut count, mut size) = (None, None);
        match (&mut self.values, cell) {
            (_, FeatureCell::Absent) => {}
            // A picture without objects has no boxes, and a writer may leave the lists out then.
            (_, FeatureCell::Boxes(boxes, _)) if boxes.is_empty() => {}
            (FeatureValues::None, FeatureCell::Integers(new)) => {
                count = Some(new.len());
                self.values = FeatureValues::Integers(new);
            }
            (FeatureValues::None, FeatureCell::Floats(new)) => {
                count = Some(new.len());
                self.values = FeatureValues::Floats(new);
            }
            (FeatureValues::None, FeatureCell::Boxes(new, of)) => {
                (count, size) = (Some(new.len()), of);
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
            (FeatureValues::Boxes(values), FeatureCell::Boxes(new, of)) => {
                (count, size) = (Some(new.len()), of);
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
            (_, FeatureCell::Integers(_) | FeatureCell::Floats(_) | FeatureCell::Boxes(..)) => {
                unreachable!("the column takes the cell")
            }
        }
        self.counts.push(count);
        self.sizes.push(size);
    }

    /// Whether no record has the feature.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.values, FeatureValues::None)
    }

    /// Whether boxes can be given in pixels: the size of at least one picture is known.
    fn is_in_pixels(&self) -> bool {
        self.sizes.iter().any(Option::is_some)
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
        let (mut start, is_in_pixels) = (0, self.is_in_pixels());
        for (record, count) in self.counts.iter().enumerate() {
            let end = start + count.unwrap_or(0);
            match count {
                _ if !good(record) => column.push_null(),
                None if !self.is_of_objects => column.push_null(),
                _ => self.push_to(&mut column, start..end, self.sizes[record].filter(|_| is_in_pixels)),
            }
            start = end;
        }
        column
    }

    fn push_to(&self, column: &mut Column, range: std::ops::Range<usize>, size: Option<[f32; 2]>) {
        match &self.values {
            FeatureValues::None => column.push_null(),
            FeatureValues::Integers(values) => column.push(&values[range]),
            FeatureValues::Floats(values) => column.push(&values[range]),
            FeatureValues::Boxes(values) => {
                let [width, height] = size.unwrap_or([1.0; 2]);
                let scaled =
                    |[left, top, right, bottom]: [f32; 4]| [left * width, top * height, right * width, bottom * height];
                let boxes: Vec<[f32; 4]> = values[range].iter().copied().map(scaled).collect();
                column.push(boxes.as_flattened());
            }
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

/// Finds records whose columns of objects do not have equal numbers of them, or whose boxes lack the picture's size.
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
        let lacks_size = |column: &&&GatheredColumn| {
            column.is_in_pixels() && column.counts[record].is_some() && column.sizes[record].is_none()
        };
        if columns.iter().find(lacks_size).is_some() {
            let cause = "the Example has boxes, but not image/width and image/height, which others have";
            damaged.add(record as u64, cause);
        }
    }
}
