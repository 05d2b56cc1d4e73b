//! `patches`: pictures at their own aspect, cut into patches, of which each step has room for so many a picture.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key, PatchSettings};
use forebay_pixels::{Fit, Interpolation, MAX_PATCH_SIDE, PatchPadding, PatchRule, Patches, RandomPart};
use serde_json::Value;

use super::super::table::Table;
use super::super::value::{choice, whole};

/// The key.
pub(super) const KEYS: &[Key] = keys! {
    /// Pictures at their own aspect, cut into patches, as native-resolution transformers train on them. "naflex", "siglip2" and
    /// "gemma4" are the sizes of timm's NaFlex loader and of the processors of SigLIP 2 and Gemma 4. A table has the rule and its
    /// settings: patch, seq_lens, tokens, divisor, interpolation, padding, scale and ratio. transform may have what is done behind the resize.
    /// docs/sizes.md explains all of it. Left out: pictures are not cut into patches.
    patches: "str | Mapping[str, Any]",
        example: "{ rule = \"naflex\", seq_lens = [128, 256, 576], tokens = 147456 }", home: Home::Loader;
};

/// Most patches of a picture: an OFFER has them in 16 bits.
const LONGEST: u32 = u16::MAX as u32;
/// Most lengths of a stream.
const MOST_LENGTHS: usize = 256;

/// What the key says.
#[derive(Clone, Debug)]
pub(super) struct PatchKey {
    patches: Patches,
    lengths: Vec<u32>,
    tokens: Option<u64>,
    divisor: Option<u64>,
}

impl PatchKey {
    /// Reads the key. Each mistake is reported. Nothing if there is no such key, or no rule in it.
    pub(super) fn read(table: &mut Table<'_, '_>) -> Option<Self> {
        if table.values().get("patches").is_some_and(Value::is_object) {
            return table.section("patches", Self::of_table);
        }
        let rule = table.take("patches", |value| {
            let wrong = |known| format!("{known}, or a table such as {{ rule = \"naflex\", seq_lens = [256, 576] }}");
            choice(&PatchRule::NAMES)(value).map_err(wrong)
        })?;
        Some(Self::of_rule(rule))
    }

    /// The rule with the settings of its package.
    fn of_rule(rule: PatchRule) -> Self {
        let (interpolation, padding, length) = (rule.interpolation(), PatchPadding::default(), rule.default_length());
        let patches = Patches { rule, side: 16, length, interpolation, padding, part: None };
        Self { patches, lengths: vec![length], tokens: None, divisor: None }
    }

    fn of_table(table: &mut Table<'_, '_>) -> Option<Self> {
        let rule = table.take("rule", choice(&PatchRule::NAMES));
        if rule.is_none() && !table.has("rule") {
            table.mistake("rule", "is missing; give \"naflex\", \"siglip2\" or \"gemma4\".");
        }
        // With a mistake in it, the other settings are still read.
        let of = Self::of_rule(rule.unwrap_or(PatchRule::Naflex));
        let side = table.take_or("patch", of.patches.side, whole(1..=MAX_PATCH_SIDE));
        let lengths = table.take_or("seq_lens", of.lengths, lengths);
        let tokens = table.take("tokens", whole(1..=1_u64 << 40));
        let divisor = table.take("divisor", whole(1..=1_u64 << 20));
        let interpolation = table.take_or(
            "interpolation",
            of.patches.interpolation,
            choice(&[
                ("nearest", Interpolation::Nearest),
                ("bilinear", Interpolation::Bilinear),
                ("bicubic", Interpolation::Bicubic),
                ("lanczos3", Interpolation::Lanczos3),
            ]),
        );
        let padding = table.take_or(
            "padding",
            PatchPadding::default(),
            choice(&[("zero", PatchPadding::Zero), ("timm", PatchPadding::Timm)]),
        );
        let part = random_part(table);
        let rule = rule?;
        if let Some(problem) = lengths.iter().find_map(|length| rule.length_problem(*length)) {
            table.mistake("seq_lens", format!("{problem}."));
        }
        let length = lengths.iter().copied().max().unwrap_or(1);
        let patches = Patches { rule, side, length, interpolation, padding, part };
        Some(Self { patches, lengths, tokens, divisor })
    }

