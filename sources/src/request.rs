//! A request for one record. It is a value that moves to where the record arrives, and it is always answered.

use std::{fmt, mem};

use crate::{Locator, ReadError, ReadErrorKind, Withdrawal};

/// A request for the stored bytes of one record.
///
/// It is answered exactly once: by [`answer`](Self::answer), on any thread, or when it is dropped. A request that is
/// dropped, for example by a runtime that ends, is answered with an outage. So the record is requested again and is never
/// lost. The caller that made the request may withdraw it ([`Withdrawal`]).
///
/// A source over another source may change `record` and pass the request on.
///
/// ```
/// use std::sync::mpsc;
/// use forebay_sources::{Locator, Request, Retry};
///
/// let (sender, answers) = mpsc::channel();
/// let request = |record| {
///     let sender = sender.clone();
///     Request::new(record, 100, Vec::new(), Locator::file("a.jpg"), move |buf, read| sender.send((buf, read)).unwrap())
/// };
///
/// let mut good = request(0);
/// good.buf.extend_from_slice(b"the picture");
/// good.answer(Ok(()));
/// assert_eq!(answers.recv(), Ok((b"the picture".to_vec(), Ok(()))));
///
/// drop(request(1));
/// let (buf, read) = answers.recv().unwrap();
/// assert!(buf.is_empty());
/// assert_eq!(read.unwrap_err().retry(), Retry::Later);
/// ```
#[must_use = "a request that is dropped is answered with an outage"]
pub struct Request {
    /// The number of the record in the source that gets the request.
    pub record: u64,
    /// The most bytes that the record may have, as for [`read`](crate::Source::read).
    pub room: u64,
    /// The record's bytes belong here. What is in it before is of no use, but its memory is.
    pub buf: Vec<u8>,
    locator: Locator,
    withdrawal: Withdrawal,
    done: Option<Done>,
}

/// What is done with the answer.
type Done = Box<dyn FnOnce(Vec<u8>, Result<(), ReadError>) + Send>;

impl Request {
    /// A request that calls `done` when it is answered. After an error, the buffer that `done` gets is empty. `locator` is
    /// where the record is, for the error of a request that is dropped.
    ///
    /// `done` may be called on any thread, so it must not block.
    pub fn new(
        record: u64,
        room: u64,
        buf: Vec<u8>,
        locator: Locator,
        done: impl FnOnce(Vec<u8>, Result<(), ReadError>) + Send + 'static,
    ) -> Self {
        let withdrawal = Withdrawal::default();
        Self { record, room, buf, locator, withdrawal, done: Some(Box::new(done)) }
    }

    /// Where the record is, as errors name it.
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    /// Tells the source if the caller no longer waits for the answer.
    pub fn withdrawal(&self) -> &Withdrawal {
        &self.withdrawal
    }

    /// Answers the request: the record's bytes are in `buf`, or there is an error.
    pub fn answer(mut self, read: Result<(), ReadError>) {
        self.end(read);
    }

    fn end(&mut self, read: Result<(), ReadError>) {
        let Some(done) = self.done.take() else { return };
        if read.is_err() {
            self.buf.clear();
        }
        done(mem::take(&mut self.buf), read);
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if self.done.is_some() {
            let (kind, locator) = (ReadErrorKind::Storage, self.locator.clone());
            self.end(Err(ReadError { kind, locator, cause: "the request ended without an answer".into() }));
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("record", &self.record).field("room", &self.room).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::Retry;

    type Answers = mpsc::Receiver<(Vec<u8>, Result<(), ReadError>)>;

    fn request() -> (Request, Answers) {
        let (sender, answers) = mpsc::channel();
        let buf = Vec::with_capacity(64);
        (Request::new(7, 100, buf, Locator::file("7.jpg"), move |buf, read| sender.send((buf, read)).unwrap()), answers)
    }

    #[test]
    fn an_answer_comes_from_any_thread_with_the_memory_of_the_request_and_no_second_one_follows() {
        let (mut request, answers) = request();
        let memory = request.buf.as_ptr();
        thread::spawn(move || {
            request.buf.extend_from_slice(b"seven");
            request.answer(Ok(()));
        });
        let (buf, read) = answers.recv().unwrap();
        assert_eq!((&*buf, read, buf.as_ptr()), (&b"seven"[..], Ok(()), memory));
        answers.recv().unwrap_err();
    }

    #[test]
    fn after_an_error_the_buffer_is_empty() {
        let (mut request, answers) = request();
        request.buf.extend_from_slice(b"half of it");
        let error = ReadError::new(ReadErrorKind::Missing, Locator::file("7.jpg"));
        request.answer(Err(error.clone()));
        assert_eq!(answers.recv(), Ok((Vec::new(), Err(error))));
    }

    #[test]
    fn a_request_that_dies_with_its_thread_is_an_outage_of_its_record() {
        let (request, answers) = request();
        thread::spawn(move || {
            let _request = request;
            std::panic::resume_unwind(Box::new("the runtime died"));
        })
        .join()
        .unwrap_err();
        let (buf, read) = answers.recv().unwrap();
        let error = read.unwrap_err();
        assert_eq!((buf.len(), error.retry(), error.locator.to_string().as_str()), (0, Retry::Later, "7.jpg"));
        assert_eq!(error.to_string(), "the storage fails: the request ended without an answer");
        answers.recv().unwrap_err();
    }
}
