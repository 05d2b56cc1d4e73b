//! Columns that follow their pictures: which objects are left, and whether boxes are where each lane puts the pixels.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_columns::{Column, ElementType, Schema};
use forebay_cuda::NvjpegPlaces;
use forebay_cuda::lane::LaneKind;
use forebay_cuda::survey::Places;
use forebay_delivery::FinishedBatch;
use forebay_fake_gpu::Fake;
use forebay_pixels::sample::{JpegForm, mask_png};
use forebay_pixels::{
    CenterCrop, Form, Input, Interpolation, Limits, Orientation, Origin, Output, RandomHorizontalFlip,
    RandomResizedCrop, Size, Transform,
};
use forebay_proto::Turn;
use forebay_ring::{Dtype, Geometry, Layout, Region, Shape, View};
use forebay_sources::{Locator, MaskColumn, ReadError, RecordParts, Source};

use super::*;
use crate::batch_metadata::{BatchMetadata, MetadataPlaces, SettledBatch};
use crate::cache::{Cache, Keep};
use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::job::stream_pictures::StreamPictures;
use crate::decode::masks::Masks;
use crate::decode::{Decoding, GpuLanes, Pool};
use crate::memory::Promises;
use crate::place::PlaceRight;
use crate::prefetch::memory_source;
use crate::publish::publish;
use crate::record::EpochTurn;
use crate::settings::{DecodeSettings, JpegDecoder, Lanes};
use crate::targets::Targets;

mod poses;
mod turns;

/// A dataset of which only the columns matter, and the masks.
#[derive(Debug)]
struct Annotations(Table, Vec<MaskColumn>);

impl Source for Annotations {
    fn len(&self) -> u64 {
        self.0.columns()[0].len() as u64
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn label(&self, _record: u64) -> i64 {
        -1
    }

    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("{record}.jpg"))
    }

    fn size(&self, _record: u64) -> u64 {
        1
    }

    fn read(&self, _record: u64, _room: u64, _buf: &mut Vec<u8>) -> Result<(), ReadError> {
        unreachable!("the test has the files")
    }

    fn fingerprint(&self) -> [u8; 32] {
        [0; 32]
    }

    fn targets(&self) -> &Table {
        &self.0
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.1
    }

    fn shard_name(&self, _record: u64) -> &'static str {
        "annotations"
    }
}

/// For each record its boxes. Each box has a polygon of its corners, a keypoint at its first corner, and its number. The
/// record has the first corner of its first box once more.
fn annotations(records: &[Vec<[f32; 4]>]) -> Arc<dyn Source> {
    annotations_with(records, Vec::new())
}

/// The same with masks.
fn annotations_with(records: &[Vec<[f32; 4]>], masks: Vec<MaskColumn>) -> Arc<dyn Source> {
    let of = |name: &str, column_type: &str| Field::of_objects(name, column_type.parse().unwrap(), "objects");
    let fields = vec![
        of("numbers", "i64 [*]"),
        of("boxes", "f32 [*, 4]").with_role(Role::Boxes),
        of("polygons", "f32 [*][*][*, 2]").with_role(Role::Points),
        of("keypoints", "f32 [*, 1, 3]").with_role(Role::Keypoints),
        Field::new("point", "f32 [2]".parse().unwrap()).with_role(Role::Points),
        Field::new("size", "f32 [*]".parse().unwrap()),
    ];
    let mut columns: Vec<_> = fields.iter().map(|field| Column::new(field.column_type.clone())).collect();
    for boxes in records {
        let numbers: Vec<i64> = (0..).take(boxes.len()).collect();
        columns[0].push(&numbers);
        columns[1].push(boxes.as_flattened());
        for [left, top, right, below] in boxes {
            columns[2].extend(&[*left, *top, *right, *below]);
            columns[2].close(3);
            columns[2].close(2);
        }
        columns[2].close(1);
        let keypoints: Vec<f32> = boxes.iter().flat_map(|[left, top, ..]| [*left, *top, 2.0]).collect();
        columns[3].push(&keypoints);
        columns[4].push(&boxes[0][..2]);
        columns[5].push(&[7.0_f32]);
    }
    let table = Table::try_new(Schema::try_new(fields).unwrap(), columns, records.len()).unwrap();
    Arc::new(Annotations(table, masks))
}