    /// Whether steps have a number of tokens, so that the number of their pictures follows.
    pub(super) fn decide_batches(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whether the number of pictures of a step is known to be a multiple of a number that the user gave.
    pub(super) fn has_divisor(&self) -> bool {
        self.divisor.is_some()
    }

    /// Places of the largest step, on all `ranks` together.
    ///
    /// # Errors
    /// What is wrong with the steps.
    pub(super) fn most_places(&self, pictures: u32, ranks: u32) -> Result<u32, String> {
        let places = self.lengths.iter().map(|length| self.places(*length, pictures, ranks));
        let most = places.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(1);
        let fits = u32::try_from(most).ok().filter(|most| *most <= 1 << 20);
        fits.ok_or_else(|| format!("A step would have {most} pictures; at most 1048576 are allowed."))
    }

    /// Places of a step of a length.
    fn places(&self, length: u32, pictures: u32, ranks: u32) -> Result<u64, String> {
        if let Some(tokens) = self.tokens {
            let divisor = self.divisor.unwrap_or_else(|| ranks.max(1).into());
            return PatchSettings::places(tokens, length, divisor).map_err(|problem| problem.to_string());
        }
        let (pictures, divisor) = (u64::from(pictures), self.divisor.unwrap_or(1));
        let is_multiple = pictures.is_multiple_of(divisor);
        is_multiple
            .then_some(pictures)
            .ok_or_else(|| format!("Steps of {pictures} pictures are no multiple of {divisor}."))
    }

    /// The settings of the stream, whose steps have so many pictures if there are no tokens.
    pub(super) fn settings(&self, pictures: u32, ranks: u32) -> PatchSettings {
        let places = |length| self.places(length, pictures, ranks).ok().and_then(|places| u32::try_from(places).ok());
        let Patches { rule, side, .. } = self.patches;
        PatchSettings {
            name: format!("{} patches of {side}", rule.name()),
            // What is wrong with them has been reported.
            lengths: self.lengths.iter().map(|length| (*length, places(*length).unwrap_or(1))).collect(),
        }
    }

    /// What is done to the pictures of the longest step, before all else.
    pub(super) fn fit(&self) -> Fit {
        Fit::Patches(self.patches)
    }

    /// What is done if the key has a mistake.
    pub(super) fn any_fit() -> Fit {
        Self::of_rule(PatchRule::Naflex).fit()
    }
}

/// What is cut out before the resize: all of the picture, if neither scale nor ratio is given.
fn random_part(table: &mut Table<'_, '_>) -> Option<RandomPart> {
    let usual = RandomPart::default();
    let given = ["scale", "ratio"].iter().any(|key| table.has(key));
    let part = RandomPart {
        scale: table.take_or("scale", usual.scale, two_numbers),
        ratio: table.take_or("ratio", usual.ratio, two_numbers),
    };
    if let Some((key, problem)) = part.problem() {
        table.mistake(key, format!("{problem}."));
    }
    given.then_some(part)
}

/// The ends of a range.
fn two_numbers(value: &Value) -> Result<[f64; 2], String> {
    let numbers = value.as_array().map(|list| list.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>());
    let numbers = numbers.flatten().and_then(|list| list.try_into().ok());
    numbers.ok_or_else(|| "two numbers, the smaller one first, such as [0.08, 1.0]".to_owned())
}

/// One length, or several, each once.
fn lengths(value: &Value) -> Result<Vec<u32>, String> {
    let wrong = || {
        format!(
            "a number of patches from 1 to {LONGEST}, or a list of at most {MOST_LENGTHS} of them, each once, such as [128, 256, 576]"
        )
    };
    let given = match value {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let lengths =
        given.iter().map(|length| whole(1..=LONGEST)(length)).collect::<Result<Vec<u32>, _>>().map_err(|_| wrong())?;
    let mut once = lengths.clone();
    once.sort_unstable();
    once.dedup();
    let fits = !lengths.is_empty() && lengths.len() <= MOST_LENGTHS && once.len() == lengths.len();
    if fits { Ok(lengths) } else { Err(wrong()) }
}
