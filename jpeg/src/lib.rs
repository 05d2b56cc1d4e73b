//! A baseline JPEG decoder made for regions: bit-exact to libjpeg-turbo (accurate integer inverse DCT, fancy upsampling),
//! with entropy decoding of its own. What it does not take, it refuses after the header.

pub mod colour;
pub mod idct;
mod path;
pub mod upsample;

pub use path::Path;
