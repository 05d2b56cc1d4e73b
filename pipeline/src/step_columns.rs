//! The columns that functions in Python get beside a picture, and what they return in place of them (semantics rule 59).

use std::sync::Arc;

use forebay_columns::{Column, ColumnType, Field, Room, Schema, Value, ValueBuf};
use forebay_pixels::{Draw, Origin, Plan, Recipe};
use forebay_sources::Source;
use serde_json::Value as Json;
use serde_json::json;

use crate::follow::{FollowSettings, Follower, PictureMaps, flip_partners};
use crate::returned::Returned;
use crate::step_lists::{StepList, StepLists};

/// The columns of a stream, for its functions.
#[derive(Clone, Debug)]
pub(crate) struct StepColumns {
    source: Arc<dyn Source>,
    /// Names and types: those of the dataset, and behind them those that functions declare.
    schema: Schema,
    /// For each of the dataset's, its place in the table, and how it follows the pictures.
    columns: Vec<(usize, Option<Follower>)>,
    /// What a record may have in each.
    rooms: Vec<Room>,
    follow: FollowSettings,
    flip: Vec<usize>,
    /// For each function, all that precedes it, and which keypoints change places there. Functions among that are passed over.
    before: Vec<(Recipe, Vec<usize>)>,
}

impl StepColumns {
    /// These columns of a dataset, each with its place in the table, and how it follows the pictures, for these functions. `forms` has
    /// them and those that functions declare, with what a record may have.
    pub(crate) fn new(
        source: Arc<dyn Source>,
        columns: Vec<(usize, Option<Follower>)>,
        forms: Vec<(Field, Room)>,
        follow: FollowSettings,
        lists: &StepLists,
    ) -> Self {
        let (fields, rooms): (Vec<_>, Vec<_>) = forms.into_iter().unzip();
        let schema = Schema::try_new(fields).expect("columns of a schema, each once, are a schema");
        let flip = flip_partners(follow.recipe.flip_pairs());
        let before = |list: &StepList| {
            let flip = flip_partners(list.split.recipe().flip_pairs());
            let before = |step| (list.split.before(step), flip.clone());
            (0..list.split.steps().len()).map(before).collect::<Vec<_>>()
        };
        let before = lists.each().flat_map(before).collect();
        Self { source, schema, columns, rooms, follow, flip, before }
    }

    /// What functions are told of the columns once: name and type, and whether the numbers are places in the picture.
    pub(crate) fn forms(&self) -> Vec<Json> {
        let form = |field: &Field| {
            let of = &field.column_type;
            json!({
                "name": field.name,
                "element": of.element().name(),
                "depth": of.depth(),
                "dims": of.dims(),
                "is_place": field.role.follows(),
            })
        };
        self.schema.fields().iter().map(form).collect()
    }

    /// The label of a record, before a function has returned another one.
    pub(crate) fn label(&self, record: u64) -> i64 {
        self.source.label(record)
    }

    /// What a record has in each column where its picture is at the function of this number: its places are those of the picture that
    /// the function gets.
    pub(crate) fn at(&self, step: usize, origin: &Origin, (record, draw): (u64, Draw)) -> Vec<ValueBuf> {
        let (table, FollowSettings { annotated, min_visible, .. }) = (self.source.targets(), &self.follow);
        let Ok(row) = usize::try_from(record) else { return Vec::new() };
        let follows = self.columns.iter().any(|(_, follower)| follower.is_some());
        let (before, flip) = &self.before[step];
        let maps = follows.then(|| PictureMaps::new(origin, before, draw, *annotated, &mut Plan::default()));
        let value = |&(column, follower): &(usize, Option<Follower>)| {
            let mut value = ValueBuf::default();
            if let Some((follower, maps)) = follower.zip(maps.as_ref()) {
                follower.copy((table, row), maps, *min_visible, flip, &mut value);
            } else {
                let of = &table.schema().fields()[column].column_type;
                value.copy(&table.value(column, row), of, |_| true);
            }
            value
        };
        let declared = self.schema.fields()[self.columns.len()..].iter().map(missing);
        self.columns.iter().map(value).chain(declared).collect()
    }

