//! Charts of a page: histograms, and bars with names.

use serde::Serialize;

use super::super::histogram::{Range, Spread};

/// Width and height of a histogram, and of the room for its numbers.
const WIDTH: u64 = 480;
const HEIGHT: u64 = 130;
const AXIS: u64 = 18;
/// Numbers below a histogram.
const TICKS: usize = 6;

/// A histogram.
#[derive(Serialize)]
pub(super) struct Histogram {
    what: &'static str,
    /// The smallest, median and largest number.
    spread: String,
    width: u64,
    height: u64,
    /// Where the bars end.
    floor: u64,
    bars: Vec<HistogramBar>,
    ticks: Vec<HistogramTick>,
}

#[derive(Serialize)]
struct HistogramBar {
    x: u64,
    y: u64,
    width: u64,
    height: u64,
    title: String,
}

#[derive(Serialize)]
struct HistogramTick {
    x: u64,
    y: u64,
    text: String,
}

/// A name with its count and a bar.
#[derive(Serialize)]
pub(super) struct NamedBar {
    name: String,
    percent: u64,
    count: u64,
}

impl Histogram {
    /// None if there are no numbers.
    pub(super) fn of(what: &'static str, spread: Option<&Spread>, show: impl Fn(u64) -> String) -> Option<Self> {
        let spread = spread?;
        let (min, median, max) = (show(spread.min), show(spread.median), show(spread.max));
        let bars = spread.ranges.len() as u64;
        let left = |place: u64| place * WIDTH / bars;
        let bar = |(place, Range { from, to, count }): (u64, &Range)| {
            let height = scaled(*count, spread.highest(), HEIGHT - 4);
            HistogramBar {
                x: left(place),
                y: HEIGHT - height,
                width: (left(place + 1) - left(place)).max(2) - 1,
                height,
                title: format!("{} to below {}: {count}", show(*from), show(*to)),
            }
        };
        let tick = |(place, range): (u64, &Range)| HistogramTick {
            x: left(place),
            y: HEIGHT + AXIS - 5,
            text: show(range.from),
        };
        let step = spread.ranges.len().div_ceil(TICKS).max(1);
        Some(Self {
            what,
            spread: format!("{min} to {max}, median {median}"),
            width: WIDTH,
            height: HEIGHT + AXIS,
            floor: HEIGHT,
            bars: (0..).zip(&spread.ranges).map(bar).collect(),
            ticks: (0..).zip(&spread.ranges).step_by(step).map(tick).collect(),
        })
    }
}

impl NamedBar {
    /// Names with a bar each.
    pub(super) fn all(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<Self> {
        let counts: Vec<_> = counts.into_iter().collect();
        let highest = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        counts.into_iter().map(|(name, count)| Self { name, percent: scaled(count, highest, 85), count }).collect()
    }
}

/// The part that `count` is of `highest`, of `room`. What is not zero can be seen.
fn scaled(count: u64, highest: u64, room: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(room) / u128::from(highest.max(1));
    u64::try_from(scaled).unwrap_or(room).max(u64::from(count > 0))
}
