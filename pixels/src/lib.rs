//! forebay-pixels
