//! Buckets of S3, against the protocol's implementation in the crate `s3s`, which also checks signatures.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use forebay_objects::{Object, Retries, Settings, Store};
use forebay_sources::Backoff;
use http_body_util::BodyExt as _;
use s3s::auth::SimpleAuth;
use s3s::dto;
use s3s::service::S3ServiceBuilder;
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

use crate::object_map::{ObjectMap, etag};
use crate::server::{Handler, Server};

const BUCKET: &str = "pictures";
pub(crate) const KEY_ID: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG";

/// Retries without long waits.
pub(crate) fn quick() -> Retries {
    let waits = Backoff { first: Duration::from_millis(1), longest: Duration::from_millis(2) };
    Retries { waits, ..Retries::default() }
}

/// The same for a server that is silent on purpose. A machine that is busy is silent for a while too: no test that uses this
/// may count attempts.
pub(crate) fn impatient() -> Retries {
    Retries { silence: Duration::from_millis(500), ..quick() }
}

/// A bucket on a server of its own.
pub(crate) struct Bucket {
    pub(crate) object_map: ObjectMap,
    pub(crate) server: Server,
}

impl Bucket {
    pub(crate) fn start() -> Self {
        let object_map = ObjectMap::default();
        let mut builder = S3ServiceBuilder::new(Shop(object_map.clone()));
        builder.set_auth(SimpleAuth::from_single(KEY_ID, SECRET));
        let service = builder.build().into_shared();
        let handler: Handler = Arc::new(move |request| {
            let service = service.clone();
            Box::pin(async move {
                let answer = hyper::service::Service::call(&service, request).await.unwrap();
                let (parts, body) = answer.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                hyper::Response::from_parts(parts, body)
            })
        });
        Self { object_map, server: Server::start(handler) }
    }

    pub(crate) fn settings(&self) -> Settings {
        let variables = [
            ("AWS_ACCESS_KEY_ID", KEY_ID),
            ("AWS_SECRET_ACCESS_KEY", SECRET),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &self.server.url()),
        ];
        let settings = Settings::from_variables(variables.map(|(name, value)| (name.into(), value.into())));
        Settings { retries: quick(), ..settings }
    }

    pub(crate) fn store(&self) -> Arc<Store> {
        Store::open(&format!("s3://{BUCKET}/"), &self.settings()).unwrap()
    }
}

/// Reads a range, whatever its size.
pub(crate) fn read(store: &Arc<Store>, object: &Object, range: std::ops::Range<u64>) -> Vec<u8> {
    let mut buf = Vec::new();
    store.read(object, range, u64::MAX, &mut buf).unwrap();
    buf
}

/// Bytes that differ everywhere.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    bytes
}

/// The operations of S3 that are used.
#[derive(Clone, Debug)]
struct Shop(ObjectMap);

#[async_trait::async_trait]
impl S3 for Shop {
    async fn get_object(&self, request: S3Request<dto::GetObjectInput>) -> S3Result<S3Response<dto::GetObjectOutput>> {
        let input = request.input;
        if input.bucket != BUCKET {
            return Err(s3_error!(NoSuchBucket));
        }
        let bytes = self.0.get(&input.key).ok_or_else(|| s3_error!(NoSuchKey))?;
        let version = etag(&bytes);
        if input.if_match.is_some_and(|wanted| wanted.trim_matches('"') != version) {
            return Err(s3_error!(PreconditionFailed));
        }
        let size = bytes.len() as u64;
        let range = input.range.map(|range| range.check(size)).transpose()?;
        let content_range = range.as_ref().map(|range| format!("bytes {}-{}/{size}", range.start, range.end - 1));
        let range = range.unwrap_or(0..size);
        let part = Bytes::from(bytes).slice(range.start as usize..range.end as usize);
        let output = dto::GetObjectOutput {
            content_length: Some(part.len() as i64),
            content_range,
            e_tag: Some(format!("\"{version}\"")),
            last_modified: Some(SystemTime::now().into()),
            body: Some(s3s::Body::from(part).into()),
            ..Default::default()
        };
        Ok(S3Response::new(output))
    }

