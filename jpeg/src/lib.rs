//! A baseline JPEG decoder made for regions: bit-exact to libjpeg-turbo (accurate integer inverse DCT, fancy upsampling),
//! with entropy decoding of its own. What it does not take, it refuses after the header.

pub mod colour;
mod decoder;
mod entropy;
mod fault;
mod frame;
mod header;
mod huffman;
pub mod idct;
mod path;
mod region;
mod scan;
mod strip;
pub mod upsample;
mod window;

pub use decoder::{Decoder, Rows};
pub use fault::{Fault, Unsupported};
pub use frame::Scale;
pub use header::{Header, Sampling};
pub use path::Path;
pub use region::Region;
