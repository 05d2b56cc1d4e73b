//! `buckets`: pictures of different sizes, each batch with pictures of one size.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{BucketSettings, Home, Key, Keyword, word};
use forebay_pixels::{Cover, CoverCut, Fit, Interpolation};
use forebay_plan::{Bucket, BucketChoice, BucketRule, Leftovers, StepPlaces};
use serde_json::Value;

use super::super::table::Table;
use super::super::value::{choice, flag, shown, whole};

/// The key.
pub(super) const KEYS: &[Key] = keys! {
    /// Batches whose pictures all have the size of one bucket; buckets differ from batch to batch. "kohya" and "diffusers" are the
    /// rules of those packages, and a list such as ["1024x1024", "832x1216"] (height x width) gives each picture the bucket of the
    /// nearest aspect. With "ragged", each picture keeps a size of its own. A table has the rule and its settings: resolution, min, max,
    /// step, no_upscale, max_crop, crop, interpolation, pixels, divisor, leftovers and accumulate. The dataset needs sizes
    /// (`forebay index SOURCE --sizes`), and transform may have what is done behind the cut. docs/sizes.md explains all of it. Left
    /// out: all pictures have one size.
    buckets: "str | Sequence[str] | Mapping[str, Any]",
        example: "{ rule = \"kohya\", resolution = 1024, crop = \"random\", leftovers = \"repeat\" }", home: Home::Loader;
};

/// The longest side of a bucket.
const LONGEST: u32 = 16_384;

/// A place in the picture, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut(CoverCut);

impl Keyword for Cut {
    const KEYWORDS: &'static [(&'static str, Self)] =
        &[("center", Self(CoverCut::Center)), ("random", Self(CoverCut::Random))];
}

/// What the key says.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    rule: BucketRule,
    max_crop: f64,
    name: String,
    cut: CoverCut,
    interpolation: Interpolation,
    pixels: Option<u64>,
    divisor: Option<u64>,
    leftovers: Leftovers,
    accumulate: u32,
}

impl Buckets {
    /// Reads the key. Each mistake is reported. Nothing if there is no such key, or no rule in it.
    pub(super) fn read(table: &mut Table<'_, '_>) -> Option<Self> {
        if table.values().get("buckets").is_some_and(Value::is_object) {
            return table.section("buckets", Self::of_table);
        }
        let (rule, name) = table.take("buckets", |value| rule(value, BucketChoice::of(""), false))?;
        let (cut, interpolation) = (CoverCut::default(), Interpolation::default());
        Some(Self {
            rule,
            max_crop: 1.0,
            name,
            cut,
            interpolation,
            pixels: None,
            divisor: None,
            leftovers: Leftovers::default(),
            accumulate: 1,
        })
    }

    fn of_table(table: &mut Table<'_, '_>) -> Option<Self> {
        let given = table.values().get("rule").and_then(Value::as_str).unwrap_or_default();
        let (is_kohya, is_named) = (given == "kohya", given == "kohya" || given == "diffusers");
        for (key, fits) in [
            ("resolution", is_named),
            ("step", is_named),
            ("min", is_kohya),
            ("max", is_kohya),
            ("no_upscale", is_kohya),
        ] {
            if !fits && table.has("rule") && table.values().contains_key(key) {
                let rules =
                    if key == "resolution" || key == "step" { "\"kohya\" or \"diffusers\"" } else { "\"kohya\"" };
                table.mistake(key, format!("has an effect only with rule = {rules}; leave it out."));
            }
        }
        let of = BucketChoice::of("");
        let resolution = table.take("resolution", whole(16..=LONGEST));
        let [min, max] = ["min", "max"].map(|key| table.take(key, whole(1..=LONGEST)));
        let step = table.take("step", whole(1..=1024));
        let no_upscale = table.take_or("no_upscale", false, flag);
        let sides = (min.unwrap_or(of.sides.0), max.unwrap_or(of.sides.1));
        let settings = BucketChoice { resolution: resolution.unwrap_or(of.resolution), sides, step, no_upscale, ..of };
        let found = table.take("rule", |value| rule(value, settings, true));
        let max_crop = table.take_or("max_crop", 1.0, share);
        let cut = table.take_or("crop", Cut(CoverCut::default()), word).0;
        let interpolation = table.take_or(
            "interpolation",
            Interpolation::default(),
            choice(&[
                ("nearest", Interpolation::Nearest),
                ("bilinear", Interpolation::Bilinear),
                ("bicubic", Interpolation::Bicubic),
                ("lanczos3", Interpolation::Lanczos3),
            ]),
        );
        let pixels = table.take("pixels", whole(1..=1_u64 << 48));
        let divisor = table.take("divisor", whole(1..=1_u64 << 20));
        let leftovers = table.take_or(
            "leftovers",
            Leftovers::default(),
            choice(&[("neighbour", Leftovers::Neighbour), ("repeat", Leftovers::Repeat), ("drop", Leftovers::Drop)]),
        );
        let accumulate = table.take_or("accumulate", 1, whole(1..=1 << 16));
        if accumulate > 1 && leftovers == Leftovers::Repeat {
            let problem = "cannot be combined with leftovers = \"repeat\", with which whole steps would have copies alone; give other \
                           leftovers.";
            table.mistake("accumulate", problem);
        }
        if found.is_none() && !table.has("rule") {
            table.mistake("rule", "is missing; give \"kohya\", \"diffusers\", \"ragged\" or a list of sizes.");
        }
        let (rule, mut name) = found?;
        if max_crop < 1.0 {
            name = format!("{name} max_crop {max_crop}");
        }
        if pixels.is_some() && rule.all().is_none() {
            let problem =
                "cannot be combined with no_upscale, with which the buckets depend on the pictures; give batch_size.";
            table.mistake("pixels", problem);
        }
        Some(Self { rule, max_crop, name, cut, interpolation, pixels, divisor, leftovers, accumulate })
    }

