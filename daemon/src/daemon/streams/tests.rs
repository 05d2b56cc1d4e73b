//! Tests of streams that trainers wait for while the configuration changes, and of a stream that has already ended.

use super::*;
use crate::config::{Config, Environment};
use crate::daemon::DaemonKind;
use crate::daemon::gates::StreamKey;

fn streams(config: Config, kind: DaemonKind) -> Arc<Streams> {
    let shared = Shared::start(&config, &Environment::default()).unwrap();
    Arc::new(Streams::new(1, 0, Configuration::new(config, kind), shared))
}

fn config(settings: &str) -> Config {
    let text = format!("[streams.train]\nsource = \"/a\"\nsize = 16\n{settings}");
    Config::parse(&text, "a.toml").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_waited_for_is_what_a_reload_makes_of_it_or_is_refused() {
    let kind = DaemonKind::Service { ledgers: Ledgers::File("ledgers.redb".into()), configuration: None };
    let streams = streams(config("batch_size = 4\n"), kind);
    let wanted = streams.configuration.wanted("train", None, None).unwrap();
    let reload = |config| streams.configuration.replace(config);
    reload(config("batch_size = 8\n"));
    assert_eq!(streams.configuration.by_now(&wanted).unwrap().section.settings.batch_size, 8);
    reload(config("batch_size = 8\nnum_shards = 2\n"));
    assert!(matches!(*streams.configuration.by_now(&wanted).unwrap_err(), OpenError::Resharded));
    reload(Config::default());
    assert!(matches!(*streams.configuration.by_now(&wanted).unwrap_err(), OpenError::Removed));
    assert!(matches!(*streams.enter(wanted).await.unwrap_err(), OpenError::Removed));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_private_stream_that_has_ended_already_leaves_no_gate() {
    let streams = streams(Config::default(), DaemonKind::Private { runs: None });
    ending::end_private(&streams, &StreamKey { run: "r".into(), stream: "s".into() }, None).await;
    assert_eq!(streams.gates.lock().close().len(), 0);
}
