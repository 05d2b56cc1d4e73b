//! Finds the features of a `tf.train.Example` without copying them: its pictures may be large, and most features are of no
//! use. The wire format is that of protocol buffers.

pub(crate) mod gather;

use std::ops::Range;

use forebay_sources::ReadError;

use crate::window::Window;

/// Why an Example was not read.
#[derive(Debug)]
pub(crate) enum ExampleFault {
    /// The storage fails.
    Storage(ReadError),
    /// The bytes are no Example. The text says why.
    Form(String),
}

/// A feature: one list of values, which may be in several pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Feature {
    pub kind: FeatureKind,
    lists: Vec<Range<u64>>,
}

/// What the values of a feature are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureKind {
    Bytes,
    Floats,
    Integers,
}

/// Most values that are taken from one feature of one record, and most bytes.
const MOST_VALUES: usize = 1 << 22;
const MOST_BYTES: u64 = 64 << 20;
/// Longest name of a feature that is looked at.
const MOST_NAME: u64 = 4096;

/// The features with these names, where the range has them. Of two with the same name the last one counts.
pub(crate) fn find(
    window: &mut Window<'_>,
    example: Range<u64>,
    names: &[String],
) -> Result<Vec<Option<Feature>>, ExampleFault> {
    let mut found = vec![None; names.len()];
    each_feature(window, example, |name, feature| {
        for (place, _) in names.iter().enumerate().filter(|(_, known)| known.as_bytes() == name) {
            found[place].clone_from(&feature);
        }
    })?;
    Ok(found)
}

/// The names of the first features, for messages.
pub(crate) fn names(window: &mut Window<'_>, example: Range<u64>) -> Vec<String> {
    let mut names = Vec::new();
    let walked = each_feature(window, example, |name, _| {
        let name = String::from_utf8_lossy(name).into_owned();
        if names.len() < 20 && !names.contains(&name) {
            names.push(name);
        }
    });
    // What was found before a fault is still of use in a message.
    drop(walked);
    names
}

/// Walks through `Example { Features features = 1 { map<string, Feature> feature = 1 } }`.
fn each_feature(
    window: &mut Window<'_>,
    example: Range<u64>,
    mut visit: impl FnMut(&[u8], Option<Feature>),
) -> Result<(), ExampleFault> {
    let mut fields = WireCursor::new(window, example);
    let mut maps = Vec::new();
    while let Some((number, value)) = fields.field()? {
        if number == 1 {
            maps.push(value.range("the features")?);
        }
    }
    for map in maps {
        let mut entries = WireCursor::new(window, map);
        while let Some((number, value)) = entries.field()? {
            if number == 1 {
                let (name, feature) = entry(entries.window, value.range("a feature")?)?;
                if let Some(name) = name {
                    visit(&name, feature);
                }
            }
        }
    }
    Ok(())
}

/// An entry of the map: the name, unless it is longer than any that is looked for, and the feature.
fn entry(window: &mut Window<'_>, range: Range<u64>) -> Result<(Option<Vec<u8>>, Option<Feature>), ExampleFault> {
    let mut fields = WireCursor::new(window, range);
    let (mut name, mut feature) = (0..0, Vec::new());
    while let Some((number, value)) = fields.field()? {
        match number {
            1 => name = value.range("the name of a feature")?,
            2 => feature.push(value.range("a feature")?),
            _ => {}
        }
    }
    let mut found: Option<Feature> = None;
    for part in feature {
        let mut lists = WireCursor::new(window, part);
        while let Some((number, value)) = lists.field()? {
            let kind = match number {
                1 => FeatureKind::Bytes,
                2 => FeatureKind::Floats,
                3 => FeatureKind::Integers,
                _ => continue,
            };
            let list = value.range("a list of values")?;
            match &mut found {
                // A message that comes in pieces is one message; another kind replaces it.
                Some(feature) if feature.kind == kind => feature.lists.push(list),
                _ => found = Some(Feature { kind, lists: vec![list] }),
            }
        }
    }
    if name.end - name.start > MOST_NAME {
        return Ok((None, found));
    }
    Ok((Some(WireCursor::new(window, name).rest()?.to_vec()), found))
}

impl Feature {
    /// Where each of its texts is, if it is a list of bytes.
    pub(crate) fn texts(&self, window: &mut Window<'_>) -> Result<Vec<Range<u64>>, ExampleFault> {
        let mut texts = Vec::new();
        for list in &self.lists {
            let mut values = WireCursor::new(window, list.clone());
            while let Some((number, value)) = values.field()? {
                if number == 1 {
                    texts.push(value.range("a value")?);
                    limit(texts.len())?;
                }
            }
        }
        Ok(texts)
    }

