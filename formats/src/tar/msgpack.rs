//! Members in `MessagePack`: numbers, texts and lists of them. Nothing in it is carried out, and its extension types are
//! refused by their numbers.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::loose::LooseValue;

/// Deepest nesting of lists and maps.
const MOST_DEPTH: usize = 64;
/// Most values of a member.
const MOST_VALUES: usize = 4_194_304;

/// A value. Bytes and floats that are no numbers have no place in JSON.
#[derive(Clone, Debug, PartialEq)]
enum PackedValue {
    Plain(Value),
    Float(f64),
    Bytes(Vec<u8>),
    List(Vec<PackedValue>),
    Map(Vec<(String, PackedValue)>),
    /// The number of its type. It is refused only where a column wants it.
    Extension(i8),
}

/// The value of a member, or the one behind a key.
///
/// # Errors
/// It is damaged, or no column can have it. The text says why.
pub(super) fn value(content: &[u8], key: Option<&str>) -> Result<LooseValue, String> {
    let mut rest = UnreadBytes { bytes: content, values: 0 };
    let whole = rest.value(0)?;
    if !rest.bytes.is_empty() {
        return Err("it is not one value of MessagePack: bytes are behind it".into());
    }
    match key {
        None => whole.loose("the value"),
        Some(_) if !matches!(whole, PackedValue::Map(_)) && !whole.are_maps() => {
            Err("it is neither a map nor a list of maps".into())
        }
        Some(key) => whole.behind(key).map_or(Ok(LooseValue::Null), |value| value.loose(&format!("\"{key}\""))),
    }
}

impl PackedValue {
    /// The value behind a key, or behind several with dots between them. Those of a list of maps are a list, with a null where
    /// one has none.
    fn behind(&self, key: &str) -> Option<Cow<'_, Self>> {
        let entries = match self {
            Self::Map(entries) => entries,
            Self::List(items) if self.are_maps() => {
                let of_item = |item: &Self| item.behind(key).map_or(Self::Plain(Value::Null), Cow::into_owned);
                return Some(Cow::Owned(Self::List(items.iter().map(of_item).collect())));
            }
            _ => return None,
        };
        let find = |name: &str| entries.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value);
        let own = find(key).map(Cow::Borrowed);
        own.or_else(|| key.match_indices('.').find_map(|(dot, _)| find(&key[..dot])?.behind(&key[dot + 1..])))
    }

    /// Whether it is a list of maps, which may be empty.
    fn are_maps(&self) -> bool {
        matches!(self, Self::List(items) if items.iter().all(|item| matches!(item, Self::Map(_))))
    }

    fn loose(&self, what: &str) -> Result<LooseValue, String> {
        match self {
            Self::Bytes(bytes) => Ok(LooseValue::Text(bytes.clone())),
            Self::Map(entries) if entries.iter().any(|(key, _)| key == "nd") => {
                Err(format!("{what} in it is an array of msgpack-numpy. Store it as npy, or as a list"))
            }
            Self::Float(float) => Ok(LooseValue::float(*float)),
            value => LooseValue::of_value(&value.json(what)?, what.trim_matches('"')),
        }
    }

    fn json(&self, what: &str) -> Result<Value, String> {
        Ok(match self {
            Self::Plain(value) => value.clone(),
            Self::Float(float) => Number::from_f64(*float)
                .map(Value::Number)
                .ok_or_else(|| format!("{what} in it has the number {float}"))?,
            Self::Bytes(_) => return Err(format!("{what} in it has bytes within a list or a map")),
            Self::List(items) => Value::Array(items.iter().map(|item| item.json(what)).collect::<Result<_, _>>()?),
            Self::Map(entries) => {
                // Only the names are shown, in the refusal of a map.
                Value::Object(entries.iter().map(|(key, _)| (key.clone(), Value::Null)).collect())
            }
            Self::Extension(-1) => {
                return Err(format!("{what} in it is a timestamp (the extension type -1), which no column has"));
            }
            Self::Extension(kind) => {
                return Err(format!("{what} in it has the extension type {kind}, which only its writer can read"));
            }
        })
    }
}

/// What is not read yet.
struct UnreadBytes<'a> {
    bytes: &'a [u8],
    values: usize,
}

