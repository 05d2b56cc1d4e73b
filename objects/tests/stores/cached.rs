//! Stores through a cache: what is read once is not asked for again, and no version gets the bytes of another one.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc;

use bytes::Bytes;
use forebay_objects::{Cache, Object, Settings, Store};
use forebay_sources::{ReadErrorKind, Retry};
use hyper::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED};
use hyper::{Method, Response};
use tempfile::TempDir;

use crate::faults::Fault;
use crate::s3::{Bucket, noise, quick, read};
use crate::server::Server;

const MIB: u64 = 1 << 20;
const SIZE: u64 = 3 * MIB + 500;

struct Cached {
    bucket: Bucket,
    bytes: Vec<u8>,
    folder: TempDir,
}

impl Cached {
    fn start() -> Self {
        let (bucket, bytes) = (Bucket::start(), noise(SIZE as usize));
        bucket.object_map.put("a.tar", bytes.clone());
        Self { bucket, bytes, folder: tempfile::tempdir().unwrap() }
    }

    /// A store with the cache, as a new process opens it.
    fn store(&self) -> Arc<Store> {
        let cache = Cache::open(&self.folder.path().join("objects"), 1 << 30).unwrap();
        let settings = Settings { cache: Some(cache), ..self.bucket.settings() };
        Store::open("s3://pictures/", &settings).unwrap()
    }

    fn check(&self, store: &Arc<Store>, object: &Object, range: Range<u64>) {
        let expected = &self.bytes[range.start as usize..range.end as usize];
        assert!(read(store, object, range.clone()) == expected, "{range:?}");
    }

    /// Reads 100 ranges of the first block at once, by these stores in turn.
    fn check_at_once(&self, stores: &[Arc<Store>], object: &Object) {
        let (send, done) = mpsc::channel();
        for (number, store) in stores.iter().cycle().take(100).enumerate() {
            let (send, first) = (send.clone(), number as u64 * 1000);
            let done = move |buf, read| send.send((number, buf, read)).unwrap();
            store.request(object, first..first + 1000, Vec::new(), done);
        }
        drop(send);
        for (number, buf, read) in done {
            read.unwrap();
            assert!(buf == self.bytes[number * 1000..][..1000]);
        }
    }

    /// The ranges that were asked for.
    fn asked(&self) -> Vec<String> {
        self.bucket.server.asked().iter().map(|line| line.rsplit(' ').next().unwrap().to_owned()).collect()
    }
}

#[test]
fn a_block_is_asked_for_once_and_later_processes_find_it() {
    let cached = Cached::start();
    let store = cached.store();
    let object = store.head("a.tar").unwrap();
    cached.asked();
    cached.check(&store, &object, 10..20);
    assert_eq!(cached.asked(), ["bytes=0-1048575"]);
    cached.check(&store, &object, 15..MIB);
    assert_eq!(cached.asked(), Vec::<String>::new());
    cached.check(&store, &object, MIB - 5..SIZE);
    assert_eq!(cached.asked(), [format!("bytes=1048576-{}", SIZE - 1)], "blocks side by side are one request");
    let later = cached.store();
    cached.bucket.server.faults.always(Some(Fault::Answer(503, "SlowDown")));
    for range in [0..SIZE, 0..1, SIZE - 1..SIZE, 100..100, MIB - 1..MIB + 1] {
        cached.check(&later, &object, range);
    }
    assert_eq!(cached.asked(), Vec::<String>::new());
}

#[test]
fn blocks_between_cached_ones_are_filled_in() {
    let cached = Cached::start();
    let store = cached.store();
    let object = store.head("a.tar").unwrap();
    cached.check(&store, &object, MIB..MIB + 1);
    cached.asked();
    cached.check(&store, &object, 0..SIZE);
    let mut asked = cached.asked();
    asked.sort_unstable();
    assert_eq!(asked, ["bytes=0-1048575".to_owned(), format!("bytes=2097152-{}", SIZE - 1)]);
}

#[test]
fn many_readers_of_a_block_ask_for_it_once() {
    let cached = Cached::start();
    let store = cached.store();
    let object = store.head("a.tar").unwrap();
    cached.asked();
    cached.check_at_once(&[store], &object);
    assert_eq!(cached.asked(), ["bytes=0-1048575"]);
}

#[test]
fn rule_54_a_new_version_never_gets_the_bytes_of_an_old_one() {
    let mut cached = Cached::start();
    let store = cached.store();
    let old = store.head("a.tar").unwrap();
    cached.check(&store, &old, 0..SIZE);
    let new_bytes = noise(SIZE as usize + 7)[7..].to_vec();
    cached.bucket.object_map.put("a.tar", new_bytes.clone());
    cached.check(&store, &old, 0..SIZE);
    let new = store.head("a.tar").unwrap();
    cached.bytes = new_bytes;
    cached.check(&store, &new, 0..SIZE);
    cached.folder.close().unwrap();
    cached.folder = tempfile::tempdir().unwrap();
    let error = cached.store().read(&old, 0..10, 10, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Changed, "what is not cached is read from the store");
}

