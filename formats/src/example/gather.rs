//! Gathers labels and columns from the Examples of a dataset, record by record, and finds the picture of each.

mod column;
mod labels;
mod mapping;

use std::ops::Range;
use std::path::Path;

use forebay_columns::{Schema, Table};
use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use self::column::{FeatureCell, GatheredColumn};
use self::labels::GatheredLabels;
pub(crate) use self::labels::whole;
use self::mapping::{MappedPart, Mapping};
use super::{ExampleFault, Feature, FeatureKind, copied, find, names};
use crate::faults::Faults;
use crate::window::Window;

/// What was gathered so far.
#[derive(Debug)]
pub(crate) struct Gatherer {
    mapping: Mapping,
    labels: GatheredLabels,
    columns: Vec<GatheredColumn>,
    damaged: Faults,
    records: u64,
    has_picture: bool,
    /// The features of the first record, for messages.
    first: Vec<String>,
}

/// What the Examples of a dataset have.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// One per record, or empty.
    pub labels: Vec<i64>,
    pub classes: Vec<String>,
    pub targets: Table,
    /// Records that are no Example, or lack something, and why.
    pub damaged: Faults,
}

/// Where the parts of an Example are that are pictures.
#[derive(Debug)]
pub(crate) struct ExamplePictures {
    pub picture: Range<u64>,
    /// One for each column of masks. Nothing where the Example has no such mask.
    pub masks: Vec<Option<Range<u64>>>,
}

/// What an Example has.
struct ExampleParts {
    pictures: ExamplePictures,
    label: Option<labels::LabelValue>,
    cells: Vec<FeatureCell>,
}

/// Where a record begins, for messages.
pub(crate) type RecordPlace<'a> = (&'a Path, u64);

impl Gatherer {
    /// Nothing so far. The options say what becomes what.
    ///
    /// # Errors
    /// A column names no feature.
    pub(crate) fn new(options: &Options) -> Result<Self, SourceError> {
        let mapping = Mapping::new(options)?;
        let columns = mapping.columns.iter().map(|column| GatheredColumn::new(column.is_of_objects)).collect();
        let labels = GatheredLabels::new(options.labels);
        Ok(Self {
            mapping,
            labels,
            columns,
            damaged: Faults::default(),
            records: 0,
            has_picture: false,
            first: Vec::new(),
        })
    }

    /// Gathers the next record, and returns where its picture and its masks are. Nothing is returned for a record that is damaged.
    ///
    /// # Errors
    /// The storage fails, or the record's label does not go with the others.
    pub(crate) fn record(
        &mut self,
        window: &mut Window<'_>,
        example: Range<u64>,
        place: RecordPlace<'_>,
    ) -> Result<Option<ExamplePictures>, SourceError> {
        if self.first.is_empty() && !self.has_picture {
            self.first = names(window, example.clone());
        }
        match self.look(window, example) {
            Ok(ExampleParts { pictures, label, cells }) => {
                self.labels.push(label, place)?;
                for (column, cell) in self.columns.iter_mut().zip(cells) {
                    column.push(cell);
                }
                self.records += 1;
                self.has_picture = true;
                Ok(Some(pictures))
            }
            Err(ExampleFault::Storage(error)) => Err(SourceError::Outage(error)),
            Err(ExampleFault::Form(cause)) => {
                self.unreadable(&cause);
                Ok(None)
            }
        }
    }

    /// Counts a record that cannot be read.
    pub(crate) fn unreadable(&mut self, cause: &str) {
        self.damaged.add(self.records, cause);
        self.records += 1;
        self.labels.skip();
        self.columns.iter_mut().for_each(|column| column.push(FeatureCell::Absent));
    }

    /// The picture and the masks of an Example. Readers that keep no places of them use it.
    pub(crate) fn pictures(
        &self,
        window: &mut Window<'_>,
        example: Range<u64>,
    ) -> Result<ExamplePictures, ExampleFault> {
        let features = find(window, example, &self.mapping.names)?;
        self.pictures_of(window, &features)
    }

