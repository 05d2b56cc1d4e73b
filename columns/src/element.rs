//! The types of a single value in a column.

use std::fmt;

use bytemuck::Pod;

/// The type of one value.
///
/// Its number is what the ring's header has. The first four are also the types of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names say everything")]
pub enum ElementType {
    U8 = 1,
    F16 = 2,
    F32 = 3,
    /// The upper half of an `F32`.
    Bf16 = 4,
    /// One byte, 0 or 1.
    Bool = 5,
    I8 = 6,
    I16 = 7,
    I32 = 8,
    I64 = 9,
    U16 = 10,
    U32 = 11,
    U64 = 12,
    F64 = 13,
}

/// The types with their names and sizes.
const TYPES: [(ElementType, &str, usize); 13] = [
    (ElementType::U8, "u8", 1),
    (ElementType::F16, "f16", 2),
    (ElementType::F32, "f32", 4),
    (ElementType::Bf16, "bf16", 2),
    (ElementType::Bool, "bool", 1),
    (ElementType::I8, "i8", 1),
    (ElementType::I16, "i16", 2),
    (ElementType::I32, "i32", 4),
    (ElementType::I64, "i64", 8),
    (ElementType::U16, "u16", 2),
    (ElementType::U32, "u32", 4),
    (ElementType::U64, "u64", 8),
    (ElementType::F64, "f64", 8),
];

impl ElementType {
    /// Bytes of one value.
    pub fn size(self) -> usize {
        self.row().2
    }

    /// As a column's type spells it: `f32`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The type with this name.
    pub fn named(name: &str) -> Option<Self> {
        TYPES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The type with this number.
    pub fn from_wire(number: u32) -> Option<Self> {
        TYPES.iter().find(|row| row.0 as u32 == number).map(|row| row.0)
    }

    fn row(self) -> &'static (Self, &'static str, usize) {
        TYPES.iter().find(|row| row.0 == self).expect("every type is in the table")
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A Rust type that is the value of a column.
pub trait Element: Pod {
    /// Its type in a schema.
    const TYPE: ElementType;
}

macro_rules! elements {
    ($($rust:ty => $column:ident),+ $(,)?) => {
        $(impl Element for $rust {
            const TYPE: ElementType = ElementType::$column;
        })+
    };
}

elements! {
    u8 => U8,
    u16 => U16,
    u32 => U32,
    u64 => U64,
    i8 => I8,
    i16 => I16,
    i32 => I32,
    i64 => I64,
    half::f16 => F16,
    half::bf16 => Bf16,
    f32 => F32,
    f64 => F64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_by_its_name_and_by_its_number() {
        for (element, name, size) in TYPES {
            assert_eq!(ElementType::named(name), Some(element));
            assert_eq!(ElementType::from_wire(element as u32), Some(element));
            assert_eq!((element.name(), element.size()), (name, size));
        }
        assert_eq!((ElementType::named("f128"), ElementType::from_wire(0)), (None, None));
    }
}
