//! Stores that fail: what is tried again, what is given up, and that no byte is ever wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_objects::{Retries, Settings, Store};
use forebay_sources::{Pulse, ReadErrorKind, Retry, SourceError};

use crate::faults::{Event, Fault};
use crate::s3::{Bucket, KEY_ID, SECRET, impatient, noise, quick, read};

const SIZE: u64 = 200_000;

fn bucket() -> (Bucket, Vec<u8>) {
    let (bucket, bytes) = (Bucket::start(), noise(SIZE as usize));
    bucket.object_map.put("a.tar", bytes.clone());
    (bucket, bytes)
}

#[test]
fn rule_54_failures_that_pass_are_tried_again_and_the_bytes_are_right() {
    let (bucket, bytes) = bucket();
    let store = Store::open("s3://pictures/", &Settings { retries: impatient(), ..bucket.settings() }).unwrap();
    let object = store.head("a.tar").unwrap();
    for faults in [
        vec![Fault::Answer(500, "InternalError"); 3],
        vec![
            Fault::Answer(503, "SlowDown"),
            Fault::Answer(429, "TooManyRequests"),
            Fault::Answer(400, "RequestTimeout"),
        ],
        vec![Fault::Reset; 8],
        vec![Fault::Short; 8],
        vec![Fault::Stuck, Fault::Silent],
        vec![Fault::WrongRange, Fault::BadRange("bytes 9-1/2"), Fault::BadRange("bytes"), Fault::NotPartial],
        vec![Fault::Reset, Fault::Answer(500, "InternalError"), Fault::Short, Fault::WrongRange, Fault::Stuck],
    ] {
        bucket.server.faults.next(faults.clone());
        assert_eq!(read(&store, &object, 0..SIZE), bytes, "{faults:?}");
        bucket.server.faults.next(faults.clone());
        assert_eq!(read(&store, &object, 1000..90_000), bytes[1000..90_000], "{faults:?}");
    }
}

#[test]
fn rule_54_what_has_arrived_is_not_read_again() {
    let (bucket, bytes) = bucket();
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    bucket.server.asked();
    bucket.server.faults.next([Fault::Short]);
    assert_eq!(read(&store, &object, 1000..2000), bytes[1000..2000]);
    let asked = bucket.server.asked();
    let ranges: Vec<_> = asked.iter().map(|line| line.rsplit(' ').next().unwrap()).collect();
    assert_eq!(ranges, ["bytes=1000-1999", "bytes=1500-1999"]);
}

#[test]
fn rule_54_a_read_that_is_cancelled_ends_without_an_answer_and_leaves_its_place_to_the_next() {
    let (bucket, bytes) = bucket();
    let store =
        Store::open("s3://pictures/", &Settings { requests: 1, retries: Retries::default(), ..bucket.settings() });
    let store = store.unwrap();
    let object = store.head("a.tar").unwrap();
    for fault in [Fault::Silent, Fault::Stuck] {
        bucket.server.faults.next([fault.clone()]);
        bucket.server.asked();
        let (send, answers) = std::sync::mpsc::channel();
        let pending = store.request(&object, 0..SIZE, Vec::new(), move |_, read| send.send(read).unwrap());
        while bucket.server.asked().is_empty() {
            std::thread::yield_now();
        }
        pending.cancel();
        answers.recv().expect_err("what would have been done with the answer is dropped");
        assert_eq!(read(&store, &object, 0..SIZE), bytes, "after {fault:?}, the only place is free");
    }
}

#[test]
fn rule_54_an_outage_is_the_storage_s_and_passes_when_the_store_is_back() {
    let (bucket, bytes) = bucket();
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    for fault in [Fault::Answer(500, "InternalError"), Fault::Answer(503, "SlowDown"), Fault::Reset, Fault::WrongRange]
    {
        // A body that breaks off after one more byte each time would be progress.
        let object = if matches!(fault, Fault::Reset) { &store.head("a.tar").unwrap() } else { &object };
        bucket.server.faults.always(Some(fault.clone()));
        let end = if matches!(fault, Fault::Reset) { 1 } else { SIZE };
        let mut buf = vec![1; 10];
        let error = store.read(object, 0..end, SIZE, &mut buf).unwrap_err();
        assert_eq!((error.kind, error.retry(), buf.len()), (ReadErrorKind::Storage, Retry::Later, 0), "{fault:?}");
        assert!(!error.cause.is_empty(), "{fault:?}");
        let listed = match &fault {
            Fault::Answer(..) => Some(store.list("", &mut |_| {}).unwrap_err()),
            _ => None,
        };
        assert!(listed.is_none_or(|error| matches!(error, SourceError::Outage(_))), "{fault:?}");
        bucket.server.faults.always(None);
        assert_eq!(read(&store, object, 0..SIZE), bytes);
    }
}