    /// The features that a picture may be in, the preferred one first.
    pub(crate) fn images(&self) -> impl Iterator<Item = &str> {
        self.mapping.images.iter().map(|&place| self.mapping.names[place].as_str())
    }

    /// The same for each column of masks.
    pub(crate) fn masks(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        let names = &self.mapping.names;
        self.mapping.masks.iter().map(move |places| places.iter().map(move |&place| names[place].as_str()))
    }

    fn pictures_of(
        &self,
        window: &mut Window<'_>,
        features: &[Option<Feature>],
    ) -> Result<ExamplePictures, ExampleFault> {
        let picture = self.picture_of(window, features)?;
        let masks = self.mapping.masks.iter().map(|places| self.mask_of(window, places, features));
        Ok(ExamplePictures { picture, masks: masks.collect::<Result<_, _>>()? })
    }

    fn picture_of(&self, window: &mut Window<'_>, features: &[Option<Feature>]) -> Result<Range<u64>, ExampleFault> {
        let (name, feature) = self.mapping.first_of(&self.mapping.images, features);
        let Some(feature) = feature.filter(|feature| feature.kind == FeatureKind::Bytes) else {
            return Err(ExampleFault::Form(format!(
                "the Example has no picture: \"{name}\" is absent, or is not bytes"
            )));
        };
        let mut pictures = feature.texts(window)?;
        match (pictures.len(), pictures.pop()) {
            (1, Some(picture)) => Ok(picture),
            (count, _) => {
                Err(ExampleFault::Form(format!("the Example has {count} values in \"{name}\", where one is a picture")))
            }
        }
    }

    fn look(&self, window: &mut Window<'_>, example: Range<u64>) -> Result<ExampleParts, ExampleFault> {
        let features = find(window, example, &self.mapping.names)?;
        let pictures = self.pictures_of(window, &features)?;
        let (name, feature) = self.mapping.first_of(&self.mapping.labels, &features);
        let label = match feature {
            Some(feature) => labels::value(window, name, feature)?,
            None => None,
        };
        let mut cells = Vec::with_capacity(self.columns.len());
        for (mapped, column) in self.mapping.columns.iter().zip(&self.columns) {
            let (name, cell) = match &mapped.part {
                MappedPart::Boxes(sides) => ("image/object/bbox", Self::boxes(window, sides, &features)?),
                MappedPart::Feature(places) => {
                    let (name, feature) = self.mapping.first_of(places, &features);
                    (name, cell(window, feature)?)
                }
            };
            if !column.takes(&cell) {
                return Err(ExampleFault::Form(format!("\"{name}\" has another type than in earlier records")));
            }
            cells.push(cell);
        }
        Ok(ExampleParts { pictures, label, cells })
    }

    /// The mask in the first of these features that the Example has.
    fn mask_of(
        &self,
        window: &mut Window<'_>,
        places: &[usize],
        features: &[Option<Feature>],
    ) -> Result<Option<Range<u64>>, ExampleFault> {
        let (name, Some(feature)) = self.mapping.first_of(places, features) else { return Ok(None) };
        let masks = if feature.kind == FeatureKind::Bytes { feature.texts(window)? } else { Vec::new() };
        match &masks[..] {
            [] if feature.kind == FeatureKind::Bytes => Ok(None),
            [mask] => Ok(Some(mask.clone()).filter(|mask| !mask.is_empty())),
            _ => Err(ExampleFault::Form(format!("\"{name}\" is no mask: a mask is one value of bytes, a PNG"))),
        }
    }

