//! The columns of a stream's batches that come from its dataset, beside pictures and labels.

mod bucket_columns;
mod form_columns;
mod own_column;
mod patch_columns;
mod ragged_columns;
mod unknown_column;

use std::sync::Arc;

use forebay_columns::{ColumnType, DRAW, ElementType, Field, MIXED, Role, Room, Schema, SchemaError, Table};
use forebay_pixels::{Draw, Dtype, Layout, PARTNERS, View};
use forebay_plan::Plan;
use forebay_proto::Turn;
use forebay_ring::SlotFrame;
use forebay_sources::{MaskColumn, Source};

use crate::batch_metadata::{BatchMetadata, MixedLabels};
use crate::classes::StreamClasses;
use crate::decode::masks::{self, MaskTarget, Masks};
use crate::decode::views::Views;
use crate::fill::BatchFill;
use crate::follow::{Follow, FollowSettings, Follower};
use crate::settings::StepForm;
use crate::step_columns::StepColumns;
use crate::step_lists::StepLists;
use form_columns::FormColumns;
use own_column::OwnColumn;
pub use unknown_column::UnknownColumn;

/// Which columns of a dataset a stream's batches have.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    source: Arc<dyn Source>,
    schema: Schema,
    /// For each column of a batch that comes from the dataset's table, its place there. Behind these are masks, then
    /// views, then the columns of mixing and of buckets or patches, the random bits, and last the column of repeats.
    columns: Vec<usize>,
    /// Columns that functions in Python declare, behind the masks: their places in a batch.
    declared: Vec<usize>,
    /// Room for what functions return, for columns by their places in a batch.
    more: Vec<(usize, Room)>,
    masks: Masks,
    /// How many pictures are in a place at most. The objects of all of them are in the columns that follow the pictures.
    pictures: u64,
    views: Arc<Views>,
    /// The place of the first of [`MIXED`].
    mixed: Option<usize>,
    /// The place of the first column of the form that steps have.
    form: Option<(usize, StepForm)>,
    /// The place of [`DRAW`].
    drawn: Option<usize>,
}

/// Writes the columns of batches, one after the other. Each batch thread has its own.
#[derive(Debug)]
pub(crate) struct TargetWriter {
    source: Arc<dyn Source>,
    /// For each column of a batch, its place among the dataset's, and how it follows the pictures.
    columns: Vec<(usize, Option<Follower>)>,
    /// Columns that functions in Python declare, by their places in a batch.
    declared: Vec<usize>,
    /// There are columns that follow the pictures.
    follow: Option<Follow>,
    repeats: Option<OwnColumn>,
    /// Those of [`MIXED`].
    mixed: Option<[OwnColumn; MIXED.len()]>,
    /// Those of the form that steps have.
    form: Option<FormColumns>,
    /// That of [`DRAW`], and the seed of the random choices.
    drawn: Option<(OwnColumn, u64)>,
}

impl Targets {
    /// The dataset's columns with these names, in this order, and then its masks of this height and width; without names, all
    /// of them.
    ///
    /// # Errors
    /// The dataset has no column of such a name.
    pub(crate) fn new(
        source: Arc<dyn Source>,
        names: Option<&[String]>,
        (height, width): (u32, u32),
    ) -> Result<Self, UnknownColumn> {
        let table = source.targets().schema();
        let fields = table.fields().iter().cloned().chain(source.masks().iter().map(|mask| {
            let column_type = ColumnType::try_new(mask.element, 0, &[height, width]);
            let column_type = column_type.expect("a recipe's result is smaller than the largest row");
            Field::new(&mask.name, column_type).with_role(Role::Mask)
        }));
        let all = Schema::try_new(fields.collect()).expect("a source's masks have names of their own");
        let mut chosen = match names {
            None => (0..all.len()).collect(),
            Some(names) => chosen(&all, names)?,
        };
        chosen.sort_by_key(|&column| column >= table.len());
        let fields = chosen.iter().map(|&column| all.fields()[column].clone()).collect();
        let schema = Schema::try_new(fields).expect("columns of a schema, each once, are a schema").for_slots();
        let (of_source, first) = (source.masks().len(), table.len());
        let columns = chosen.iter().copied().filter(|&column| column < first).collect();
        let targets = chosen.iter().enumerate().filter_map(|(column, &of_all)| {
            let mask = of_all.checked_sub(first)?;
            let MaskColumn { name, element } = &source.masks()[mask];
            let depth = masks::depth(*element).expect("masks have one of three types");
            Some(MaskTarget { name: name.clone(), mask, column, depth })
        });
        let masks = Masks { of_source, targets: targets.collect(), ..Masks::default() };
        let (declared, more) = (Vec::new(), Vec::new());
        Ok(Self {
            source,
            schema,
            columns,
            declared,
            more,
            masks,
            pictures: 1,
            views: Arc::default(),
            mixed: None,
            form: None,
            drawn: None,
        })
    }

