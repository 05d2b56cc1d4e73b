//! The scripted daemon's answers to calls.

use forebay_proto::v1;
use forebay_ring::{Body, Bulk, Call, MessageKind, packet};
use prost::Message as _;

use super::{Server, send};

impl Server {
    pub(super) fn call(&mut self, place: usize, id: u64, body: &Body<'_>) {
        let Body::Inline(bytes) = body else { panic!("calls of these tests are short") };
        let call = v1::CallRequest::decode(*bytes).unwrap().call;
        let Some(call) = call else { return self.answer_ping(place, id) };
        let mut bulk = false;
        let reply = match call {
            v1::call_request::Call::State(call) => {
                self.log.lock().state_calls.push(call);
                let spec = Some(v1::LedgerSpec { records: self.plan.records, ..Default::default() });
                v1::call_reply::Reply::State(v1::Snapshot { spec, epoch: self.exchange.open(), ..Default::default() })
            }
            v1::call_request::Call::Restore(_) => {
                self.void(|_| true);
                self.done.clear();
                self.todo = self.plan.todo();
                v1::call_reply::Reply::Done(v1::Done {})
            }
            v1::call_request::Call::Path(call) if call.record >= self.plan.records => {
                let message = format!("the dataset has no record {}", call.record);
                v1::call_reply::Reply::Failure(v1::Failure { message })
            }
            v1::call_request::Call::Path(call) => {
                bulk = call.record == 1;
                v1::call_reply::Reply::Path(format!("/data/{}.jpg", call.record).into_bytes())
            }
            v1::call_request::Call::Reset(_) if !self.plan.alone => {
                v1::call_reply::Reply::Failure(v1::Failure { message: "other trainers are attached".to_owned() })
            }
            v1::call_request::Call::Reset(call) => {
                let epoch = call.epoch;
                self.log.lock().resets.push(epoch);
                self.void(|of| of <= epoch);
                for first in self.plan.firsts() {
                    self.todo.remove(&(epoch, first));
                }
                self.end_epoch(epoch);
                v1::call_reply::Reply::Done(v1::Done {})
            }
            other => panic!("{other:?}"),
        };
        self.act();
        let bytes = v1::CallReply { reply: Some(reply) }.encode_to_vec();
        let (tail, fds): (&[u8], _) =
            if bulk { (&[], vec![Bulk::write(&bytes).unwrap().into_fd()]) } else { (&bytes, Vec::new()) };
        let head = Call { kind: MessageKind::Answer as u32, len: u32::try_from(tail.len()).unwrap(), id };
        send(&self.trainers[place].socket, &packet(&head, tail), &fds);
    }

    /// Answers a call without content, unless the plan says that it does not.
    fn answer_ping(&self, place: usize, id: u64) {
        if self.plan.answers {
            let failure = v1::Failure { message: "unknown".to_owned() };
            let bytes = v1::CallReply { reply: Some(v1::call_reply::Reply::Failure(failure)) }.encode_to_vec();
            let head = Call { kind: MessageKind::Answer as u32, len: u32::try_from(bytes.len()).unwrap(), id };
            send(&self.trainers[place].socket, &packet(&head, &bytes), &[]);
        }
    }

    /// Throws batches of such epochs away.
    fn void(&mut self, which: impl Fn(u64) -> bool) {
        let void = self.published.iter().filter(|(_, (epoch, _))| which(*epoch));
        for seq in void.map(|(seq, _)| *seq).collect::<Vec<_>>() {
            self.exchange.void(seq);
        }
        self.act();
    }
}
