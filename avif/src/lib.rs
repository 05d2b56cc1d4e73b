//! AVIF: the still picture of a file.
//!
//! [`Head::read`] says what a file is, from its container alone. [`Head::decode`] has dav1d decode the picture's AV1 data, in the
//! caller's thread. [`Decoded::to_rgb`] and [`Decoded::to_rgba`] make 8-bit colours of a part of it, in the arithmetic of libavif. The
//! pictures of an image sequence are counted, and its still picture is decoded.

mod boxes;
mod calls;
mod colour;
mod decoded;
mod fault;
mod head;
mod items;
mod matrix;
mod obus;
mod part;
mod properties;
mod sequence;

pub use decoded::Decoded;
pub use fault::AvifFault;
pub use head::Head;
pub use part::Part;