#[test]
fn rule_54_retries_end() {
    let (bucket, _) = bucket();
    let settings = Settings { retries: Retries { limit: 4, ..quick() }, ..bucket.settings() };
    let store = Store::open("s3://pictures/", &settings).unwrap();
    let object = store.head("a.tar").unwrap();
    bucket.server.asked();
    bucket.server.faults.always(Some(Fault::Answer(503, "SlowDown")));
    let error = store.read(&object, 0..SIZE, SIZE, &mut Vec::new()).unwrap_err();
    assert_eq!(error.cause, "the store answers 503 Service Unavailable, SlowDown");
    assert_eq!(bucket.server.asked().len(), 4);
}

#[test]
fn rule_54_a_body_that_drips_is_an_outage_however_long_it_continues() {
    let (bucket, _) = bucket();
    let retries = Retries { silence: Duration::from_millis(200), total: Duration::from_millis(500), ..quick() };
    let store = Store::open("s3://pictures/", &Settings { retries, ..bucket.settings() }).unwrap();
    let object = store.head("a.tar").unwrap();
    let sent = Arc::new(AtomicU64::new(0));
    bucket.server.faults.always(Some(Fault::Dripping(Arc::clone(&sent))));
    let error = store.read(&object, 0..SIZE, SIZE, &mut Vec::new()).unwrap_err();
    let cause = "the answer stops in its middle, or is too slow";
    assert_eq!((error.kind, error.cause.as_str()), (ReadErrorKind::Storage, cause));
    assert!(sent.load(Ordering::Relaxed) > 1, "its body came, byte by byte");
}

#[test]
fn rule_28_a_read_that_continues_slowly_says_so_and_is_not_cut_off() {
    let (bucket, bytes) = bucket();
    // At the slowest pace, the object takes ten silences. Here it takes as many steps, in as many pieces.
    let retries = Retries { slowest: SIZE / 10, silence: Duration::from_secs(1), ..quick() };
    let store = Store::open("s3://pictures/", &Settings { retries, ..bucket.settings() }).unwrap();
    let object = store.head("a.tar").unwrap();
    bucket.server.asked();
    bucket.server.faults.next([Fault::Pieces(SIZE as usize / 10)]);
    let beats = Arc::new(AtomicU64::new(0));
    let heard = Arc::clone(&beats);
    let pulse = Pulse::new(move || {
        heard.fetch_add(1, Ordering::Relaxed);
    });
    assert!(pulse.during(|| read(&store, &object, 0..SIZE)) == bytes);
    assert!(beats.load(Ordering::Relaxed) > 1);
    assert_eq!(bucket.server.asked().len(), 1, "one attempt");
}

#[test]
fn rule_54_an_object_that_changed_or_went_is_the_record_s_fault() {
    let (bucket, _) = bucket();
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    let error = |store: &Arc<Store>| store.read(&object, 5..10, SIZE, &mut Vec::new()).unwrap_err();
    bucket.object_map.put("a.tar", noise(SIZE as usize + 1)[1..].to_vec());
    let changed = error(&store);
    assert_eq!((changed.kind, changed.retry()), (ReadErrorKind::Changed, Retry::Never));
    let version = object.version.as_deref().unwrap();
    assert_eq!(changed.locator.to_string(), format!("s3://pictures/a.tar (version {version}), 5 bytes from byte 5"));
    bucket.object_map.put("a.tar", "short");
    assert_eq!(error(&store).kind, ReadErrorKind::Changed);
    bucket.object_map.remove("a.tar");
    let missing = error(&store);
    assert_eq!((missing.kind, missing.retry()), (ReadErrorKind::Missing, Retry::Never));
    assert_eq!(store.head("a.tar").unwrap_err().kind, ReadErrorKind::Missing);
    bucket.server.faults.always(Some(Fault::Answer(403, "AccessDenied")));
    assert_eq!((error(&store).kind, error(&store).retry()), (ReadErrorKind::Denied, Retry::Never));
}

#[test]
fn rule_54_an_object_that_changes_between_two_attempts_gives_no_mixture() {
    let (bucket, _) = bucket();
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    let object_map = bucket.object_map.clone();
    let change = Event(Arc::new(move || object_map.put("a.tar", vec![7; SIZE as usize])));
    bucket.server.faults.next([Fault::ShortAndThen(change)]);
    bucket.server.asked();
    let (send, done) = std::sync::mpsc::channel();
    store.request(&object, 0..SIZE, Vec::new(), move |buf, read| send.send((buf, read)).unwrap());
    let (buf, read) = done.recv().unwrap();
    assert_eq!((buf.len(), read.unwrap_err().kind), (0, ReadErrorKind::Changed));
    assert_eq!(bucket.server.asked().len(), 2, "the change came between two attempts");
}