    /// Values as a function gets them: for each its bytes, and where its inner lists end. Null where one is missing.
    pub(crate) fn sent(&self, values: &[ValueBuf]) -> Vec<Json> {
        let sent = |(field, value): (&Field, &ValueBuf)| {
            let value = value.value();
            if value.is_null() {
                return Json::Null;
            }
            let mut parts = vec![Json::String(hex(value.bytes()))];
            parts.extend(inner_ends(&value, &field.column_type).into_iter().map(Json::from));
            Json::Array(parts)
        };
        self.schema.fields().iter().zip(values).map(sent).collect()
    }

    /// What a function has returned beside its picture, of which it got these values, on top of what functions before it have
    /// returned. Nothing if that is nothing. `resizes` says whether it gives pictures of another size: then it returns all places.
    ///
    /// # Errors
    /// It is not of the columns' types, a record has no room for it, it does not fit to other columns of its objects, or it lacks
    /// places.
    pub(crate) fn returned(
        &self,
        answer: &[u8],
        got: &[ValueBuf],
        before: Option<&Returned>,
        resizes: bool,
    ) -> Result<Option<Box<Returned>>, String> {
        let garbage = || "what it returned beside the picture has arrived damaged".to_owned();
        let none = Ok(Json::Null);
        let answer: Json =
            if answer.is_empty() { none } else { serde_json::from_slice(answer) }.map_err(|_| garbage())?;
        if let Some(lacking) =
            self.places(got).find(|number| resizes && answer["columns"].get(number.to_string()).is_none())
        {
            return Err(format!(
                "its output has a size of its own, so it must return the column \"{}\" too, whose numbers are places in the picture. \
                 Or leave this column out of the stream with `columns`",
                self.schema.fields()[lacking].name
            ));
        }
        if answer.is_null() {
            return Ok(before.cloned().map(Box::new));
        }
        let mut made = before.cloned().unwrap_or_default();
        made.values.resize(self.schema.len(), None);
        made.label = answer.get("label").and_then(Json::as_i64).or(made.label);
        let mut moves_objects = false;
        for (number, sent) in answer.get("columns").and_then(Json::as_object).into_iter().flatten() {
            let number = number.parse::<usize>().ok().filter(|&it| it < self.schema.len()).ok_or_else(garbage)?;
            let field = &self.schema.fields()[number];
            let column = column_of(field, sent).ok_or_else(garbage)?;
            let room = self.rooms[number];
            if !room.holds(&column.room()) {
                return Err(format!(
                    "its column \"{}\" has {:?} items, but there is room for {:?}: declare more in the `columns` of the function",
                    field.name,
                    &column.room().0[..field.column_type.depth()],
                    &room.0[..field.column_type.depth()],
                ));
            }
            moves_objects |= field.objects.is_some() || field.role.follows();
            made.values[number] = Some(copied(&column.value(0), field));
        }
        if moves_objects {
            self.keep_objects(&mut made, got)?;
        }
        Ok(Some(Box::new(made)))
    }

    /// The columns whose numbers are places in the picture, of which these values have some.
    fn places(&self, values: &[ValueBuf]) -> impl Iterator<Item = usize> {
        let has = |(field, value): (&Field, &ValueBuf)| field.role.follows() && !value.value().bytes().is_empty();
        let has: Vec<bool> = self.schema.fields().iter().zip(values).map(has).collect();
        (0..has.len()).filter(move |&number| has[number])
    }

    /// From now on, all columns with objects or places are what the function has returned, or what it got.
    fn keep_objects(&self, made: &mut Returned, got: &[ValueBuf]) -> Result<(), String> {
        for (number, field) in self.schema.fields().iter().enumerate() {
            let follows = self.columns.get(number).is_some_and(|(_, follower)| follower.is_some());
            if field.objects.is_some() || follows {
                made.values[number].get_or_insert_with(|| got[number].clone());
            }
            let leader = self.schema.leader(number);
            let items = |number: usize| made.values[number].as_ref().map(|value| value.value().items());
            let (of, own) = (items(leader), items(number));
            if field.objects.is_some() && of != own {
                let first = &self.schema.fields()[leader].name;
                return Err(format!(
                    "its columns \"{first}\" and \"{}\" are of the same objects, but have {} and {} of them: return both",
                    field.name,
                    of.unwrap_or(0),
                    own.unwrap_or(0),
                ));
            }
        }
        Ok(())
    }

