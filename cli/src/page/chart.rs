//! Lines over the time that is known, up to an hour, as SVG. The numbers that the lines show are also said in words.

use std::fmt::Write as _;
use std::time::Duration;

use indicatif::HumanCount;
use serde::Serialize;

use super::history::{HOUR, RatePoint, STEP};

/// Width and height of the area of the line, and of the room for the times below it.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 120.0;
const AXIS: f64 = 18.0;
/// Room above the highest point.
const MARGIN: f64 = 6.0;
/// Points that are farther apart than this have a gap between them: the daemon did not answer.
const GAP: Duration = STEP.saturating_mul(3);
/// The least time that a chart shows. The first points would fill one that shows less.
const LEAST: u64 = 5;

/// What one rate was in the time that is known.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct LineChart {
    title: &'static str,
    /// The same in words.
    summary: String,
    width: f64,
    height: f64,
    /// Where zero is.
    floor: f64,
    /// Where the scale's highest number is, and that number.
    top: f64,
    scale: String,
    /// When it begins.
    begin: String,
    /// Each is the points of one line.
    lines: Vec<String>,
}

impl LineChart {
    /// None if nothing is known yet.
    pub(super) fn of(title: &'static str, points: &[RatePoint], value: impl Fn(&RatePoint) -> f32) -> Option<Self> {
        let (first, last) = (points.first()?, points.last()?);
        let values: Vec<f64> = points.iter().map(|point| f64::from(value(point)).max(0.0)).collect();
        let highest = values.iter().copied().fold(0.0, f64::max);
        let lowest = values.iter().copied().fold(highest, f64::min);
        let scale = round_up(highest);
        let known = last.at.saturating_sub(first.at).as_secs();
        // Whole minutes, so that the words below the line are exact.
        let shown = known.div_ceil(60).clamp(LEAST, HOUR.as_secs() / 60);
        let span = Duration::from_secs(60 * shown);
        let x = |at: Duration| WIDTH * (1.0 - last.at.saturating_sub(at).as_secs_f64() / span.as_secs_f64());
        let y = |value: f64| MARGIN + (HEIGHT - MARGIN) * (1.0 - value / scale);
        let mut lines: Vec<String> = Vec::new();
        let mut before: Option<Duration> = None;
        for (point, value) in points.iter().zip(&values) {
            let place = format!("{:.1},{:.1}", x(point.at), y(*value));
            match lines.last_mut().filter(|_| before.is_some_and(|before| point.at.saturating_sub(before) <= GAP)) {
                Some(line) => write!(line, " {place}").expect("a text takes everything"),
                // Twice, so that a single point is seen.
                None => lines.push(format!("{place} {place}")),
            }
            before = Some(point.at);
        }
        let minutes = (known / 60).max(1);
        let summary = format!(
            "now {}, at least {} and at most {} in the last {minutes} min",
            number(*values.last()?),
            number(lowest),
            number(highest)
        );
        Some(Self {
            title,
            summary,
            width: WIDTH,
            height: HEIGHT + AXIS,
            floor: HEIGHT,
            top: MARGIN,
            scale: number(scale),
            begin: if span == HOUR { "an hour ago".to_owned() } else { format!("{shown} min ago") },
            lines,
        })
    }
}

/// A rate for people.
pub(super) fn number(rate: f64) -> String {
    if rate < 10.0 {
        return format!("{rate:.1}");
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are above 10 and far below 2^63")]
    HumanCount(rate.round() as u64).to_string()
}

/// The next number that begins with 1, 2 or 5.
fn round_up(value: f64) -> f64 {
    let mut scale = 1.0;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle().take(60) {
        if scale >= value {
            break;
        }
        scale *= factor;
    }
    scale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(steps: impl Iterator<Item = (u32, f32)>) -> Vec<RatePoint> {
        steps.map(|(step, pictures)| RatePoint { at: STEP * step, pictures, batches: 0.0 }).collect()
    }

    #[test]
    fn a_chart_has_a_line_for_each_time_in_which_daemons_answered_and_the_same_in_words() {
        let known = points((0..7).map(|step| (step, 100.0)).chain((60..67).map(|step| (step, 340.0))));
        let chart = LineChart::of("pictures/s", &known, |point| point.pictures).unwrap();
        assert_eq!(chart.summary, "now 340, at least 100 and at most 340 in the last 11 min");
        assert_eq!((chart.lines.len(), chart.scale.as_str()), (2, "500"));
        assert!(chart.lines[1].ends_with(" 600.0,42.5"), "{chart:?}");
        assert!(chart.lines[0].starts_with("0.0,97.2 0.0,97.2 9.1,97.2"), "{chart:?}");
        assert_eq!(chart.begin, "11 min ago");
    }

    #[test]
    fn a_chart_begins_where_its_points_do_from_five_minutes_to_an_hour() {
        let of =
            |steps: u32| LineChart::of("", &points((0..=steps).map(|step| (step, 1.0))), |of| of.pictures).unwrap();
        let first = |steps| of(steps).lines[0].split(',').next().unwrap().to_owned();
        assert_eq!(
            [1, 3, 30, 31, 354, 360].map(|steps| of(steps).begin),
            ["5 min ago", "5 min ago", "5 min ago", "6 min ago", "59 min ago", "an hour ago"]
        );
        assert_eq!([3, 30, 33, 360].map(first), ["540.0", "0.0", "50.0", "0.0"]);
        // A point that is just older, since looks are not exact.
        assert_eq!((of(361).begin.as_str(), of(361).lines.len()), ("an hour ago", 1));
    }

    #[test]
    fn one_point_is_seen_and_none_is_no_chart() {
        assert_eq!(LineChart::of("pictures/s", &[], |point| point.pictures), None);
        let chart = LineChart::of("pictures/s", &points([(3, 0.0)].into_iter()), |point| point.pictures).unwrap();
        assert_eq!(chart.lines, ["600.0,120.0 600.0,120.0"]);
        assert_eq!(chart.summary, "now 0.0, at least 0.0 and at most 0.0 in the last 1 min");
    }

    #[test]
    fn scales_begin_with_1_2_or_5() {
        let all = [0.0, 0.7, 1.0, 1.1, 3.0, 5.5, 19.0, 20.0, 21.0, 51_000.0].map(|value| number(round_up(value)));
        assert_eq!(all, ["1.0", "1.0", "1.0", "2.0", "5.0", "10", "20", "20", "50", "100,000"]);
        assert_eq!([0.04, 9.96, 12_345.6].map(number), ["0.0", "10.0", "12,346"]);
    }
}
