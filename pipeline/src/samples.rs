//! The values of all metrics at one moment, and their text for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use parking_lot::Mutex;

use crate::meter::Meter;
use crate::metric::{Metric, MetricType};

/// The values of all metrics at one moment. An object that ended before then has none.
#[derive(Debug, Default)]
pub struct Samples {
    /// By place in [`Metric::ALL`].
    metrics: BTreeMap<usize, BTreeMap<Labels, f64>>,
}

/// Names and values, sorted by name.
type Labels = Vec<(&'static str, String)>;

/// The latest values.
#[derive(Debug, Default)]
pub struct Registry {
    latest: Mutex<Samples>,
}

impl Samples {
    /// A count that only rises.
    pub fn counter(&mut self, metric: Metric, labels: &[(&'static str, &str)], count: u64) {
        self.set(metric, MetricType::Counter, labels, large(count));
    }

    /// A time that only rises.
    pub fn seconds(&mut self, metric: Metric, labels: &[(&'static str, &str)], time: Duration) {
        self.set(metric, MetricType::Counter, labels, time.as_secs_f64());
    }

    /// A value that rises and falls.
    pub fn gauge(&mut self, metric: Metric, labels: &[(&'static str, &str)], value: f64) {
        self.set(metric, MetricType::Gauge, labels, value);
    }

    /// A count that rises and falls.
    pub fn level(&mut self, metric: Metric, labels: &[(&'static str, &str)], count: u64) {
        self.gauge(metric, labels, large(count));
    }

    /// What a stage's queue has measured so far, and how many of its items are of this stream.
    pub(crate) fn stage(&mut self, stream: &str, meter: &Meter, items: u64) {
        let waits = meter.waits();
        let labels = [("stream", stream), ("stage", meter.name())];
        self.counter(Metric::StageItems, &labels, items);
        self.seconds(Metric::StageWriterWait, &labels, waits.writer);
        self.seconds(Metric::StageReaderWait, &labels, waits.reader);
    }

    /// Prometheus' text format.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (place, series) in &self.metrics {
            let (name, kind, help) = Metric::ALL[*place].row();
            let kind = match kind {
                MetricType::Counter => "counter",
                MetricType::Gauge => "gauge",
            };
            let written = write!(text, "# HELP {name} {}\n# TYPE {name} {kind}\n", escaped(help, false));
            written.expect("a string takes what is written to it");
            for (labels, value) in series {
                text += name;
                for (place, (label, value)) in labels.iter().enumerate() {
                    text += if place == 0 { "{" } else { "," };
                    text += label;
                    text += "=\"";
                    text += &escaped(value, true);
                    text += "\"";
                }
                text += if labels.is_empty() { " " } else { "} " };
                text += &value.to_string();
                text += "\n";
            }
        }
        text
    }

    fn set(&mut self, metric: Metric, kind: MetricType, labels: &[(&'static str, &str)], value: f64) {
        let (name, declared, _) = metric.row();
        debug_assert_eq!(declared, kind, "{name} is shown as what it is");
        let place = Metric::ALL.iter().position(|each| *each == metric).expect("all of them are listed");
        let mut labels: Labels = labels.iter().map(|&(name, value)| (name, value.to_owned())).collect();
        labels.sort_unstable();
        self.metrics.entry(place).or_default().insert(labels, value);
    }
}

impl Registry {
    /// Shows these values from now on.
    pub fn replace(&self, samples: Samples) {
        *self.latest.lock() = samples;
    }

    /// The latest values in Prometheus' text format.
    pub fn render(&self) -> String {
        self.latest.lock().render()
    }
}

fn escaped(text: &str, quotes: bool) -> String {
    let text = text.replace('\\', r"\\").replace('\n', r"\n");
    if quotes { text.replace('"', r#"\""#) } else { text }
}

/// A number as Prometheus takes it.
#[expect(clippy::cast_precision_loss, reason = "exact to 2^53, and nobody looks at the rest")]
fn large(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rendered_with_their_labels_sorted_and_their_meaning() {
        let mut samples = Samples::default();
        samples.counter(Metric::RecordsDelivered, &[("stream", "train")], 7);
        samples.level(Metric::RingSlots, &[("stream", "train"), ("state", "free")], 6);
        samples.level(Metric::Consumers, &[], 2);
        let meter = Meter::new("decode");
        meter.item();
        meter.writer_waited(Duration::from_millis(2));
        samples.stage("train", &meter, 1);
        let text = samples.render();
        for line in [
            "# HELP forebay_records_delivered_total Records whose batch a trainer has consumed.",
            "# TYPE forebay_records_delivered_total counter",
            "forebay_records_delivered_total{stream=\"train\"} 7",
            "forebay_ring_slots{state=\"free\",stream=\"train\"} 6",
            "forebay_consumers 2",
            "forebay_stage_items_total{stage=\"decode\",stream=\"train\"} 1",
            "forebay_stage_writer_wait_seconds_total{stage=\"decode\",stream=\"train\"} 0.002",
        ] {
            assert!(text.lines().any(|found| found == line), "{line:?} is not in:\n{text}");
        }
        assert!(!text.contains("forebay_cache"), "what has no value is not shown");
    }

    #[test]
    fn a_label_cannot_break_out_of_its_quotes() {
        let mut samples = Samples::default();
        samples.level(Metric::SwitchedOff, &[("reason", "\"} 1\n\\")], 1);
        let text = samples.render();
        assert!(text.ends_with(concat!(r#"{reason="\"} 1\n\\"} 1"#, "\n")), "{text}");
    }

    #[test]
    fn a_stream_that_has_ended_is_shown_no_more() {
        let registry = Registry::default();
        let mut samples = Samples::default();
        samples.level(Metric::Consumers, &[("stream", "train")], 2);
        registry.replace(samples);
        assert!(registry.render().contains("train"));
        registry.replace(Samples::default());
        assert_eq!(registry.render(), "");
    }
}
