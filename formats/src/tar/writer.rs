//! Writes tars for tests, right ones and wrong ones.

/// A tar that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct TarWriter(pub Vec<u8>);

impl TarWriter {
    /// A tar of plain files.
    pub(crate) fn of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = Self::default();
        for (name, content) in files {
            tar.entry(b'0', name, content);
        }
        tar.end()
    }

    /// A member of any kind.
    pub(crate) fn entry(&mut self, kind: u8, name: &str, content: &[u8]) -> &mut Self {
        self.changed(kind, name, content, |_| ())
    }

    /// A member whose header is changed before the checksum is made.
    pub(crate) fn changed(
        &mut self,
        kind: u8,
        name: &str,
        content: &[u8],
        change: impl FnOnce(&mut [u8; 512]),
    ) -> &mut Self {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        header[156] = kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        change(&mut header);
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.0.extend(header);
        self.0.extend(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// A PAX header for the next file.
    pub(crate) fn pax(&mut self, key: &str, value: &str) -> &mut Self {
        let line = pax_line(key, value);
        self.entry(b'x', "PaxHeader", line.as_bytes())
    }

    /// The tar with its mark of the end.
    pub(crate) fn end(&self) -> Vec<u8> {
        let mut bytes = self.0.clone();
        bytes.resize((bytes.len() + 1024).next_multiple_of(10_240), 0);
        bytes
    }
}

/// A line with its own length in it.
pub(crate) fn pax_line(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut len = rest.len();
    while len != rest.len() + len.to_string().len() {
        len = rest.len() + len.to_string().len();
    }
    format!("{len}{rest}")
}
