//! The items of a file: the box `meta` (ISO/IEC 14496-12, section 8.11).

use std::ops::Range;

use crate::boxes::{Boxed, Reader, boxes, only};
use crate::fault::AvifFault;
use crate::properties::Properties;

/// Most items, extents of an item, and references that are looked at.
const MOST: u64 = 4096;
/// Most uses of properties by items.
const MOST_USES: u32 = 1 << 16;
/// Most auxiliary pictures of a picture: each is looked up in the uses of properties.
const MOST_AUXILIARY: usize = 64;

/// The box `meta` of a file.
#[derive(Debug)]
pub(crate) struct Items<'a> {
    file: &'a [u8],
    boxes: Vec<Boxed<'a>>,
    /// The picture that the file is.
    pub(crate) primary: u32,
}

/// A reference from an item to others.
#[derive(Clone, Copy, Debug)]
struct Reference {
    kind: [u8; 4],
    from: u32,
    to: u32,
}

impl<'a> Items<'a> {
    /// Reads which item is the picture.
    pub(crate) fn read(file: &'a [u8], meta: &'a [u8]) -> Result<Self, AvifFault> {
        let mut body = Reader::new(meta);
        body.version()?;
        let boxes = boxes(body.rest(), false)?;
        let handler = only(&boxes, *b"hdlr")?.and_then(|body| body.get(8..12));
        if handler != Some(b"pict") {
            return Err(AvifFault::Corrupt("its items are no pictures"));
        }
        let pitm = only(&boxes, *b"pitm")?.ok_or(AvifFault::Corrupt("it does not say which item is the picture"))?;
        let mut pitm = Reader::new(pitm);
        let (version, _) = pitm.version()?;
        let primary = id(&mut pitm, version > 0)?;
        Ok(Self { file, boxes, primary })
    }

    /// Bytes of the file.
    pub(crate) fn len(&self) -> usize {
        self.file.len()
    }

