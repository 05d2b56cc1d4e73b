//! Writes the columns of a batch whose numbers are places in the picture. They follow the picture of their place: they are
//! cut, resized, mirrored and turned as it was (semantics rule 45).

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_columns::{ColumnMut, Field, Full, Role, Schema, Table, Value, ValueBuf};
use forebay_pixels::{Annotated, Draw, Mosaics, Origin, Plan, PointMap, Recipe};
use thiserror::Error;

use crate::batch_metadata::BatchMetadata;
use crate::box_column::{BoxColumn, corners};

/// What a stream's pictures go through, and which objects are left of them.
#[derive(Clone, Debug)]
pub(crate) struct FollowSettings {
    /// What is done to each picture.
    pub recipe: Arc<Recipe>,
    /// Seed of the random choices.
    pub seed: u64,
    /// The picture whose pixels the dataset's numbers count.
    pub annotated: Annotated,
    /// An object is dropped if less of its box is shown.
    pub min_visible: f64,
}

/// A column that cannot follow the pictures.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "column \"{column}\" has places in the picture, which cannot follow transform {place} ({transform}). Leave out the column \
     with `columns`, or the transform"
)]
pub struct NotFollowed {
    /// The column.
    pub column: String,
    /// Place of the transform in its list, from 0.
    pub place: usize,
    /// Name of the transform.
    pub transform: &'static str,
}

/// Looks whether all columns can follow what a recipe makes of the pictures.
///
/// # Errors
/// One cannot.
pub(crate) fn can_follow(schema: &Schema, recipe: &Recipe) -> Result<(), NotFollowed> {
    let refused = schema.fields().iter().find_map(|field| {
        let moves = field.role == Role::Mask || field.role.follows();
        let (place, transform) = recipe.unfollowed().filter(|_| moves)?;
        Some(NotFollowed { column: field.name.clone(), place, transform })
    });
    refused.map_or(Ok(()), Err)
}

/// The maps of a batch's pictures, with memory that is used again for each batch.
#[derive(Debug)]
pub(crate) struct Follow {
    settings: FollowSettings,
    /// For each place, where the numbers of its picture are, and whether it has one. Those behind are left from another batch.
    maps: Vec<(PictureMaps, bool)>,
    /// The mosaics of the recipe, if it has some.
    mosaics: Option<Mosaics>,
    /// For places with a mosaic, the records of the pictures beside the own one, and where their numbers are.
    beside: BTreeMap<usize, Vec<(usize, PictureMaps)>>,
    /// For each keypoint of an object, the one that takes its place in a mirrored picture, by the recipe. Those behind stay.
    partners: Vec<usize>,
    plan: Plan,
    copy: ValueBuf,
    /// What is added to the copy.
    further: ValueBuf,
}

/// Where the numbers of one picture are in its result.
#[derive(Clone, Debug, Default)]
pub struct PictureMaps {
    pixels: PointMap,
    fractions: PointMap,
    /// The same two for keypoints, if these go elsewhere than other points.
    keypoints: Option<Box<[PointMap; 2]>>,
    /// Whether a transform has dropped an object, for each by its number.
    dropped: Vec<bool>,
}

/// A column of a dataset that follows its pictures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follower {
    /// Its place in the table.
    pub column: usize,
    /// What its numbers are.
    pub role: Role,
    /// The column of boxes that says which of its objects are shown, and what these are.
    pub boxes: Option<(usize, Role)>,
    /// Whether transforms draw by these boxes, and drop objects.
    pub is_drawn: bool,
}

impl Follower {
    /// A column of this table, if it follows its pictures.
    pub(crate) fn of(table: &Table, column: usize) -> Option<Self> {
        let fields = table.schema().fields();
        let boxes = table.schema().deciding_boxes(column).map(|boxes| (boxes, fields[boxes].role));
        let role = fields[column].role;
        let is_drawn = boxes.is_some_and(|(boxes, _)| BoxColumn::of(table).is_some_and(|of| of.column == boxes));
        (role.follows() || boxes.is_some()).then_some(Self { column, role, boxes, is_drawn })
    }

