//! What a child process makes suspects with. It has one record at a time, and ends when its socket closes or its daemon ends.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use forebay_children::program::socket_to_daemon;
use forebay_columns::{ColumnType, ElementType, Field, Role, Room, Schema};
use forebay_pixels::{Draw, Limits, MaskDepth, Mosaics, PARTNERS, Recipe, RecordBoxes, View};
use forebay_proto::v1::child_setup::Jpeg;
use forebay_proto::v1::{ChildAwaiting, ChildColumn, ChildPartnerOrigin, ChildReply, ChildRequest, ChildSetup};
use forebay_ring::{Dtype, Geometry, Layout, Region, Shape};
use parking_lot::Mutex;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{ALLOWANCE, exchange, message};
use crate::cache::{Cache, Keep};
use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::maker::{PictureMaker, PictureOrder, origin_before};
use crate::decode::masks::{MaskTarget, Masks};
use crate::decode::panic::panic_text;
use crate::decode::views::Views;
use crate::mask_numbers::MaskNumbers;
use crate::mosaic::{MosaicContent, PartnerContent};
use crate::place::PlaceRight;
use crate::reason::Reason;
use crate::record::Input;
use crate::settings::{JpegDecoder, StreamSettings};
use crate::step_lists::{AwaitsStep, StepLists};

/// Makes what the daemon asks for that has started this process, until its socket closes. `read` reads a stream's settings as
/// they were written.
///
/// # Errors
/// Standard input is no such socket, or what comes over it is no request, or its stream cannot be set up.
pub fn make_suspects(read: impl Fn(&str) -> Option<StreamSettings>) -> io::Result<()> {
    let mut socket = socket_to_daemon()?;
    let mut station = None;
    while let Some(mut request) = message::read::<ChildRequest>(&mut socket)? {
        if let Some(setup) = request.setup.take() {
            let settings = read(&setup.settings).ok_or_else(|| invalid("the stream's settings cannot be read"))?;
            station = Some(Station::new(&setup, &settings)?);
        }
        let station = station.as_mut().ok_or_else(|| invalid("the first request has no settings"))?;
        station.turn_to(request.bucket_height, request.bucket_width)?;
        let reply = catch_unwind(AssertUnwindSafe(|| station.make(request)));
        let reply = reply.unwrap_or_else(|panic| {
            let panic = panic_text(panic.as_ref());
            ChildReply { panic: if panic.is_empty() { "no text" } else { panic }.to_owned(), ..ChildReply::default() }
        });
        message::write(&mut socket, &reply)?;
    }
    Ok(())
}

/// What makes the pictures of one stream.
struct Station {
    maker: PictureMaker,
    limits: Limits,
    recipe: Recipe,
    /// Where functions in Python are. What is behind one works on pixels, and not on files: the daemon does it.
    lists: StepLists,
    /// What they are called with.
    awaiting: Vec<AwaitsStep>,
    masks: Masks,
    views: Views,
    mosaics: Option<Mosaics>,
    /// It has no room, and says in which form pictures would be kept.
    cache: Option<Cache>,
    /// The boxes of the record that is made.
    boxes: Arc<Mutex<Vec<[f32; 4]>>>,
    place: PlaceRight,
    /// The limit of this process's memory.
    memory: Option<u64>,
}