    fn body(&self, kind: [u8; 4]) -> Result<Reader<'a>, AvifFault> {
        let body = only(&self.boxes, kind)?;
        body.map(Reader::new).ok_or(AvifFault::Corrupt("a box that each picture needs is not there"))
    }

    /// The type of an item.
    pub(crate) fn kind(&self, item: u32) -> Result<[u8; 4], AvifFault> {
        let mut iinf = self.body(*b"iinf")?;
        let (version, _) = iinf.version()?;
        iinf.number(if version == 0 { 2 } else { 4 })?;
        for entry in boxes(iinf.rest(), false)? {
            let mut entry = Reader::new(entry.body);
            let (version, _) = entry.version()?;
            if version < 2 {
                continue;
            }
            if id(&mut entry, version > 2)? == item {
                let protection = entry.short()?;
                let kind = entry.name()?;
                return if protection == 0 { Ok(kind) } else { Err(AvifFault::Unsupported("that is encrypted")) };
            }
        }
        Err(AvifFault::Corrupt("an item is not described"))
    }

    /// The properties of an item.
    pub(crate) fn properties(&self, item: u32) -> Result<Properties<'a>, AvifFault> {
        let inside = boxes(self.body(*b"iprp")?.rest(), false)?;
        let all = only(&inside, *b"ipco")?.ok_or(AvifFault::Corrupt("there are no properties"))?;
        let all = boxes(all, false)?;
        let (mut properties, mut uses) = (Properties::default(), 0);
        for association in inside.iter().filter(|inside| inside.kind == *b"ipma") {
            let mut body = Reader::new(association.body);
            let (version, flags) = body.version()?;
            for _ in 0..limited(body.long()?.into())? {
                let is_of_item = id(&mut body, version > 0)? == item;
                let count = body.byte()?;
                uses += u32::from(count);
                if uses > MOST_USES {
                    return Err(AvifFault::Corrupt("it has too many properties"));
                }
                for _ in 0..count {
                    let wide = flags & 1 != 0;
                    let number = body.number(if wide { 2 } else { 1 })?;
                    let essential = if wide { 0x8000 } else { 0x80 };
                    let (index, is_essential) = (number & (essential - 1), number & essential != 0);
                    if !is_of_item || index == 0 {
                        continue;
                    }
                    let index = usize::try_from(index - 1).unwrap_or(usize::MAX);
                    let property = all.get(index).ok_or(AvifFault::Corrupt("a property is not there"))?;
                    properties.add(property, is_essential)?;
                }
            }
        }
        Ok(properties)
    }

    /// The item that has the alpha of an item, and whether its colours are multiplied by it.
    pub(crate) fn alpha_of(&self, item: u32) -> Result<Option<(u32, bool)>, AvifFault> {
        let references = self.references()?;
        let auxiliary = references.iter().filter(|reference| reference.kind == *b"auxl" && reference.to == item);
        for reference in auxiliary.take(MOST_AUXILIARY) {
            if self.properties(reference.from)?.is_alpha {
                let is_multiplied =
                    |other: &Reference| other.kind == *b"prem" && (other.from, other.to) == (item, reference.from);
                return Ok(Some((reference.from, references.iter().any(is_multiplied))));
            }
        }
        Ok(None)
    }

    fn references(&self) -> Result<Vec<Reference>, AvifFault> {
        let Some(iref) = only(&self.boxes, *b"iref")? else { return Ok(Vec::new()) };
        let mut body = Reader::new(iref);
        let (version, _) = body.version()?;
        let mut found = Vec::new();
        for boxed in boxes(body.rest(), false)? {
            let mut body = Reader::new(boxed.body);
            let from = id(&mut body, version > 0)?;
            for _ in 0..body.short()? {
                found.push(Reference { kind: boxed.kind, from, to: id(&mut body, version > 0)? });
                limited(found.len() as u64)?;
            }
        }
        Ok(found)
    }

    /// Where the data of an item are in the file: one range after the other.
    pub(crate) fn extents(&self, item: u32) -> Result<Vec<Range<usize>>, AvifFault> {
        let mut iloc = self.body(*b"iloc")?;
        let (version, _) = iloc.version()?;
        let sizes = iloc.short()?;
        let size = |nibble: u16| usize::from(sizes >> (4 * nibble) & 15);
        let [index_size, base_size, len_size, offset_size] = [0, 1, 2, 3].map(size);
        if [index_size, base_size, len_size, offset_size].into_iter().any(|size| !matches!(size, 0 | 4 | 8)) {
            return Err(AvifFault::Corrupt("a place in the file has no such size"));
        }
        let items = iloc.number(if version < 2 { 2 } else { 4 })?;
        for _ in 0..limited(items)? {
            let is_it = id(&mut iloc, version > 1)? == item;
            let method = if version > 0 { iloc.short()? & 15 } else { 0 };
            let reference = iloc.short()?;
            let base = iloc.number(base_size)?;
            let extents = iloc.short()?;
            let mut found = Vec::new();
            for _ in 0..limited(extents.into())? {
                iloc.number(if version > 0 { index_size } else { 0 })?;
                let (offset, len) = (iloc.number(offset_size)?, iloc.number(len_size)?);
                if is_it {
                    found.push(self.range(method, base.saturating_add(offset), len)?);
                }
            }
            if is_it {
                return match (reference, found.is_empty()) {
                    (0, false) => Ok(found),
                    (0, true) => Err(AvifFault::Corrupt("an item has no data")),
                    _ => Err(AvifFault::Unsupported("whose data are in another file")),
                };
            }
        }
        Err(AvifFault::Corrupt("an item has no place in the file"))
    }

    /// A range of the file, or of the box `idat`. A length of 0 is all that is behind.
    fn range(&self, method: u16, offset: u64, len: u64) -> Result<Range<usize>, AvifFault> {
        let within = match method {
            0 => self.file,
            1 => self.body(*b"idat")?.rest(),
            _ => return Err(AvifFault::Unsupported("whose data are made of other items")),
        };
        let first = usize::try_from(offset).ok().filter(|first| *first <= within.len()).ok_or(AvifFault::Truncated)?;
        let rest = within.len() - first;
        let len = if len == 0 { rest } else { usize::try_from(len).unwrap_or(usize::MAX) };
        if len > rest {
            return Err(AvifFault::Truncated);
        }
        let begin = within.as_ptr().addr() - self.file.as_ptr().addr() + first;
        Ok(begin..begin + len)
    }
}

/// A number of items or the like.
fn limited(count: u64) -> Result<u64, AvifFault> {
    if count > MOST { Err(AvifFault::Corrupt("it has too many items")) } else { Ok(count) }
}

fn id(reader: &mut Reader<'_>, is_long: bool) -> Result<u32, AvifFault> {
    if is_long { reader.long() } else { reader.short().map(u32::from) }
}
