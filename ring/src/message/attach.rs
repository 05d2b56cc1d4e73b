//! ATTACH: what a trainer asks for.

use bytemuck::{Pod, Zeroable};

use super::{DEVICES, MessageKind, NAME_LEN};
use crate::padded::{pad, unpad};
use crate::protocol::Versions;

/// The trainer asks for a stream. Bulk descriptors follow in the order of the flags: settings, files, resume, columns.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Attach {
    /// [`MessageKind::Attach`](super::MessageKind::Attach).
    pub kind: u32,
    /// The newest version that the trainer speaks.
    pub protocol: u32,
    /// The oldest version that the trainer speaks.
    pub oldest: u32,
    /// [`attach_flags`].
    pub flags: u32,
    /// Name of a configured stream, zero-padded UTF-8; empty when the settings name a source.
    pub name: [u8; NAME_LEN],
    /// Shard of a static stream, with `num_shards`; both zero-based, `num_shards` 0 means dynamic.
    pub shard_id: u32,
    /// See `shard_id`.
    pub num_shards: u32,
    /// Incarnation of the daemon that the resume list speaks of.
    pub incarnation: u64,
    /// UUIDs of the GPUs whose memory the trainer can map, the one that it uses first; zeros behind the last.
    pub devices: [[u8; 16]; DEVICES],
    /// Name of the trainer's group, zero-padded UTF-8; empty without.
    pub group: [u8; NAME_LEN],
    /// One of [`attach_join`].
    pub join: u32,
    /// Number that the trainer's process has in its own PID namespace. It is believed only for display, and only where the
    /// kernel has no number for it here.
    pub pid: u32,
    /// Number of the trainer, drawn at random when it first attaches, and sent again when it reconnects to a daemon; not 0.
    pub trainer: u64,
    /// Offers that may be sent at once.
    pub credits: u32,
    /// Zero.
    pub reserved: u32,
}

impl Attach {
    /// What an ATTACH of this program says of its versions; all else is zero.
    pub fn ours() -> Self {
        let Versions { oldest, newest } = Versions::OURS;
        Self { kind: MessageKind::Attach as u32, protocol: newest, oldest, ..Self::zeroed() }
    }

    /// The versions that the trainer speaks.
    pub fn versions(&self) -> Versions {
        Versions { oldest: self.oldest, newest: self.protocol }
    }

    /// The stream's name; empty when the settings name a source. `None` when it is not zero-padded UTF-8.
    pub fn stream_name(&self) -> Option<&str> {
        unpad(&self.name)
    }

    /// The name of the trainer's group; empty when it has none. `None` when it is not zero-padded UTF-8.
    pub fn group_name(&self) -> Option<&str> {
        unpad(&self.group)
    }

    /// A name as the message carries it. `None` when it is longer than [`NAME_LEN`] bytes or holds a zero byte.
    pub fn pad_name(name: &str) -> Option<[u8; NAME_LEN]> {
        pad(name)
    }

    /// The GPUs that the trainer sees, the one that it uses first.
    pub fn gpus(&self) -> &[[u8; 16]] {
        let count = self.devices.iter().position(|device| *device == [0; 16]).unwrap_or(DEVICES);
        &self.devices[..count]
    }

    /// GPUs as the message carries them; those beyond [`DEVICES`] are left out.
    pub fn pad_gpus(gpus: &[[u8; 16]]) -> [[u8; 16]; DEVICES] {
        std::array::from_fn(|place| gpus.get(place).copied().unwrap_or_default())
    }
}

/// Which bulk descriptors come with an [`Attach`].
pub mod attach_flags {
    /// A JSON document with the same keys as a `[streams.NAME]` table of the configuration.
    pub const SETTINGS: u32 = 1;
    /// Paths separated by NUL bytes.
    pub const FILES: u32 = 2;
    /// An array of [`ResumedClaim`](super::super::ResumedClaim).
    pub const RESUME: u32 = 4;
    /// Names of columns, separated by NUL bytes: the trainer reads no others.
    pub const COLUMNS: u32 = 8;
}

/// From when on a late group takes part.
pub mod attach_join {
    /// From the next batch on.
    pub const NEXT: u32 = 0;
    /// From the first batch of the next epoch on.
    pub const EPOCH: u32 = 1;
}