#[test]
fn rule_54_failures_behind_the_cache_are_tried_again_and_outages_are_told() {
    let cached = Cached::start();
    let store = cached.store();
    let object = store.head("a.tar").unwrap();
    cached.bucket.server.faults.next([
        Fault::Reset,
        Fault::Answer(500, "InternalError"),
        Fault::Short,
        Fault::WrongRange,
    ]);
    cached.check(&store, &object, 5..SIZE);
    let cold = Cached::start();
    let store = cold.store();
    let object = store.head("a.tar").unwrap();
    cold.bucket.server.faults.always(Some(Fault::Answer(503, "SlowDown")));
    let mut buf = vec![1];
    let error = store.read(&object, 0..10, 10, &mut buf).unwrap_err();
    assert_eq!((error.retry(), buf.len()), (Retry::Later, 0));
    cold.bucket.server.faults.always(None);
    cold.check(&store, &object, 0..10);
}

#[test]
fn two_streams_of_a_bucket_read_a_block_once() {
    let cached = Cached::start();
    let folder = cached.folder.path().join("objects");
    let open = || {
        let cache = Some(Cache::shared(&folder, 1 << 30).unwrap());
        Store::open("s3://pictures/", &Settings { cache, ..cached.bucket.settings() }).unwrap()
    };
    let stores = [open(), open()];
    let object = stores[0].head("a.tar").unwrap();
    cached.asked();
    cached.check_at_once(&stores, &object);
    assert_eq!(cached.asked(), ["bytes=0-1048575"]);
}

/// A server whose objects have this byte alone, all with the same name and version.
fn server_of(byte: u8) -> Server {
    Server::answering(move |request| {
        let answer =
            Response::builder().header(ETAG, "\"same\"").header(LAST_MODIFIED, "Sun, 22 Nov 2026 10:00:00 GMT");
        if request.method() == Method::HEAD {
            return answer.header(CONTENT_LENGTH, 10).body(Bytes::new()).unwrap();
        }
        let answer = answer.status(206).header(CONTENT_RANGE, "bytes 0-9/10");
        answer.body(Bytes::from(vec![byte; 10])).unwrap()
    })
}

#[test]
fn rule_54_services_with_buckets_of_one_name_share_no_entries() {
    let servers = [server_of(1), server_of(2)];
    let key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    for (url, variable, before) in [
        ("s3://pictures/", "AWS_ENDPOINT_URL", ""),
        ("s3://pictures/", "AWS_ENDPOINT_URL_S3", ""),
        ("gs://pictures/", "STORAGE_EMULATOR_HOST", ""),
        ("gs://pictures/", "GOOGLE_BASE_URL", ""),
        ("az://pictures/", "AZURE_STORAGE_ENDPOINT", ""),
        ("az://pictures/", "AZURE_STORAGE_CONNECTION_STRING", "AccountName=acc;BlobEndpoint="),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("objects"), 1 << 30).unwrap();
        let read_of = |server: &Server| {
            let value = format!("{before}{}", server.url());
            let others = [("AZURE_STORAGE_ACCOUNT", "acc"), ("AZURE_STORAGE_KEY", key)];
            let variables = others.into_iter().chain([(variable, &*value)]);
            let settings = Settings::from_variables(variables.map(|(name, value)| (name.into(), value.into())));
            let (cache, anonymous) = (Some(Arc::clone(&cache)), true);
            let store = Store::open(url, &Settings { cache, anonymous, retries: quick(), ..settings }).unwrap();
            let object = store.head("a.tar").unwrap();
            (object.clone(), read(&store, &object, 0..10))
        };
        let (one, other) = (read_of(&servers[0]), read_of(&servers[1]));
        assert_eq!(one.0, other.0, "the objects cannot be told apart by themselves");
        assert_eq!((one.1, other.1), (vec![1; 10], vec![2; 10]), "{variable}");
        drop(servers.each_ref().map(Server::asked));
        assert_eq!(read_of(&servers[0]).1, [1; 10]);
        let asked = servers[0].asked();
        assert!(asked.iter().all(|line| line.starts_with("HEAD ")), "{variable}: the cache has it: {asked:?}");
    }
}

#[test]
fn a_cache_whose_folder_is_gone_does_not_hinder_reads() {
    let cached = Cached::start();
    let store = cached.store();
    let object = store.head("a.tar").unwrap();
    std::fs::remove_dir_all(cached.folder.path().join("objects")).unwrap();
    cached.check(&store, &object, 0..SIZE);
    cached.check(&store, &object, 0..SIZE);
}
