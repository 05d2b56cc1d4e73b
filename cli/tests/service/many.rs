//! A daemon of very many streams and bad records, as commands see it. It is made by hand: such a daemon would take the memory of a whole machine.

use std::vec::IntoIter;
use std::{fs, io};

use forebay_proto::v1::control_server::{Control, ControlServer};
use forebay_proto::v1::{
    DrawingReply, DrawingRequest, QuarantineRequest, QuarantinedRecord, ReloadReply, ReloadRequest, RenewRunReply,
    RenewRunRequest, StatusReply, StatusRequest, StreamAudit, StreamAuditRequest, StreamQuarantine, StreamStatus,
};
use futures_util::stream::{Empty, Iter, iter, unfold};
use tokio::net::UnixListener;
use tonic::{Request, Response, Status};

use crate::daemon::{Home, runtime, stderr};
use crate::page::Page;

const STREAMS: usize = 10_000;
/// Of each stream.
const BAD: u64 = 100_000;
/// Of them in one message.
const TOGETHER: u64 = 1000;

/// A daemon that only tells its status and its bad records.
struct Crowded;

#[tonic::async_trait]
impl Control for Crowded {
    type ListQuarantineStream = Iter<IntoIter<Result<StreamQuarantine, Status>>>;
    type ListAuditsStream = Empty<Result<StreamAudit, Status>>;

    async fn status(&self, _: Request<StatusRequest>) -> Result<Response<StatusReply>, Status> {
        let stream = |number| StreamStatus {
            name: format!("s{number:05}"),
            source: "/data/".to_owned() + &"folder/".repeat(100),
            ..Default::default()
        };
        Ok(Response::new(StatusReply { pid: 7, streams: (0..STREAMS).map(stream).collect(), ..Default::default() }))
    }

    async fn list_quarantine(
        &self,
        request: Request<QuarantineRequest>,
    ) -> Result<Response<Self::ListQuarantineStream>, Status> {
        let stream = request.into_inner().stream;
        let record = |record| QuarantinedRecord {
            record,
            file: format!("{record}.jpg"),
            reason: "truncated".into(),
            ..Default::default()
        };
        let page = |number: u64| {
            let records = (number * TOGETHER..(number + 1) * TOGETHER).map(record).collect();
            Ok(StreamQuarantine { stream: stream.clone(), records, quarantined: BAD })
        };
        Ok(Response::new(iter((0..BAD / TOGETHER).map(page).collect::<Vec<_>>())))
    }

    async fn list_audits(&self, _: Request<StreamAuditRequest>) -> Result<Response<Self::ListAuditsStream>, Status> {
        Err(Status::unimplemented("it only tells its status and its bad records"))
    }

    async fn drawing(&self, _: Request<DrawingRequest>) -> Result<Response<DrawingReply>, Status> {
        Err(Status::unimplemented("it only tells its status and its bad records"))
    }

    async fn renew_run(&self, _: Request<RenewRunRequest>) -> Result<Response<RenewRunReply>, Status> {
        Err(Status::unimplemented("it only tells its status and its bad records"))
    }

    async fn reload(&self, _: Request<ReloadRequest>) -> Result<Response<ReloadReply>, Status> {
        Err(Status::unimplemented("it only tells its status and its bad records"))
    }
}

#[test]
fn ten_thousand_streams_and_their_bad_records_are_told_whole_by_status_and_in_parts_by_the_page() {
    let home = Home::with_pictures(0);
    fs::create_dir(home.path("sockets")).unwrap();
    let serving = runtime();
    let _within = serving.enter();
    let listener = UnixListener::bind(home.path("sockets").join("control.sock")).unwrap();
    let incoming = unfold(listener, async |listener| {
        let accepted = listener.accept().await.map(|(stream, _)| stream);
        Some((accepted as io::Result<_>, listener))
    });
    let server = tonic::transport::Server::builder().add_service(ControlServer::new(Crowded));
    std::thread::scope(|scope| {
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let until = async {
            let _dropped = ended.await;
        };
        scope.spawn(|| serving.block_on(server.serve_with_incoming_shutdown(incoming, until)).unwrap());
        let status = home.command(&["status"]);
        let text = String::from_utf8(status.stdout.clone()).unwrap();
        assert!(status.status.success(), "{}", stderr(&status));
        assert_eq!(text.matches("\nstream s").count(), STREAMS);
        let page = Page::with(&["--socket-dir", home.path("sockets").to_str().unwrap()]);
        let last = page.shows("?part=100");
        assert!(last.contains(">s09999</a>") && !last.contains(">s09899</a>"), "{last}");
        assert_eq!(page.get("stream?daemon=7&name=s04321").status, 200);
        for (part, first) in [(1, ">0.jpg<"), (1000, ">99900.jpg<")] {
            let bad = page.shows(&format!("quarantine?daemon=7&name=s04321&part={part}"));
            assert!(bad.contains(first) && bad.matches(">truncated<").count() == 100, "{bad}");
            assert_eq!(bad.contains("next rows"), part == 1);
        }
        drop((page, end));
    });
}
