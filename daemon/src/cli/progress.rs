//! Progress on stderr, where that is a terminal: as a bar.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar. The template's keys are those of indicatif.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template has only known keys");
    ProgressBar::new(length).with_style(style)
}