impl<'a> UnreadBytes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.bytes.split_at_checked(len).ok_or("it is not MessagePack: it ends inside a value")?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        Ok(self.take(N)?.try_into().expect("so many were taken"))
    }

    /// A length of one, two or four bytes.
    fn len(&mut self, bytes: u8) -> Result<usize, String> {
        let len = match bytes {
            1 => u32::from(u8::from_be_bytes(self.array()?)),
            2 => u32::from(u16::from_be_bytes(self.array()?)),
            _ => u32::from_be_bytes(self.array()?),
        };
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }

    fn value(&mut self, depth: usize) -> Result<PackedValue, String> {
        self.values += 1;
        if depth > MOST_DEPTH || self.values > MOST_VALUES {
            return Err(format!(
                "it has more than {MOST_DEPTH} lists in each other, or more than {MOST_VALUES} values"
            ));
        }
        let [kind] = self.array()?;
        let plain = |value: Value| Ok(PackedValue::Plain(value));
        match kind {
            0x00..=0x7f => plain(kind.into()),
            0x80..=0x8f => self.map(usize::from(kind & 0xf), depth),
            0x90..=0x9f => self.list(usize::from(kind & 0xf), depth),
            0xa0..=0xbf => self.text(usize::from(kind & 0x1f)),
            0xc0 => plain(Value::Null),
            0xc2 => plain(false.into()),
            0xc3 => plain(true.into()),
            0xc4..=0xc6 => {
                let len = self.len(1 << (kind - 0xc4))?;
                Ok(PackedValue::Bytes(self.take(len)?.to_vec()))
            }
            0xc7..=0xc9 => {
                let len = self.len(1 << (kind - 0xc7))?;
                self.extension(len)
            }
            0xca => Ok(PackedValue::Float(f32::from_be_bytes(self.array()?).into())),
            0xcb => Ok(PackedValue::Float(f64::from_be_bytes(self.array()?))),
            0xcc => plain(u8::from_be_bytes(self.array()?).into()),
            0xcd => plain(u16::from_be_bytes(self.array()?).into()),
            0xce => plain(u32::from_be_bytes(self.array()?).into()),
            0xcf => plain(u64::from_be_bytes(self.array()?).into()),
            0xd0 => plain(i8::from_be_bytes(self.array()?).into()),
            0xd1 => plain(i16::from_be_bytes(self.array()?).into()),
            0xd2 => plain(i32::from_be_bytes(self.array()?).into()),
            0xd3 => plain(i64::from_be_bytes(self.array()?).into()),
            0xd4..=0xd8 => self.extension(1 << (kind - 0xd4)),
            0xd9..=0xdb => {
                let len = self.len(1 << (kind - 0xd9))?;
                self.text(len)
            }
            0xdc | 0xdd => {
                let len = self.len(2 << (kind - 0xdc))?;
                self.list(len, depth)
            }
            0xde | 0xdf => {
                let len = self.len(2 << (kind - 0xde))?;
                self.map(len, depth)
            }
            0xe0..=0xff => plain(kind.cast_signed().into()),
            0xc1 => Err("it is not MessagePack: a value begins with c1".into()),
        }
    }

    fn text(&mut self, len: usize) -> Result<PackedValue, String> {
        let bytes = self.take(len)?;
        // Old writers have texts and bytes under one kind.
        Ok(match str::from_utf8(bytes) {
            Ok(text) => PackedValue::Plain(text.into()),
            Err(_) => PackedValue::Bytes(bytes.to_vec()),
        })
    }

    fn extension(&mut self, len: usize) -> Result<PackedValue, String> {
        let kind = i8::from_be_bytes(self.array()?);
        self.take(len)?;
        Ok(PackedValue::Extension(kind))
    }

    fn list(&mut self, len: usize, depth: usize) -> Result<PackedValue, String> {
        (0..len).map(|_| self.value(depth + 1)).collect::<Result<_, _>>().map(PackedValue::List)
    }

    fn map(&mut self, len: usize, depth: usize) -> Result<PackedValue, String> {
        let mut entries = Vec::new();
        for _ in 0..len {
            let key = match self.value(depth + 1)? {
                PackedValue::Plain(Value::String(text)) => text,
                PackedValue::Plain(other) => other.to_string(),
                PackedValue::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                _ => return Err("a map in it has a key that is no text".into()),
            };
            entries.push((key, self.value(depth + 1)?));
        }
        Ok(PackedValue::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::loose::LooseNumber;
    use crate::scene::says;

    /// `{"n": -3, "f": 0.5, "t": "x", "b": bin, "l": [1, 2.5], "ll": [[1], []], "o": {"p": 300}, "when": timestamp, "e": ext 7}`
    fn member() -> Vec<u8> {
        let parts: [&[u8]; 18] = [
            b"\x89\xa1n",
            b"\xfd",
            b"\xa1f",
            b"\xcb\x3f\xe0\0\0\0\0\0\0",
            b"\xa1t",
            b"\xd9\x01x",
            b"\xa1b",
            b"\xc4\x02\xff\xfe",
            b"\xa1l",
            b"\x92\x01\xca\x40\x20\0\0",
            b"\xa2ll",
            b"\xdc\0\x02\x91\x01\x90",
            b"\xa1o",
            b"\x81\xa1p\xcd\x01\x2c",
            b"\xa4when",
            b"\xd6\xff\0\0\0\0",
            b"\xa1e",
            b"\xc7\x02\x07ab",
        ];
        parts.concat()
    }

    #[test]
    fn values_of_each_kind_are_read_and_extensions_are_refused_by_their_numbers() {
        let of = |key: &str| value(&member(), Some(key));
        let number = |number| Ok(LooseValue::Number(number));
        assert_eq!([of("n"), of("f")], [number(LooseNumber::Integer(-3)), number(LooseNumber::Float(0.5))]);
        assert_eq!(
            [of("t"), of("b")],
            [Ok(LooseValue::Text(b"x".to_vec())), Ok(LooseValue::Text(b"\xff\xfe".to_vec()))]
        );
        assert_eq!(of("l"), Ok(LooseValue::List(vec![LooseNumber::Integer(1), LooseNumber::Float(2.5)])));
        assert_eq!(of("ll"), Ok(LooseValue::Nested(b"[[1],[]]".to_vec())));
        assert_eq!(
            [of("o.p"), of("o.q"), of("z")],
            [number(LooseNumber::Integer(300)), Ok(LooseValue::Null), Ok(LooseValue::Null)]
        );
        says(&of("o").unwrap_err(), &["object", "o.p"]);
        says(&of("when").unwrap_err(), &["timestamp", "-1"]);
        says(&of("e").unwrap_err(), &["extension type 7"]);
        says(&value(b"\x81\xc4\x02nd\xc3", None).unwrap_err(), &["msgpack-numpy", "npy"]);
        assert_eq!(value(b"\x93\x01\x02\x03", None).map(|_| ()), Ok(()));
        for damaged in [&b""[..], b"\xc1", b"\xda\x01", b"\x92\x01", b"\x01\x02", b"\xdd\xff\xff\xff\xff", &[0x91; 100]]
        {
            assert!(value(damaged, None).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn a_key_of_a_list_of_maps_leads_to_the_list_of_their_values() {
        // {"objects": [{"box": [1, 2]}, {"box": [3, 0.5]}], "some": [{"id": 5}, {}]}
        let member = b"\x82\xa7objects\x92\x81\xa3box\x92\x01\x02\x81\xa3box\x92\x03\xca\x3f\0\0\0\xa4some\x92\x81\xa2id\x05\x80";
        assert_eq!(value(member, Some("objects.box")), Ok(LooseValue::Nested(b"[[1,2],[3,0.5]]".to_vec())));
        says(&value(member, Some("some.id")).unwrap_err(), &["some.id", "null"]);
        let ids = [7, 8].map(LooseNumber::Integer).to_vec();
        assert_eq!(value(b"\x92\x81\xa2id\x07\x81\xa2id\x08", Some("id")), Ok(LooseValue::List(ids)));
        says(&value(b"\x91\x01", Some("id")).unwrap_err(), &["list of maps"]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _value = value(&bytes, Some("a.b"));
            let _whole = value(&bytes, None);
        }
    }
}
