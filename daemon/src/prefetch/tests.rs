//! The reader threads: a source whose reads wait for the test.