    async fn head_object(
        &self,
        request: S3Request<dto::HeadObjectInput>,
    ) -> S3Result<S3Response<dto::HeadObjectOutput>> {
        let bytes = self.0.get(&request.input.key).ok_or_else(|| s3_error!(NoSuchKey))?;
        let output = dto::HeadObjectOutput {
            content_length: Some(bytes.len() as i64),
            e_tag: Some(format!("\"{}\"", etag(&bytes))),
            last_modified: Some(SystemTime::now().into()),
            ..Default::default()
        };
        Ok(S3Response::new(output))
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<dto::ListObjectsV2Input>,
    ) -> S3Result<S3Response<dto::ListObjectsV2Output>> {
        let input = request.input;
        if input.bucket != BUCKET {
            return Err(s3_error!(NoSuchBucket));
        }
        let limit = input.max_keys.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap());
        let prefix = input.prefix.unwrap_or_default();
        let page = self.0.page(&prefix, input.delimiter.as_deref(), input.continuation_token.as_deref(), limit);
        let object = |entry: crate::object_map::Entry| dto::Object {
            key: Some(entry.key),
            size: Some(entry.size as i64),
            e_tag: Some(format!("\"{}\"", entry.etag)),
            last_modified: Some(SystemTime::now().into()),
            ..Default::default()
        };
        let output = dto::ListObjectsV2Output {
            contents: Some(page.entries.into_iter().map(object).collect()),
            common_prefixes: Some(
                page.prefixes.into_iter().map(|prefix| dto::CommonPrefix { prefix: Some(prefix) }).collect(),
            ),
            is_truncated: Some(page.next.is_some()),
            next_continuation_token: page.next,
            ..Default::default()
        };
        Ok(S3Response::new(output))
    }
}

#[test]
fn a_list_of_2500_keys_over_pages_is_complete_and_sorted_by_bytes() {
    let bucket = Bucket::start();
    let mut keys: Vec<_> = (0..2500).map(|number| format!("train/{:02}/{number:05}.jpg", number % 3)).collect();
    keys.extend(
        ["train/a-b.jpg", "train/a.jpg", "train/a/b.jpg", "train/\u{e9}.jpg", "train/Z.jpg"].map(str::to_owned),
    );
    for key in &keys {
        bucket.object_map.put(key, key.as_bytes());
    }
    bucket.object_map.put("training/other.jpg", "other");
    keys.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    let mut counts = Vec::new();
    let listed = bucket.store().list("train/", &mut |count| counts.push(count)).unwrap();
    assert_eq!(listed.iter().map(|object| object.key.clone()).collect::<Vec<_>>(), keys);
    assert!(listed.iter().all(|object| object.size == object.key.len() as u64));
    assert!(listed.iter().all(|object| object.version.as_deref() == Some(&*etag(object.key.as_bytes()))));
    assert_eq!(counts.last(), Some(&(keys.len() as u64)), "progress is told");
    assert!(counts.is_sorted());
    let flat: Vec<_> = bucket.store().list("tr", &mut |_| {}).unwrap();
    assert_eq!(flat.len(), keys.len() + 1, "a prefix is not a folder");
}

#[test]
fn many_folders_are_listed_side_by_side_and_none_is_lost() {
    let bucket = Bucket::start();
    let keys: Vec<_> = (0..1100).map(|number| format!("n{number:08}/deep/er/a.jpg")).collect();
    for key in &keys {
        bucket.object_map.put(key, "a");
    }
    let listed = bucket.store().list("", &mut |_| {}).unwrap();
    assert_eq!(listed.into_iter().map(|object| object.key).collect::<Vec<_>>(), keys);
}

