//! The step between publish and ring for pixels in memory of a GPU. It copies the pictures of a batch that were not
//! made on the GPU. It passes the batch on when they are visible to every process.

use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_cuda::Stream;
use forebay_delivery::{FinishedBatch, Handover, Inlet};

use crate::gpu_ring::GpuRings;
use crate::gpu_threads::GpuThreads;

/// Takes what the batch stage gives.
pub(crate) type Sink = Box<dyn Fn(Handover) + Send>;

/// Hands everything over at once.
pub(crate) fn direct(inlet: Inlet) -> Sink {
    Box::new(move |made| inlet.hand_over(made))
}

/// A failure does not wait behind batches for a GPU. The ledger hears of the bad record meanwhile, and trainers must hear
/// of the failure before the epoch's end (semantics rule 7).
pub(crate) fn overtaking(inlet: Inlet, output: Sink) -> Sink {
    Box::new(move |made| match made {
        Handover::Failed(_) => inlet.hand_over(made),
        made => output(made),
    })
}

/// Copies the missing pictures of a batch to the GPU.
fn complete(rings: &GpuRings, stream: &mut Stream, mut ready: FinishedBatch) -> Handover {
    // If the ring has ended, no trainer will be offered this batch, and nothing is copied.
    let ring = rings.get(ready.slot.ring());
    let (slot, images) = (ready.slot.index(), ready.slot.images());
    if let Some(Err(error)) = ring.map(|ring| ring.complete(stream, slot, images, &ready.in_gpu)) {
        let reason = format!("Batch {} cannot be copied to GPU {}: {error}.", ready.seq, rings.ordinal());
        return Handover::Lost(ready, reason);
    }
    ready.stamp();
    Handover::Ready(ready)
}

/// Starts the step's thread, which hands everything on in order. The thread ends when the returned sink is dropped. Drop
/// the sink before the thread. The queue needs no bound: there are no more batches than slots.
///
/// # Errors
/// The system has no more threads, or the GPU no queue for the copies.
pub(crate) fn start(rings: Arc<GpuRings>, next: Sink) -> std::io::Result<(Sink, GpuThreads)> {
    start_in(GpuThreads::default(), rings, next)
}

/// On an error, `thread` is dropped last, because it is an argument. Its thread ends when the sender is gone.
fn start_in(mut thread: GpuThreads, rings: Arc<GpuRings>, next: Sink) -> std::io::Result<(Sink, GpuThreads)> {
    // This comes before the thread. So a GPU without a free queue refuses the stream that asks for it, and ends no other
    // stream.
    let mut stream = rings.stream().map_err(std::io::Error::other)?;
    let (sender, made) = channel::unbounded();
    thread.start("forebay-upload", move |watched| {
        for made in made {
            next(match made {
                Handover::Ready(ready) => watched.during(|| complete(&rings, &mut stream, ready)),
                other => other,
            });
        }
    })?;
    thread.watch()?;
    // The thread lives until the sender is gone.
    Ok((Box::new(move |made| drop(sender.send(made))), thread))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;

    use forebay_fake_gpu::{Count, Knob};

    use super::*;
    use crate::gpu_ring::scene::Scene;
    use crate::gpu_ring::stream_ring;

    #[test]
    fn a_batch_is_handed_on_when_its_pixels_are_in_the_gpu_and_no_earlier() {
        let Scene { fake, rings, region, ring } = Scene::new(3, 2);
        let ring = stream_ring(region.clone(), Some(ring), None);
        let mut slot = region.slot(0).unwrap();
        (0..3).for_each(|place| slot.place_mut(place).fill(7));
        let in_gpu = vec![false, true, false];
        let ready = FinishedBatch {
            slot,
            in_gpu,
            seq: 1,
            epoch: 0,
            shown: 3,
            valid: 3,
            claims: Vec::new(),
            bad: Vec::new(),
            time: 0,
        };

        fake.set(Knob::HoldUploads, 1);
        let (next, handed_on) = channel::unbounded();
        let (sink, thread) = start(rings, Box::new(move |made| next.send(made).unwrap())).unwrap();
        let waits = fake.count(Count::Waits);
        sink(Handover::Ready(ready));
        while fake.count(Count::Waits) == waits && handed_on.is_empty() {
            std::thread::yield_now();
        }
        assert!(handed_on.is_empty(), "it waits for the copies");
        fake.set(Knob::HoldUploads, 0);
        let Ok(Handover::Ready(_)) = handed_on.recv() else { panic!("the batch comes") };
        let memory = File::from(ring.fds(None)[1].try_clone_to_owned().unwrap());
        let mut pixels = [0; 36];
        memory.read_exact_at(&mut pixels, 0).unwrap();
        assert_eq!(pixels.map(u32::from).chunks(12).map(|place| place.iter().sum()).collect::<Vec<u32>>(), [84, 0, 84]);
        drop(sink);
        drop(thread);
    }

    #[test]
    fn an_upload_that_the_system_has_too_few_threads_for_is_an_error() {
        let Scene { fake: _fake, rings, .. } = Scene::new(1, 1);
        for room in [0, 1] {
            let thread = GpuThreads::with_room_for(room);
            assert!(start_in(thread, Arc::clone(&rings), Box::new(|_| ())).is_err(), "room for {room}");
        }
    }
}
