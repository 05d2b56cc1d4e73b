//! One daemon's connection to a decoder: what it wants is checked once, then records are made as it asks for them.

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forebay_pipeline::remote::{PIXELS_VERSION, REMOTE_VERSION, no_body, read_frame, write_frame};
use forebay_pipeline::{RemotePictures, answer_len, not_remote};
use forebay_pixels::Limits;
use forebay_proto::Turn;
use forebay_proto::v1::decoder_answer::Outcome;
use forebay_proto::v1::{
    DecoderGoodbye, DecoderHello, DecoderRecord, DecoderRefusal, DecoderReply, DecoderRequest, DecoderSetup,
    decoder_reply, decoder_request,
};
use forebay_sources::Container;
use tokio::io::{AsyncRead, AsyncWrite, split};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until, timeout};

use super::Decoder;
use super::worker_pool::{NoMemory, OpenedStream, RecordJob, SentAnswer, without};
use crate::config::StreamSection;

/// How long a daemon may take to say what it wants.
const GREETING: Duration = Duration::from_secs(10);
/// Records that a connection may have asked for without an answer. A daemon asks for at most a quarter of them; one that asks for more and
/// takes nothing would fill the memory with answers.
const MOST_ASKED: u64 = 4096;
/// How long a daemon may take nothing. Then it is cut off, and its answers are dropped.
const TAKES_NOTHING: Duration = Duration::from_secs(10);

/// Serves a connection until its daemon closes it, or the decoder ends.
///
/// # Errors
/// The daemon is gone, or says what it may not say.
pub(super) async fn serve(
    decoder: Arc<Decoder>,
    wire: impl AsyncRead + AsyncWrite + Unpin,
    from: &str,
) -> io::Result<()> {
    let (mut reader, mut writer) = split(wire);
    let read = timeout(GREETING, read_frame::<DecoderRequest>(&mut reader, no_body)).await??;
    let Some((DecoderRequest { message: Some(decoder_request::Message::Setup(setup)) }, _)) = read else {
        return Err(invalid("it does not say what it wants"));
    };
    let opened = open(&decoder, &setup).await;
    let reply = match &opened {
        Ok(_) => decoder_reply::Message::Hello(DecoderHello {
            number: decoder.number,
            threads: decoder.pool.threads().try_into().unwrap_or(u32::MAX),
            memory: decoder.pool.memory(),
        }),
        Err(reason) => {
            tracing::info!(from, reason, "a daemon's stream is refused");
            decoder_reply::Message::Refusal(DecoderRefusal { reason: reason.clone() })
        }
    };
    timeout(TAKES_NOTHING, write_frame(&mut writer, &DecoderReply { message: Some(reply) }, &[])).await??;
    let Ok(stream) = opened else { return Ok(()) };
    tracing::info!(from, "a daemon's stream is decoded");
    let (answers, sent) = mpsc::unbounded_channel();
    let session = Session {
        connection: decoder.connections.fetch_add(1, Ordering::Relaxed),
        stream: Arc::new(stream),
        ending: decoder.ending.subscribe(),
        under_way: Arc::default(),
        idle: Arc::default(),
        answers,
        decoder,
    };
    let (under_way, idle) = (Arc::clone(&session.under_way), Arc::clone(&session.idle));
    let ending = session.ending.clone();
    tokio::select! {
        ended = session.take(&mut reader) => ended,
        ended = send(&mut writer, sent, ending, (&under_way, &idle)) => ended,
    }
}

struct Session {
    decoder: Arc<Decoder>,
    connection: u64,
    stream: Arc<OpenedStream>,
    /// When the decoder will end, if it was told to.
    ending: watch::Receiver<Option<Instant>>,
    /// Records that were asked for and whose answers were not sent.
    under_way: Arc<AtomicU64>,
    /// Records were cancelled, so that none may be under way.
    idle: Arc<Notify>,
    answers: mpsc::UnboundedSender<SentAnswer>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.decoder.pool.cancel(self.connection, |_| true);
    }
}

impl Session {
    /// Takes what the daemon asks for.
    async fn take(&self, reader: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        while let Some((DecoderRequest { message }, _)) = read_frame(reader, no_body).await? {
            match message {
                Some(decoder_request::Message::Ask(ask)) => {
                    ask.records.iter().try_for_each(|record| self.ask(record))?;
                }
                Some(decoder_request::Message::Cancel(cancel)) => {
                    let ids: std::collections::BTreeSet<u64> = cancel.ids.into_iter().collect();
                    let cancelled = self.decoder.pool.cancel(self.connection, |id| ids.contains(&id));
                    // Else the daemon would seem to have records under way for ever, and no other would be its only one.
                    self.under_way.fetch_sub(cancelled as u64, Ordering::SeqCst);
                    self.idle.notify_one();
                }
                _ => return Err(invalid("a daemon says what it may not say")),
            }
        }
        Ok(())
    }

    fn ask(&self, record: &DecoderRecord) -> io::Result<()> {
        let before = self.under_way.fetch_add(1, Ordering::SeqCst);
        if before >= MOST_ASKED {
            return Err(invalid("a daemon asks for more than a decoder keeps"));
        }
        if let Err((outcome, words)) = self.begin(record, before == 0) {
            let answer = without(record.id, outcome, words);
            let _gone = self.answers.send(SentAnswer { answer, body: Vec::new(), share: None });
        }
        Ok(())
    }