    /// Copies what a record has in the column, where it is in the result.
    pub(crate) fn copy(
        self,
        (table, record): (&Table, usize),
        maps: &PictureMaps,
        least_visible: f64,
        partners: &[usize],
        copy: &mut ValueBuf,
    ) {
        let Self { column, role, boxes, is_drawn } = self;
        // Objects that were dropped, or whose boxes are not shown, are left out.
        let boxes = boxes.map(|(boxes, role)| (maps.of(role), table.value(boxes, record)));
        let shown = |object: usize| {
            let Some((map, boxes)) = &boxes else { return true };
            let Some(bytes) = boxes.bytes().as_chunks().0.get(object) else { return true };
            if is_drawn && maps.dropped.get(object) == Some(&true) {
                return false;
            }
            let visible = map.xyxy(corners(bytes)).visible;
            visible > 0.0 && visible >= least_visible
        };
        let field = &table.schema().fields()[column];
        copy.copy(&table.value(column, record), &field.column_type, shown);
        maps.follow(role, copy);
        maps.exchange(field, role, partners, copy);
    }
}

/// Lets the keypoints of each object change places: by what the dataset says, or by these partners if it says nothing.
fn exchange(field: &Field, partners: &[usize], copy: &mut ValueBuf) {
    let column_type = &field.column_type;
    let (own, each) = (&field.flip, field.flip.len());
    if own.is_empty() {
        // Objects with one keypoint each: the list is not that of one object.
        let are_alone = field.objects.is_some() && column_type.depth() == 1 && column_type.dims().len() < 2;
        if !are_alone && !partners.is_empty() {
            copy.exchange::<f32, 3>(column_type, |place, _| partners.get(place).copied().unwrap_or(place));
        }
        return;
    }
    // The dataset knows how many keypoints an object has, and several objects may be in one list.
    copy.exchange::<f32, 3>(column_type, |place, count| {
        let first = place / each * each;
        if first + each > count { place } else { first + own[place - first] as usize }
    });
}

/// The role of the same places, counted in pixels.
fn in_pixels(role: Role) -> Role {
    match role {
        Role::FractionBoxes => Role::Boxes,
        Role::FractionPoints => Role::Points,
        Role::FractionKeypoints => Role::Keypoints,
        other => other,
    }
}

/// For each keypoint up to the last one of these pairs, the number of the one that takes its place.
pub(crate) fn flip_partners(pairs: &[[u32; 2]]) -> Vec<usize> {
    let count = pairs.as_flattened().iter().map(|number| *number as usize + 1).max().unwrap_or(0);
    let mut partners: Vec<usize> = (0..count).collect();
    for pair in pairs {
        partners.swap(pair[0] as usize, pair[1] as usize);
    }
    partners
}

impl PictureMaps {
    /// For what a recipe makes of a picture with this draw. `plan` is for work, and its memory is used again.
    pub fn new(origin: &Origin, recipe: &Recipe, draw: Draw, annotated: Annotated, plan: &mut Plan) -> Self {
        let mut maps = Self::default();
        maps.set(origin, recipe, draw, annotated, plan);
        maps
    }

    /// Makes these the maps for another picture. Their memory is used again.
    fn set(&mut self, origin: &Origin, recipe: &Recipe, draw: Draw, annotated: Annotated, plan: &mut Plan) {
        origin.map_into(recipe, draw, annotated, plan, &mut self.pixels);
        self.fractions.set_to_fractions(&self.pixels, origin.annotated(annotated));
        self.keypoints = plan.shifts_keypoints().then(|| {
            let mut maps = self.keypoints.take().unwrap_or_default();
            let [pixels, fractions] = &mut *maps;
            origin.keypoint_map_into(plan, annotated, pixels);
            fractions.set_to_fractions(pixels, origin.annotated(annotated));
            maps
        });
        self.dropped.clear();
        self.dropped.extend_from_slice(plan.dropped());
    }

    /// Moves the numbers of a column with this role to where they are in the result.
    pub fn follow(&self, role: Role, numbers: &mut ValueBuf) {
        let map = self.of(role);
        match role {
            // Masks and views are written when their picture is decoded, and are in no table.
            Role::Plain | Role::Classes | Role::Mask | Role::View => {}
            Role::Boxes | Role::FractionBoxes => numbers.each(|corners| map.xyxy(corners).clipped),
            Role::Points | Role::FractionPoints => numbers.each(|point| map.point(point)),
            Role::Keypoints | Role::FractionKeypoints => numbers.each(|keypoint| map.keypoint(keypoint)),
        }
    }