    /// The same for a stream with mosaics.
    pub(crate) fn with_mosaics(self) -> Self {
        Self { pictures: 1 + PARTNERS as u64, ..self }
    }

    /// The same with a column that a function returns, and room for so many items of a record at each level. The dataset may have the
    /// column, with less room.
    ///
    /// # Errors
    /// Another column of its name has another type, or it cannot be a column.
    pub(crate) fn with_declared(self, name: &str, of: ColumnType, room: Room) -> Result<Self, SchemaError> {
        let Self { schema, mut declared, mut more, .. } = self;
        let number = schema.find(name).unwrap_or(schema.len());
        let schema = if number < schema.len() {
            let is_of_table = number < self.columns.len() || declared.contains(&number);
            if !is_of_table || schema.fields()[number].column_type != of {
                return Err(SchemaError::Twice(name.to_owned()));
            }
            schema
        } else {
            declared.push(number);
            Schema::try_new(schema.fields().iter().cloned().chain([Field::new(name, of)]).collect())?
        };
        more.push((number, room));
        Ok(Self { schema, declared, more, ..self })
    }

    /// The masks among them.
    pub(crate) fn masks(&self) -> &Masks {
        &self.masks
    }

    /// The same with the column of repeats, which a stream has if its epochs repeat records.
    ///
    /// # Errors
    /// There are too many columns.
    pub(crate) fn with_repeats(self) -> Result<Self, SchemaError> {
        Ok(Self { schema: self.schema.with_repeats()?, ..self })
    }

    /// The same with the columns of further views, which a stream has whatever columns it names.
    ///
    /// # Errors
    /// A column has the name of one of them, its name or size cannot be those of a column, or there are too many.
    pub(crate) fn with_views(self, views: &[View]) -> Result<Self, SchemaError> {
        let mut fields = self.schema.fields().to_vec();
        let columns = (fields.len()..).take(views.len()).collect();
        for View { name, recipe } in views {
            let ((height, width, channels), output) = (recipe.shape(), recipe.output());
            let dims = match output.layout {
                Layout::Nhwc => [height, width, channels],
                Layout::Nchw => [channels, height, width],
            };
            let element = match output.dtype {
                Dtype::Uint8 => ElementType::U8,
                Dtype::Float16 => ElementType::F16,
                Dtype::Bfloat16 => ElementType::Bf16,
                Dtype::Float32 => ElementType::F32,
            };
            let of = ColumnType::try_new(element, 0, &dims);
            let of = of.map_err(|problem| SchemaError::Type { name: name.clone(), problem })?;
            fields.push(Field::new(name, of).with_role(Role::View));
        }
        let views = Arc::new(Views { views: views.to_vec(), columns });
        Ok(Self { schema: Schema::try_new(fields)?, views, ..self })
    }

    /// The further views among them.
    pub(crate) fn views(&self) -> Arc<Views> {
        Arc::clone(&self.views)
    }

    /// The same with the columns of a stream that mixes its pictures.
    ///
    /// # Errors
    /// A column has one of their names, or there are too many.
    pub(crate) fn with_mixing(self) -> Result<Self, SchemaError> {
        Ok(Self { mixed: Some(self.schema.len()), schema: self.schema.with_mixing()?, ..self })
    }

