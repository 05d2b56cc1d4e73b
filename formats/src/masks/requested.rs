//! Masks that are requested one after the other, behind the picture of their record: no thread waits for them.

use std::mem;
use std::sync::Arc;

use forebay_sources::{Pulse, ReadError, ReadErrorKind, Reading, Request, Source as _};

use super::MaskParts;
use crate::finishers;

/// A record whose parts are being requested.
pub(super) struct PartRequests {
    /// The request of the record. Its buffer gets the parts.
    request: Request,
    parts: Arc<MaskParts>,
    /// Bytes of the masks that are there so far.
    lengths: Vec<u64>,
    /// Who waits hears that a part arrives.
    pulse: Pulse,
}

impl PartRequests {
    /// A record of which nothing is there yet.
    pub(super) fn new(request: Request, parts: Arc<MaskParts>) -> Self {
        Self { request, parts, lengths: Vec::new(), pulse: Pulse::current() }
    }

    /// The request of the picture, whose answer is followed by the masks. It is withdrawn with the record's.
    pub(super) fn picture(mut self) -> Request {
        let (record, room, buf) = (self.request.record, self.request.room, mem::take(&mut self.request.buf));
        let (locator, withdrawal) = (self.request.locator().clone(), self.request.withdrawal().clone());
        let picture = Request::new(record, room, buf, locator, move |buf, read| {
            self.request.buf = buf;
            match read {
                Ok(()) => self.next_mask(),
                Err(error) => self.request.answer(Err(error)),
            }
        });
        let of_picture = picture.withdrawal().clone();
        withdrawal.on_withdrawal(move || of_picture.withdraw());
        picture
    }

    /// Requests the next mask, or answers if there is none.
    fn next_mask(mut self) {
        let (record, parts, place) = (self.request.record, Arc::clone(&self.parts), self.lengths.len());
        let Some(files) = parts.files.get(place) else {
            let closed = parts.close(&self.lengths, self.request.room, &mut self.request.buf);
            let locator = self.request.locator().clone();
            return self.request.answer(closed.map_err(|kind| ReadError::new(kind, locator)));
        };
        if !files.has(record) {
            self.lengths.push(0);
            return self.next_mask();
        }
        let before = self.request.buf.len() as u64;
        let room = parts.room(self.request.room).saturating_sub(before);
        let (withdrawal, pulse) = (self.request.withdrawal().clone(), self.pulse.clone());
        let (locator, own) = (files.listing.locator(record), Arc::clone(&parts));
        let mask = Request::new(record, room, Vec::new(), locator.clone(), move |mask, read| {
            let buf = &mut self.request.buf;
            let added = read.map_err(|error| own.in_record(error, before)).and_then(|()| {
                buf.try_reserve(mask.len()).map_err(|error| {
                    let no_room = ReadError::new(ReadErrorKind::Resources, locator);
                    ReadError { cause: error.to_string(), ..no_room }
                })
            });
            if let Err(error) = added {
                return self.request.answer(Err(error));
            }
            buf.extend_from_slice(&mask);
            self.lengths.push(mask.len() as u64);
            self.next_mask();
        });
        let of_mask = mask.withdrawal().clone();
        withdrawal.on_withdrawal(move || of_mask.withdraw());
        // A file of this machine is read by the call, which a thread of a store must not wait for.
        if matches!(files.listing.reading(), Reading::Requests { .. }) {
            pulse.during(|| files.listing.request(mask));
        } else {
            finishers::finish(move || pulse.during(|| parts.files[place].listing.request(mask)));
        }
    }
}
