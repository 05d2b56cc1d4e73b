//! The scripted daemon's door: it refuses, or takes what a trainer hands in and welcomes it.

use std::os::fd::OwnedFd;

use forebay_proto::v1;
use forebay_ring::{
    Attach, BatchId, Bulk, Membership, MessageKind, PROTOCOL, Pixels, ResumedClaim, Welcome, packet, text,
};
use prost::Message as _;

use super::{Server, send};

impl Server {
    pub(super) fn attach(&mut self, place: usize, head: &Attach, settings: Option<OwnedFd>, resume: Option<OwnedFd>) {
        let id = self.trainers[place].id;
        if let Some((code, reason)) = self.plan.refuse {
            send(&self.trainers[place].socket, &text(MessageKind::Refused, code, reason), &[]);
            self.trainers.swap_remove(place);
            return;
        }
        if let Some(settings) = settings {
            self.log.lock().settings.push(Bulk::accept(settings).unwrap().read(1 << 20).unwrap());
        }
        let granted = self
            .exchange
            .attach(id, if head.credits == 0 { 2 } else { head.credits }, Membership::default())
            .unwrap()
            .credits;
        if let Some(resume) = resume {
            let bytes = Bulk::accept(resume).unwrap().read(1 << 20).unwrap();
            let list: Vec<ResumedClaim> =
                bytes.chunks_exact(size_of::<ResumedClaim>()).map(bytemuck::pod_read_unaligned).collect();
            for item in &list {
                let first = item.lease & 0xffff_ffff;
                self.todo.remove(&(item.epoch, first));
                let hold = item.held.into();
                if hold == 0 {
                    self.finish(item.epoch, first);
                } else {
                    self.adopted.insert((id, hold), (item.epoch, first));
                    self.exchange.adopt(id, hold, BatchId { seq: item.seq, epoch: item.epoch });
                }
            }
            self.log.lock().resumed = list;
        }
        let mut log = self.log.lock();
        log.attached += 1;
        drop(log);
        self.trainers[place].attached = true;
        let info = v1::StreamInfo {
            stream: "train".to_owned(),
            records: self.plan.records,
            batch_size: u64::from(self.plan.batch),
            batches_per_epoch: self.plan.firsts().count() as u64,
            epochs: self.plan.epochs,
            epoch: self.exchange.open(),
            daemon_pid: 4711,
            ..Default::default()
        };
        let info = Bulk::write(&info.encode_to_vec()).unwrap();
        let welcome = Welcome {
            kind: MessageKind::Welcome as u32,
            protocol: PROTOCOL,
            incarnation: self.incarnation,
            consumer: id.0,
            credits: granted,
            ring: 0,
            pixels: self.plan.pixels,
        };
        let mut fds = vec![self.region.share().unwrap(), info.into_fd()];
        if self.plan.pixels != Pixels::HOST {
            fds.push(self.region.share().unwrap());
        }
        send(&self.trainers[place].socket, &packet(&welcome, &[]), &fds);
        if self.exchange.open() == self.plan.epochs {
            self.tell_done();
        }
    }
}