    /// The boxes of an Example, in fractions of its picture's size.
    fn boxes(
        window: &mut Window<'_>,
        sides: &[usize; 4],
        features: &[Option<Feature>],
    ) -> Result<FeatureCell, ExampleFault> {
        let mut values = Vec::with_capacity(4);
        for feature in sides.map(|place| &features[place]) {
            values.push(match feature {
                None => Vec::new(),
                Some(feature) if feature.kind == FeatureKind::Floats => feature.floats(window)?,
                Some(_) => return Err(ExampleFault::Form("the sides of its boxes are not floats".into())),
            });
        }
        let [left, top, right, bottom] = &values[..] else {
            return Err(ExampleFault::Form("a box has four sides".into()));
        };
        let count = left.len();
        if [top, right, bottom].iter().any(|side| side.len() != count) {
            return Err(ExampleFault::Form("its boxes do not have four sides each".into()));
        }
        let boxes = (0..count).map(|place| [left[place], top[place], right[place], bottom[place]]).collect();
        Ok(FeatureCell::Boxes(boxes))
    }

    /// What was gathered, of the dataset with this name.
    ///
    /// # Errors
    /// No record has a picture, or no record has a feature that the user asked for.
    pub(crate) fn finish(&mut self, name: &Path) -> Result<Gathered, SourceError> {
        if !self.has_picture && self.records > 0 {
            return Err(self.without_records(name));
        }
        let mut kept = Vec::new();
        for (mapped, column) in self.mapping.columns.iter().zip(std::mem::take(&mut self.columns)) {
            if !column.is_absent() {
                kept.push((mapped, column));
            } else if mapped.is_asked {
                let seen = self.features_seen();
                let problem = format!("no record has the feature that becomes the column \"{}\". {seen}", mapped.name);
                return Err(SourceError::Columns { path: name.to_owned(), problem });
            }
        }
        column::agree(kept.iter().map(|(_, column)| column), &mut self.damaged);
        let mut fields = Vec::with_capacity(kept.len());
        let mut columns = Vec::with_capacity(kept.len());
        for (mapped, column) in kept {
            let column = column.build(&self.damaged);
            fields.push(mapped.field(column.column_type()));
            columns.push(column);
        }
        let wrong = |problem: String| SourceError::Columns { path: name.to_owned(), problem };
        let schema = Schema::try_new(fields).map_err(|error| wrong(format!("{error}.")))?;
        let records = usize::try_from(self.records).unwrap_or(usize::MAX);
        let targets = Table::try_new(schema, columns, records).map_err(|error| wrong(format!("{error}.")))?;
        let seen = self.features_seen();
        let (labels, classes) = self.labels.finish(&self.mapping, name, &seen)?;
        Ok(Gathered { labels, classes, targets, damaged: std::mem::take(&mut self.damaged) })
    }

    fn without_records(&self, name: &Path) -> SourceError {
        let cause = self.damaged.first().unwrap_or_default();
        let words = if self.first.is_empty() {
            "If the records are pictures and not Examples, give payload=\"picture\".".to_owned()
        } else {
            let seen = self.features_seen();
            format!(
                "{seen} Name the picture's feature in columns (images), and the label's (labels), or give labels=\"none\"."
            )
        };
        let problem = format!("no record can be used. The first one: {cause}. {words}");
        SourceError::malformed_at(name, 0, problem)
    }

    fn features_seen(&self) -> String {
        let each = self.first.iter().map(|name| format!("\"{}\"", printable(name)));
        format!("The first record has the features {}.", each.collect::<Vec<_>>().join(", "))
    }
}

/// The values of a feature that becomes a column.
fn cell(window: &mut Window<'_>, feature: Option<&Feature>) -> Result<FeatureCell, ExampleFault> {
    let Some(feature) = feature else { return Ok(FeatureCell::Absent) };
    Ok(match feature.kind {
        FeatureKind::Integers => FeatureCell::Integers(feature.integers(window)?),
        FeatureKind::Floats => FeatureCell::Floats(feature.floats(window)?),
        FeatureKind::Bytes => {
            let mut texts = Vec::new();
            for text in feature.texts(window)? {
                texts.push(copied(window, text)?.to_vec());
            }
            FeatureCell::Texts(texts)
        }
    })
}
