//! forebay-python
