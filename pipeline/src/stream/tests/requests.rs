//! A dataset that is read by requests, through all stages (semantics rules 28 and 54).

use std::collections::HashSet;
use std::sync::mpsc;

use forebay_sources::{Reading, Request};
use parking_lot::Mutex;

use super::*;

const LEN: u64 = 200;

/// A dataset whose requests are answered by a thread, the latest first. Every seventh record is lost once.
#[derive(Debug)]
struct Posted {
    post: Mutex<mpsc::Sender<Request>>,
}

impl Posted {
    fn new() -> Self {
        let (post, letters) = mpsc::channel::<Request>();
        thread::spawn(move || {
            let mut lost = HashSet::new();
            while let Ok(first) = letters.recv() {
                let mut requests: Vec<Request> = [first].into_iter().chain(letters.try_iter()).collect();
                while let Some(mut request) = requests.pop() {
                    if request.record % 7 == 0 && lost.insert(request.record) {
                        drop(request);
                        continue;
                    }
                    picture(request.record, &mut request.buf);
                    request.answer(Ok(()));
                }
            }
        });
        Self { post: Mutex::new(post) }
    }
}

fn picture(record: u64, buf: &mut Vec<u8>) {
    buf.clear();
    buf.extend_from_slice(HEAD);
    buf.extend_from_slice(&record.to_be_bytes()[8 - PICTURE..]);
}

impl Source for Posted {
    fn len(&self) -> u64 {
        LEN
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn label(&self, _record: u64) -> i64 {
        -1
    }

    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("{record}.ppm"))
    }

    fn size(&self, _record: u64) -> u64 {
        (HEAD.len() + PICTURE) as u64
    }

    fn read(&self, record: u64, _room: u64, _buf: &mut Vec<u8>) -> Result<(), ReadError> {
        panic!("no thread waits for record {record}");
    }

    fn reading(&self) -> Reading {
        Reading::Requests { most: 16 }
    }

    fn request(&self, request: Request) {
        // A request that cannot be sent is dropped, and so answered.
        let _gone = self.post.lock().send(request);
    }

    fn fingerprint(&self) -> [u8; 32] {
        [41; 32]
    }

    fn shard_name(&self, _record: u64) -> &'static str {
        "posted"
    }
}

#[test]
fn rule_54_a_run_by_requests_delivers_every_record_in_order_also_after_a_restore() {
    let test_stream =
        TestStream::open(Arc::new(Posted::new()), PrefetchSettings::default(), |settings| settings.epochs = Some(1));
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = test_stream.attach(folder.path());
    let seen: Vec<u64> = (0..10).flat_map(|_| batch(&mut trainer)).collect();
    assert_eq!(seen, (0..40).collect::<Vec<_>>());
    let requests = test_stream.runtime.block_on(test_stream.stream.status()).requests.unwrap();
    assert_eq!((requests.most, requests.given_up), (16, 0), "as many as the source allows");
    let state = trainer.state(&mut Patient).unwrap();
    assert_eq!(batch(&mut trainer), [40, 41, 42, 43]);
    trainer.restore(&state, &mut Patient).unwrap();
    let rest: Vec<u64> = (10..50).flat_map(|_| batch(&mut trainer)).collect();
    assert_eq!(rest, (40..LEN).collect::<Vec<_>>());
    assert!(matches!(trainer.next(None, &mut Patient).unwrap(), Next::EpochEnd(0)));
    let audit = trainer.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].complete, audit[0].adds_up), (true, Some(true)));
    test_stream.close(trainer);
}