    /// Moves what functions have returned to where it is behind the transforms that follow the last one of them, whose result has this
    /// height and width.
    pub(crate) fn carry(&self, returned: &mut Returned, (height, width): (u32, u32), then: &Recipe, draw: Draw) {
        let fields = self.schema.fields();
        let is_moved = |(field, value): (&Field, &Option<ValueBuf>)| value.is_some() && field.role.follows();
        if !fields.iter().zip(&returned.values).any(is_moved) {
            return;
        }
        let FollowSettings { annotated, min_visible, .. } = self.follow;
        let origin = Origin::plain((width, height));
        let maps = PictureMaps::new(&origin, then, draw, annotated, &mut Plan::default());
        let shown: Vec<Option<Vec<bool>>> = (0..fields.len())
            .map(|number| {
                let boxes = returned.values[self.schema.deciding_boxes(number)?].as_ref()?;
                Some(maps.shown(&boxes.value(), min_visible))
            })
            .collect();
        for ((field, value), shown) in fields.iter().zip(&mut returned.values).zip(shown) {
            let Some(value) = value else { continue };
            let is_shown = |object: usize| shown.as_ref().is_none_or(|shown| shown.get(object) != Some(&false));
            let mut moved = ValueBuf::default();
            moved.copy(&value.value(), &field.column_type, is_shown);
            maps.carry(field, &self.flip, &mut moved);
            *value = moved;
        }
    }
}

/// Where the lists of level 2 and 3 of a value end, from 0 on, as far as its column has these levels.
fn inner_ends(value: &Value<'_>, column: &ColumnType) -> Vec<Vec<usize>> {
    let lists = if column.depth() < 2 { Vec::new() } else { value.lists(column) };
    let rows = ends_of(lists.iter().map(|(_, rows)| rows.len() / column.row_len()));
    let of_object = |object: usize| lists.iter().filter(|(of, _)| *of == object).count();
    match column.depth() {
        0 | 1 => Vec::new(),
        2 => vec![rows],
        _ => vec![ends_of((0..value.items()).map(of_object)), rows],
    }
}

/// Where lists of these lengths end, one after the other.
fn ends_of(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut ends = vec![0];
    ends.extend(lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    ends
}

/// A copy of a value of a column.
fn copied(value: &Value<'_>, field: &Field) -> ValueBuf {
    let mut copy = ValueBuf::default();
    copy.copy(value, &field.column_type, |_| true);
    copy
}

/// No value of a column.
fn missing(field: &Field) -> ValueBuf {
    let mut column = Column::new(field.column_type.clone());
    column.push_null();
    copied(&column.value(0), field)
}

/// The one value that was sent for a column. Nothing if it is none of its type.
fn column_of(field: &Field, sent: &Json) -> Option<Column> {
    let of = field.column_type.clone();
    if sent.is_null() {
        let mut column = Column::new(of);
        // A column with lists in lists has none of them.
        column.push_null();
        return Some(column);
    }
    let (bytes, ends) = sent.as_array()?.split_first()?;
    let values = unhex(bytes.as_str()?)?;
    let list = |ends: &Json| ends.as_array()?.iter().map(Json::as_i64).collect::<Option<Vec<i64>>>();
    let inner: Vec<Vec<i64>> = ends.iter().map(list).collect::<Option<_>>()?;
    let items = match inner.first() {
        Some(ends) => ends.len().checked_sub(1)?,
        None => values.len() / of.row_len(),
    };
    let outer = (of.depth() > 0).then(|| Some(vec![0, i64::try_from(items).ok()?]));
    let offsets: Vec<Vec<i64>> = match outer {
        Some(outer) => std::iter::once(outer?).chain(inner).collect(),
        None => inner,
    };
    Column::try_from_parts(of, offsets, values, Vec::new(), 1)
}

/// Bytes as text, two digits each.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes of such a text.
fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests;