impl Station {
    fn new(setup: &ChildSetup, settings: &StreamSettings) -> io::Result<Self> {
        let limits = Limits {
            pixels: setup.pixels,
            bytes: setup.bytes,
            scans: setup.scans,
            time: setup.time_us.map(Duration::from_micros),
        };
        let jpeg = match setup.jpeg() {
            Jpeg::Auto => JpegDecoder::Auto,
            Jpeg::LibjpegTurbo => JpegDecoder::LibjpegTurbo,
        };
        let boxes = Arc::<Mutex<Vec<[f32; 4]>>>::default();
        let bound = |recipe: &Recipe| {
            if recipe.drawing_by_boxes().is_none() {
                return recipe.clone();
            }
            let boxes = Arc::clone(&boxes);
            let give = move |_: u64, give: &mut dyn FnMut([f32; 4])| boxes.lock().iter().copied().for_each(give);
            recipe.clone().with_boxes(RecordBoxes::new(settings.annotated, setup.boxes_in_fractions, give))
        };
        let recipe = bound(&settings.recipe);
        let views = settings.views.iter().map(|view| View { name: view.name.clone(), recipe: bound(&view.recipe) });
        let views: Vec<View> = views.collect();
        let (lists, awaiting) = (StepLists::new(&recipe, &views), Vec::new());
        let targets = setup.masks.iter().enumerate().map(|(column, mask)| MaskTarget {
            name: mask.name.clone(),
            mask: usize::try_from(mask.mask).unwrap_or(usize::MAX),
            column,
            depth: match mask.depth {
                1 => MaskDepth::U8,
                2 => MaskDepth::U16,
                _ => MaskDepth::I32,
            },
        });
        let masks = Masks {
            of_source: usize::try_from(setup.masks_of_source).unwrap_or(usize::MAX),
            targets: targets.collect(),
            annotated: settings.annotated,
            fill: settings.mask_fill,
        };
        let views = Views { columns: (masks.targets.len()..).take(views.len()).collect(), views };
        let keep = settings.cache.map(|cache| cache.keep(&settings.recipe));
        let cache = keep.filter(|keep| matches!(keep, Keep::Decoded(_))).map(|keep| Cache::new(keep, 0));
        // The limit of the process is the only one: it makes one record at a time.
        let memory = Arc::new(Budget::endless(make_room));
        let lane = CpuLane::maker(CpuShared::new(limits, Arc::clone(&memory), jpeg));
        let maker = PictureMaker::new(&lane, limits, &memory);
        let (place, mosaics) = (place(&recipe, &masks, &views)?, Mosaics::of(&recipe));
        let memory = getrlimit(Resource::Data).current;
        Ok(Self { maker, limits, recipe, lists, awaiting, masks, views, mosaics, cache, boxes, place, memory })
    }

    /// Makes the next picture for a step of this size.
    fn turn_to(&mut self, height: u32, width: u32) -> io::Result<()> {
        if self.recipe.step_size().is_none_or(|size| size == (height, width)) {
            return Ok(());
        }
        let recipe = self.recipe.in_step(height, width).map_err(|_| invalid("the size is of no step"))?;
        self.place = place(&recipe, &self.masks, &self.views)?;
        self.recipe = recipe;
        Ok(())
    }

    fn make(&mut self, request: ChildRequest) -> ChildReply {
        let ChildRequest { seed, epoch, key, record, content, is_mosaic, partners, boxes, .. } = request;
        limit(self.memory);
        *self.boxes.lock() = boxes.as_chunks().0.to_vec();
        let partners: Vec<PartnerContent> =
            partners.into_iter().map(|it| PartnerContent { record: it.record, bytes: it.content }).collect();
        let partners = <[PartnerContent; PARTNERS]>::try_from(partners).ok();
        let content = MosaicContent::of(content, partners);
        let order = PictureOrder {
            content: Input::File(content.own()),
            mosaic: self.mosaics.as_ref().filter(|_| is_mosaic).map(|mosaics| (mosaics, &content)),
            masks: &self.masks,
            views: &self.views,
            cache: self.cache.as_ref(),
            seek: None,
            recipe: &self.recipe,
            record,
            draw: Draw { seed, epoch, record: key },
            made: None,
        };
        let input = self.masks.picture(order.content);
        let origin = || origin_before(input, (&self.recipe, self.cache.as_ref()), &self.limits);
        let of = (&origin as &dyn Fn() -> _, &self.limits);
        let begun = (!self.lists.is_empty()).then(|| self.lists.begin(order.draw, of, &mut self.awaiting)).transpose();
        let made = begun.map_err(Reason::from).and_then(|begun| self.maker.make(order, begun, &mut self.place));
        let (origin, partners) = match made {
            Ok(made) => made,
            Err(reason) => {
                let (fault, may_pass) = (reason.to_string(), reason.may_pass());
                return ChildReply { fault, may_pass, ..ChildReply::default() };
            }
        };
        let columns = (0..self.masks.targets.len() + self.views.columns.len()).map(|column| {
            let (validity, values) = self.place.column(column);
            ChildColumn { valid: *validity != 0, values: values.to_vec() }
        });
        let columns = columns.collect();
        let laid = (0..).zip(partners.iter().flat_map(|partners| partners.iter()));
        let beside = laid.filter_map(|(place, partner)| {
            let (record, origin) = partner.as_ref()?;
            Some(ChildPartnerOrigin { place, record: *record, origin: Some(exchange::told(origin)) })
        });
        ChildReply {
            origin: Some(exchange::told(&origin)),
            picture: self.place.as_mut().to_vec(),
            awaiting: self.awaiting.iter().map(awaiting).collect(),
            columns,
            partners: beside.collect(),
            has_partners: partners.is_some(),
            ..ChildReply::default()
        }
    }
}

