//! What is told of the decoders on other machines that a stream asks: for `status`, metrics and the page alone.

use std::collections::BTreeMap;
use std::time::Duration;

use parking_lot::Mutex;

use super::lane::PeerEnd;

/// What a stream has of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecoderState {
    /// It is asked for pictures.
    Asked,
    /// It has said goodbye, and answers what it has.
    Leaving,
    /// It did not answer in time, and was hung up.
    Silent,
    /// Its connection has ended.
    Gone,
    /// It does not make this stream's pictures.
    Refused,
    /// There is no connection to it.
    Unreachable,
}

/// One decoder, since the stream was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DecoderFigures {
    pub state: DecoderState,
    /// Why it is not asked, if that is known.
    pub reason: String,
    /// Records that it was asked for and has not answered.
    pub under_way: u64,
    /// How long an answer is expected to take. Nothing before the first one.
    pub expected: Option<Duration>,
    /// Pictures that it has made.
    pub pictures: u64,
    /// Records that it was asked for, and that were then made elsewhere.
    pub taken_back: u64,
}

/// All of them, by the name that logs have of each.
#[derive(Debug, Default)]
pub(crate) struct DecoderRoster(Mutex<BTreeMap<String, DecoderFigures>>);

impl DecoderState {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Leaving => "leaving",
            Self::Silent => "silent",
            Self::Gone => "gone",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
        }
    }
}

impl From<PeerEnd> for DecoderState {
    fn from(end: PeerEnd) -> Self {
        match end {
            PeerEnd::Silent => Self::Silent,
            PeerEnd::Goodbye | PeerEnd::Broken => Self::Gone,
        }
    }
}

impl DecoderRoster {
    /// Changes what is told of a decoder. One that is new has no connection yet.
    pub(crate) fn note(&self, name: &str, change: impl FnOnce(&mut DecoderFigures)) {
        let mut all = self.0.lock();
        if let Some(figures) = all.get_mut(name) {
            return change(figures);
        }
        let (state, reason) = (DecoderState::Unreachable, String::new());
        let mut figures = DecoderFigures { state, reason, under_way: 0, expected: None, pictures: 0, taken_back: 0 };
        change(&mut figures);
        all.insert(name.to_owned(), figures);
    }

    /// A decoder is not one of the stream's any more.
    pub(crate) fn forget(&self, name: &str) {
        self.0.lock().remove(name);
    }

    /// The stream asks none now.
    pub(crate) fn rest(&self) {
        for figures in self.0.lock().values_mut() {
            figures.under_way = 0;
            if matches!(figures.state, DecoderState::Asked | DecoderState::Leaving) {
                figures.state = DecoderState::Gone;
            }
        }
    }

    /// All of them, in the order of their names.
    pub(crate) fn all(&self) -> Vec<(String, DecoderFigures)> {
        self.0.lock().iter().map(|(name, figures)| (name.clone(), figures.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_60_counts_of_a_decoder_stay_when_its_connection_ends_and_go_when_it_does() {
        let roster = DecoderRoster::default();
        roster.note("a", |figures| (figures.state, figures.under_way) = (DecoderState::Asked, 3));
        roster.note("a", |figures| figures.pictures += 5);
        roster.note("b", |figures| figures.reason = "connection refused".to_owned());
        roster.rest();
        let all = roster.all();
        let told: Vec<_> = all.iter().map(|(name, of)| (name.as_str(), of.state, of.under_way, of.pictures)).collect();
        assert_eq!(told, [("a", DecoderState::Gone, 0, 5), ("b", DecoderState::Unreachable, 0, 0)]);
        roster.forget("a");
        assert_eq!(roster.all().len(), 1);
    }
}