    fn begin(&self, record: &DecoderRecord, is_only: bool) -> Result<(), (Outcome, String)> {
        if self.ending.borrow().is_some() {
            return Err((Outcome::Busy, "the decoder ends".to_owned()));
        }
        let source = &self.stream.source;
        let repeat = u16::try_from(record.repeat).ok().filter(|_| record.record < source.len());
        let repeat = repeat.ok_or_else(|| (Outcome::Unread, format!("there is no record {}", record.record)))?;
        let size = source.size(record.record);
        let version = match source.locator(record.record).container {
            Container::Object { version, .. } => version,
            Container::File(_) => None,
        };
        if size != record.size || version != record.version {
            let words = format!("the record has {size} bytes here, and {} at the daemon", record.size);
            return Err((Outcome::Other, words));
        }
        let bytes = size.saturating_add(self.stream.pictures.answer_len() as u64);
        let share = self.decoder.pool.share(bytes, is_only).map_err(|no| match no {
            NoMemory::Busy => (Outcome::Busy, String::new()),
            NoMemory::TooLarge => (Outcome::TooLarge, format!("it needs {bytes} bytes")),
        })?;
        self.decoder.pool.push(RecordJob {
            connection: self.connection,
            id: record.id,
            epoch: record.epoch,
            turn: Turn::new(record.record, repeat),
            stream: Arc::clone(&self.stream),
            share,
            answers: self.answers.clone(),
        });
        Ok(())
    }
}

/// Sends answers as they are ready. When the decoder ends, it says goodbye, and sends what is under way until its time is over.
async fn send(
    writer: &mut (impl AsyncWrite + Unpin),
    mut sent: mpsc::UnboundedReceiver<SentAnswer>,
    mut ending: watch::Receiver<Option<Instant>>,
    (under_way, idle): (&AtomicU64, &Notify),
) -> io::Result<()> {
    let mut until = None;
    loop {
        let answer = tokio::select! {
            answer = sent.recv() => answer,
            ended = told(&mut ending), if until.is_none() => {
                until = Some(ended);
                let message = Some(decoder_reply::Message::Goodbye(DecoderGoodbye {}));
                timeout(TAKES_NOTHING, write_frame(writer, &DecoderReply { message }, &[])).await??;
                None
            }
            () = idle.notified(), if until.is_some() => None,
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return Ok(()),
        };
        if let Some(SentAnswer { answer, body, share }) = answer {
            let message = Some(decoder_reply::Message::Answer(answer));
            timeout(TAKES_NOTHING, write_frame(writer, &DecoderReply { message }, &body)).await??;
            drop(share);
            under_way.fetch_sub(1, Ordering::SeqCst);
        }
        if until.is_some() && under_way.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
    }
}

/// When the decoder will end, once it was told to.
async fn told(ending: &mut watch::Receiver<Option<Instant>>) -> Instant {
    let told = ending.wait_for(Option::is_some).await.ok().and_then(|told| *told);
    told.unwrap_or_else(Instant::now)
}

/// Opens what a daemon wants. The error is the reason that it is told.
async fn open(decoder: &Arc<Decoder>, setup: &DecoderSetup) -> Result<OpenedStream, String> {
    if decoder.token.as_ref().is_some_and(|token| !token.is(&setup.token)) {
        return Err(
            "The token is not the decoder's. Set remote_token_file in [decode] to a file with the decoder's token."
                .to_owned(),
        );
    }
    let versions = [("messages", setup.version, REMOTE_VERSION), ("pixels", setup.pixels_version, PIXELS_VERSION)];
    for (what, asked, own) in versions {
        if asked != own {
            return Err(format!(
                "The daemon has version {asked} of the {what}, and the decoder version {own}: run the same version of Forebay \
                 on both."
            ));
        }
    }
    let section = StreamSection::of_daemon(&setup.settings)
        .map_err(|mistakes| format!("The decoder does not know all settings of the stream: {mistakes}"))?;
    let limits = Limits {
        pixels: setup.pixels,
        bytes: setup.bytes,
        scans: setup.scans,
        time: setup.time_us.map(Duration::from_micros),
    };
    if answer_len(&section.settings) != setup.answer_len {
        return Err("The decoder makes pictures of another size of these settings.".to_owned());
    }
    let source = decoder.datasets.open(&section, setup.bytes).await?;
    if let Some(what) = not_remote(&section.settings, source.as_ref()) {
        return Err(format!("The stream has {what}, which decoders on other machines do not make."));
    }
    if source.len() != setup.records || source.fingerprint()[..] != setup.fingerprint {
        return Err(format!(
            "The decoder finds another dataset: {} records and not {}, or other files, sizes or labels. Its folders must have what \
             the daemon reads.",
            source.len(),
            setup.records
        ));
    }
    let pictures = RemotePictures::new(&section.settings, limits);
    Ok(OpenedStream { source, pictures, byte_limit: limits.bytes })
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
