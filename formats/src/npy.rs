//! Arrays as `numpy.save` writes them (`.npy`, versions 1 to 3). The header is read by a parser of its own: it is a dict of
//! Python with three keys, and nothing in it is run. Arrays of objects are pickles, and are refused.

use forebay_columns::ElementType;

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NpyArray {
    pub element: ElementType,
    /// Its dimensions. None, for a single value.
    pub shape: Vec<u32>,
    /// Its values, little-endian, the last dimension first.
    pub bytes: Vec<u8>,
}

const MAGIC: &[u8] = b"\x93NUMPY";
/// Most bytes of a header. `NumPy` itself refuses longer ones.
const MOST_HEADER: usize = 10_000;
/// Most dimensions. `NumPy` has no more than 64.
const MOST_DIMS: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
struct NpyHeader {
    element: ElementType,
    is_big_endian: bool,
    is_fortran: bool,
    shape: Vec<u32>,
}

impl NpyArray {
    /// The array of a file.
    ///
    /// # Errors
    /// The text says what is wrong with it.
    pub(crate) fn parse(file: &[u8]) -> Result<Self, String> {
        let (header, data) = split(file)?;
        let NpyHeader { element, is_big_endian, is_fortran, shape } = NpyHeader::parse(header)?;
        let size = element.size();
        let values = shape.iter().try_fold(1_usize, |values, &dim| values.checked_mul(dim as usize));
        if values.and_then(|values| values.checked_mul(size)) != Some(data.len()) {
            return Err(format!("its header says {element} {shape:?}, and {} bytes follow", data.len()));
        }
        let mut bytes = if is_fortran && shape.len() > 1 { last_first(data, size, &shape) } else { data.to_vec() };
        if is_big_endian {
            bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        if element == ElementType::Bool {
            for byte in &mut bytes {
                *byte = u8::from(*byte != 0);
            }
        }
        Ok(Self { element, shape, bytes })
    }
}

/// The header, and the values behind it.
fn split(file: &[u8]) -> Result<(&str, &[u8]), String> {
    let cut = || "it ends within its header".to_owned();
    let rest = file.strip_prefix(MAGIC).ok_or("it is not an array of NumPy: it does not begin as one")?;
    let (&[major, _], rest) = rest.split_first_chunk().ok_or_else(cut)?;
    let (len, rest) = match major {
        1 => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_le_bytes(*len)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len) as usize, rest)),
        _ => return Err(format!("its version {major} is not known. Versions 1 to 3 are read")),
    }
    .ok_or_else(cut)?;
    if len > MOST_HEADER {
        return Err(format!("its header has {len} bytes, and the limit is {MOST_HEADER}"));
    }
    let (header, data) = rest.split_at_checked(len).ok_or_else(cut)?;
    let header = str::from_utf8(header).map_err(|_| "its header is not text")?;
    Ok((header, data))
}

/// The values of an array that has its first dimension first, in the order of one that has its last dimension first.
fn last_first(data: &[u8], size: usize, shape: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len());
    // The place of the value in `data`, by the numbers of all dimensions.
    let mut numbers = vec![0_usize; shape.len()];
    for _ in 0..data.len() / size {
        let place = numbers.iter().zip(shape).rev().fold(0, |place, (&number, &dim)| place * dim as usize + number);
        bytes.extend_from_slice(&data[place * size..(place + 1) * size]);
        for (number, &dim) in numbers.iter_mut().zip(shape).rev() {
            *number += 1;
            if *number < dim as usize {
                break;
            }
            *number = 0;
        }
    }
    bytes
}

impl NpyHeader {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut literal = Literal { rest: text };
        let (mut of, mut is_fortran, mut shape) = (None, None, None);
        literal.expect('{')?;
        while !literal.takes('}') {
            let key = literal.text()?;
            literal.expect(':')?;
            let is_new = match key {
                "descr" => of.replace(literal.type_of_values()?).is_none(),
                "fortran_order" => is_fortran.replace(literal.truth()?).is_none(),
                "shape" => shape.replace(literal.tuple()?).is_none(),
                _ => false,
            };
            if !is_new {
                return Err(format!("its header has the key {key:?}, which is not known or there twice"));
            }
            if !literal.takes(',') {
                literal.expect('}')?;
                break;
            }
        }
        if !literal.rest.trim().is_empty() {
            return Err("something follows in its header".into());
        }
        match (of, is_fortran, shape) {
            (Some((element, is_big_endian)), Some(is_fortran), Some(shape)) => {
                Ok(Self { element, is_big_endian, is_fortran, shape })
            }
            _ => Err("its header lacks the type, the order or the shape".into()),
        }
    }
}