    /// The same with the columns of a stream whose steps have this form.
    ///
    /// # Errors
    /// A column has one of their names, or there are too many.
    pub(crate) fn with_steps(self, form: &StepForm) -> Result<Self, SchemaError> {
        let first = self.schema.len();
        Ok(Self { form: Some((first, form.clone())), schema: FormColumns::after(self.schema, form)?, ..self })
    }

    /// The same with the column of random bits.
    ///
    /// # Errors
    /// A column has its name, or there are too many.
    pub(crate) fn with_draw(self) -> Result<Self, SchemaError> {
        Ok(Self { drawn: Some(self.schema.len()), schema: self.schema.with_draw()?, ..self })
    }

    /// The first column that has places in the picture.
    pub(crate) fn first_in_the_picture(&self) -> Option<&str> {
        let fields = self.source.targets().schema().fields();
        let follows = self.columns.iter().map(|&column| &fields[column]).find(|field| field.role.follows());
        follows.map(|field| &*field.name).or_else(|| self.masks.targets.first().map(|mask| &*mask.name))
    }

    /// Their names and types.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether all of these are among them, or among those that every batch has.
    ///
    /// # Errors
    /// One is not.
    pub(crate) fn has(&self, names: &[String]) -> Result<(), UnknownColumn> {
        chosen(&self.schema, names).map(drop).map_err(|unknown| UnknownColumn { owner: "stream", ..unknown })
    }

    /// What the longest record takes in each of them, or the longest mosaic.
    pub(crate) fn rooms(&self) -> Vec<Room> {
        let table = self.source.targets();
        let of_table = self.columns.iter().map(|&column| {
            let room = table.columns()[column].room();
            if Follower::of(table, column).is_some() { room.times(self.pictures) } else { room }
        });
        let mut rooms: Vec<_> = of_table.chain(std::iter::repeat(Room::default())).take(self.schema.len()).collect();
        for (number, room) in &self.more {
            rooms[*number] = rooms[*number].max(*room);
        }
        rooms
    }

    /// What functions in Python get of them, and return.
    pub(crate) fn of_steps(&self, settings: FollowSettings, lists: &StepLists) -> StepColumns {
        let table = self.source.targets();
        let columns: Vec<_> = self.columns.iter().map(|&column| (column, Follower::of(table, column))).collect();
        let (fields, rooms) = (table.schema().fields(), self.rooms());
        let of_table = columns.iter().zip(&rooms).map(|((column, _), room)| (fields[*column].clone(), *room));
        let declared = self.declared.iter().map(|&number| (self.schema.fields()[number].clone(), rooms[number]));
        let forms = of_table.chain(declared).collect();
        StepColumns::new(Arc::clone(&self.source), columns, forms, settings, lists)
    }

    /// What writes them into batches of pictures that go through this.
    pub(crate) fn writer(&self, settings: FollowSettings) -> TargetWriter {
        let table = self.source.targets();
        let columns: Vec<_> = self.columns.iter().map(|&column| (column, Follower::of(table, column))).collect();
        let seed = settings.seed;
        let follow = columns.iter().any(|(_, follower)| follower.is_some()).then(|| Follow::new(settings));
        let own = |number: usize| OwnColumn::new(number, &self.schema.fields()[number].column_type);
        let mixed = self.mixed.map(|first| std::array::from_fn(|further| own(first + further)));
        let form = self.form.as_ref().map(|(first, form)| FormColumns::new(form, |further| own(first + further)));
        TargetWriter {
            source: Arc::clone(&self.source),
            columns,
            declared: self.declared.clone(),
            follow,
            repeats: self.schema.repeats().map(own),
            mixed,
            form,
            drawn: self.drawn.map(|number| (own(number), seed)),
        }
    }
}

impl TargetWriter {
    /// The same for a stream whose steps have these classes, with this plan and this seed of the random choices.
    #[must_use]
    pub(crate) fn with_classes(mut self, classes: Option<Arc<StreamClasses>>, plan: &Arc<Plan>, seed: u64) -> Self {
        if let (Some(columns), Some(classes)) = (&mut self.form, classes) {
            columns.set(classes, plan, seed);
        }
        self
    }

    /// How far the records of a batch fill it, if steps have a form.
    pub(crate) fn fill(&self, metadata: &BatchMetadata) -> Option<BatchFill> {
        self.form.as_ref()?.fill(metadata)
    }

