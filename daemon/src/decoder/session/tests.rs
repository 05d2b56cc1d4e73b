//! What a connection does for daemons that ask for too much, or for nothing more.

use std::future::Future;
use std::path::Path;

use forebay_proto::v1::{DecoderAsk, DecoderCancel};
use tokio::io::duplex;
use tokio::time::Instant;

use super::super::{Datasets, WorkerPool};
use super::*;
use crate::config::Environment;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn decoder() -> Arc<Decoder> {
    Arc::new(Decoder {
        number: 1,
        token: None,
        datasets: Datasets::new(Vec::new(), Environment::of_process()),
        pool: WorkerPool::start(1, 1 << 20).unwrap(),
        connections: AtomicU64::default(),
        ending: watch::channel(None).0,
    })
}

/// What a daemon says first of a folder with one picture.
async fn setup(decoder: &Decoder, folder: &Path) -> DecoderSetup {
    std::fs::write(folder.join("0.ppm"), b"P6\n1 1\n255\nabc").unwrap();
    let settings = serde_json::json!({ "source": folder, "batch_size": 1, "size": 8 }).to_string();
    let section = StreamSection::of_daemon(&settings).unwrap();
    let source = decoder.datasets.open(&section, 1 << 20).await.unwrap();
    DecoderSetup {
        version: REMOTE_VERSION,
        pixels_version: PIXELS_VERSION,
        settings,
        fingerprint: source.fingerprint().to_vec(),
        records: 1,
        pixels: 1 << 20,
        bytes: 1 << 20,
        scans: 10,
        answer_len: answer_len(&section.settings),
        ..DecoderSetup::default()
    }
}

fn says(message: decoder_request::Message) -> DecoderRequest {
    DecoderRequest { message: Some(message) }
}

/// A record that the decoder has with another size, so that it is answered at once.
fn foreign(id: u64) -> DecoderRecord {
    DecoderRecord { id, size: 7, ..DecoderRecord::default() }
}

#[test]
fn rule_60_a_daemon_that_asks_without_end_and_takes_nothing_is_hung_up() {
    let (decoder, folder) = (decoder(), tempfile::tempdir().unwrap());
    run(async {
        let setup = setup(&decoder, folder.path()).await;
        // Room for the greeting, and for few answers.
        let (mut daemon, wire) = duplex(4096);
        let served = tokio::spawn(serve(Arc::clone(&decoder), wire, "a test"));
        write_frame(&mut daemon, &says(decoder_request::Message::Setup(setup)), &[]).await.unwrap();
        let hello = read_frame::<DecoderReply>(&mut daemon, no_body).await.unwrap().unwrap().0.message;
        assert!(matches!(hello, Some(decoder_reply::Message::Hello(_))), "{hello:?}");
        let ask = |first: u64, count: u64| {
            let records = (first..first + count).map(foreign).collect();
            says(decoder_request::Message::Ask(DecoderAsk { records }))
        };
        let mut asked = 0;
        // Until the decoder ends the connection, which breaks a write.
        while asked < 4 * MOST_ASKED && write_frame(&mut daemon, &ask(asked, 64), &[]).await.is_ok() {
            asked += 64;
        }
        assert!(asked < 2 * MOST_ASKED, "{asked} records were taken");
        let error = served.await.unwrap().unwrap_err();
        assert!(error.to_string().contains("asks for more"), "{error}");
    });
}

#[test]
fn rule_60_a_decoder_that_drains_does_not_wait_for_a_record_that_was_cancelled() {
    run(async {
        let (mut daemon, mut wire) = duplex(4096);
        let (_answers, sent) = mpsc::unbounded_channel();
        let (ending, told) = watch::channel(None);
        let (under_way, idle) = (Arc::new(AtomicU64::new(1)), Arc::new(Notify::new()));
        let (counted, heard) = (Arc::clone(&under_way), Arc::clone(&idle));
        let sends = tokio::spawn(async move { send(&mut wire, sent, told, (&counted, &heard)).await });
        ending.send_replace(Some(Instant::now() + Duration::from_secs(3600)));
        let goodbye = read_frame::<DecoderReply>(&mut daemon, no_body).await.unwrap().unwrap().0.message;
        assert!(matches!(goodbye, Some(decoder_reply::Message::Goodbye(_))), "{goodbye:?}");
        assert!(!sends.is_finished(), "a record is under way");
        under_way.fetch_sub(1, Ordering::SeqCst);
        idle.notify_one();
        sends.await.unwrap().unwrap();
    });
}

#[test]
fn rule_60_a_record_that_is_cancelled_before_it_is_read_is_not_under_way_any_more() {
    let (decoder, folder) = (decoder(), tempfile::tempdir().unwrap());
    run(async {
        let setup = setup(&decoder, folder.path()).await;
        let opened = open(&decoder, &setup).await.unwrap();
        let (answers, mut sent) = mpsc::unbounded_channel();
        let session = Session {
            connection: 1,
            stream: Arc::new(opened),
            ending: decoder.ending.subscribe(),
            under_way: Arc::default(),
            idle: Arc::default(),
            answers,
            decoder: Arc::clone(&decoder),
        };
        let size = session.stream.source.size(0);
        let mut requests = Vec::new();
        let records = (0..9).map(|id| DecoderRecord { id, size, ..DecoderRecord::default() }).collect();
        write_frame(&mut requests, &says(decoder_request::Message::Ask(DecoderAsk { records })), &[]).await.unwrap();
        let ids = (0..9).collect();
        write_frame(&mut requests, &says(decoder_request::Message::Cancel(DecoderCancel { ids })), &[]).await.unwrap();
        session.take(&mut requests.as_slice()).await.unwrap();
        // Those that were begun are answered; the others are forgotten. Both are told once.
        let begun = session.under_way.load(Ordering::SeqCst);
        for _ in 0..begun {
            assert!(sent.recv().await.is_some());
        }
        drop(session);
        assert!(sent.recv().await.is_none(), "no further answer comes");
    });
}