    /// Whether steps have a number of pixels, so that the number of their pictures follows.
    pub(super) fn decide_batches(&self) -> bool {
        self.pixels.is_some()
    }

    /// Whether the number of pictures of a step is known to be a multiple of a number that the user gave.
    pub(super) fn has_divisor(&self) -> bool {
        self.divisor.is_some()
    }

    /// Places of the largest step, on all `ranks` together. Without pixels, these are the `pictures` that were asked for.
    ///
    /// # Errors
    /// What is wrong with the steps.
    pub(super) fn most_places(&self, pictures: u32, ranks: u32) -> Result<u32, String> {
        if self.pixels.is_some() && self.rule.all().is_none() {
            // That is a mistake of its own.
            return Ok(1);
        }
        let most = BucketSettings::most_places(&self.rule, &self.steps(pictures, ranks));
        most.map_err(|problem| problem.to_string()).and_then(|most| {
            let fits = u32::try_from(most).ok().filter(|most| *most <= 1 << 20);
            fits.ok_or_else(|| format!("A step would have {most} pictures; at most 1048576 are allowed."))
        })
    }

    fn steps(&self, pictures: u32, ranks: u32) -> StepPlaces {
        let ranks = if self.pixels.is_some() { u64::from(ranks.max(1)) } else { 1 };
        StepPlaces { pictures: pictures.into(), pixels: self.pixels, divisor: self.divisor.unwrap_or(ranks) }
    }

    /// The settings of the stream, whose steps have so many pictures if there are no pixels.
    pub(super) fn settings(&self, pictures: u32, ranks: u32) -> BucketSettings {
        let Self { rule, max_crop, name, leftovers, accumulate, .. } = self.clone();
        BucketSettings { rule, max_crop, name, steps: self.steps(pictures, ranks), leftovers, accumulate }
    }

    /// What is done to the pictures of the largest bucket, before all else.
    pub(super) fn fit(&self) -> Fit {
        let largest = match &self.rule {
            BucketRule::Kohya(kohya) => kohya.buckets(),
            BucketRule::List(buckets) | BucketRule::Diffusers(buckets) => buckets,
        };
        // Of those with as many pixels, the squarest.
        let largest = largest.iter().max_by_key(|bucket| (bucket.pixels(), bucket.height.min(bucket.width))).copied();
        let Bucket { height, width } = largest.unwrap_or(Bucket { height: 1, width: 1 });
        Fit::Cover(Cover { height, width, interpolation: self.interpolation, cut: self.cut })
    }

    /// What is done if the key has a mistake.
    pub(super) fn any_fit() -> Fit {
        let (interpolation, cut) = (Interpolation::default(), CoverCut::default());
        Fit::Cover(Cover { height: 1, width: 1, interpolation, cut })
    }
}

/// A share of a picture.
fn share(value: &Value) -> Result<f64, String> {
    let share = value.as_f64().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share from 0 to 1, such as 0.2".to_owned())
}

/// A rule, and what it is called for people.
fn rule(value: &Value, of: BucketChoice<'_>, is_in_table: bool) -> Result<(BucketRule, String), String> {
    let wrong = || {
        let table = if is_in_table { "" } else { ", or a table such as { rule = \"kohya\", resolution = 768 }" };
        format!("\"kohya\", \"diffusers\", \"ragged\", or a list of sizes such as [\"1024x1024\", \"832x1216\"]{table}")
    };
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(sizes) if !sizes.is_empty() => {
            let texts: Option<Vec<&str>> = sizes.iter().map(Value::as_str).collect();
            texts.ok_or_else(wrong)?.join(",")
        }
        _ => return Err(wrong()),
    };
    let BucketChoice { resolution, sides: (min, max), step, no_upscale, .. } = of;
    let rule = BucketChoice { rule: &text, ..of }.rule().map_err(|_| wrong())?;
    let (buckets, is_of_kohya) = match &rule {
        BucketRule::Kohya(kohya) => (kohya.buckets(), true),
        BucketRule::List(buckets) | BucketRule::Diffusers(buckets) => (&buckets[..], false),
    };
    if buckets.is_empty() || buckets.iter().any(|bucket| bucket.height.max(bucket.width) > LONGEST) {
        return Err(format!(
            "a rule with buckets whose sides are at most {LONGEST}; {} has others or none",
            shown(value)
        ));
    }
    let name = if matches!(rule, BucketRule::List(_)) {
        text
    } else {
        let step = step.map_or_else(String::new, |step| format!(" step {step}"));
        let sides = if is_of_kohya { format!(" min {min} max {max}") } else { String::new() };
        format!("{text} {resolution}{step}{sides}{}", if no_upscale { " no_upscale" } else { "" })
    };
    Ok((rule, name))
}
