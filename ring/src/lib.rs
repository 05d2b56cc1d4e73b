//! Shared memory between daemon and trainer: finished batches cross without a copy.
//!
//! The daemon makes a [`Region`] of sealed anonymous memory, writes batches into its slots through [`SlotMut`] and
//! passes the descriptor over a [`Socket`]; a trainer maps it read-only as a [`View`]. Who may read what is decided
//! by the daemon's [`Exchange`], which is pure: no word of shared memory is written by two processes, and there is
//! no lock-free code. `docs/ring.md` has every byte.

mod backing;
mod bulk;
mod column_view;
mod exchange;
mod header;
mod inherited;
mod layout;
mod listener;
mod mapping;
mod memory;
mod message;
mod numa;
mod packet;
mod padded;
mod peer;
mod picture_size;
mod pixels;
mod proc_files;
mod protocol;
mod region;
mod region_inner;
mod slot;
mod slot_columns;
mod slot_parts;
mod socket;
mod socket_dir;
mod view;

pub use backing::{Backing, NumaBinding, Pages};
pub use bulk::{Bulk, BulkError};
pub use column_view::ColumnView;
pub use exchange::{
    Action, Adopted, BatchId, ConsumerId, ConsumerState, CreditsTaken, Exchange, Granted, GroupId, GroupState,
    HeldBatch, Holder, Join, Membership, NoPlace, SlotCounts, SlotId, Voided,
};
pub use header::{Header, HeaderError};
pub use inherited::inherited;
pub use layout::{Dtype, Geometry, Layout, PAGE, Shape, ShapeError};
pub use listener::{BindError, Listener};
pub use memory::{Memory, TooLittle};
pub use message::*;
pub use numa::{NoNode, kernel_list, numa_nodes};
pub use packet::{Body, Message, PacketError, packet, text};
pub use peer::{Peer, PeerError};
pub use picture_size::{HalfSize, NoRoomForSize, PictureSize};
pub use pixels::Pixels;
pub use protocol::{FIRST_WITH_SIZES, LAYOUT_PROTOCOL, OLDEST_PROTOCOL, OPTIONAL_KINDS, PROTOCOL, Versions};
pub use region::{Populated, Region, RegionError, Unpopulated};
pub use slot::{JoinError, NoRoomForLengths, PlaceMut, SlotError, SlotFrame, SlotMut};
pub use slot_columns::{ColumnEntry, SlotColumns};
pub use slot_parts::{ColumnParts, SlotParts};
pub use socket::{Events, Received, Sent, Socket, SocketError};
pub use socket_dir::{is_own_socket_dir, make_temporary_dir, socket_dir};
pub use view::{View, ViewError};
