//! Which changes of the configuration a running daemon adopts, and which keys keep their value until a restart.

use super::{Config, StreamSection, stream};

/// The configuration after a reload, and the result of each change.
#[derive(Debug)]
pub struct Change {
    /// The configuration that is valid from now on.
    pub config: Config,
    /// Streams to end before they are opened again. They are not open now, and their settings have changed or were
    /// removed.
    pub replaced: Vec<String>,
    /// Keys whose new value was adopted.
    pub taken: Vec<String>,
    /// Keys that keep their old value, each with the reason.
    pub refused: Vec<String>,
}

impl Change {
    /// From a configuration to the next one. New streams and new limits are adopted.
    pub fn between(now: &Config, next: &Config, is_open: impl Fn(&str) -> bool) -> Self {
        let mut change = Self { config: now.clone(), replaced: Vec::new(), taken: Vec::new(), refused: Vec::new() };
        change.limits(now, next);
        change.fixed(now, next);
        for (name, settings) in &next.streams {
            match now.streams.get(name) {
                None => {
                    change.taken.push(format!("streams.{name}"));
                    change.config.streams.insert(name.clone(), settings.clone());
                }
                Some(old) if is_open(name) => change.open_stream(name, old, settings),
                Some(old) if old != settings => {
                    change.taken.extend(differences(old, settings).map(|key| format!("streams.{name}.{key}")));
                    change.replaced.push(name.clone());
                    change.config.streams.insert(name.clone(), settings.clone());
                }
                Some(_) => {}
            }
        }
        for name in now.streams.keys().filter(|name| !next.streams.contains_key(*name)) {
            if is_open(name) {
                let reason = "is open, and ends only with the daemon";
                change.refused.push(format!("streams.{name}: the stream {reason}"));
            } else {
                change.taken.push(format!("streams.{name}: it is removed"));
                change.replaced.push(name.clone());
                change.config.streams.remove(name);
            }
        }
        change
    }

    /// What counts from the next stream, ring or end on.
    fn limits(&mut self, old: &Config, next: &Config) {
        let (ring, read, decode) = (old.ring != next.ring, old.prefetch != next.prefetch, &mut self.config.decode);
        let limits = [
            ("drain_timeout", old.drain_timeout != next.drain_timeout),
            ("ring: for streams that are opened from now on", ring),
            ("prefetch: for streams that are opened from now on", read),
            ("sources: for streams that are opened from now on", old.sources != next.sources),
            (
                "decode.byte_limit: for streams that are opened from now on",
                old.decode.limits.bytes != next.decode.limits.bytes,
            ),
        ];
        decode.limits.bytes = next.decode.limits.bytes;
        self.config.drain_timeout = next.drain_timeout;
        self.config.ring = next.ring.clone();
        self.config.prefetch = next.prefetch.clone();
        self.config.sources = next.sources.clone();
        self.taken.extend(limits.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key.to_owned()));
    }

    /// What was made as the daemon started.
    fn fixed(&mut self, old: &Config, next: &Config) {
        let mut decode = next.decode.clone();
        decode.limits.bytes = old.decode.limits.bytes;
        let fixed = [
            ("decode", old.decode != decode),
            ("coordinator", old.coordinator != next.coordinator),
            ("control", old.control != next.control),
            ("metrics", old.metrics != next.metrics),
        ];
        let refused = fixed.into_iter().filter(|(_, differs)| *differs);
        self.refused.extend(refused.map(|(section, _)| format!("[{section}]: restart the daemon to change it")));
    }

    fn open_stream(&mut self, name: &str, old: &StreamSection, next: &StreamSection) {
        for key in differences(old, next) {
            let shown = format!("streams.{name}.{key}");
            if stream::all().any(|declared| declared.while_open && declared.name == key) {
                self.taken.push(shown);
            } else {
                self.refused.push(format!("{shown}: the stream is open; restart the daemon to change this"));
            }
        }
        if let Some(settings) = self.config.streams.get_mut(name) {
            settings.unix_group.clone_from(&next.unix_group);
        }
    }
}

/// Keys that are written otherwise.
fn differences<'a>(old: &'a StreamSection, next: &'a StreamSection) -> impl Iterator<Item = &'a str> {
    let changed = old.written.iter().filter(|(key, value)| next.written.get(*key) != Some(*value));
    let added = next.written.iter().filter(|(key, _)| !old.written.contains_key(*key));
    changed.chain(added).map(|(key, _)| key.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse(text, "a.toml").unwrap()
    }

    const OLD: &str = "[streams.train]\nsource = \"/a\"\nbatch_size = 4\nsize = 16\n\
        [streams.eval]\nsource = \"/b\"\nbatch_size = 4\nsize = 16\n";

    #[test]
    fn new_streams_and_limits_are_taken_up() {
        let next = format!(
            "drain_timeout = \"5s\"\n[ring]\nmemory = \"1gb\"\n[streams.new]\nsource = \"/c\"\nbatch_size = 4\nsize = 16\n{OLD}"
        );
        let change = Change::between(&config(OLD), &config(&next), |_| true);
        assert_eq!(change.refused, [""; 0]);
        assert_eq!(change.taken.len(), 3, "{:?}", change.taken);
        assert_eq!(change.config.streams.len(), 3);
        assert_eq!(change.config.drain_timeout, config(&next).drain_timeout);
        assert_eq!(change.replaced, [""; 0]);
    }

    #[test]
    fn what_an_open_stream_cannot_change_is_refused_by_name_and_stays() {
        let next = OLD.replace("batch_size = 4", "batch_size = 8\nunix_group = \"trainers\"");
        let next = config(&format!("{next}\n[decode]\nthreads = 3\n"));
        let change = Change::between(&config(OLD), &next, |name| name == "train");
        assert_eq!(change.refused.len(), 2, "{:?}", change.refused);
        assert!(change.refused[0].starts_with("[decode]:"), "{:?}", change.refused);
        assert!(change.refused[1].starts_with("streams.train.batch_size:"), "{:?}", change.refused);
        assert_eq!(change.taken, ["streams.eval.batch_size", "streams.eval.unix_group", "streams.train.unix_group"]);
        let train = &change.config.streams["train"];
        assert_eq!((train.settings.batch_size, train.unix_group.as_deref()), (4, Some("trainers")));
        assert_eq!(change.config.streams["eval"].settings.batch_size, 8, "it was not open");
        assert_eq!(change.replaced, ["eval"]);
        assert_eq!(change.config.decode, config(OLD).decode);
    }

    #[test]
    fn a_stream_that_is_left_out_goes_unless_it_is_open() {
        let change = Change::between(&config(OLD), &Config::default(), |name| name == "train");
        assert_eq!(change.config.streams.keys().collect::<Vec<_>>(), ["train"]);
        assert_eq!((change.replaced.as_slice(), change.refused.len()), (&["eval".to_owned()][..], 1));
    }
}