fn metadata(records: Vec<i64>, origins: Vec<Option<Origin>>) -> BatchMetadata {
    let shown = u32::try_from(records.len()).unwrap();
    let (labels, mask) = (vec![-1; records.len()], vec![1; records.len()]);
    let (claims, bad) = (Vec::new(), Vec::new());
    let (repeats, partners, returned) = (vec![0; records.len()], BTreeMap::new(), BTreeMap::new());
    let places = MetadataPlaces { labels, records, repeats, mask, origins };
    BatchMetadata { batch: 0, epoch: 3, shown, valid: shown, places, partners, returned, step: None, claims, bad }
}

fn region(recipe: &Recipe, targets: &Targets, batch: u32) -> Region {
    let (height, width, channels) = recipe.shape();
    let shape = Shape { batch, height, width, channels, dtype: Dtype::U8, layout: Layout::Nhwc };
    let geometry = Geometry::with_columns(shape, 1, targets.schema().clone(), &targets.rooms()).unwrap();
    let region = Region::create(geometry, 1, 0).unwrap();
    region.populate(0).unwrap();
    region
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
}

/// What the places of a batch have in a column of floats.
fn column(region: &Region, column: usize, places: usize) -> Vec<Vec<f32>> {
    let view = View::map(region.fd(), 1, 0).unwrap();
    (0..places).map(|place| floats(view.column(0, column).place(place))).collect()
}

/// 50 x 40 of the middle of 100 x 80, of two records. The second has its objects in another order.
fn cut(columns: Option<&[String]>, min_visible: f64) -> (Region, Vec<Vec<i64>>) {
    let whole = [30.0, 30.0, 40.0, 35.0];
    let (quarter, beside, some) = ([15.0, 10.0, 35.0, 30.0], [0.0, 0.0, 25.0, 80.0], [60.0, 20.0, 100.0, 60.0]);
    let source = annotations(&[vec![whole, quarter, beside, some], vec![beside, some]]);
    let targets = Targets::new(source, columns, (1, 1)).unwrap();
    let size = Size::HeightWidth([40, 50]);
    let recipe = Recipe::new(vec![Transform::CenterCrop(CenterCrop { size })], Output::default()).unwrap();
    let origin = Some(Origin::of_recipe((100, 80), Orientation::AsStored, &recipe));
    let region = region(&recipe, &targets, 4);
    let settings = FollowSettings { recipe: Arc::new(recipe), seed: 0, annotated: Annotated::AsSeen, min_visible };
    let mut writer = targets.writer(settings);
    let slot = region.slot(0).unwrap();
    let metadata = metadata(vec![0, -1, 1], vec![origin, origin, origin]);
    drop(publish(SettledBatch { metadata, slot, in_gpu: vec![false; 4] }, None, &mut writer));
    let view = View::map(region.fd(), 1, 0).unwrap();
    let numbers = (0..4).map(|place| {
        let bytes = view.column(0, 0).place(place).chunks_exact(8);
        bytes.map(|eight| i64::from_le_bytes(eight.try_into().unwrap())).collect()
    });
    let numbers = numbers.collect();
    assert_eq!(view.column(0, 0).validity(), [1, 0, 1, 0], "a place without a record has nothing");
    (region, numbers)
}

#[test]
fn rule_45_an_object_that_is_not_shown_is_dropped_from_all_columns_of_its_objects() {
    let (region, numbers) = cut(None, 0.0);
    assert_eq!(numbers, [vec![0, 1, 3], vec![], vec![1], vec![]]);
    let some = [35.0, 0.0, 50.0, 40.0];
    assert_eq!(column(&region, 1, 4)[0], [[5.0, 10.0, 15.0, 15.0], [0.0, 0.0, 10.0, 10.0], some].as_flattened());
    assert_eq!(column(&region, 1, 4)[2], some);
    // Points are not clipped.
    assert_eq!(column(&region, 2, 4)[0], [5.0, 10.0, 15.0, 15.0, -10.0, -10.0, 10.0, 10.0, 35.0, 0.0, 75.0, 40.0]);
    assert_eq!(column(&region, 3, 4)[0], [5.0, 10.0, 2.0, -10.0, -10.0, 0.0, 35.0, 0.0, 2.0]);
    // What belongs to no objects keeps all that it has.
    assert_eq!(column(&region, 4, 4)[..3], [vec![5.0, 10.0], vec![0.0, 0.0], vec![-25.0, -20.0]]);
    assert_eq!(column(&region, 5, 4), [vec![7.0], vec![], vec![7.0], vec![]]);
}

