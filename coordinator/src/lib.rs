//! forebay-coordinator
