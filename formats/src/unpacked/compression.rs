//! How a file is compressed as a whole, and the stream of what it holds.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};

/// A way to compress a file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    Gzip,
    Zlib,
    Zstd,
    Bzip2,
    Brotli,
    /// A block of Snappy, without frames.
    Snappy,
}

/// Most times its own bytes that a block of Snappy holds.
const SNAPPY_RATIO: u64 = 64;
/// A larger window is not decoded: it is memory that the file asks for. `zstd --long` asks for as much.
const ZSTD_WINDOW_LOG: u32 = 27;

impl Compression {
    /// By the first bytes of a file. The caller knows that it does not have the form of its format.
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            // Behind the level is the mark of a block, or of the end.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, ..] | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, ..] => {
                Some(Self::Bzip2)
            }
            // The header of ZLIB is a multiple of 31.
            [first @ 0x78, second, ..] if u16::from_be_bytes([*first, *second]).is_multiple_of(31) => Some(Self::Zlib),
            _ => None,
        }
    }

    /// What distinguishes it in the key of an entry.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Brotli => "brotli",
            Self::Snappy => "snappy",
        }
    }

    /// The command that unpacks such a file.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::Gzip => "gunzip",
            Self::Zlib => "pigz -d -z",
            Self::Zstd => "unzstd",
            Self::Bzip2 => "bunzip2",
            Self::Brotli => "brotli -d",
            Self::Snappy => "python -m snappy -d -t raw",
        }
    }

    /// What a compressed file holds, from its first byte to its last. Takes a fixed amount of memory, but for Snappy, whose
    /// block is made at once.
    pub(super) fn reader<'a>(self, compressed: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
        let compressed = BufReader::with_capacity(1 << 16, compressed);
        Ok(match self {
            Self::Gzip => Box::new(GzipMembers { decoder: Some(GzDecoder::new(compressed)) }),
            Self::Zlib => Box::new(ZlibStream { compressed, state: Decompress::new(true), is_over: false }),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(compressed)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Box::new(decoder)
            }
            Self::Bzip2 => Box::new(MultiBzDecoder::new(compressed)),
            Self::Brotli => Box::new(brotli_decompressor::Decompressor::new(compressed, 1 << 16)),
            Self::Snappy => Box::new(io::Cursor::new(snappy_block(compressed)?)),
        })
    }
}

/// What a block of Snappy holds.
fn snappy_block(mut compressed: impl Read) -> io::Result<Vec<u8>> {
    let damaged = |error: snap::Error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut block = Vec::new();
    compressed.read_to_end(&mut block)?;
    let len = snap::raw::decompress_len(&block).map_err(damaged)?;
    if len as u64 / SNAPPY_RATIO > block.len() as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its head says more bytes than a block can hold"));
    }
    snap::raw::Decoder::new().decompress_vec(&block).map_err(damaged)
}

/// A file of GZIP: members one behind the other, and perhaps zeros behind them.
struct GzipMembers<R> {
    /// Nothing behind the last one.
    decoder: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = self.decoder.as_mut().filter(|_| !buf.is_empty()) {
            let read = decoder.read(buf)?;
            if read > 0 {
                return Ok(read);
            }
            let Some(mut rest) = self.decoder.take().map(GzDecoder::into_inner) else { break };
            if rest.fill_buf()?.first() == Some(&0x1f) {
                self.decoder = Some(GzDecoder::new(rest));
            } else {
                only_zeros(&mut rest)?;
            }
        }
        Ok(0)
    }
}

/// A file of ZLIB, which has one stream, and perhaps zeros behind it.
struct ZlibStream<R> {
    compressed: R,
    state: Decompress,
    is_over: bool,
}

