//! The metric of when certificates end.

use forebay_ledger_client::CertificateEnds;
use forebay_pipeline::{Metric, Samples};
use forebay_printable::printable;

/// Shows when the certificates of each file end.
pub(crate) fn show_certificates(ends: &CertificateEnds, samples: &mut Samples) {
    for (file, end) in ends.now() {
        let name = printable(&file).to_string();
        #[expect(clippy::cast_precision_loss, reason = "seconds of Unix time are far below 2^53")]
        samples.gauge(Metric::CertificateEnd, &[("file", &name)], end as f64);
    }
}
