//! Arrays as MDS keeps them, without code: the type and the dimensions are in the encoding's name, or before the values.

use forebay_columns::ElementType;

use crate::npy::NpyArray;

/// What the encoding's name says of its arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArrayForm {
    element: Option<ElementType>,
    shape: Option<Vec<u32>>,
}

/// The types by their numbers before the values.
const ELEMENTS: [(u8, ElementType); 11] = [
    (8, ElementType::U8),
    (9, ElementType::I8),
    (16, ElementType::U16),
    (17, ElementType::I16),
    (18, ElementType::F16),
    (32, ElementType::U32),
    (33, ElementType::I32),
    (34, ElementType::F32),
    (64, ElementType::U64),
    (65, ElementType::I64),
    (66, ElementType::F64),
];

/// The beginning of an array: its type, its dimensions, and the bytes before its values.
pub(super) type ArrayHead = (ElementType, Vec<u32>, usize);

impl ArrayForm {
    /// What is behind the name of the encoding: `float32:17,3`. Nothing if it cannot be.
    pub(super) fn of(settings: &str) -> Option<Self> {
        let mut parts = settings.split(':').filter(|part| !part.is_empty());
        let element = match parts.next() {
            Some(name) => Some(scalar(name)?),
            None => None,
        };
        let dims = |part: &str| part.split(',').map(|dim| dim.trim().parse().ok()).collect::<Option<Vec<u32>>>();
        let shape = match parts.next() {
            Some(part) => Some(dims(part)?),
            None => None,
        };
        parts.next().is_none().then_some(Self { element, shape })
    }

    /// Bytes of each value, if all have as many.
    pub(super) fn size(&self) -> Option<u64> {
        let (element, shape) = (self.element?, self.shape.as_ref()?);
        shape.iter().try_fold(element.size() as u64, |size, dim| size.checked_mul((*dim).into()))
    }

    /// What a value begins with.
    ///
    /// # Errors
    /// It is no array of this form. The text says why.
    pub(super) fn head(&self, value: &[u8]) -> Result<ArrayHead, &'static str> {
        const CUT: &str = "it ends before the values of its array";
        let mut at = 0;
        let mut take = |len: usize| {
            let taken = value.get(at..at + len).ok_or(CUT)?;
            at += len;
            Ok::<_, &str>(taken)
        };
        let element = if let Some(element) = self.element {
            element
        } else {
            let number = take(1)?[0];
            let known = ELEMENTS.iter().find(|(own, _)| *own == number);
            known.map(|(_, element)| *element).ok_or("its array has an unknown type")?
        };
        let shape = if let Some(shape) = &self.shape {
            shape.clone()
        } else {
            let kind = take(1)?[0];
            let width = 1_usize << (kind % 4);
            let dims = take(usize::from(kind >> 2) * width)?;
            let dim = |bytes: &[u8]| {
                let mut own = [0; 8];
                own[..width].copy_from_slice(bytes);
                u32::try_from(u64::from_le_bytes(own)).map_err(|_| "its array has a dimension that is too large")
            };
            dims.chunks_exact(width).map(dim).collect::<Result<_, _>>()?
        };
        Ok((element, shape, at))
    }

    /// The array of a value.
    ///
    /// # Errors
    /// It is none. The text says why.
    pub(super) fn array(&self, value: &[u8]) -> Result<NpyArray, &'static str> {
        let (element, shape, at) = self.head(value)?;
        let bytes = value[at..].to_vec();
        let len = shape.iter().try_fold(element.size(), |len, dim| len.checked_mul(*dim as usize));
        if len != Some(bytes.len()) {
            return Err("its array does not have the bytes that its dimensions need");
        }
        Ok(NpyArray { element, shape, bytes })
    }
}

/// The type of this name.
pub(super) fn scalar(name: &str) -> Option<ElementType> {
    Some(match name {
        "uint8" => ElementType::U8,
        "uint16" => ElementType::U16,
        "uint32" => ElementType::U32,
        "uint64" => ElementType::U64,
        "int8" => ElementType::I8,
        "int16" => ElementType::I16,
        "int32" => ElementType::I32,
        "int64" => ElementType::I64,
        "float16" => ElementType::F16,
        "float32" => ElementType::F32,
        "float64" => ElementType::F64,
        _ => return None,
    })
}
