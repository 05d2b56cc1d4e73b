//! The functions of a session: attach, next, state, close.

use std::ffi::{c_char, c_void};
use std::path::PathBuf;
use std::ptr;
use std::time::Duration;

use forebay_client::{Join as ClientJoin, Next, Options as ClientOptions, Shard, State, Target};

use super::pointer::{bytes, fill, fill_text, read, required, text, texts, write};
use super::{BatchHandle, Join, MissedFacts, Options, SessionHandle, StreamFacts, guarded};
use crate::batch::{BATCHES, OpenBatch};
use crate::failure::{Failure, Status};
use crate::session::{OpenSession, SESSIONS};

/// Attaches to a stream of a running daemon. It must put pixels in host memory.
///
/// `*session` is NULL after a failure. Close the session with `forebay_close`. A forked child must attach again.
///
/// # Safety
/// The pointers of `options` are NULL or of texts, and `session` is NULL or of room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_attach(options: *const Options, session: *mut *mut SessionHandle) -> Status {
    guarded(|| {
        // SAFETY: the caller vouches for the room.
        unsafe { write("session", session, ptr::null_mut()) }?;
        // SAFETY: the caller vouches for the options.
        let options = unsafe { read("options", options) }?;
        // SAFETY: the caller vouches for the texts.
        let (target, asked) = unsafe { wanted(&options) }?;
        let handle = SESSIONS.add(OpenSession::attach(target, asked)?);
        // SAFETY: the caller vouches for the room.
        unsafe { write("session", session, ptr::without_provenance_mut(address(handle))) }?;
        Ok(Status::Ok)
    })
}

/// What the daemon says of the session's stream.
///
/// # Safety
/// `info` is NULL or of room for a `forebay_stream_facts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_stream_info(session: *const SessionHandle, info: *mut StreamFacts) -> Status {
    guarded(|| {
        let session = SESSIONS.get(number(session))?;
        let of = session.info();
        let facts = StreamFacts {
            records: of.records,
            batch_size: of.batch_size,
            batches_per_epoch: of.batches_per_epoch,
            epochs: of.epochs,
            epoch: of.epoch,
            classes: of.classes.len() as u64,
            credits: session.credits(),
            reserved: [0; 8],
        };
        // SAFETY: the caller vouches for the room.
        unsafe { write("info", info, facts) }?;
        Ok(Status::Ok)
    })
}

/// The name of the class with this label, in UTF-8 and with a zero byte at its end.
///
/// `*length` is the size of the buffer. After the call it is the number of bytes that the name has, with its zero byte. With
/// a NULL buffer, the call only tells that.
///
/// # Safety
/// `length` is NULL or of the buffer's size, and `buffer` is NULL or has that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_class_name(
    session: *const SessionHandle,
    label: u64,
    buffer: *mut c_char,
    length: *mut usize,
) -> Status {
    guarded(|| {
        let session = SESSIONS.get(number(session))?;
        let classes = &session.info().classes;
        let name = usize::try_from(label).ok().and_then(|label| classes.get(label));
        let missing = || Failure::invalid(format!("label {label}: the stream has {} classes", classes.len()));
        let name = name.ok_or_else(missing)?;
        // SAFETY: the caller vouches for buffer and length.
        unsafe { fill_text(name, buffer, length) }
    })
}

/// Waits for the next batch. All batches that were handed out before count as consumed from now on.
///
/// `*batch` is NULL unless the status is `FOREBAY_STATUS_OK`. A batch keeps a slot of the ring until `forebay_release` or
/// `forebay_reject`. After `FOREBAY_STATUS_EPOCH_END`, the next call begins the next epoch.
///
/// `FOREBAY_STATUS_MISSED` is for the trainers of a group with a name: the daemon ended, and the group does not get some
/// batches. It is told once, and the next call continues.
///
/// `timeout_ms` is the longest wait in milliseconds. 0 does not wait, -1 waits for ever. The call ends within 100 ms if another
/// thread closes the session.
///
/// # Safety
/// `batch` is NULL or of room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_next(
    session: *mut SessionHandle,
    timeout_ms: i64,
    batch: *mut *mut BatchHandle,
) -> Status {
    guarded(|| {
        // SAFETY: the caller vouches for the room.
        unsafe { write("batch", batch, ptr::null_mut()) }?;
        let timeout = match timeout_ms {
            -1 => None,
            _ => Some(u64::try_from(timeout_ms).map(Duration::from_millis).map_err(|_| {
                Failure::invalid(format!("timeout_ms is {timeout_ms}: give milliseconds, or -1 to wait for ever"))
            })?),
        };
        let session = SESSIONS.get(number(session))?;
        let lent = match session.next(timeout)? {
            Next::Batch(lent) => lent,
            Next::EpochEnd(_) => return Ok(Status::EpochEnd),
            Next::Done => return Ok(Status::Done),
        };
        let handle = BATCHES.add(OpenBatch { lent });
        // SAFETY: the caller vouches for the room.
        unsafe { write("batch", batch, ptr::without_provenance_mut(address(handle))) }?;
        Ok(Status::Ok)
    })
}

