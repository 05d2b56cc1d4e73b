//! A baseline and progressive JPEG decoder made for regions: bit-exact to libjpeg-turbo (accurate integer inverse DCT, fancy upsampling),
//! with entropy decoding of its own. It refuses unsupported pictures after the header.
//!
//! [`Header::read`] tells what a picture is; [`Decoder::begin`] begins a region of it at a [`Scale`]; [`Rows::read`] gives
//! its rows as RGB, as many at a time as the caller asks for. [`Decoder`] has an example.
//!
//! # From bits to pixels
//!
//! ```text
//!  file -> header: size, sampling, tables            header.rs, huffman.rs
//!    |
//!    v
//!  window: 32 KiB of the scan, stuffing taken out     window.rs
//!    |
//!    v  look by look                                  entropy.rs
//!  coefficients of one row of MCUs                    scan.rs
//!    |
//!    v  dequantisation, inverse DCT                   idct.rs
//!  samples of that row, and the last line before it   strip.rs
//!    |
//!    v  upsampling, colour                            upsample.rs, colour.rs
//!  rows of RGB in the caller's memory
//! ```
//!
//! An MCU is the smallest piece that a scan is made of: at 4:2:0 four blocks of luma (16 x 16 pixels) with one of each
//! chroma. A block has 64 coefficients in zigzag order, the first of which, DC, is its mean and is stored as the difference
//! to the block before; so no block can be read without all before it. The others, AC, are stored as pairs: a Huffman code
//! gives the length of a run of zeros and the size of the value after them. That many bits of value follow. One code says
//! that the rest is zeros.
//!
//! # A look
//!
//! Three quarters of the time of an ordinary decode go into these codes, since each waits for the length of the one
//! before. So as much as possible is found at once. The next 10 bits are the index into a table, whose entry says what
//! they begin with: the symbols of up to two codes that are whole in the look. With the usual table for luma, in which 01
//! is a value of 2 bits, and 1100 is a zero and then a value of 1 bit:
//!
//! ```text
//!   the next bits     0 1   1 0   1 1 0 0   1   1 ...
//!                     ---   ---   -------   -   -
//!                     code  +2    code      +1  not in this look
//!                     <- first -> <- last ->
//!
//!   entry 0110110011   bits   first_place  first    last_place  last           advance
//!                       9          0         +2         2       1 bit, 8 on        3
//!
//!   at coefficient k:  block[k + first_place] = +2
//!                      block[k + last_place]  = the bit that 8 others are before: +1
//!                      k += advance, and 9 bits are dropped
//! ```
//!
//! The last value may extend beyond the look, so arithmetic takes it from the 64 bits that were read ahead. A value before
//! it is in the table. A step of one symbol first stores a zero in the place of its value, and then the value, so that there
//! is no branch for it. The end of a block advances by 128, and a code longer than 10 bits by 255. So one comparison with 64
//! detects both of them and a full block. The decoder checks which one only in that case. Long codes are found by comparing
//! 16 bits with the limit of each length. The DC difference of a block has a look of its own.
//!
//! Each look waits for the one before it: the index is a shift of the bits, the table has the number of bits to drop, and
//! the next index waits for that number. The loop is written to keep this chain short. So the numbers of bits are in a table
//! of their own, whose index needs no scaling. And new bits are read while a look waits for its table, before its bits are
//! dropped.
//!
//! If no value is wanted, a table of hops is used. A hop has the number of bits and of coefficients of all symbols whose
//! codes are in the next 11 bits.
//!
//! The tables of a picture are made when it begins: 1,024 entries of 9 bytes for AC, 256 of 5 bytes for DC, and 2,048 of 2
//! bytes for hops if something is skipped. They are kept if the next picture has the same codes. Longer looks would find
//! more symbols at once, but their tables would take longer to make and would not fit the cache.
//!
//! # Regions
//!
//! ```text
//!             columns of MCUs
//!           0   1   2   3   4   5   6
//!         +---+---+---+---+---+---+---+
//!       0 | . | . | . | . | . | . | . |     .  skipped: its DC differences are added up
//!         +---+---+---+---+---+---+---+
//!  rows 1 | . | c | c | c | c | . | . |     c  chroma is transformed, luma skipped
//!         +---+---+---+---+---+---+---+
//!       2 | . | # | # | # | # | . | . |     #  transformed
//!         +---+---+---+---+---+---+---+
//!       3 | . | # | # | # | # |   |   |        not read
//!         +---+---+---+---+---+---+---+
//!       4 |   |   |   |   |   |   |   |
//!         +---+---+---+---+---+---+---+
//! ```
//!
//! This is a region at 4:2:0 whose first row of pixels is the first of MCU row 2. The triangle filter, which makes pixels of
//! chroma samples, takes a quarter of the next sample on the side to which a pixel leans, so that these pixels lean on
//! chroma of row 1. The same holds for its other edges. So a region equals the same cut of the whole picture, to the byte.
//! Nothing is read after the last MCU of the last row, so errors there are not seen.
//!
//! # Seek points
//!
//! The skipped MCUs are most of a small region's work. With [`SeekPoints`], a decode notes where some MCUs begin, and later
//! decodes of the picture enter and leave its rows there:
//!
//! ```text
//!         +---+---+---+---+---+---+---+
//!       1 | o   . | c | c | c | c |   |     o  a point; what is before the region's first point is not read
//!         +---+---+---+---+---+---+---+
//!       2 | o   . | # | # | # | # |   |     .  skipped: between the last point before the region and the region
//!         +---+---+---+---+---+---+---+
//! ```
//!
//! At a [`Scale`] below [`Scale::Full`] a block becomes 4 x 4, 2 x 2 or 1 x 1 samples in a smaller inverse DCT, which is
//! faster and better than to leave out pixels. Chroma that has fewer samples than luma is then scaled down less instead of
//! being upsampled, as in libjpeg-turbo. If a block becomes one sample, only its DC coefficient is kept, and the rest is
//! skipped.
//!
//! # Progressive pictures
//!
//! The coefficients of a progressive picture come in several scans. The first has the DC values of all blocks, without their
//! lowest bits. Each of the others has a band of AC coefficients of one component, or one more bit of coefficients that are
//! known. So coefficients are kept until the last scan is read, and only then are made into samples. They are kept for the
//! blocks of the region alone. Of other blocks that are read, a mask is kept, because the bits of a later scan depend on which
//! coefficients are not zero. In each scan, nothing is read behind the last row of the region.
//!
//! `progressive/bands.rs` has the loops. Such pictures have no seek points: each scan would need its own.
//!
//! [`Header::read`] reads the headers of all scans. The scans must be in an order that leaves no gap, and must give all bits of
//! all coefficients. If some are missing, libjpeg-turbo smooths the blocks. This decoder leaves such pictures to it.
//!
//! # What is refused
//!
//! The decoder takes JPEG with Huffman codes and 8 bits: baseline and extended sequential in one scan, and progressive. It takes
//! gray and `YCbCr` at 4:4:4, 4:2:2, 4:2:0, 4:4:0 and 4:1:1, with or without restart markers. All else is
//! [`Fault::Unsupported`] after the header, with the reason. Such pictures are valid but rare in datasets, so another decoder
//! should take them.
//!
//! A picture that breaks the rules of ITU-T T.81 is [`Fault::Irregular`] or [`Fault::Truncated`]. Other decoders guess what
//! was meant and continue. They guess differently, so this decoder leaves such pictures to the one whose guesses are
//! trusted. In one place the standard is silent (a run of zeros other than 16 without a value): there a block ends as in
//! libjpeg. Rows that were returned before a fault may be wrong.
//!
//! # Paths
//!
//! The same code is compiled for the instructions that every processor of the architecture has and, on x86-64, for AVX2 with
//! BMI1 and BMI2. The inverse DCT and the colours have kernels of their own for SSE2 and AVX2. A [`Path`] is chosen at run
//! time, and all give the same samples.
//!
//! # Safety and limits
//!
//! Files may be hostile. A mask keeps every read inside the window. Zeros follow the data for the length of the longest MCU,
//! so the end of the data is checked only once per MCU. Damaged data may store a value beyond a block's end. It lands in the
//! place of the next block's DC, which is written later, and the block is refused. Time is linear in the bytes of the file
//! and, for each scan, in the pixels of its header; a file of some hundred bytes can declare 65,535 x 65,535 pixels, but its data
//! ends at once, and nothing is allocated for pixels here. How many pixels are too many, and how many scans, is for the caller to
//! say.
//!
//! A decoder has memory for a row of MCUs and for its tables, and uses it again: once it has seen its largest picture, it
//! allocates nothing. A progressive picture needs memory for its coefficients, at most 1,088 bytes for each byte of the file:
//! a scan of DC has at least one bit for each block, which is checked before. [`Decoder::trim`] gives it back. `unsafe` is used in the modules of vector instructions, and to call code that was compiled for a path;
//! all else is checked.

mod blocks;

// What is hidden is no part of the interface. `tests/kernels.rs` compares these kernels with libjpeg-turbo's, and
// `benches/kernels.rs` measures them. The benchmark of decoders in the crate `benches` measures the parser.
#[doc(hidden)]
pub mod colour;
mod decoder;
mod entropy;
mod fault;
mod frame;
mod header;
mod huffman;
#[doc(hidden)]
pub mod idct;
mod parser;
mod path;
mod progressive;
mod read;
mod region;
mod restarts;
mod scan;
mod seek;
// `benches/tests/gate.rs` gives them to the kernels of `benches/gpu/gate`.
#[doc(hidden)]
pub mod segments;
mod strip;
#[doc(hidden)]
pub mod upsample;
mod window;

pub use decoder::{Decoder, Rows};
pub use fault::{Fault, Unsupported};
pub use frame::Scale;
pub use header::{Header, Sampling};
#[doc(hidden)]
pub use parser::Parser;
pub use path::Path;
pub use region::Region;
pub use seek::{SeekPoints, Spacing};