#[test]
fn rule_45_min_visible_is_the_least_part_of_a_box_that_is_kept() {
    for (min_visible, kept) in [(0.25, vec![0, 1, 3]), (0.26, vec![0, 3]), (0.375, vec![0, 3]), (1.0, vec![0])] {
        assert_eq!(cut(None, min_visible).1[0], kept, "{min_visible}");
    }
}

#[test]
fn rule_45_boxes_and_points_in_fractions_of_a_picture_become_pixels_that_follow_it() {
    let field = |name: &str, column_type: &str| Field::of_objects(name, column_type.parse().unwrap(), "objects");
    let fields = vec![
        field("boxes", "f32 [*, 4]").with_role(Role::FractionBoxes),
        field("corners", "f32 [*, 2]").with_role(Role::FractionPoints),
        field("numbers", "i64 [*]"),
    ];
    let mut columns: Vec<_> = fields.iter().map(|field| Column::new(field.column_type.clone())).collect();
    // Of 200 x 80, stored on its side: [20, 20, 120, 40], and one that the middle does not show.
    columns[0].push(&[0.1_f32, 0.25, 0.6, 0.5, 0.0, 0.0, 0.2, 1.0]);
    columns[1].push(&[0.1_f32, 0.25, 0.0, 0.0]);
    columns[2].push(&[0_i64, 1]);
    let table = Table::try_new(Schema::try_new(fields).unwrap(), columns, 1).unwrap();
    let targets = Targets::new(Arc::new(Annotations(table, Vec::new())), None, (1, 1)).unwrap();
    let size = Size::HeightWidth([40, 100]);
    let recipe = Recipe::new(vec![Transform::CenterCrop(CenterCrop { size })], Output::default()).unwrap();
    let origin = Some(Origin::of_recipe((80, 200), Orientation::Right, &recipe));
    let region = region(&recipe, &targets, 1);
    let settings = FollowSettings { recipe: Arc::new(recipe), seed: 0, annotated: Annotated::AsSeen, min_visible: 0.0 };
    let (metadata, slot) = (metadata(vec![0], vec![origin]), region.slot(0).unwrap());
    drop(publish(SettledBatch { metadata, slot, in_gpu: vec![false] }, None, &mut targets.writer(settings)));
    let near = |found: &[f32], expected: &[f32]| {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4)
    };
    let (boxes, corners) = (column(&region, 0, 1), column(&region, 1, 1));
    assert!(near(&boxes[0], &[0.0, 0.0, 70.0, 20.0]), "{boxes:?}");
    assert!(near(&corners[0], &[-30.0, 0.0]), "{corners:?}");
}

#[test]
fn rule_47_boxes_that_a_stream_does_not_have_decide_all_the_same() {
    let (_, numbers) = cut(Some(&["numbers".to_owned()]), 0.0);
    assert_eq!(numbers, [vec![0, 1, 3], vec![], vec![1], vec![]]);
}

/// A black picture with a white block, as a JPEG with this EXIF orientation.
fn block((width, height): (u32, u32), block: [u32; 4], orientation: u8) -> Vec<u8> {
    let pixels = (0..height).flat_map(|row| (0..width).map(move |column| [column, row]));
    let white = |[x, y]: [u32; 2]| (block[0]..block[2]).contains(&x) && (block[1]..block[3]).contains(&y);
    let rgb: Vec<u8> = pixels.flat_map(|at| [if white(at) { 255 } else { 0 }; 3]).collect();
    let form = JpegForm { quality: 100, sampling: [1, 1], ..JpegForm::default() };
    let jpeg = form.encode(&rgb, width, height).unwrap();
    let mut exif = b"\xFF\xE1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0".to_vec();
    exif[29] = orientation;
    [&jpeg[..2], &exif, &jpeg[2..]].concat()
}