#[test]
fn marks_of_folders_are_left_out_and_empty_objects_are_not() {
    let bucket = Bucket::start();
    for mark in ["train/", "train/cat/", "train/nothing/", "train/deep/", "train/deep/er/"] {
        bucket.object_map.put(mark, "");
    }
    for number in 0..20 {
        bucket.object_map.put(&format!("train/deep/er/{number}/"), "");
    }
    bucket.object_map.put("train/cat/1.jpg", "cat");
    bucket.object_map.put("train/empty.jpg", "");
    bucket.object_map.put("train/deep/er/empty.jpg", "");
    bucket.object_map.put("train/deep/er/7/seven.jpg", "7");
    for prefix in ["", "train", "train/"] {
        let listed = bucket.store().list(prefix, &mut |_| {}).unwrap();
        let keys: Vec<_> = listed.iter().map(|object| object.key.as_str()).collect();
        let expected = ["train/cat/1.jpg", "train/deep/er/7/seven.jpg", "train/deep/er/empty.jpg", "train/empty.jpg"];
        assert_eq!(keys, expected, "{prefix}");
    }
}

#[test]
fn empty_files_cost_no_request_each() {
    let bucket = Bucket::start();
    for number in 0..50 {
        bucket.object_map.put(&format!("labels/{number}.txt"), "");
        bucket.object_map.put(&format!("names/{number}"), "");
    }
    for number in 0..20 {
        bucket.object_map.put(&format!("sets/{number}/labels/1.txt"), "");
    }
    let store = bucket.store();
    bucket.server.asked();
    assert_eq!(store.list("", &mut |_| {}).unwrap().len(), 120);
    assert_eq!(bucket.server.asked().len(), 1 + 3 + 20, "one for each folder that is looked into");
}

#[test]
fn a_list_with_a_limit_ends_once_there_are_more_objects() {
    let bucket = Bucket::start();
    (0..200).for_each(|number| bucket.object_map.put(&format!("{number:03}.jpg"), "a"));
    let store = bucket.store();
    assert_eq!(store.list_within("", 200, &mut |_| {}).unwrap().map(|objects| objects.len()), Some(200));
    assert_eq!(store.list_within("", 10, &mut |_| {}).unwrap(), None);
    assert_eq!(store.list_within("", 199, &mut |_| {}).unwrap(), None);
}

#[test]
fn keys_with_percents_pluses_and_spaces_are_the_same_in_lists_and_reads() {
    let bucket = Bucket::start();
    let keys = ["a b/c+d.jpg", "a%20b/c%2Bd.jpg", "100%.jpg", "#?&=;.jpg", "\u{732b}/\u{e9}~'()*!.jpg", "a\\b\"<>.jpg"];
    for key in keys {
        bucket.object_map.put(key, format!("bytes of {key}"));
    }
    let store = bucket.store();
    let listed = store.list("", &mut |_| {}).unwrap();
    assert_eq!(listed.len(), keys.len());
    for object in &listed {
        assert_eq!(read(&store, object, 0..object.size), format!("bytes of {}", object.key).into_bytes());
        assert_eq!(store.head(&object.key).unwrap(), *object);
        assert_eq!(store.key(&format!("s3://{BUCKET}/{}", object.key)), Some(object.key.as_str()));
    }
}

#[test]
fn ranges_are_read_and_buffers_used_again() {
    let bucket = Bucket::start();
    let bytes = noise(300_000);
    bucket.object_map.put("a.tar", bytes.clone());
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    let mut buf = vec![9; 10];
    for (start, end) in [(0, 300_000), (0, 1), (299_999, 300_000), (512, 1024), (100, 100)] {
        store.read(&object, start..end, 300_000, &mut buf).unwrap();
        assert_eq!(buf, bytes[start as usize..end as usize]);
    }
}

#[test]
fn requests_give_their_buffers_back_without_a_waiting_thread() {
    let bucket = Bucket::start();
    let bytes = noise(64 << 10);
    bucket.object_map.put("a.tar", bytes.clone());
    let store = bucket.store();
    let object = store.head("a.tar").unwrap();
    let (send, done) = std::sync::mpsc::channel();
    for number in 0..300_u64 {
        let send = send.clone();
        store.request(&object, number * 100..number * 100 + 50, Vec::with_capacity(64), move |buf, read| {
            send.send((number, buf, read)).unwrap();
        });
    }
    drop(send);
    let mut seen = vec![false; 300];
    for (number, buf, read) in done {
        read.unwrap();
        assert_eq!(buf, bytes[number as usize * 100..][..50]);
        seen[number as usize] = true;
    }
    assert!(seen.into_iter().all(|seen| seen));
}