impl<R: BufRead> Read for ZlibStream<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while !self.is_over && !buf.is_empty() {
            let input = self.compressed.fill_buf()?;
            let is_cut = input.is_empty();
            let (read, written) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(input, buf, FlushDecompress::None)?;
            let count = |before: u64, now: u64| usize::try_from(now - before).unwrap_or(usize::MAX);
            self.compressed.consume(count(read, self.state.total_in()));
            if status == Status::StreamEnd {
                only_zeros(&mut self.compressed)?;
                self.is_over = true;
            }
            let written = count(written, self.state.total_out());
            if written > 0 {
                return Ok(written);
            }
            if is_cut && !self.is_over {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

/// Reads the rest, which some programs fill with zeros.
fn only_zeros(rest: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = rest.fill_buf()?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "other bytes follow the end of the compressed ones",
            ));
        }
        match bytes.len() {
            0 => return Ok(()),
            len => rest.consume(len),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::write::{GzEncoder, ZlibEncoder};

    use super::*;

    impl Compression {
        pub(crate) const ALL: [Self; 4] = [Self::Gzip, Self::Zlib, Self::Zstd, Self::Bzip2];

        /// A file that holds these bytes.
        pub(crate) fn compressed(self, bytes: &[u8]) -> Vec<u8> {
            let level = flate2::Compression::fast();
            match self {
                Self::Gzip => {
                    let mut encoder = GzEncoder::new(Vec::new(), level);
                    encoder.write_all(bytes).unwrap();
                    encoder.finish().unwrap()
                }
                Self::Zlib => {
                    let mut encoder = ZlibEncoder::new(Vec::new(), level);
                    encoder.write_all(bytes).unwrap();
                    encoder.finish().unwrap()
                }
                Self::Zstd => zstd::stream::encode_all(bytes, 1).unwrap(),
                Self::Bzip2 => {
                    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                    encoder.write_all(bytes).unwrap();
                    encoder.finish().unwrap()
                }
                Self::Snappy => snap::raw::Encoder::new().compress_vec(bytes).unwrap(),
                // One block of bytes as they are, and an empty last one.
                Self::Brotli => {
                    let len = u32::try_from(bytes.len() - 1).ok().filter(|len| *len < 1 << 16).unwrap();
                    let head = (len << 4 | 1 << 20).to_le_bytes();
                    [&head[..3], bytes, &[3]].concat()
                }
            }
        }
    }

    fn read(compression: Compression, compressed: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        compression.reader(compressed)?.read_to_end(&mut bytes).map(|_| bytes)
    }

    fn bytes() -> Vec<u8> {
        (0..200_000_u32).flat_map(|number| (number.wrapping_mul(number) / 7).to_le_bytes()).collect()
    }

    #[test]
    fn what_was_compressed_is_read_whole_also_from_several_members() {
        for compression in Compression::ALL {
            let (bytes, empty) = (bytes(), compression.compressed(b""));
            let mut file = compression.compressed(&bytes);
            assert_eq!(Compression::of(&file), Some(compression));
            assert_eq!(read(compression, &file).unwrap(), bytes, "{compression:?}");
            assert_eq!(read(compression, &empty).unwrap(), b"", "{compression:?}");
            if compression != Compression::Zlib {
                file.extend_from_slice(&empty);
                file.extend_from_slice(&compression.compressed(b"more"));
                assert_eq!(read(compression, &file).unwrap(), [&bytes[..], b"more"].concat(), "{compression:?}");
            }
        }
        assert_eq!([&b""[..], b"\x1f", b"PK", b"x\0", b"BZh91B", b"BZh01A"].map(Compression::of), [None; 6]);
    }

    #[test]
    fn blocks_of_snappy_and_streams_of_brotli_are_read_whole_or_refused() {
        let bytes = &bytes()[..60_000];
        for compression in [Compression::Snappy, Compression::Brotli] {
            let file = compression.compressed(bytes);
            assert_eq!(read(compression, &file).unwrap(), bytes, "{compression:?}");
            for len in [1, 100, file.len() / 2, file.len() - 1] {
                assert!(read(compression, &file[..len]).is_err(), "{compression:?} {len}");
            }
        }
        read(Compression::Snappy, b"\xff\xff\xff\xff\x0f").unwrap_err();
    }

    #[test]
    fn zeros_may_follow_the_end_and_nothing_else() {
        for compression in [Compression::Gzip, Compression::Zlib] {
            let file = compression.compressed(b"content");
            assert_eq!(read(compression, &[&file[..], &vec![0; 100_000]].concat()).unwrap(), b"content");
            read(compression, &[&file[..], b"\0\0x"].concat()).unwrap_err();
        }
        for compression in [Compression::Zstd, Compression::Bzip2] {
            let file = compression.compressed(b"content");
            read(compression, &[&file[..], b"others"].concat()).unwrap_err();
        }
    }

    #[test]
    fn no_cut_and_no_changed_byte_is_taken_for_the_content() {
        let bytes = &bytes()[..5000];
        for compression in Compression::ALL {
            let file = compression.compressed(bytes);
            for len in 1..file.len() {
                assert!(read(compression, &file[..len]).is_err(), "{compression:?} cut at {len} of {}", file.len());
            }
        }
        // Some bytes of a header of GZIP, and the level in that of ZLIB, decide nothing.
        for compression in [Compression::Gzip, Compression::Zlib, Compression::Bzip2] {
            let file = compression.compressed(bytes);
            for place in (0..file.len()).step_by(7) {
                let mut changed = file.clone();
                changed[place] ^= 0x10;
                assert!(read(compression, &changed).map_or(true, |read| read == bytes), "{compression:?} {place}");
            }
        }
    }

    #[test]
    fn a_window_that_takes_too_much_memory_is_refused() {
        // A frame without a checksum, whose window has 2^31 bytes.
        let head = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8];
        let error = read(Compression::Zstd, &head).unwrap_err().to_string();
        assert!(error.contains("memory"), "{error}");
    }
}