/// The rest of a header.
struct Literal<'a> {
    rest: &'a str,
}

impl<'a> Literal<'a> {
    /// Passes over this character, if it is the next one.
    fn takes(&mut self, character: char) -> bool {
        let rest = self.rest.trim_start();
        self.rest = rest.strip_prefix(character).unwrap_or(rest);
        self.rest.len() < rest.len()
    }

    fn expect(&mut self, character: char) -> Result<(), String> {
        if self.takes(character) { Ok(()) } else { Err(format!("its header lacks a {character:?} where one must be")) }
    }

    /// A text in quotes. None of those that may be in a header has a quote in it.
    fn text(&mut self) -> Result<&'a str, String> {
        let quote = if self.takes('\'') { '\'' } else { '"' };
        if quote == '"' {
            self.expect('"')?;
        }
        let (text, rest) = self.rest.split_once(quote).ok_or("its header has a text without an end")?;
        self.rest = rest;
        Ok(text)
    }

    fn truth(&mut self) -> Result<bool, String> {
        let rest = self.rest.trim_start();
        for (word, truth) in [("False", false), ("True", true)] {
            if let Some(rest) = rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(truth);
            }
        }
        Err("its header does not say in which order the values are".into())
    }

    /// Numbers in parentheses. Old versions of Python wrote an `L` behind them.
    fn tuple(&mut self) -> Result<Vec<u32>, String> {
        self.expect('(')?;
        let mut numbers = Vec::new();
        while !self.takes(')') {
            let rest = self.rest.trim_start();
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let number = rest[..end].parse().map_err(|_| "its shape has something that is not a dimension")?;
            if numbers.len() == MOST_DIMS {
                return Err(format!("it has more than {MOST_DIMS} dimensions"));
            }
            numbers.push(number);
            let behind = &rest[end..];
            self.rest = behind.strip_prefix('L').unwrap_or(behind);
            if !self.takes(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }

    /// The type of the values, and whether they are big-endian.
    fn type_of_values(&mut self) -> Result<(ElementType, bool), String> {
        if self.rest.trim_start().starts_with('[') {
            return Err("its values are structures. Save each field as an array of its own".into());
        }
        let of = self.text()?;
        let (order, kind) = match of.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), ..] => (*order, &of[1..]),
            _ => (b'|', of),
        };
        let element = match kind {
            "b1" | "?" => ElementType::Bool,
            "u1" => ElementType::U8,
            "u2" => ElementType::U16,
            "u4" => ElementType::U32,
            "u8" => ElementType::U64,
            "i1" => ElementType::I8,
            "i2" => ElementType::I16,
            "i4" => ElementType::I32,
            "i8" => ElementType::I64,
            "f2" => ElementType::F16,
            "f4" => ElementType::F32,
            "f8" => ElementType::F64,
            _ if kind.starts_with('O') => {
                return Err("its values are objects of Python, and reading them would run code of the dataset. Save \
                            numbers"
                    .into());
            }
            _ => {
                return Err(format!(
                    "its values are {of:?}, and no column has such ones. Save integers, floats or bools"
                ));
            }
        };
        Ok((element, order == b'>'))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A file of version 1.
    pub(crate) fn npy(of: &str, is_fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
        let order = if is_fortran { "True" } else { "False" };
        with_header(&format!("{{'descr': '{of}', 'fortran_order': {order}, 'shape': {shape}, }}\n"), data)
    }

    fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
        let len = u16::try_from(header.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &len, header.as_bytes(), data].concat()
    }

    fn array(element: ElementType, shape: &[u32], bytes: &[u8]) -> NpyArray {
        NpyArray { element, shape: shape.to_vec(), bytes: bytes.to_vec() }
    }

    #[test]
    fn arrays_are_read_in_either_order_of_bytes_and_dimensions() {
        let six = [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0];
        let of = |of, is_fortran, shape, data: &[u8]| NpyArray::parse(&npy(of, is_fortran, shape, data)).unwrap();
        assert_eq!(of("<u2", false, "(2, 3)", &six), array(ElementType::U16, &[2, 3], &six));
        assert_eq!(of("<u2", false, "(6L,)", &six), array(ElementType::U16, &[6], &six));
        assert_eq!(of("<u2", true, "(6,)", &six), array(ElementType::U16, &[6], &six));
        // Columns of two: 1 2, 3 4, 5 6.
        let columns = [1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0];
        assert_eq!(of("<i2", true, "(2, 3)", &six), array(ElementType::I16, &[2, 3], &columns));
        assert_eq!(
            of(">f4", false, "()", &1.5_f32.to_be_bytes()),
            array(ElementType::F32, &[], &1.5_f32.to_le_bytes())
        );
        assert_eq!(of("|b1", false, "(3,)", &[0, 1, 7]), array(ElementType::Bool, &[3], &[0, 1, 1]));
        assert_eq!(of("<f8", false, "(0, 4)", &[]), array(ElementType::F64, &[0, 4], &[]));
        let cube: Vec<u8> = (0..24).collect();
        let turned: Vec<u8> =
            (0..2_u8).flat_map(|a| (0..3).flat_map(move |b| (0..4).map(move |c| a + 2 * b + 6 * c))).collect();
        assert_eq!(of("|u1", true, "(2, 3, 4)", &cube), array(ElementType::U8, &[2, 3, 4], &turned));
        for version in [2, 3] {
            let header = r#"{"shape":(1,),"fortran_order":False,"descr":"|i1"}"#;
            let len = u32::try_from(header.len()).unwrap().to_le_bytes();
            let file = [MAGIC, &[version, 0], &len, header.as_bytes(), &[9]].concat();
            assert_eq!(NpyArray::parse(&file).unwrap(), array(ElementType::I8, &[1], &[9]));
        }
    }

    #[test]
    fn what_is_no_array_of_numbers_is_refused_by_name() {
        let refused = |file: &[u8], word: &str| {
            let words = NpyArray::parse(file).unwrap_err();
            assert!(words.contains(word), "{word:?} is not in: {words}");
        };
        refused(&npy("|O", false, "(1,)", b"\x80\x04."), "objects of Python");
        refused(&npy("<c8", false, "(1,)", &[0; 8]), "\"<c8\"");
        refused(&npy("<U3", false, "(1,)", &[0; 12]), "\"<U3\"");
        refused(
            &with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", &[0; 4]),
            "structures",
        );
        refused(&npy("<f4", false, "(3,)", &[0; 8]), "8 bytes follow");
        refused(&npy("<f4", false, "(4294967295, 4294967295, 4294967295)", &[]), "0 bytes follow");
        refused(&npy("<f4", false, "(99999999999,)", &[]), "not a dimension");
        refused(&npy("<f4", false, "(-1,)", &[]), "not a dimension");
        refused(&npy("<f4", false, &format!("({})", "1,".repeat(65)), &[0; 4]), "64 dimensions");
        refused(b"PK\x03\x04", "not an array of NumPy");
        refused(&[MAGIC, &[4, 0, 0, 0]].concat(), "version 4");
        refused(&[MAGIC, &[2, 0, 255, 255, 255, 255]].concat(), "limit is 10000");
        let order = "{'descr': '<f4', 'fortran_order': None, 'shape': (1,)}";
        refused(&with_header(order, &[0; 4]), "which order");
        for (header, word) in [
            ("{'descr': '<f4', 'shape': (1,)}", "lacks the type"),
            ("{'descr': '<f4', 'descr': '<f4'}", "there twice"),
            ("{'__import__': 1}", "\"__import__\""),
            ("{'descr': '<f4'} or 1", "something follows"),
            ("['descr']", "'{'"),
            ("{'descr: 1}", "without an end"),
            ("{'descr' 1}", "':'"),
        ] {
            refused(&with_header(header, &[]), word);
        }
        let whole = npy("<f4", false, "(1,)", &[0; 4]);
        (0..whole.len()).for_each(|cut| assert!(NpyArray::parse(&whole[..cut]).is_err(), "{cut}"));
    }
}