    /// Writes the columns of a batch. Where it was not mixed, each place has its own label alone.
    pub(crate) fn write(
        &mut self,
        metadata: &BatchMetadata,
        mixed: Option<&MixedLabels>,
        batch: usize,
        frame: &mut SlotFrame,
    ) {
        let Self { source, columns, declared, follow, repeats, mixed: mixed_columns, form, drawn } = self;
        let table: &Table = source.targets();
        if let Some(follow) = follow {
            follow.begin(metadata, form.as_ref().and_then(|columns| columns.recipe(metadata)));
        }
        for (number, &(column, follower)) in columns.iter().enumerate() {
            let mut written = frame.column(number);
            for place in 0..batch {
                let record = metadata.places.records.get(place).and_then(|&record| usize::try_from(record).ok());
                let returned = record.and_then(|_| metadata.returned(place, number));
                let pushed = match (returned, record, follower.zip(follow.as_mut())) {
                    (Some(value), ..) if value.is_null() => written.push_null(),
                    (Some(value), ..) => written.push(&value),
                    (None, Some(record), Some((follower, follow))) => {
                        follow.write(follower, table, record, place, &mut written)
                    }
                    (None, Some(record), None) => written.push(&table.value(column, record)),
                    (None, None, _) => written.push_null(),
                };
                pushed.expect("a slot has room for the longest record in each place");
            }
        }
        for (number, &place_in_batch) in (columns.len()..).zip(&*declared) {
            let mut written = frame.column(place_in_batch);
            for place in 0..batch {
                let pushed = match metadata.returned(place, number).filter(|value| !value.is_null()) {
                    Some(value) => written.push(&value),
                    None => written.push_null(),
                };
                pushed.expect("what a function returns has been compared with the room for it");
            }
        }
        if let Some(repeats) = repeats {
            repeats.write(frame, batch, |place| metadata.places.turn(place).map_or(0, |turn| i32::from(turn.repeat())));
        }
        if let Some(form) = form {
            form.write(metadata, batch, frame);
        }
        if let Some((bits, seed)) = drawn {
            let of = |turn: Turn| {
                Draw { seed: *seed, epoch: metadata.epoch, record: turn.key() }.of_view(DRAW).at(0).bits(0)
            };
            bits.write(frame, batch, |place| metadata.places.turn(place).map_or(0, of));
        }
        if let Some([labels, weights]) = mixed_columns {
            let other = mixed.map_or(&metadata.places.labels, |mixed| &mixed.labels);
            labels.write(frame, batch, |place| other.get(place).copied().unwrap_or(-1));
            let weight = |place: usize| mixed.and_then(|mixed| mixed.weights.get(place)).copied();
            weights.write(frame, batch, |place| weight(place).unwrap_or(1.0));
        }
    }
}

/// The names that a source is to be asked for by a map of columns, if it does not have all of these columns by itself: all but its
/// masks, and those that every batch has.
pub fn unnamed(source: &dyn Source, names: &[String]) -> Option<Vec<String>> {
    let is_given = |name: &String| {
        forebay_columns::RESERVED.contains(&name.as_str()) || source.masks().iter().any(|mask| mask.name == *name)
    };
    let asked: Vec<String> = names.iter().filter(|name| !is_given(name)).cloned().collect();
    let schema = source.targets().schema();
    asked.iter().any(|name| schema.find(name).is_none()).then_some(asked)
}

/// The places of these columns. The names that every batch has are passed over, and so is what is named twice.
fn chosen(all: &Schema, names: &[String]) -> Result<Vec<usize>, UnknownColumn> {
    let mut columns = Vec::new();
    for name in names.iter().filter(|name| !forebay_columns::RESERVED.contains(&name.as_str())) {
        let found = all.find(name).ok_or_else(|| {
            let known = forebay_columns::RESERVED.into_iter().chain(all.fields().iter().map(|field| &*field.name));
            UnknownColumn { owner: "dataset", name: name.clone(), known: known.collect::<Vec<_>>().join(", ") }
        })?;
        if !columns.contains(&found) {
            columns.push(found);
        }
    }
    Ok(columns)
}

#[cfg(test)]
mod tests;
