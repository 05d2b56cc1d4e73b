//! Checks a configuration against the machine that checks it: what does it require that the machine does not have?

use std::path::Path;

use forebay_ledger_client::TokenFile;
use forebay_pipeline::ByteSize;
use forebay_pipeline::settings::{GroupPolicy, Numa};
use forebay_printable::printable;
use forebay_ring::numa_nodes;
use forebay_sources::Options;
use rustix::system::sysinfo;

use super::mistake::Mistake;
use super::{Config, Environment, Metrics, SourceRights};
use crate::group;

/// Longest path of a Unix socket: `sockaddr_un` has 108 bytes, and the last one ends it.
const SOCKET_PATH: usize = 107;
/// Names of the sockets, all of this length, and the separator before them.
const SOCKET_NAME: usize = "/forebay.sock".len();

/// All files that do not exist. Permissions are not checked, since the user who checks may not be the one who serves.
pub(super) fn missing(config: &Config, environment: &Environment) -> Vec<Mistake> {
    let memory = sysinfo();
    let mut found = Found::default();
    found.sockets(config, environment);
    found.streams(config);
    found.memory(config, memory.totalram.saturating_mul(memory.mem_unit.into()));
    if let Err(error) = config.sources.disk_cache(environment) {
        found.add("sources.cache", format!("cannot be used. {error}"));
    }
    if let Some(file) = config.decode.nvjpeg.as_deref() {
        found.path("decode.nvjpeg", file);
    }
    if let Some(remote) = &config.coordinator.remote {
        let certificate = remote.certificate.as_ref();
        let files = [
            ("token_file", remote.token.as_deref()),
            ("tls_ca", remote.authority.as_deref()),
            ("tls_certificate", certificate.map(|files| &*files.certificate)),
            ("tls_key", certificate.map(|files| &*files.key)),
        ];
        if let Err(error) = config.coordinator.name(environment) {
            found.add("coordinator.node", format!("is left out. {error}"));
        }
        for (key, file) in files.into_iter().filter_map(|(key, file)| Some((key, file?))) {
            found.path(format!("coordinator.{key}"), file);
        }
        if let Some(Err(error)) = remote.token.as_deref().map(TokenFile::check_content) {
            found.add("coordinator.token_file", format!("is wrong: {error}."));
        }
    }
    found.0
}

#[derive(Default)]
struct Found(Vec<Mistake>);

impl Found {
    fn add(&mut self, key: impl Into<String>, problem: String) {
        self.0.push(Mistake { key: key.into(), problem, line: None });
    }

    fn path(&mut self, key: impl Into<String>, path: &Path) {
        if let Err(error) = path.metadata() {
            self.add(key, format!("is \"{}\", which cannot be used: {error}.", printable(path)));
        }
    }

    fn group(&mut self, key: impl Into<String>, name: Option<&String>) {
        if let Some(name) = name.filter(|name| group::number(name).is_none()) {
            self.add(
                key,
                format!("is {name:?}, and this machine has no such group; {REMEDY}.", REMEDY = group::REMEDY),
            );
        }
    }

    fn sockets(&mut self, config: &Config, environment: &Environment) {
        let folder = config.control.dir.clone().unwrap_or_else(|| environment.socket_dir());
        let long = |path: usize| {
            format!("makes a socket's path of {path} bytes, and the kernel takes {SOCKET_PATH}; give a shorter one.")
        };
        let path = folder.as_os_str().len() + SOCKET_NAME;
        if path > SOCKET_PATH {
            self.add("control.dir", long(path));
        }
        if let Metrics::Socket(path) = &config.metrics
            && path.as_os_str().len() > SOCKET_PATH
        {
            self.add("metrics.socket", long(path.as_os_str().len()));
        }
        self.group("control.unix_group", config.control.unix_group.as_ref());
    }

    fn streams(&mut self, config: &Config) {
        for (name, stream) in &config.streams {
            let key = |key: &str| format!("streams.{name}.{key}");
            let SourceRights { readers, objects } = config.sources.rights();
            let options = Options { readers, objects, ..stream.dataset.options() };
            if let Some(sources) = &stream.dataset.source
                && let Err(error) = forebay_formats::check_all(sources, &options)
            {
                self.add(key("source"), format!("cannot be used. {error}"));
            }
            // A store is asked when the dataset is opened: it may be out for now.
            if let Some(root) =
                stream.dataset.root.as_ref().filter(|root| root.to_str().is_none_or(|root| !root.contains("://")))
            {
                self.path(key("root"), root);
            }
            self.group(key("unix_group"), stream.unix_group.as_ref());
            if stream.settings.delivery.groups == GroupPolicy::Each && config.coordinator.remote.is_some() {
                let problem = "is \"each\", which does not work with coordinator.endpoint. Leave the endpoint out, so that each \
                               node runs the stream for itself, or give each trainer a shard with num_shards.";
                self.add(key("groups"), problem.to_owned());
            }
        }
    }

