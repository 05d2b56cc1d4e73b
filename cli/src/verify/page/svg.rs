//! Charts of a page.

use std::fmt::Write as _;

use super::super::histogram::{Range, Spread};
use super::escape::escaped;

/// Width and height of a histogram, and of the room for its numbers.
const WIDTH: u64 = 480;
const HEIGHT: u64 = 130;
const AXIS: u64 = 18;
/// Numbers below a histogram.
const TICKS: usize = 6;

/// A histogram with its smallest, median and largest number above it. Nothing if there are no numbers.
pub(super) fn histogram(what: &str, spread: Option<&Spread>, show: impl Fn(u64) -> String) -> String {
    let Some(spread) = spread else { return String::new() };
    let (min, median, max) = (show(spread.min), show(spread.median), show(spread.max));
    let bars = spread.ranges.len() as u64;
    let mut svg = format!(
        "<figure><figcaption><span>{what}</span>: {min} to {max}, median {median}</figcaption>\
         <svg viewBox=\"0 0 {WIDTH} {}\" role=img aria-label=\"{what}\">\n",
        HEIGHT + AXIS
    );
    let left = |place: u64| place * WIDTH / bars;
    for (place, Range { from, to, count }) in (0..).zip(&spread.ranges) {
        let height = scaled(*count, spread.highest(), HEIGHT - 4);
        let (x, width, y) = (left(place), (left(place + 1) - left(place)).max(2) - 1, HEIGHT - height);
        let (from, to) = (show(*from), show(*to));
        let _infallible = writeln!(
            svg,
            "<rect x={x} y={y} width={width} height={height}><title>{from} to below {to}: {count}</title></rect>"
        );
    }
    let _infallible = writeln!(svg, "<line x1=0 x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />");
    let step = spread.ranges.len().div_ceil(TICKS).max(1);
    for (place, range) in (0..).zip(&spread.ranges).step_by(step) {
        let (x, y) = (left(place), HEIGHT + AXIS - 5);
        let _infallible = writeln!(svg, "<text x={x} y={y}>{}</text>", show(range.from));
    }
    svg + "</svg></figure>\n"
}

/// Names with a bar each.
pub(super) fn bars(counts: &[(String, u64)]) -> String {
    let highest = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let mut html = "<div class=bars>\n".to_owned();
    for (name, count) in counts {
        let (name, width) = (escaped(name), scaled(*count, highest, 85));
        let _infallible = writeln!(html, "<span>{name}</span><div><i style=\"width:{width}%\"></i>{count}</div>");
    }
    html + "</div>\n"
}

/// The part that `count` is of `highest`, of `room`. What is not zero can be seen.
fn scaled(count: u64, highest: u64, room: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(room) / u128::from(highest.max(1));
    u64::try_from(scaled).unwrap_or(room).max(u64::from(count > 0))
}