/// A JPEG with a block, and behind it a mask that has 7 in the block, but for every fifth. The mask has the pixels as stored.
fn with_mask(number: u8, size: (u32, u32), [left, top, right, below]: [u32; 4], jpeg: &[u8]) -> Vec<u8> {
    let in_block = |x, y| (left..right).contains(&x) && (top..below).contains(&y);
    let mut mask = mask_png(size.0, size.1, |x, y| if in_block(x, y) { 7 } else { 0 });
    if number % 5 == 4 {
        mask.clear();
    }
    let mut bytes = [jpeg, &mask].concat();
    RecordParts::close(&mut bytes, &[mask.len() as u64]);
    bytes
}

/// Left, top, right and below of what is 7.
fn masked(numbers: &[u8], width: usize) -> Option<[f32; 4]> {
    let rgb: Vec<u8> = numbers.iter().flat_map(|number| [if *number == 7 { 255 } else { 0 }; 3]).collect();
    bright(&rgb, width)
}

/// Left, top, right and below of what is brighter than half.
fn bright(pixels: &[u8], width: usize) -> Option<[f32; 4]> {
    let white = pixels.chunks_exact(3).enumerate().filter(|(_, rgb)| rgb[1] > 127);
    let at = white.map(|(number, _)| [number % width, number / width].map(|at| f32::from(u16::try_from(at).unwrap())));
    let boxes = at.map(|[x, y]| [x, y, x + 1.0, y + 1.0]);
    boxes.reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])])
}

/// A pool whose pictures go to the CPU, or to the lane of a fake GPU.
fn pool(fake: Option<&Fake>) -> Arc<Pool> {
    let memory = Arc::new(Budget::new(64 << 20));
    let cpu = CpuShared::new(Limits::default(), Arc::clone(&memory), JpegDecoder::Auto);
    let lanes = fake.map_or_else(GpuLanes::default, |fake| {
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let lanes = Lanes::Named(vec![LaneKind::Hybrid]);
        let config = DecodeSettings { lanes, ..DecodeSettings::default() };
        GpuLanes::open(&config, &Places { driver: Some(fake.path()), nvjpeg }, &Promises::default()).unwrap()
    });
    Arc::new(Pool::start(2, None, &CpuLane::maker(cpu), (Limits::default(), &memory), lanes).unwrap())
}

/// Decodes 16 pictures of all orientations by this pool, and compares their boxes with the pixels.
fn boxes_are_where_pixels_are(pool: &Arc<Pool>, adjust_orientation: bool, cache: Option<&Arc<Cache>>) {
    let blocks: Vec<[u32; 4]> = (0..16).map(|number| [8 + number, 20, 60 + number, 50 + number]).collect();
    let records: Vec<_> =
        blocks.iter().map(|block| vec![block.map(|at| f32::from(u16::try_from(at).unwrap()))]).collect();
    let column_of_masks = MaskColumn { name: "blocks".into(), element: ElementType::U8 };
    let source = annotations_with(&records, vec![column_of_masks]);
    let targets = Targets::new(source, None, (40, 56)).unwrap();
    let crop = RandomResizedCrop {
        size: Size::HeightWidth([40, 56]),
        scale: [0.3, 1.0],
        ratio: [0.75, 1.33],
        interpolation: Interpolation::Bilinear,
    };
    let flip = RandomHorizontalFlip::by_chance(0.5);
    let list = vec![Transform::RandomResizedCrop(crop), Transform::RandomHorizontalFlip(flip)];
    let input = Input { adjust_orientation, ..Input::default() };
    let recipe = Recipe::new(list, Output::default()).unwrap().with_input(input).unwrap();
    let masks = Arc::new(Masks { annotated: Annotated::AsStored, ..targets.masks().clone() });
    let pictures = StreamPictures { masks, cache: cache.cloned(), ..StreamPictures::of(Arc::new(recipe.clone())) };
    let decoding = Decoding::new(Arc::clone(pool), vec![pictures], 9, Arc::default());
    let region = region(&recipe, &targets, 16);
    let (frame, places) = region.slot(0).unwrap().split();
    for (place, number) in places.into_iter().zip(0_u8..) {
        let (size, at) = ((120 + u32::from(number), 90), blocks[usize::from(number)]);
        let bytes = with_mask(number, size, at, &block(size, at, number % 8 + 1));
        let place = PlaceRight::new(place, None);
        let of = EpochTurn { epoch: 3, turn: Turn::first(number.into()) };
        decoding.decode(((0, number.into()), 0), place, memory_source::read(bytes), of, false);
    }
    let (mut places, mut origins) = (Vec::new(), vec![None; 16]);
    while places.len() < 16 {
        decoding.changed().recv().unwrap();
        let mut done = Vec::new();
        decoding.take(&mut done);
        for done in done {
            origins[done.at.1 as usize] = Some(done.outcome.unwrap());
            places.push(done.place.into_slot());
        }
    }
    let slot = frame.join(places).unwrap();
    let settings =
        FollowSettings { recipe: Arc::new(recipe), seed: 9, annotated: Annotated::AsStored, min_visible: 0.0 };
    let batch = SettledBatch { metadata: metadata((0..16).collect(), origins), slot, in_gpu: vec![false; 16] };
    let ready = publish(batch, None, &mut targets.writer(settings));
    let mut shown = 0;
    for (place, boxes) in (0..).zip(column(&region, 1, 16)) {
        match bright(ready.slot.place(place), 56) {
            Some(bright) => {
                assert_eq!(boxes.len(), 4, "place {place}: {boxes:?}, {bright:?}");
                assert!(
                    boxes.iter().zip(bright).all(|(a, b)| (a - b).abs() <= 1.0),
                    "place {place}: {boxes:?}, {bright:?}"
                );
                shown += 1;
            }
            // Less than a pixel may be left of it.
            None => assert!(boxes.is_empty() || boxes[2] - boxes[0] < 1.0 || boxes[3] - boxes[1] < 1.0, "{boxes:?}"),
        }
    }
    assert!(shown > 10, "{shown}");
    masks_are_where_pixels_are(&ready, &region);
}

