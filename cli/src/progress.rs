//! Progress on stderr, if it is a terminal: a bar or a spinner.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often the sign turns.
const TURN: Duration = Duration::from_millis(100);

/// A bar. The template's keys are those of indicatif.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template has only known keys");
    ProgressBar::new(length).with_style(style)
}

/// A sign that turns while something is waited for.
pub(crate) fn sign(message: &'static str) -> ProgressBar {
    let sign = ProgressBar::new_spinner().with_message(message);
    sign.enable_steady_tick(TURN);
    sign
}
