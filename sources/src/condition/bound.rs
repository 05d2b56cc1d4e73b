//! A condition that knows where the values of its columns are.
//!
//! It is true, false or unknown of a record. It is unknown where it depends on a value that is missing.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

use forebay_columns::{Column, ElementType, Table};

use super::literal::{Literal, Number};
use super::nearest::nearest;
use super::tokens::Wrong;
use super::{Comparison, Node, Test};
use crate::{Sizes, Source};

/// What every dataset has beside its columns, if it has labels and sizes.
const DERIVED: [&str; 5] = ["label", "height", "width", "pixels", "aspect"];

pub(super) enum Bound<'a> {
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Numbers { of: NumberOf<'a>, at: usize, test: NumberTest },
    Texts { column: &'a Column, comparison: Comparison, values: BTreeSet<Vec<u8>> },
}

/// Where a number of each record is.
pub(super) enum NumberOf<'a> {
    Column(&'a Column),
    Label(&'a dyn Source),
    Size { sizes: Sizes, of: SizeNumber },
}

/// A number that follows from a size.
#[derive(Clone, Copy)]
pub(super) enum SizeNumber {
    Height,
    Width,
    Pixels,
    /// The longer side by the shorter one.
    Aspect,
}

/// What a number is compared with.
pub(super) enum NumberTest {
    Compare(Comparison, Number),
    In(HashSet<i128>, Vec<Number>),
}

impl<'a> Bound<'a> {
    /// Finds the columns of a dataset.
    ///
    /// # Errors
    /// There is no such column, or it has values of another kind.
    pub(super) fn new(node: &Node, source: &'a dyn Source) -> Result<Self, Wrong> {
        let all = |nodes: &[Node]| nodes.iter().map(|node| Self::new(node, source)).collect::<Result<Vec<_>, _>>();
        match node {
            Node::And(nodes) => Ok(Self::And(all(nodes)?)),
            Node::Or(nodes) => Ok(Self::Or(all(nodes)?)),
            Node::Not(node) => Ok(Self::Not(Box::new(Self::new(node, source)?))),
            Node::Test(test) => Self::test(test, source),
        }
    }

    fn test(test: &Test, source: &'a dyn Source) -> Result<Self, Wrong> {
        let table = source.targets();
        let Some(place) = table.schema().find(&test.column) else { return Self::derived(test, source) };
        let column = &table.columns()[place];
        let of = column.column_type();
        if of.element() == ElementType::U8 && of.depth() == 1 && of.dims().is_empty() {
            return Self::texts(test, column);
        }
        let is_short = match of.element() {
            _ if of.row_values() != 1 || of.depth() > 1 => {
                let problem = format!(
                    "the column \"{}\" has the type {of}, and a condition compares one number or text of each record",
                    test.column
                );
                return Err((test.at, problem));
            }
            ElementType::F16 | ElementType::Bf16 => {
                let problem = format!(
                    "the column \"{}\" has the type {of}, which is not compared. Write it as float32",
                    test.column
                );
                return Err((test.at, problem));
            }
            ElementType::F32 => true,
            _ => false,
        };
        let is_truth = of.element() == ElementType::Bool;
        Self::numbers(test, NumberOf::Column(column), |literal| match literal {
            Literal::Truth(truth) if is_truth => Some(Number::Whole((*truth).into())),
            literal => literal.number().map(|number| if is_short { number.of_short_float() } else { number }),
        })
    }

    /// A test of what a dataset has beside its columns.
    fn derived(test: &Test, source: &'a dyn Source) -> Result<Self, Wrong> {
        let of = match &*test.column {
            "label" | "labels" => return Self::label(test, source),
            "height" => SizeNumber::Height,
            "width" => SizeNumber::Width,
            "pixels" => SizeNumber::Pixels,
            "aspect" => SizeNumber::Aspect,
            unknown => return Err((test.at, no_column(unknown, source.targets()))),
        };
        let sizes = source.sizes();
        if sizes.is_empty() {
            let problem = format!(
                "\"{}\" follows from the sizes of the pictures, which are not known. Run \"forebay index SOURCE --sizes\", or name \
                 the columns that have them: source_options = {{ sizes = \"height,width\" }}",
                test.column
            );
            return Err((test.at, problem));
        }
        Self::numbers(test, NumberOf::Size { sizes, of }, Literal::number)
    }

    /// A label is a number, or the name of a class.
    fn label(test: &Test, source: &'a dyn Source) -> Result<Self, Wrong> {
        let classes = source.classes();
        for (literal, at) in &test.values {
            let Literal::Text(name) = literal else { continue };
            if !matches!(test.comparison, Comparison::Equal | Comparison::Unequal | Comparison::In) {
                return Err((*at, "names of classes have no order; compare them by = or in".to_owned()));
            }
            if !classes.contains(name) {
                let meant = nearest(name, classes.iter().map(String::as_str));
                let meant = meant.map_or_else(String::new, |meant| format!(". Did you mean '{meant}'?"));
                return Err((*at, format!("no class has the name '{name}'{meant}")));
            }
        }
        Self::numbers(test, NumberOf::Label(source), |literal| match literal {
            Literal::Text(name) => {
                classes.iter().position(|class| class == name).map(|class| Number::Whole(class as i128))
            }
            literal => literal.number(),
        })
    }

    fn numbers(test: &Test, of: NumberOf<'a>, number: impl Fn(&Literal) -> Option<Number>) -> Result<Self, Wrong> {
        let mut numbers = Vec::with_capacity(test.values.len());
        for (literal, at) in &test.values {
            let found = number(literal).ok_or_else(|| {
                (*at, format!("the column \"{}\" has numbers, and this is {}", test.column, literal.kind()))
            });
            numbers.push(found?);
        }
        let test_of_number = match (test.comparison, numbers.first()) {
            (Comparison::In, _) => {
                let whole = numbers.iter().filter_map(|number| match number {
                    Number::Whole(number) => Some(*number),
                    Number::Real(_) => None,
                });
                let whole = whole.collect();
                numbers.retain(|number| matches!(number, Number::Real(_)));
                NumberTest::In(whole, numbers)
            }
            (comparison, Some(number)) => NumberTest::Compare(comparison, *number),
            (_, None) => return Err((test.at, "there is nothing to compare with".to_owned())),
        };
        Ok(Self::Numbers { of, at: test.at, test: test_of_number })
    }

    fn texts(test: &Test, column: &'a Column) -> Result<Self, Wrong> {
        let mut values = BTreeSet::new();
        for (literal, at) in &test.values {
            let Literal::Text(text) = literal else {
                return Err((*at, format!("the column \"{}\" has texts, and this is {}", test.column, literal.kind())));
            };
            values.insert(text.as_bytes().to_vec());
        }
        Ok(Self::Texts { column, comparison: test.comparison, values })
    }

    /// Whether it holds for a record. Nothing, where that depends on a value that is missing.
    ///
    /// # Errors
    /// A record has several values where a condition needs one.
    pub(super) fn holds(&self, record: u64) -> Result<Option<bool>, Wrong> {
        match self {
            Self::And(nodes) => Self::decided(nodes, record, false),
            Self::Or(nodes) => Self::decided(nodes, record, true),
            Self::Not(node) => Ok(node.holds(record)?.map(|holds| !holds)),
            Self::Numbers { of, at, test } => {
                let number = of.number(record).map_err(|problem| (*at, problem))?;
                Ok(number.and_then(|number| test.holds(number)))
            }
            Self::Texts { column, comparison, values } => {
                let value = column.value(usize::try_from(record).unwrap_or(usize::MAX));
                let order = || values.first().map(|text| value.bytes().cmp(text));
                Ok(match comparison {
                    _ if value.is_null() => None,
                    Comparison::In => Some(values.contains(value.bytes())),
                    comparison => order().map(|order| comparison.holds(order)),
                })
            }
        }
    }

    /// One part decides if it is `decides`. Otherwise a part that is unknown leaves all unknown.
    fn decided(nodes: &[Self], record: u64, decides: bool) -> Result<Option<bool>, Wrong> {
        let mut all = Some(!decides);
        for node in nodes {
            match node.holds(record)? {
                Some(holds) if holds == decides => return Ok(Some(decides)),
                Some(_) => {}
                None => all = None,
            }
        }
        Ok(all)
    }
}

impl NumberOf<'_> {
    /// The number of a record; nothing if it is missing.
    fn number(&self, record: u64) -> Result<Option<Number>, String> {
        match self {
            Self::Column(column) => number(column, record),
            // A record without a label has -1.
            Self::Label(source) => Ok(Some(source.label(record)).filter(|label| *label != -1).map(whole)),
            Self::Size { sizes, of } => {
                let Some(size) = sizes.get(record) else { return Ok(None) };
                let (longer, shorter) = (size.height.max(size.width), size.height.min(size.width));
                Ok(match of {
                    SizeNumber::Height => Some(whole(size.height)),
                    SizeNumber::Width => Some(whole(size.width)),
                    SizeNumber::Pixels => Some(whole(size.pixels())),
                    SizeNumber::Aspect if shorter == 0 => None,
                    SizeNumber::Aspect => Some(Number::Real(f64::from(longer) / f64::from(shorter))),
                })
            }
        }
    }
}

impl NumberTest {
    /// Nothing is known of what is not a number.
    fn holds(&self, number: Number) -> Option<bool> {
        match self {
            Self::Compare(comparison, other) => number.compare(*other).map(|order| comparison.holds(order)),
            Self::In(wholes, others) => {
                let is_equal = |other: &Number| number.compare(*other) == Some(Ordering::Equal);
                match number {
                    Number::Real(real) if real.is_nan() => None,
                    Number::Whole(whole) => Some(wholes.contains(&whole) || others.iter().any(is_equal)),
                    Number::Real(_) => {
                        Some(others.iter().any(is_equal) || wholes.iter().any(|whole| is_equal(&Number::Whole(*whole))))
                    }
                }
            }
        }
    }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal | Self::In => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

fn whole(number: impl Into<i128>) -> Number {
    Number::Whole(number.into())
}

/// The number that a record has in a column; nothing if it is null, or an empty list.
fn number(column: &Column, record: u64) -> Result<Option<Number>, String> {
    let value = column.value(usize::try_from(record).unwrap_or(usize::MAX));
    if value.is_null() {
        return Ok(None);
    }
    macro_rules! only {
        ($number:ty, $made:expr) => {
            match &value.numbers::<$number>(column.column_type()).unwrap_or_default()[..] {
                [] => Ok(None),
                [number] => Ok(Some($made(*number))),
                several => Err(format!(
                    "record {record} has {} values in this column, and a condition compares one",
                    several.len()
                )),
            }
        };
    }
    let real = |number: f64| Number::Real(number);
    match column.column_type().element() {
        ElementType::U8 => only!(u8, whole),
        ElementType::Bool => Ok(value.bytes().first().map(|truth| whole(*truth))),
        ElementType::I8 => only!(i8, whole),
        ElementType::U16 => only!(u16, whole),
        ElementType::I16 => only!(i16, whole),
        ElementType::U32 => only!(u32, whole),
        ElementType::I32 => only!(i32, whole),
        ElementType::U64 => only!(u64, whole),
        ElementType::I64 => only!(i64, whole),
        ElementType::F32 => only!(f32, |number| real(f64::from(number))),
        ElementType::F64 => only!(f64, real),
        ElementType::F16 | ElementType::Bf16 => Ok(None),
    }
}

/// Says which columns there are instead.
fn no_column(name: &str, table: &Table) -> String {
    let own = || table.schema().fields().iter().map(|field| field.name.as_str());
    if let Some(meant) = nearest(name, own().chain(DERIVED)) {
        return format!("the dataset has no column \"{name}\". Did you mean \"{meant}\"?");
    }
    let names: Vec<&str> = own().chain(DERIVED).collect();
    format!("the dataset has no column \"{name}\". A condition may compare {}", names.join(", "))
}
