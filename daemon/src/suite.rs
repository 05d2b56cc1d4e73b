//! The conformance suite of [`Source`](crate::source::Source): every source passes it. A new one is a line here.
