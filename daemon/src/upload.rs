//! The step between publish and ring where pixels stand in memory of a GPU: what of a batch was not made there is copied, and the
//! batch handed on when it is there for everybody.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use crossbeam_channel as channel;

use crate::batch::Output;
use crate::decode::lanes::broken;
use crate::gpu_ring::GpuRings;

/// Takes what the batch stage gives.
pub type Sink = Box<dyn Fn(Output) + Send>;

/// Starts the step's thread, which hands everything on in order. It ends when what it gives back is dropped. The queue needs no
/// bound: there are no more batches than slots.
///
/// # Errors
/// The system has no more threads, or the GPU no queue for the copies.
pub fn start(rings: Arc<GpuRings>, next: Sink) -> std::io::Result<(Sink, JoinHandle<()>)> {
    // Before the thread, so that a GPU that has none refuses the stream that asks for it, and ends no other's.
    let mut stream = rings.stream().map_err(std::io::Error::other)?;
    let (sender, made) = channel::unbounded();
    let thread = Builder::new().name("forebay-upload".into()).spawn(move || {
        for mut made in made {
            if let Output::Ready(ready) = &mut made {
                // Without its ring, which has ended, nobody will be offered it.
                let ring = rings.get(ready.slot.ring());
                let (slot, images) = (ready.slot.index(), ready.slot.images());
                if let Some(Err(error)) = ring.map(|ring| ring.complete(&mut stream, slot, images, &ready.in_gpu)) {
                    broken(&error);
                }
                ready.stamp();
            }
            next(made);
        }
    })?;
    // The thread lives until the sender is gone.
    Ok((Box::new(move |made| drop(sender.send(made))), thread))
}