#[test]
fn rule_54_credentials_and_buckets_that_are_wrong_are_not_the_record_s_fault() {
    let (bucket, _) = bucket();
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    let read = |store: &Arc<Store>| store.read(&object, 0..10, 10, &mut Vec::new()).unwrap_err();
    let mut wrong = bucket.settings();
    wrong.credentials.variables.insert("AWS_SECRET_ACCESS_KEY".into(), forebay_objects::Secret::new("hunter2hunter2"));
    let refused = Store::open("s3://pictures/", &wrong).unwrap();
    let error = read(&refused);
    assert_eq!(error.retry(), Retry::Later, "{error}");
    assert!(error.cause.contains("SignatureDoesNotMatch"), "{error}");
    let looked = refused.head("a.tar").unwrap_err();
    assert_eq!(looked.retry(), Retry::Later, "an answer to HEAD has no code: {looked}");
    assert!(matches!(refused.list("", &mut |_| {}), Err(SourceError::Outage(_))));
    let gone = Store::open("s3://nosuchbucket/", &bucket.settings()).unwrap();
    assert_eq!(read(&gone).kind, ReadErrorKind::Gone);
    let listed = gone.list("", &mut |_| {}).unwrap_err().to_string();
    assert!(listed.contains("s3://nosuchbucket/") && listed.contains("does not exist"), "{listed}");
    bucket.server.faults.always(Some(Fault::Answer(400, "ExpiredToken")));
    let expired = read(&store);
    assert_eq!((expired.kind, expired.retry()), (ReadErrorKind::Storage, Retry::Later));
    bucket.server.asked();
    read(&store);
    assert_eq!(bucket.server.asked().len(), 1, "another attempt would fail in the same way");
    for text in [format!("{refused:?} {wrong:?} {error:?}"), listed, expired.to_string()] {
        assert!(!text.contains("hunter2") && !text.contains(SECRET) && !text.contains(KEY_ID), "{text}");
    }
}

#[test]
fn rule_54_a_store_that_is_not_there_is_an_outage() {
    let (bucket, _) = bucket();
    let object = bucket.store().head("a.tar").unwrap();
    // A port that the system gives to nobody, and at which nobody listens.
    let settings = Settings { endpoint: Some("http://127.0.0.1:1".to_owned()), ..bucket.settings() };
    let store = Store::open("s3://pictures/", &settings).unwrap();
    let error = store.read(&object, 0..10, 10, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later));
    assert!(error.cause.contains("refused"), "{error}");
    assert!(matches!(store.list("", &mut |_| {}), Err(SourceError::Outage(_))));
    assert_eq!(store.head("a.tar").unwrap_err().kind, ReadErrorKind::Storage);
}

#[test]
fn rule_54_a_list_is_complete_whatever_happens_to_its_pages() {
    let bucket = Bucket::start();
    for number in 0..2100 {
        bucket.object_map.put(&format!("{number:04}.jpg"), [1]);
    }
    bucket.server.faults.next([
        Fault::Answer(503, "SlowDown"),
        Fault::Reset,
        Fault::Short,
        Fault::Stuck,
        Fault::Answer(500, "InternalError"),
    ]);
    let store = Store::open(
        "s3://pictures/",
        &Settings { retries: Retries { attempt: Duration::from_millis(700), ..quick() }, ..bucket.settings() },
    );
    assert_eq!(store.unwrap().list("", &mut |_| {}).unwrap().len(), 2100);
}

#[test]
fn rule_54_without_credentials_no_record_is_missing() {
    let (bucket, _) = bucket();
    let object = bucket.store().head("a.tar").unwrap();
    let mut settings = bucket.settings();
    settings.credentials.variables.retain(|name, _| !name.contains("KEY"));
    // The service that gives credentials to machines in a cloud answers 403 and 404 where there are none.
    let metadata = Bucket::start();
    settings
        .credentials
        .variables
        .insert("AWS_METADATA_ENDPOINT".into(), forebay_objects::Secret::new(metadata.server.url()));
    let store = Store::open("s3://pictures/", &settings).unwrap();
    let error = store.read(&object, 0..10, 10, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Storage, Retry::Later), "{error}");
    assert!(error.cause.contains("no credentials") && error.cause.contains("AWS_ACCESS_KEY_ID"), "{error}");
    let listed = store.list("", &mut |_| {}).unwrap_err();
    assert!(matches!(listed, SourceError::Outage(_)), "{listed}");
}

#[test]
fn more_than_there_is_room_for_is_not_asked_for() {
    let (bucket, _) = bucket();
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    bucket.server.asked();
    let error = store.read(&object, 0..SIZE, SIZE - 1, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.retry()), (ReadErrorKind::Larger { size: SIZE }, Retry::WithRoom(SIZE)));
    let outside = store.read(&object, SIZE - 1..SIZE + 1, SIZE, &mut Vec::new()).unwrap_err();
    assert_eq!(outside.retry(), Retry::Never, "{outside}");
    assert_eq!(bucket.server.asked(), Vec::<String>::new());
}
