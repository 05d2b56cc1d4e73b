//! WebP by libwebp: the first picture of a file, whole or a part of it.
//!
//! libwebp's own C files are compiled here with flags per file, so that one binary uses AVX2 where it is there and starts where it
//! is not. [`Head::read`] says what a file is and looks whether all of it is there. [`Head::decode`] gives a part of the first
//! picture as RGB or RGBA of 8 bits, and a part's pixels are those of the whole picture. The memory that libwebp takes has a limit.

mod calls;
mod fault;
mod head;
mod part;

pub use fault::WebpFault;
pub use head::Head;
pub use part::Part;
