//! Writes zips for tests, right ones and wrong ones.

use flate2::{Compress, Compression, Crc, FlushCompress};

/// A zip that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct ZipWriter {
    pub bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
    /// Sizes and places are in the ZIP64 parts.
    pub is_zip64: bool,
    pub comment: Vec<u8>,
}

/// What a member says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberHeader {
    pub flags: u16,
    pub method: u16,
    pub stored: u32,
    pub len: u32,
    pub attributes: u32,
    pub header: u32,
}

impl ZipWriter {
    pub(crate) fn stored(&mut self, name: &str, content: &[u8]) -> &mut Self {
        self.changed(name, content, 0, |_| ())
    }

    pub(crate) fn deflated(&mut self, name: &str, content: &[u8]) -> &mut Self {
        self.changed(name, content, 8, |_| ())
    }

    /// A member of which the directory says something else.
    pub(crate) fn changed(
        &mut self,
        name: &str,
        content: &[u8],
        method: u16,
        change: impl FnOnce(&mut MemberHeader),
    ) -> &mut Self {
        let mut crc = Crc::new();
        crc.update(content);
        let crc = crc.sum().to_le_bytes();
        let stored = if method == 8 { deflate(content) } else { content.to_vec() };
        let int = |len: usize| u32::try_from(len).unwrap();
        let header = int(self.bytes.len());
        let mut said = MemberHeader {
            flags: 0,
            method,
            stored: int(stored.len()),
            len: int(content.len()),
            attributes: 0,
            header,
        };
        let name_len = u16::try_from(name.len()).unwrap().to_le_bytes();
        self.bytes.extend(b"PK\x03\x04\x14\0\0\0");
        self.bytes.extend(method.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(crc);
        self.bytes.extend(said.stored.to_le_bytes());
        self.bytes.extend(said.len.to_le_bytes());
        self.bytes.extend(name_len);
        // The extra part here has another length than in the directory.
        self.bytes.extend([5, 0]);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend([9; 5]);
        self.bytes.extend(stored);
        change(&mut said);
        let mut extra = Vec::new();
        let mut sizes = [said.stored, said.len, said.header];
        if self.is_zip64 {
            // Another extra part first, of three bytes.
            extra.extend([7, 0, 3, 0, 1, 2, 3, 1, 0, 24, 0]);
            for size in [said.len, said.stored, said.header] {
                extra.extend(u64::from(size).to_le_bytes());
            }
            sizes = [u32::MAX; 3];
        }
        self.directory.extend(b"PK\x01\x02\x14\x03\x14\0");
        self.directory.extend(said.flags.to_le_bytes());
        self.directory.extend(said.method.to_le_bytes());
        self.directory.extend([0; 4]);
        self.directory.extend(crc);
        self.directory.extend(sizes[0].to_le_bytes());
        self.directory.extend(sizes[1].to_le_bytes());
        self.directory.extend(name_len);
        self.directory.extend(u16::try_from(extra.len()).unwrap().to_le_bytes());
        self.directory.extend([0; 6]);
        self.directory.extend(said.attributes.to_le_bytes());
        self.directory.extend(sizes[2].to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.directory.extend(extra);
        self.count += 1;
        self
    }

    /// The zip with its directory.
    pub(crate) fn end(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let (start, size) = (bytes.len(), self.directory.len());
        bytes.extend(&self.directory);
        let [mut count, mut start_4, mut size_4] = [usize::from(self.count), start, size];
        if self.is_zip64 {
            let place = bytes.len() as u64;
            bytes.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
            for number in [count, count, size, start] {
                bytes.extend((number as u64).to_le_bytes());
            }
            bytes.extend(b"PK\x06\x07\0\0\0\0");
            bytes.extend(place.to_le_bytes());
            bytes.extend([1, 0, 0, 0]);
            (count, start_4, size_4) = (0xffff, 0xffff_ffff, 0xffff_ffff);
        }
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend(u16::try_from(count).unwrap().to_le_bytes());
        bytes.extend(u16::try_from(count).unwrap().to_le_bytes());
        bytes.extend(u32::try_from(size_4).unwrap().to_le_bytes());
        bytes.extend(u32::try_from(start_4).unwrap().to_le_bytes());
        bytes.extend(u16::try_from(self.comment.len()).unwrap().to_le_bytes());
        bytes.extend(&self.comment);
        bytes
    }
}

fn deflate(content: &[u8]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(content.len() + 100);
    Compress::new(Compression::default(), false).compress_vec(content, &mut stored, FlushCompress::Finish).unwrap();
    stored
}
