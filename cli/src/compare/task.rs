//! What both sides do with each picture: our transforms, and the same in Pillow or torch.

use forebay_pixels::{
    CenterCrop, CpuDecoder, Draw, Fault, Input, Interpolation, Limits, Match, Operation, Output, Plan, Recipe,
    RecipeError, Resize, Size, Step, Transform,
};
use serde_json::{Value, json};

use super::pillow::Pixels;

/// Side of all results but whole pictures and those of [`GAP`].
const SIDE: u32 = 224;
/// Side of what is resized with a reducing gap: small, so that photographs of 500 pixels are decoded at a smaller scale.
const SMALL: u32 = 64;
const GAP: f64 = 2.0;
/// Shorter side before the middle is cut, as `Recipe::evaluation` has it for [`SIDE`].
const SHORTER: u32 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TaskKind {
    Whole,
    Middle,
    Training,
    Evaluation,
    Resize(Interpolation),
    /// As torch does it, beside torch's.
    Torch(Interpolation),
    /// With [`GAP`], beside Pillow's own reducing gap or beside an exact resize.
    Reduced {
        exact: bool,
    },
    /// What a named recipe draws, step by step.
    Planned(ResizedBy),
    /// The same, with the magnitudes that this class of torchvision computes here, in this many bins.
    Augmented(&'static str, u32),
}

/// Whose resize a recipe is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResizedBy {
    Pillow,
    /// Without antialiasing, as YOLO resizes.
    OpenCv,
}

/// One comparison.
pub(super) struct Task {
    /// What it is called in tables.
    pub name: &'static str,
    kind: TaskKind,
    /// None is the whole picture.
    recipe: Option<Recipe>,
}

impl Task {
    /// All of them, whole pictures first; those beside torch's where it is there.
    pub(super) fn all(torch: bool) -> Result<Vec<Self>, RecipeError> {
        [
            ("decode: whole pictures, upright", TaskKind::Whole),
            ("crop: the middle 224, not resized", TaskKind::Middle),
            ("training: random part to 224, mirrored by chance", TaskKind::Training),
            ("evaluation: shorter side 256, the middle 224", TaskKind::Evaluation),
            ("resize to 224 x 224, bilinear", TaskKind::Resize(Interpolation::Bilinear)),
            ("resize to 224 x 224, bicubic", TaskKind::Resize(Interpolation::Bicubic)),
            ("resize to 224 x 224, lanczos3", TaskKind::Resize(Interpolation::Lanczos3)),
            ("resize to 224 x 224, nearest", TaskKind::Resize(Interpolation::Nearest)),
            (
                "resize to 224 x 224, bilinear, match = \"torch\", beside torch's",
                TaskKind::Torch(Interpolation::Bilinear),
            ),
            (
                "resize to 224 x 224, bicubic, match = \"torch\", beside torch's",
                TaskKind::Torch(Interpolation::Bicubic),
            ),
            ("reducing_gap 2.0, to 64 x 64, beside Pillow's", TaskKind::Reduced { exact: false }),
            ("reducing_gap 2.0, to 64 x 64, beside an exact resize", TaskKind::Reduced { exact: true }),
        ]
        .into_iter()
        .filter(|(_, kind)| torch || !matches!(kind, TaskKind::Torch(_)))
        .map(|(name, kind)| Ok(Self { name, kind, recipe: kind.recipe()? }))
        .collect()
    }

    /// A recipe that is compared step by step, each with the parameters that we draw.
    pub(super) fn planned(name: &'static str, by: ResizedBy, recipe: Recipe) -> Self {
        Self { name, kind: TaskKind::Planned(by), recipe: Some(recipe) }
    }

    /// The same for a recipe whose operations a class of torchvision draws. Only what was drawn is ours there: magnitudes are
    /// those that torchvision computes.
    pub(super) fn augmented(name: &'static str, class: &'static str, bins: u32, recipe: Recipe) -> Self {
        Self { name, kind: TaskKind::Augmented(class, bins), recipe: Some(recipe) }
    }

    /// Whether it takes the picture as it is, so that formats and orientations show.
    pub(super) fn is_whole(&self) -> bool {
        self.kind == TaskKind::Whole
    }

    /// Our pixels.
    pub(super) fn ours(&self, decoder: &mut CpuDecoder, bytes: &[u8], draw: Draw) -> Result<Pixels, Fault> {
        let limits = Limits::default();
        let Some(recipe) = &self.recipe else {
            let picture = decoder.whole(bytes, &limits)?;
            return Ok(Pixels { width: picture.width, height: picture.height, rgb: picture.rgb });
        };
        let mut rgb = vec![0; recipe.place_len()];
        decoder.decode(bytes, recipe, draw, &limits, &mut rgb)?;
        let (height, width, _) = recipe.shape();
        Ok(Pixels { width, height, rgb })
    }