    /// Its values, if it is a list of floats.
    pub(crate) fn floats(&self, window: &mut Window<'_>) -> Result<Vec<f32>, ExampleFault> {
        let mut floats = Vec::new();
        for list in &self.lists {
            let mut values = WireCursor::new(window, list.clone());
            while let Some((number, value)) = values.field()? {
                match value {
                    _ if number != 1 => continue,
                    WireValue::Fixed32(bits) => floats.push(f32::from_bits(bits)),
                    WireValue::Bytes(packed) => {
                        let (bytes, rest) = copied(values.window, packed)?.as_chunks::<4>();
                        if !rest.is_empty() {
                            return Err(form("a list of floats has a part of a float"));
                        }
                        limit(floats.len() + bytes.len())?;
                        floats.extend(bytes.iter().map(|bytes| f32::from_le_bytes(*bytes)));
                    }
                    WireValue::Varint(_) | WireValue::Fixed64 => {
                        return Err(form("a list of floats has something else"));
                    }
                }
                limit(floats.len())?;
            }
        }
        Ok(floats)
    }

    /// Its values, if it is a list of integers.
    pub(crate) fn integers(&self, window: &mut Window<'_>) -> Result<Vec<i64>, ExampleFault> {
        let mut integers = Vec::new();
        for list in &self.lists {
            let mut values = WireCursor::new(window, list.clone());
            while let Some((number, value)) = values.field()? {
                match value {
                    _ if number != 1 => continue,
                    WireValue::Varint(value) => integers.push(value.cast_signed()),
                    WireValue::Bytes(packed) => {
                        let mut packed = WireCursor::new(values.window, packed);
                        while packed.at < packed.end {
                            integers.push(packed.varint()?.cast_signed());
                            limit(integers.len())?;
                        }
                    }
                    WireValue::Fixed32(_) | WireValue::Fixed64 => {
                        return Err(form("a list of integers has something else"));
                    }
                }
                limit(integers.len())?;
            }
        }
        Ok(integers)
    }
}

/// The bytes of a range that is copied: it has a limit, as a picture has none.
pub(crate) fn copied<'w>(window: &'w mut Window<'_>, range: Range<u64>) -> Result<&'w [u8], ExampleFault> {
    if range.end - range.start > MOST_BYTES {
        return Err(form("a value of a column has more than 64 MiB"));
    }
    WireCursor::new(window, range).rest()
}

fn limit(values: usize) -> Result<(), ExampleFault> {
    if values > MOST_VALUES { Err(form("a feature has more than 4194304 values")) } else { Ok(()) }
}

fn form(problem: &str) -> ExampleFault {
    ExampleFault::Form(format!("it is not a tf.train.Example: {problem}"))
}

/// A place in a message.
struct WireCursor<'c, 'w> {
    window: &'c mut Window<'w>,
    at: u64,
    end: u64,
}

/// What a field has.
enum WireValue {
    Varint(u64),
    Fixed32(u32),
    Fixed64,
    Bytes(Range<u64>),
}

impl WireValue {
    fn range(self, what: &str) -> Result<Range<u64>, ExampleFault> {
        match self {
            Self::Bytes(range) => Ok(range),
            _ => Err(form(&format!("{what} has a wrong type"))),
        }
    }
}

impl<'c, 'w> WireCursor<'c, 'w> {
    fn new(window: &'c mut Window<'w>, range: Range<u64>) -> Self {
        Self { window, at: range.start, end: range.end }
    }

    /// All bytes up to the end. The caller has checked how many.
    fn rest(self) -> Result<&'c [u8], ExampleFault> {
        let len = usize::try_from(self.end - self.at).map_err(|_| ends())?;
        self.window.get(self.at, len).map_err(ExampleFault::Storage)?.ok_or_else(ends)
    }

    fn varint(&mut self) -> Result<u64, ExampleFault> {
        let len = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(10);
        let bytes = self.window.get(self.at, len).map_err(ExampleFault::Storage)?.ok_or_else(ends)?;
        let mut value = 0_u64;
        for (place, &byte) in (0_u32..).zip(bytes) {
            // The tenth byte has one bit; protocol buffers drop what else it has.
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                self.at += u64::from(place) + 1;
                return Ok(value);
            }
        }
        Err(if len == 10 { form("a number has more than ten bytes") } else { ends() })
    }

    /// The next field, and its number.
    fn field(&mut self) -> Result<Option<(u64, WireValue)>, ExampleFault> {
        if self.at == self.end {
            return Ok(None);
        }
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => WireValue::Varint(self.varint()?),
            1 => {
                self.skip(8)?;
                WireValue::Fixed64
            }
            2 => {
                let len = self.varint()?;
                WireValue::Bytes(self.skip(len)?)
            }
            5 => {
                let range = self.skip(4)?;
                let bytes = self.window.array(range.start).map_err(ExampleFault::Storage)?.ok_or_else(ends)?;
                WireValue::Fixed32(u32::from_le_bytes(bytes))
            }
            _ => return Err(form("a field has a wrong type")),
        };
        if tag >> 3 == 0 { Err(form("a field has the number 0")) } else { Ok(Some((tag >> 3, value))) }
    }

    fn skip(&mut self, len: u64) -> Result<Range<u64>, ExampleFault> {
        let start = self.at;
        self.at = start.checked_add(len).filter(|&end| end <= self.end).ok_or_else(ends)?;
        Ok(start..self.at)
    }
}

fn ends() -> ExampleFault {
    form("it ends inside a field")
}

#[cfg(test)]
pub(crate) mod tests;
