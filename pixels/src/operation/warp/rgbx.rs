//! Red, green and blue in double precision, and a fourth number that is never read: CPUs calculate with four at once.

/// The four numbers. All methods must be inlined.
pub(super) trait Rgbx: Copy {
    /// What says that this CPU can calculate with them.
    type Cpu: Copy;

    /// Three values and any fourth one: the bytes of a number, the lowest first.
    fn of(cpu: Self::Cpu, bytes: u32) -> Self;

    /// Three numbers and any fourth one.
    fn numbers(cpu: Self::Cpu, numbers: [f64; 4]) -> Self;

    /// Each number and its counterpart.
    fn plus(self, other: Self) -> Self;

    /// Each number without its counterpart.
    fn minus(self, other: Self) -> Self;

    /// Each number times the same one.
    fn times(self, factor: f64) -> Self;

    /// Cut off below the point, from 0 to 255.
    fn cut(self) -> [u8; 3];

    /// Rounded, halves to even, from 0 to 255.
    fn rounded(self) -> [u8; 3];
}

/// What every CPU can calculate with.
#[derive(Clone, Copy)]
pub(super) struct Plain([f64; 4]);

impl Plain {
    fn with(self, other: Self, number: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|at| number(self.0[at], other.0[at])))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
impl Rgbx for Plain {
    type Cpu = ();

    fn of((): (), bytes: u32) -> Self {
        Self(bytes.to_le_bytes().map(f64::from))
    }

    fn numbers((): (), numbers: [f64; 4]) -> Self {
        Self(numbers)
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, |one, other| one + other)
    }

    fn minus(self, other: Self) -> Self {
        self.with(other, |one, other| one - other)
    }

    fn times(self, factor: f64) -> Self {
        Self(self.0.map(|number| number * factor))
    }

    fn cut(self) -> [u8; 3] {
        let [red, green, blue, _] = self.0.map(|number| number as u8);
        [red, green, blue]
    }

    fn rounded(self) -> [u8; 3] {
        Self(self.0.map(f64::round_ties_even)).cut()
    }
}