    fn plan(&self, width: u32, height: u32, draw: Draw) -> Plan {
        self.recipe.as_ref().expect("whole pictures have no plan").plan(width, height, draw)
    }

    /// What Pillow, or torch, is to do with a picture that is seen as `width` x `height`.
    pub(super) fn theirs(&self, width: u32, height: u32, draw: Draw) -> Value {
        match self.kind {
            TaskKind::Whole => json!({ "do": "whole" }),
            TaskKind::Middle => json!({ "do": "middle", "side": SIDE }),
            TaskKind::Evaluation => json!({ "do": "evaluation", "shorter": SHORTER, "side": SIDE }),
            TaskKind::Resize(filter) => json!({ "do": "resize", "filter": name(filter), "side": SIDE }),
            TaskKind::Torch(filter) => json!({ "do": "torch", "filter": name(filter), "side": SIDE }),
            TaskKind::Reduced { exact: true } => json!({ "do": "resize", "filter": "bilinear", "side": SMALL }),
            TaskKind::Reduced { exact: false } => json!({ "do": "reduce", "gap": GAP, "side": SMALL }),
            TaskKind::Planned(_) | TaskKind::Augmented(..) => {
                let plan = self.plan(width, height, draw);
                let by = if self.kind == TaskKind::Planned(ResizedBy::OpenCv) { "opencv" } else { "pillow" };
                let steps: Vec<Value> = plan.steps.iter().map(|step| drawn(*step, (plan.width, plan.height))).collect();
                let magnitudes = match self.kind {
                    TaskKind::Augmented(class, bins) => json!({ "class": class, "bins": bins }),
                    _ => Value::Null,
                };
                json!({
                    "do": "plan", "steps": steps, "mirrored": plan.mirrored, "flipped": plan.flipped, "resize": by,
                    "magnitudes": magnitudes,
                })
            }
            TaskKind::Training => {
                let plan = self.plan(width, height, draw);
                let part = match plan.steps.first() {
                    Some(Step::Cut(part)) => [part.left, part.top, part.left + part.width, part.top + part.height],
                    _ => [0, 0, width, height],
                };
                json!({ "do": "part", "box": part, "mirrored": plan.mirrored, "side": SIDE })
            }
        }
    }
}

/// A step with all that was drawn for it. `AugMix` draws its chains while it works, on a picture of the result's size.
fn drawn(step: Step, size: (u32, u32)) -> Value {
    let Step::Operate(Operation::ChainMix(mixture)) = step else { return json!(step) };
    let (own, chains) = mixture.drawn(size);
    let chains: Vec<Value> =
        chains.iter().map(|(weight, operations)| json!({ "weight": weight, "operations": operations })).collect();
    json!({ "operate": { "aug_mix": { "own": own, "chains": chains } } })
}

impl TaskKind {
    fn recipe(self) -> Result<Option<Recipe>, RecipeError> {
        let one = |transform| Recipe::new(vec![transform], Output::default());
        let size = Size::HeightWidth([SIDE, SIDE]);
        let small = Size::HeightWidth([SMALL, SMALL]);
        Some(match self {
            Self::Whole | Self::Planned(_) | Self::Augmented(..) => return Ok(None),
            Self::Middle => one(Transform::CenterCrop(CenterCrop { size })),
            Self::Training => Recipe::training(SIDE),
            Self::Evaluation => Recipe::evaluation(SIDE),
            Self::Resize(interpolation) => one(Transform::Resize(Resize { size, interpolation })),
            Self::Torch(interpolation) => one(Transform::Resize(Resize { size, interpolation }))
                .and_then(|recipe| recipe.with_match(Match::Torch)),
            Self::Reduced { .. } => {
                one(Transform::Resize(Resize { size: small, interpolation: Interpolation::Bilinear }))
                    .and_then(|recipe| recipe.with_input(Input { reducing_gap: Some(GAP), ..Input::default() }))
            }
        })
        .transpose()
    }
}

/// Pillow's name of a filter, and torch's.
fn name(filter: Interpolation) -> &'static str {
    match filter {
        Interpolation::Nearest => "nearest",
        Interpolation::Bilinear => "bilinear",
        Interpolation::Bicubic => "bicubic",
        Interpolation::Lanczos3 => "lanczos",
    }
}
