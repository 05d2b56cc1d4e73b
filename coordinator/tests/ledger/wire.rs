//! The same coordinator over gRPC, through a pipe in memory.

use forebay_coordinator::LedgerService;
use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    AckRequest, AcquireRequest, BadRecord, Caller, HeartbeatRequest, ListQuarantineRequest, NackRequest,
    QuarantinedRecord, Verdict, acquire_reply::Answer, ledger_client::LedgerClient, ledger_server::LedgerServer,
};
use hyper_util::rt::TokioIo;
use tonic::transport::{Channel, Endpoint, Server, Uri};

use crate::scene::{Scene, spec};

async fn connect(scene: &Scene) -> LedgerClient<Channel> {
    let (client, server) = tokio::io::duplex(64 * 1024);
    let service = LedgerServer::new(LedgerService(scene.handle()));
    let connections = tokio_stream::once(Ok::<_, std::io::Error>(server));
    tokio::spawn(Server::builder().add_service(service).serve_with_incoming(connections));
    let mut client = Some(client);
    let connector = tower::service_fn(move |_: Uri| {
        let pipe = client.take().ok_or_else(|| std::io::Error::other("the pipe connects once"));
        async { pipe.map(TokioIo::new) }
    });
    let channel = Endpoint::from_static("http://pipe").connect_with_connector(connector).await.unwrap();
    LedgerClient::new(channel)
}

#[test]
fn a_worker_at_the_other_end_of_grpc_sees_the_same_ledger() {
    let scene = Scene::new(spec(10), 10, 1);
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut client = connect(&scene).await;
        let opened = client.open(scene.open_request("far", 1)).await.unwrap().into_inner();
        let caller = |sequence| {
            Some(Caller {
                ledger: opened.ledger.clone(),
                worker: "far".to_owned(),
                incarnation: 1,
                sequence,
                unseen: 0,
            })
        };
        let reply = client
            .acquire(AcquireRequest { caller: caller(1), leases: 1, ..AcquireRequest::default() })
            .await
            .unwrap()
            .into_inner();
        let items = vec![scene.delivered(&reply.leases[0])];
        let acked =
            client.ack(AckRequest { caller: caller(2), items, ..AckRequest::default() }).await.unwrap().into_inner();
        assert_eq!(acked.verdicts().collect::<Vec<_>>(), [Verdict::Accepted]);
        let done = client
            .acquire(AcquireRequest { caller: caller(3), leases: 1, ..AcquireRequest::default() })
            .await
            .unwrap()
            .into_inner();
        assert_eq!(done.answer(), Answer::DatasetDone);

        let stale = Caller { incarnation: 2, ..caller(0).unwrap() };
        let refused = client
            .heartbeat(HeartbeatRequest { caller: Some(stale), ..HeartbeatRequest::default() })
            .await
            .unwrap_err();
        assert!(matches!(CallError::from(refused), CallError::Fenced(_)));

        // The handle itself, beside the wire.
        let beat =
            scene.handle().call(HeartbeatRequest { caller: caller(0), ..HeartbeatRequest::default() }).await.unwrap();
        assert_eq!(beat.lease_ttl_ms, 30_000);
    });
}

#[test]
fn a_quarantine_that_no_message_could_hold_comes_over_grpc_page_by_page() {
    const RECORDS: u64 = 8000;
    let scene = Scene::new(spec(RECORDS), RECORDS, 1);
    let mut daemon = scene.daemon("node", 1);
    let lease = daemon.lease(&scene);
    let bad = |position| BadRecord {
        lease: lease.id,
        position,
        record: scene.plan.record(0, position),
        file: "f".repeat(1000),
        reason: "no picture".to_owned(),
        ..BadRecord::default()
    };
    let records = (0..RECORDS).map(bad).collect();
    scene.call(NackRequest { caller: Some(daemon.next()), records }).unwrap();
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let mut client = connect(&scene).await;
        let mut listed: Vec<QuarantinedRecord> = Vec::new();
        let mut pages = 0;
        loop {
            let after = listed.last().map(QuarantinedRecord::key);
            let request = ListQuarantineRequest { ledger: "run/train/all".to_owned(), after };
            let page = client.list_quarantine(request).await.unwrap().into_inner();
            assert_eq!(page.quarantined, RECORDS);
            listed.extend(page.records);
            pages += 1;
            if !page.more {
                break;
            }
        }
        assert!(pages > 1, "all fitted into one page");
        assert_eq!(listed.iter().map(|bad| bad.record).collect::<Vec<_>>(), (0..RECORDS).collect::<Vec<_>>());
    });
}