/// Compares masks with pixels: the ends of blocks are at the same places, but for a pixel for each of two resizes.
fn masks_are_where_pixels_are(ready: &FinishedBatch, region: &Region) {
    let view = View::map(region.fd(), 1, 0).unwrap();
    let (mut compared, column) = (0, view.column(0, 6));
    for place in 0..16 {
        let numbers = column.place(place);
        assert_eq!((numbers.len(), column.validity()[place]), (40 * 56, u8::from(place % 5 != 4)));
        if place % 5 == 4 {
            assert!(numbers.iter().all(|number| *number == 255), "a missing mask has nothing to learn from");
            continue;
        }
        let (bright, masked) = (bright(ready.slot.place(place.try_into().unwrap()), 56), masked(numbers, 56));
        if let (Some(bright), Some(masked)) = (bright, masked) {
            assert!(bright.iter().zip(masked).all(|(a, b)| (a - b).abs() <= 2.0), "{place}: {bright:?}, {masked:?}");
            compared += 1;
        }
    }
    assert!(compared > 7, "{compared}");
}

#[test]
fn rule_45_boxes_are_where_the_cpu_puts_the_pixels_also_of_kept_pictures() {
    let pool = pool(None);
    for adjust_orientation in [true, false] {
        boxes_are_where_pixels_are(&pool, adjust_orientation, None);
        for max_side in [None, Some(110)] {
            let form = Form { adjust_orientation, max_side, ..Form::default() };
            let cache = Arc::new(Cache::new(Keep::Decoded(form), 64 << 20));
            boxes_are_where_pixels_are(&pool, adjust_orientation, Some(&cache));
            assert_eq!(cache.figures().hits, 0);
            boxes_are_where_pixels_are(&pool, adjust_orientation, Some(&cache));
            assert_eq!(cache.figures().hits, 16);
        }
    }
}

#[test]
fn rule_45_boxes_are_where_a_gpu_puts_the_pixels() {
    let fake = Fake::new();
    let pool = pool(Some(&fake));
    for adjust_orientation in [true, false] {
        boxes_are_where_pixels_are(&pool, adjust_orientation, None);
    }
    let pictures: Vec<u64> = pool.lanes().iter().map(|lane| lane.pictures).collect();
    assert_eq!(pictures, [0, 32], "the GPU has decoded all of them");
}
