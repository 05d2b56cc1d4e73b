//! A view on a column: an address in the ring, with the shape and type of what is there.

use std::ffi::c_void;
use std::ptr;

use forebay_client::{Dtype, ElementType, Layout, Shape};

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ViewType {
    /// Unsigned, 1 byte.
    U8 = 1,
    /// IEEE 754, 2 bytes.
    F16 = 2,
    /// IEEE 754, 4 bytes.
    F32 = 3,
    /// The upper half of an F32.
    Bf16 = 4,
    /// 1 byte, 0 or 1.
    Bool = 5,
    /// Signed, 1 byte.
    I8 = 6,
    /// Signed, 2 bytes.
    I16 = 7,
    /// Signed, 4 bytes.
    I32 = 8,
    /// Signed, 8 bytes.
    I64 = 9,
    /// Unsigned, 2 bytes.
    U16 = 10,
    /// Unsigned, 4 bytes.
    U32 = 11,
    /// Unsigned, 8 bytes.
    U64 = 12,
    /// IEEE 754, 8 bytes.
    F64 = 13,
}

/// Read-only memory of the ring, shared with the daemon: valid until the batch is released. A write to it ends the process
/// with SIGSEGV.
///
/// The values are contiguous, in C's order of dimensions, and little-endian.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct View {
    /// The first value, at a multiple of 64 bytes.
    pub data: *const c_void,
    /// Bytes of all values.
    pub bytes: usize,
    /// Type of a value.
    pub value_type: ViewType,
    /// Dimensions: how many entries of `shape` count.
    pub dims: u32,
    /// Values along each dimension; 0 behind the last one.
    pub shape: [i64; 8],
    /// For facts of later versions. This version writes 0.
    pub reserved: [u64; 4],
}

impl View {
    /// A view on the first `shape` values of a slice, which must have at least that many.
    pub(crate) fn new<T>(slice: &[T], value_type: ViewType, shape: &[usize]) -> Self {
        let values: usize = shape.iter().product();
        let bytes = values * value_type.size();
        assert!(bytes <= size_of_val(slice), "{shape:?} of {value_type:?} in {} bytes", size_of_val(slice));
        let mut padded = [0; 8];
        for (to, &from) in padded.iter_mut().zip(shape) {
            *to = i64::try_from(from).unwrap_or(i64::MAX);
        }
        let dims = u32::try_from(shape.len()).unwrap_or(u32::MAX);
        let data = if bytes == 0 { ptr::null() } else { slice.as_ptr().cast() };
        Self { data, bytes, value_type, dims, shape: padded, reserved: [0; 4] }
    }

    /// The first `shown` pictures.
    pub(crate) fn images(pixels: &[u8], of: Shape, shown: usize) -> Self {
        let [height, width, channels] = [of.height, of.width, of.channels].map(|side| side as usize);
        let axes = match of.layout {
            Layout::Nhwc => [shown, height, width, channels],
            Layout::Nchw => [shown, channels, height, width],
        };
        let value_type = match of.dtype {
            Dtype::U8 => ViewType::U8,
            Dtype::F16 => ViewType::F16,
            Dtype::Bf16 => ViewType::Bf16,
            Dtype::F32 => ViewType::F32,
        };
        Self::new(pixels, value_type, &axes)
    }
}

impl ViewType {
    /// Bytes of a value.
    fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

impl From<ElementType> for ViewType {
    fn from(element: ElementType) -> Self {
        match element {
            ElementType::U8 => Self::U8,
            ElementType::F16 => Self::F16,
            ElementType::F32 => Self::F32,
            ElementType::Bf16 => Self::Bf16,
            ElementType::Bool => Self::Bool,
            ElementType::I8 => Self::I8,
            ElementType::I16 => Self::I16,
            ElementType::I32 => Self::I32,
            ElementType::I64 => Self::I64,
            ElementType::U16 => Self::U16,
            ElementType::U32 => Self::U32,
            ElementType::U64 => Self::U64,
            ElementType::F64 => Self::F64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_the_number_and_the_size_that_it_has_in_the_ring() {
        for number in 1..=13 {
            let element = ElementType::from_wire(number).expect("the ring has such a type");
            let value_type = ViewType::from(element);
            assert_eq!((value_type as u32, value_type.size()), (number, element.size()));
        }
    }

    #[test]
    fn pictures_have_the_axes_of_their_layout_and_none_where_none_is_shown() {
        let pixels = [0_u8; 2 * 4 * 5 * 3 * 2];
        let of = Shape { batch: 2, height: 4, width: 5, channels: 3, dtype: Dtype::F16, layout: Layout::Nchw };
        let view = View::images(&pixels, of, 2);
        assert_eq!((view.bytes, view.dims, view.shape), (240, 4, [2, 3, 4, 5, 0, 0, 0, 0]));
        assert_eq!(view.value_type, ViewType::F16);
        let last = View::images(&pixels, Shape { layout: Layout::Nhwc, ..of }, 1);
        assert_eq!((last.bytes, last.shape), (120, [1, 4, 5, 3, 0, 0, 0, 0]));
        let none = View::images(&pixels, of, 0);
        assert!(none.data.is_null() && none.bytes == 0 && none.dims == 4);
    }
}