    /// Streams of one dataset may share a cache, whose memory counts once.
    fn memory(&mut self, config: &Config, total: u64) {
        let has = format!("{} MiB", total >> 20);
        if let Some(memory) = config.ring.memory.filter(|memory| memory.0 > total) {
            self.add("ring.memory", format!("is {memory}, and this machine has {has}; give less."));
        }
        if let Numa::Node(node) = config.ring.numa {
            let there = numa_nodes();
            if !there.contains(&node) {
                self.add(
                    "ring.numa",
                    format!("is {node}, and this machine has memory on the NUMA nodes {there:?}; name one of them."),
                );
            }
        }
        let (mut counted, mut taken) = (Vec::new(), 0u64);
        for (name, stream) in &config.streams {
            let Some(cache) = stream.settings.cache else { continue };
            let shared = (&stream.dataset.source, &stream.dataset.root, cache);
            if counted.contains(&shared) {
                continue;
            }
            counted.push(shared);
            taken = taken.saturating_add(cache.memory.0);
            if taken > total {
                let beside = if counted.len() > 1 { ", with those of the streams before it" } else { "" };
                self.add(
                    format!("streams.{name}.cache.memory"),
                    format!("sets {} aside{beside}, and this machine has {has}; give less.", ByteSize(taken)),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        match Config::check(text, "forebay.toml", &Environment::default()) {
            Ok(_) => String::new(),
            Err(mistakes) => mistakes.to_string(),
        }
    }

    #[test]
    fn what_the_machine_does_not_have_is_named_with_its_line() {
        let long = "x".repeat(120);
        let text = format!(
            "[streams.train]\nsource = \"/nowhere/data\"\nbatch_size = 4\nsize = 8\nunix_group = \"no-such-group\"\n\
             cache = {{ keep = \"encoded\", memory = \"100tb\" }}\n[control]\ndir = \"/{long}\"\nunix_group = \"no-such-group\"\n\
             [metrics]\nsocket = \"/{long}\"\n[decode]\nnvjpeg = \"/nowhere/libnvjpeg.so\"\n[ring]\nmemory = \"100tb\"\nnuma = 1023\n"
        );
        let said = said(&text);
        for words in [
            "There are 9 mistakes in forebay.toml:",
            "line 2: streams.train.source: cannot be used. \"/nowhere/data\" does not exist.",
            "line 5: streams.train.unix_group: is \"no-such-group\"",
            "line 6: streams.train.cache.memory: sets 100tb aside",
            "line 8: control.dir: makes a socket's path of 134 bytes, and the kernel takes 107",
            "line 9: control.unix_group: is \"no-such-group\"",
            "line 11: metrics.socket: makes a socket's path of 121 bytes",
            "line 13: decode.nvjpeg: is \"/nowhere/libnvjpeg.so\"",
            "line 15: ring.memory: is 100tb",
            "line 16: ring.numa: is 1023, and this machine has memory on the NUMA nodes [",
        ] {
            assert!(said.contains(words), "{words:?} is not in:\n{said}");
        }
    }

    #[test]
    fn rule_25_a_file_without_a_token_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let text =
            format!("[coordinator]\nendpoint = \"http://127.0.0.1:7171\"\ntoken_file = \"{}\"\n", file.display());
        std::fs::write(&file, "a token of four words\n").unwrap();
        let said_of_words = said(&text);
        assert!(
            said_of_words.contains("line 3: coordinator.token_file: is wrong: ")
                && said_of_words.contains("without spaces."),
            "{said_of_words}"
        );
        std::fs::write(&file, "a-token-of-four-words\n").unwrap();
        assert_eq!(said(&text), "");
    }

    #[test]
    fn rule_55_a_reader_below_no_folder_of_readers_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("reader.py");
        std::fs::write(&file, "").unwrap();
        let text = format!("[streams.train]\nsource = \"python:{}\"\nbatch_size = 4\nsize = 8\n", file.display());
        assert!(said(&text).contains("streams.train.source: cannot be used. The reader"), "{}", said(&text));
        assert_eq!(said(&format!("{text}[sources]\npython = [\"{}\"]\n", folder.path().display())), "");
    }

    #[test]
    fn a_source_with_a_scheme_is_looked_for_as_it_will_be_opened() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), "x.jpg\n").unwrap();
        let source = |name: &str| {
            let text = format!("[streams.train]\nsource = \"{name}\"\nbatch_size = 4\nsize = 8\n");
            said(&text.replace("HERE", folder.path().to_str().unwrap()))
        };
        for there in ["csv:HERE/a.csv", "HERE/a.csv", "csv:HERE/a.csv?root=/data", "HERE/{a,a}.csv"] {
            assert_eq!(source(there), "", "{there}");
        }
        for (wrong, words) in [
            ("csv:HERE/b.csv", "b.csv\" does not exist"),
            ("cvs:HERE/a.csv", "not a source that this version knows"),
            ("csv:HERE/a.csv?rot=/", "has no option \"rot\""),
        ] {
            assert!(source(wrong).contains(words), "{wrong}: {}", source(wrong));
        }
    }

    #[test]
    fn what_the_machine_has_is_no_mistake_and_a_shared_cache_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let total = sysinfo();
        let most = total.totalram.saturating_mul(total.mem_unit.into()) / 3 * 2;
        let source = folder.path().display();
        let stream = |name: &str, memory: u64| {
            format!(
                "[streams.{name}]\nsource = \"{source}\"\nbatch_size = 4\nsize = 8\n\
                 cache = {{ keep = \"encoded\", memory = {memory} }}\n"
            )
        };
        assert_eq!(said(&(stream("a", most) + &stream("b", most))), "");
        let other = said(&(stream("a", most) + &stream("b", most - 1)));
        assert!(
            other.contains("line 10: streams.b.cache.memory: sets") && other.contains("streams before it"),
            "{other}"
        );
    }
}
