//! The values that a condition names, and how values of records compare with them.

use std::cmp::Ordering;

/// A value in a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Whole(i128),
    Real(f64),
    Text(String),
    Truth(bool),
}

/// A number of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Whole(i128),
    Real(f64),
}

impl Literal {
    /// What it is, for an error.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Whole(_) | Self::Real(_) => "a number",
            Self::Text(_) => "a text",
            Self::Truth(_) => "true or false",
        }
    }

    /// It as a number, if it is one.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Whole(number) => Some(Number::Whole(*number)),
            Self::Real(number) => Some(Number::Real(*number)),
            Self::Text(_) | Self::Truth(_) => None,
        }
    }
}

impl Number {
    /// How this number is to another one, exactly: nothing is rounded. Nothing is known of what is not a number.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(own), Self::Whole(other)) => Some(own.cmp(&other)),
            (Self::Real(own), Self::Real(other)) => own.partial_cmp(&other),
            (Self::Whole(own), Self::Real(other)) => with_real(own, other),
            (Self::Real(own), Self::Whole(other)) => with_real(other, own).map(Ordering::reverse),
        }
    }

    /// The nearest number that 32 bits of a float can hold, if it is no whole one. So `score = 0.1` finds the float 0.1.
    #[expect(clippy::cast_possible_truncation, reason = "it is rounded on purpose")]
    pub(super) fn of_short_float(self) -> Self {
        match self {
            Self::Whole(_) => self,
            Self::Real(number) => Self::Real(f64::from(number as f32)),
        }
    }
}

/// How a whole number is to a float.
#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond an i128 is at its end, and no record has such a number"
)]
fn with_real(own: i128, other: f64) -> Option<Ordering> {
    if other.is_nan() {
        return None;
    }
    let floor = other.floor();
    let order = own.cmp(&(floor as i128));
    // Equal to the whole part, it is less if there is a rest.
    Some(if order == Ordering::Equal && other > floor { Ordering::Less } else { order })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_66_numbers_compare_without_rounding() {
        let big = (1_i128 << 53) + 1;
        let real = |number: f64| Number::Real(number);
        let order = |own: i128, other| Number::Whole(own).compare(real(other)).unwrap();
        assert_eq!(order(big, 9_007_199_254_740_992.0), Ordering::Greater);
        assert_eq!(
            [order(3, 3.0), order(3, 3.5), order(-3, -3.5)],
            [Ordering::Equal, Ordering::Less, Ordering::Greater]
        );
        assert_eq!([order(0, f64::INFINITY), order(0, f64::NEG_INFINITY)], [Ordering::Less, Ordering::Greater]);
        assert_eq!(Number::Whole(1).compare(real(f64::NAN)), None);
        assert_eq!(real(2.5).compare(Number::Whole(2)), Some(Ordering::Greater));
        assert_eq!(real(0.1).of_short_float(), real(f64::from(0.1_f32)));
    }
}