/// What the session's group has missed, as the last call of `forebay_next` that ended with `FOREBAY_STATUS_MISSED` was told.
///
/// The status is `FOREBAY_STATUS_INVALID` if there was no such call.
///
/// # Safety
/// `info` is NULL or of room for a `forebay_missed_facts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_missed_info(session: *const SessionHandle, info: *mut MissedFacts) -> Status {
    guarded(|| {
        let missed = SESSIONS.get(number(session))?.missed()?;
        let facts = MissedFacts {
            epoch: missed.epoch,
            from_batch: missed.from,
            to_batch: missed.to,
            records: missed.records,
            reserved: [0; 4],
        };
        // SAFETY: the caller vouches for the room.
        unsafe { write("info", info, facts) }?;
        Ok(Status::Ok)
    })
}

/// The state of the run, to keep with a checkpoint: some hundred bytes. Every batch that this session has handed out counts
/// as consumed.
///
/// `*length` is the size of the buffer, and after the call the size of the state. With `FOREBAY_STATUS_SPACE`, call again
/// with a larger buffer; a state may then be a little longer, because other trainers go on.
///
/// # Safety
/// `length` is NULL or of the buffer's size, and `buffer` is NULL or has that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_state(session: *mut SessionHandle, buffer: *mut c_void, length: *mut usize) -> Status {
    guarded(|| {
        let session = SESSIONS.get(number(session))?;
        let state = session.ask(|client, watch| client.state(watch))?;
        // SAFETY: the caller vouches for buffer and length.
        unsafe { fill(&state.to_bytes(), buffer, length) }
    })
}

/// Takes the run back to a state. Batches that are held stay readable, and do not count as consumed.
///
/// # Safety
/// `state` is NULL or has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn forebay_restore(session: *mut SessionHandle, state: *const c_void, length: usize) -> Status {
    guarded(|| {
        // SAFETY: the caller vouches for the bytes.
        let state = State::from_bytes(unsafe { bytes("state", state, length) }?)?;
        let session = SESSIONS.get(number(session))?;
        session.ask(|client, watch| client.restore(&state, watch))?;
        Ok(Status::Ok)
    })
}

/// Ends the session. What was handed out and neither consumed nor released is delivered again.
///
/// Views of batches that are still held stay valid until these are released; the daemon does not refill their slots before
/// this process ends. NULL does nothing. If another thread waits in a call on the session, that call ends.
#[unsafe(no_mangle)]
pub extern "C" fn forebay_close(session: *mut SessionHandle) -> Status {
    guarded(|| {
        if !session.is_null() {
            SESSIONS.take(number(session))?.close();
        }
        Ok(Status::Ok)
    })
}

/// What the options ask for.
///
/// # Safety
/// The pointers of the options are NULL or of texts.
unsafe fn wanted(options: &Options) -> Result<(Target, ClientOptions), Failure> {
    if options.reserved.iter().any(|word| *word != 0) {
        let message = "options.reserved is not 0: set all bytes of the options to 0 first. A program that was built for a \
                       newer library needs that library";
        return Err(Failure::invalid(message));
    }
    // SAFETY: the caller vouches for the texts; so below.
    let name = unsafe { required("options.stream", options.stream) }?;
    if name.is_empty() {
        return Err(Failure::invalid("options.stream is empty: give the name of a stream"));
    }
    // SAFETY: see above.
    let socket = unsafe { text("options.socket", options.socket) }?;
    // SAFETY: see above.
    let settings = unsafe { text("options.settings", options.settings) }?;
    // SAFETY: see above.
    let columns = unsafe { texts("options.columns", options.columns, options.column_count) }?;
    // SAFETY: see above.
    let group = unsafe { text("options.group", options.group) }?;
    if group == Some("") {
        return Err(Failure::invalid("options.group is empty: give the name of a group, or NULL for none"));
    }
    let join = join(options.join)?;
    let shard = match (options.shard_id, options.num_shards) {
        (0, 0) => None,
        (id, count) if id < count => Some(Shard { id, count }),
        (id, count) => {
            let message = format!("options.shard_id is {id}, and options.num_shards is {count}: ids begin with 0");
            return Err(Failure::invalid(message));
        }
    };
    let defaults = ClientOptions::default();
    let timeout = |ms: u32, default| if ms == 0 { default } else { Duration::from_millis(ms.into()) };
    let target = Target::Stream {
        socket: socket.map(PathBuf::from),
        name: name.to_owned(),
        settings: settings.map(str::to_owned),
    };
    let options = ClientOptions {
        credits: options.credits,
        shard,
        group: group.map(str::to_owned),
        join,
        columns,
        daemon_wait: Duration::from_millis(options.daemon_wait_ms),
        attach_timeout: timeout(options.attach_timeout_ms, defaults.attach_timeout),
        reconnect_timeout: timeout(options.reconnect_timeout_ms, defaults.reconnect_timeout),
        ..defaults
    };
    Ok((target, options))
}

/// The meaning of a number of the options.
fn join(number: u64) -> Result<ClientJoin, Failure> {
    match number {
        _ if number == Join::Next as u64 => Ok(ClientJoin::Next),
        _ if number == Join::Epoch as u64 => Ok(ClientJoin::Epoch),
        _ => {
            let message = format!("options.join is {number}: give FOREBAY_JOIN_NEXT or FOREBAY_JOIN_EPOCH");
            Err(Failure::invalid(message))
        }
    }
}

/// The number that a handle is.
fn number(session: *const SessionHandle) -> u64 {
    session.addr() as u64
}

fn address(handle: u64) -> usize {
    usize::try_from(handle).expect("the ring is for machines of 64 bits")
}