    /// In a mirrored picture, what was a left hand is a right one.
    fn exchange(&self, field: &Field, role: Role, partners: &[usize], copy: &mut ValueBuf) {
        if role.is_of_keypoints() && self.of(role).is_mirrored() {
            exchange(field, partners, copy);
        }
    }

    /// Which of these boxes are shown, whose numbers are pixels.
    pub(crate) fn shown(&self, boxes: &Value<'_>, least_visible: f64) -> Vec<bool> {
        let is_shown = |bytes: &[u8; 16]| {
            let visible = self.pixels.xyxy(corners(bytes)).visible;
            visible > 0.0 && visible >= least_visible
        };
        boxes.bytes().as_chunks().0.iter().map(is_shown).collect()
    }

    /// Moves a value of this column, whose numbers are pixels, to where it is in the result.
    pub(crate) fn carry(&self, field: &Field, partners: &[usize], value: &mut ValueBuf) {
        let role = in_pixels(field.role);
        self.follow(role, value);
        self.exchange(field, role, partners, value);
    }

    /// The map for what a column has.
    fn of(&self, role: Role) -> &PointMap {
        let [pixels, fractions] = match &self.keypoints {
            Some(maps) if role.is_of_keypoints() => maps.each_ref(),
            _ => [&self.pixels, &self.fractions],
        };
        if role.is_of_fractions() { fractions } else { pixels }
    }
}

impl Follow {
    /// No batch yet.
    pub(crate) fn new(settings: FollowSettings) -> Self {
        let mosaics = Mosaics::of(&settings.recipe);
        let partners = flip_partners(settings.recipe.flip_pairs());
        let (plan, copy, further) = (Plan::default(), ValueBuf::default(), ValueBuf::default());
        Self { settings, maps: Vec::new(), mosaics, beside: BTreeMap::new(), partners, plan, copy, further }
    }

    /// Takes the pictures of another batch. They went through `own` if they are those of a bucket.
    pub(crate) fn begin(&mut self, metadata: &BatchMetadata, own: Option<&Arc<Recipe>>) {
        let Self { settings: FollowSettings { recipe, seed, annotated, .. }, maps, mosaics, beside, plan, .. } = self;
        let recipe = own.unwrap_or(recipe);
        beside.clear();
        maps.resize_with(maps.len().max(metadata.places.origins.len()), Default::default);
        for (_, is_made) in &mut *maps {
            *is_made = false;
        }
        for (place, (origin, (maps, is_made))) in metadata.places.origins.iter().zip(maps).enumerate() {
            if let Some((origin, turn)) = origin.as_ref().zip(metadata.places.turn(place)) {
                let draw = Draw { seed: *seed, epoch: metadata.epoch, record: turn.key() };
                maps.set(origin, recipe, draw, *annotated, plan);
                *is_made = true;
                let partners = u32::try_from(place).ok().and_then(|place| metadata.partners.get(&place));
                if let Some((mosaics, partners)) = mosaics.as_ref().zip(partners) {
                    let maps = partners.iter().enumerate().filter_map(|(number, partner)| {
                        let (record, origin) = partner.as_ref()?;
                        let recipe = mosaics.quarter(1 + number);
                        Some((usize::try_from(*record).ok()?, PictureMaps::new(origin, recipe, draw, *annotated, plan)))
                    });
                    beside.insert(place, maps.collect());
                }
            }
        }
    }

    /// Writes what a record has in a column into the next place, which is this one.
    ///
    /// # Errors
    /// The column has no room for it.
    pub(crate) fn write(
        &mut self,
        follower: Follower,
        table: &Table,
        record: usize,
        place: usize,
        into: &mut ColumnMut<'_>,
    ) -> Result<(), Full> {
        // A place that shows a record has its picture.
        let Self { settings, maps, beside, partners, copy, further, .. } = self;
        let Some((maps, true)) = maps.get(place) else { return into.push_null() };
        let least = settings.min_visible;
        follower.copy((table, record), maps, least, partners, copy);
        let column_type = &table.schema().fields()[follower.column].column_type;
        for (record, maps) in beside.get(&place).into_iter().flatten().filter(|_| column_type.depth() > 0) {
            follower.copy((table, *record), maps, least, partners, further);
            copy.extend(&further.value(), column_type, |_| true);
        }
        if copy.value().is_null() { into.push_null() } else { into.push(&copy.value()) }
    }
}

#[cfg(test)]
mod tests;