/// What a function in Python is called with, as a message.
fn awaiting(of: &AwaitsStep) -> ChildAwaiting {
    let mask = |mask: &MaskNumbers| ChildColumn { valid: mask.is_there, values: mask.numbers.clone() };
    ChildAwaiting { pixels: of.pixels.clone(), masks: of.masks.iter().map(mask).collect() }
}

/// A picture may need more than the daemon has for decoding: there it would be decoded alone (semantics rule 31). Here, the limit
/// of the process follows its need.
fn make_room(need: u64) {
    let wanted = need.saturating_add(ALLOWANCE);
    if getrlimit(Resource::Data).current.is_some_and(|current| current < wanted) {
        limit(Some(wanted));
    }
}

/// Limits the memory of this process, within what the system allows it.
fn limit(memory: Option<u64>) {
    let maximum = getrlimit(Resource::Data).maximum;
    let current = memory.map(|memory| maximum.map_or(memory, |most| most.min(memory))).or(maximum);
    // If the system refuses, the picture may still do with less.
    let _refused = setrlimit(Resource::Data, Rlimit { current, maximum });
}

/// A place as that of a batch, in memory of this process.
fn place(recipe: &Recipe, masks: &Masks, views: &Views) -> io::Result<PlaceRight> {
    let (height, width, channels) = recipe.shape();
    let bytes = |recipe: &Recipe| u32::try_from(recipe.output().dtype.len()).unwrap_or(u32::MAX);
    let field = |name: &str, element, dims: &[u32], role| {
        let of = ColumnType::try_new(element, 0, dims).map_err(|_| invalid("a column is none"))?;
        Ok::<_, io::Error>(Field::new(name, of).with_role(role))
    };
    let mut fields = Vec::new();
    for target in &masks.targets {
        let element = match target.depth {
            MaskDepth::U8 => ElementType::U8,
            MaskDepth::U16 => ElementType::U16,
            MaskDepth::I32 => ElementType::I32,
        };
        fields.push(field(&target.name, element, &[height, width], Role::Mask)?);
    }
    for View { name, recipe } in &views.views {
        let (height, width, channels) = recipe.shape();
        // Their bytes, whatever the type of their values.
        let width = width.saturating_mul(bytes(recipe));
        fields.push(field(name, ElementType::U8, &[height, width, channels], Role::View)?);
    }
    let rooms = vec![Room::default(); fields.len()];
    let schema = Schema::try_new(fields).map_err(|_| invalid("the columns are none"))?;
    let width = width.saturating_mul(bytes(recipe));
    let shape = Shape { batch: 1, height, width, channels, dtype: Dtype::U8, layout: Layout::Nhwc };
    let geometry =
        Geometry::with_columns(shape, 1, schema, &rooms).map_err(|_| invalid("the pictures have no room"))?;
    let region = Region::create(geometry, 1, 0).map_err(io::Error::other)?;
    let (_, mut places) = region.slot(0).map_err(io::Error::other)?.split();
    let place = places.pop().ok_or_else(|| invalid("a batch has no place"))?;
    Ok(PlaceRight::new(place, None))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
