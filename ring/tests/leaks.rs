//! Nothing that comes over a socket, good or bad, leaves a descriptor or a mapping behind.
//!
//! One test in a process of its own: others would open descriptors meanwhile.

use std::{fs, io::IoSlice, mem::MaybeUninit, os::fd::AsFd};

use forebay_ring::{
    Bulk, Dtype, Geometry, Layout, Message, MessageKind, Number, PACKET_LEN, Received, Region, Sent, Shape, Socket,
    SocketError, View, packet,
};
use rustix::{
    net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags},
    process::{Resource, Rlimit, getrlimit, setrlimit},
};

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("/proc").count()
}

fn ring_mappings() -> usize {
    let maps = fs::read_to_string("/proc/self/maps").expect("/proc");
    maps.lines().filter(|line| line.contains("memfd:forebay")).count()
}

fn credit() -> Vec<u8> {
    packet(&Number { kind: MessageKind::Credit as u32, reserved: 0, value: 1 }, &[])
}

/// Good and bad packets, a ring made and mapped, all of it dropped.
fn one_round() {
    let (daemon, trainer) = Socket::pair().expect("a pair");
    let shape = Shape { batch: 1, height: 1, width: 1, channels: 1, dtype: Dtype::U8, layout: Layout::Nhwc };
    let region = Region::create(Geometry::try_new(shape, 2).expect("a shape"), 1, 0).expect("a ring");
    let bulk = Bulk::write(b"x").expect("sealed memory");
    let mut buffer = vec![0; PACKET_LEN];

    assert_eq!(daemon.send(&credit(), &[region.fd(), bulk.as_fd()]).expect("sent"), Sent::Done);
    let Received::Packet { len, fds } = trainer.recv(&mut buffer).expect("received") else { panic!("no packet") };
    let view = View::map(&fds[0], 1, 0).expect("a good ring");
    assert!(Message::parse(&buffer[..len], fds).is_err(), "a CREDIT has no descriptors");
    drop(view);

    // More descriptors than any message has: the kernel cuts them off and says so. QEMU's says nothing, and keeps one.
    if std::env::var_os("QEMU_LD_PREFIX").is_none() {
        let many = [bulk.as_fd(); 9];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(9))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&many)));
        rustix::net::sendmsg(&trainer, &[IoSlice::new(&credit())], &mut control, SendFlags::empty()).expect("sent");
        assert!(matches!(daemon.recv(&mut buffer), Err(SocketError::DescriptorsLost)));
    }

    // A packet that is too long, with a descriptor.
    assert_eq!(trainer.send(&[0; 100], &[bulk.as_fd()]).expect("sent"), Sent::Done);
    assert!(matches!(daemon.recv(&mut buffer[..10]), Err(SocketError::PacketCut(10))));

    // One that nobody ever receives.
    assert_eq!(trainer.send(&credit(), &[bulk.as_fd()]).expect("sent"), Sent::Done);
}

#[test]
fn descriptors_and_mappings_are_as_many_after_a_thousand_rounds_as_before() {
    one_round();
    let before = descriptors();
    for _ in 0..1000 {
        one_round();
    }
    assert_eq!(descriptors(), before);
    assert_eq!(ring_mappings(), 0);

    // A process that may open no more files is told that a descriptor was lost, instead of going on without it.
    let (daemon, trainer) = Socket::pair().unwrap();
    let bulk = Bulk::write(b"x").unwrap();
    assert_eq!(trainer.send(&credit(), &[bulk.as_fd()]).unwrap(), Sent::Done);
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..limit }).unwrap();
    let received = daemon.recv(&mut [0; 64]);
    setrlimit(Resource::Nofile, limit).unwrap();
    let refused = received.unwrap_err();
    assert!(refused.to_string().contains("ulimit -n"), "{refused}");
}
