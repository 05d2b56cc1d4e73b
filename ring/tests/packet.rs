//! Messages come back as they were sent; whatever else comes is refused without a panic.

use std::os::fd::{AsFd, OwnedFd};

use bytemuck::Pod;
use forebay_ring::{
    Ack, Attach, Body, Bulk, Call, ClaimSum, Held, Message, MessageKind, NewRing, Number, OPTIONAL_KINDS, Offer,
    PACKET_LEN, PROTOCOL, PacketError, Pixels, Received, Release, SUMS_PER_ACK, Sent, Socket, Versions, Welcome,
    attach_flags, attach_join, packet, text, text_code,
};
use proptest::prelude::*;

fn fds(count: usize) -> Vec<OwnedFd> {
    let fd = Bulk::write(b"x").expect("sealed memory").into_fd();
    (0..count).map(|_| fd.try_clone().expect("a duplicate")).collect()
}

fn number(kind: MessageKind, value: u64) -> Vec<u8> {
    packet(&Number { kind: kind as u32, reserved: 0, value }, &[])
}

fn attach(flags: u32) -> Attach {
    let name = Attach::pad_name("imagenet").expect("a short name");
    Attach { flags, credits: 2, name, incarnation: 3, pid: 4711, trainer: 7, ..Attach::ours() }
}

/// A head of which only the kind matters.
fn head<T: Pod>(kind: MessageKind) -> T {
    let mut head = T::zeroed();
    bytemuck::bytes_of_mut(&mut head)[..4].copy_from_slice(&(kind as u32).to_le_bytes());
    head
}

fn ack(first: u32, sums: &[ClaimSum]) -> Vec<u8> {
    let count = u32::try_from(sums.len()).expect("a few");
    let ack = Ack { first, count, last: 1, seq: 8, ..head(MessageKind::Ack) };
    packet(&ack, bytemuck::cast_slice(sums))
}

#[test]
fn every_kind_comes_back_as_it_was_sent() {
    let plain = [
        (packet(&Offer { seq: 4, shown: 3, ..head(MessageKind::Offer) }, &[]), "Offer"),
        (packet(&Release { seq: 4, returned: 1, ..head(MessageKind::Release) }, &[]), "Release"),
        (packet(&Held { pid: 77, ..head(MessageKind::Held) }, &[]), "Held"),
        (number(MessageKind::Credit, 2), "Credit(2)"),
        (number(MessageKind::EpochEnd, 5), "EpochEnd(5)"),
        (number(MessageKind::Done, 6), "Done(6)"),
        (number(MessageKind::Deadline, 7), "Deadline(7)"),
        (number(MessageKind::Fenced, 8), "Fenced(8)"),
        (number(MessageKind::Waited, 9), "Waited(9)"),
        (number(MessageKind::Retired, 1), "Retired(1)"),
        (number(MessageKind::Bye, 0), "Bye"),
        (text(MessageKind::Refused, text_code::BUSY, "full"), "Refused(8, \"full\")"),
        (text(MessageKind::Failed, text_code::RECORD, "bad"), "Failed(7, \"bad\")"),
        (text(MessageKind::Evict, text_code::OTHER, ""), "Evict(0, \"\")"),
        (text(MessageKind::Stalled, text_code::OTHER, "gone"), "Stalled(0, \"gone\")"),
        (text(MessageKind::Notice, text_code::OTHER, "full"), "Notice(0, \"full\")"),
        (packet(&Call { len: 2, id: 9, ..head(MessageKind::Call) }, b"ab"), "Call(9, Inline([97, 98]))"),
        (packet(&Call { len: 0, id: 9, ..head(MessageKind::Answer) }, b""), "Answer(9, Inline([]))"),
    ];
    for (bytes, expected) in plain {
        let message = format!("{:?}", Message::parse(&bytes, Vec::new()).unwrap());
        assert!(message.starts_with(expected), "{message} instead of {expected}");
        assert!(Message::parse(&bytes[..bytes.len() - 1], Vec::new()).is_err(), "{expected} cut short");
        assert!(Message::parse(&[bytes.clone(), vec![0]].concat(), Vec::new()).is_err(), "{expected} with more");
    }
    let sums = [ClaimSum { high: 1, low: 2 }, ClaimSum { high: 3, low: 4 }];
    let bytes = ack(5, &sums);
    let Message::Ack { head, sums: found } = Message::parse(&bytes, Vec::new()).unwrap() else { panic!("no ACK") };
    assert_eq!((head.seq, head.first, found), (8, 5, sums.to_vec()));
}

#[test]
fn descriptors_come_in_the_order_of_the_flags_and_no_others() {
    let all = attach_flags::SETTINGS | attach_flags::FILES | attach_flags::RESUME | attach_flags::COLUMNS;
    for flags in 0..=all {
        let bytes = packet(&attach(flags), &[]);
        let expected = flags.count_ones() as usize;
        for count in (0..6).filter(|count| *count != expected) {
            assert!(matches!(Message::parse(&bytes, fds(count)), Err(PacketError::Descriptors { .. })));
        }
        let message = Message::parse(&bytes, fds(expected)).unwrap();
        let Message::Attach { head, settings, files, resume, columns } = message else { panic!("no ATTACH") };
        assert_eq!(head.stream_name(), Some("imagenet"));
        let found = [settings, files, resume, columns].map(|fd| fd.is_some());
        assert_eq!(found, [1, 2, 4, 8].map(|flag| flags & flag != 0));
    }
    let welcome = packet(&Welcome { protocol: PROTOCOL, ..head(MessageKind::Welcome) }, &[]);
    assert!(matches!(Message::parse(&welcome, fds(2)), Ok(Message::Welcome { .. })));
    assert!(Message::parse(&welcome, fds(1)).is_err());
    let ring = packet(&head::<NewRing>(MessageKind::Ring), &[]);
    assert!(matches!(Message::parse(&ring, fds(1)), Ok(Message::Ring { .. })));
    assert!(matches!(Message::parse(&number(MessageKind::Connect, 0), fds(2)), Ok(Message::Connect { .. })));
    assert!(Message::parse(&number(MessageKind::Credit, 0), fds(1)).is_err());
    let long = packet(&Call { id: 9, ..head(MessageKind::Call) }, &[]);
    assert!(matches!(Message::parse(&long, fds(1)), Ok(Message::Call(9, Body::Bulk(_)))));
    assert!(Message::parse(&long, fds(2)).is_err());
}

#[test]
fn a_holder_on_another_node_is_named_or_the_packet_is_refused() {
    let held =
        |names: &[u8]| packet(&Held { len: u32::try_from(names.len()).unwrap(), ..head(MessageKind::Held) }, names);
    let (here, there) = (held(b""), held(b"train-2\0gpu-7"));
    assert!(matches!(Message::parse(&here, Vec::new()), Ok(Message::Held { elsewhere: None, .. })));
    let named = Message::parse(&there, Vec::new());
    assert!(matches!(named, Ok(Message::Held { elsewhere: Some(("train-2", "gpu-7")), .. })), "{named:?}");
    for wrong in [held(b"train-2"), held(b"a\0b\0c"), held(b"\xff\0b"), [there.clone(), vec![0]].concat()] {
        assert!(Message::parse(&wrong, Vec::new()).is_err());
    }
}

#[test]
fn a_group_and_when_it_joins_mean_something_or_are_refused() {
    let named = |name: &str| Attach { group: Attach::pad_name(name).unwrap(), join: attach_join::EPOCH, ..attach(0) };
    let bytes = packet(&named("debug"), &[]);
    let Message::Attach { head, .. } = Message::parse(&bytes, Vec::new()).unwrap() else { panic!("no ATTACH") };
    assert_eq!((head.group_name(), head.join), (Some("debug"), attach_join::EPOCH));
    let mut broken = named("debug");
    broken.group[60] = 1;
    for wrong in [broken, Attach { join: 2, ..attach(0) }, Attach { trainer: 0, ..attach(0) }] {
        let parsed = Message::parse(&packet(&wrong, &[]), Vec::new()).map(|_| ());
        assert!(matches!(parsed, Err(PacketError::Field { .. })), "{parsed:?}");
    }
}

#[test]
fn pixels_in_memory_of_a_gpu_have_a_descriptor_and_fields_that_mean_something() {
    let gpu = Pixels::in_gpu([7; 16], 2 << 20, 6 << 20);
    let welcome = |pixels| packet(&Welcome { protocol: PROTOCOL, pixels, ..head(MessageKind::Welcome) }, &[]);
    let ring = |pixels| packet(&NewRing { pixels, ..head(MessageKind::Ring) }, &[]);
    let bytes = welcome(gpu);
    let Message::Welcome { head, pixels, .. } = Message::parse(&bytes, fds(3)).unwrap() else { panic!("no WELCOME") };
    assert_eq!((head.pixels, pixels.is_some()), (gpu, true));
    let bytes = ring(gpu);
    let Message::Ring { head, pixels, .. } = Message::parse(&bytes, fds(2)).unwrap() else { panic!("no RING") };
    assert_eq!((head.pixels, pixels.is_some()), (gpu, true));
    assert!(matches!(Message::parse(&bytes, fds(1)), Err(PacketError::Descriptors { found: 1, expected: 2, .. })));
    assert!(matches!(Message::parse(&welcome(Pixels::HOST), fds(3)), Err(PacketError::Descriptors { .. })));
    let wrong = [
        Pixels { place: 2, ..gpu },
        Pixels { reserved: 1, ..gpu },
        Pixels { device: [0; 16], ..gpu },
        Pixels { stride: 0, ..gpu },
        Pixels { stride: gpu.total + 1, ..gpu },
        Pixels { device: [1; 16], ..Pixels::HOST },
        Pixels { total: 1, ..Pixels::HOST },
    ];
    for pixels in wrong {
        for (bytes, count) in [(welcome(pixels), 3), (ring(pixels), 2)] {
            assert!(matches!(Message::parse(&bytes, fds(count)), Err(PacketError::Field { .. })), "{pixels:?}");
        }
    }
}

#[test]
fn a_trainer_names_the_gpus_that_it_sees() {
    let seen = |gpus: &[[u8; 16]]| Attach { devices: Attach::pad_gpus(gpus), ..attach(0) }.gpus().to_vec();
    assert_eq!(seen(&[]), Vec::<[u8; 16]>::new());
    assert_eq!(seen(&[[1; 16], [2; 16]]), [[1; 16], [2; 16]]);
    assert_eq!(seen(&[[3; 16]; 20]), [[3; 16]; 16], "those beyond are left out");
}

#[test]
fn another_protocol_version_is_named_whatever_else_the_packet_holds() {
    let refused = |newest, oldest| {
        let other = packet(&Attach { protocol: newest, oldest, ..attach(0) }, b"a field of the future");
        let refused = Message::parse(&other, fds(3)).unwrap_err();
        (refused.to_string(), refused)
    };
    let ours = Versions::OURS;
    let theirs = Versions { oldest: 98, newest: 99 };
    let (text, error) = refused(99, 98);
    assert_eq!(error, PacketError::Protocol { theirs });
    assert!(text.contains(&format!("versions 98 to 99 of the protocol, this one {ours}; upgrade")), "{text}");
    assert!(text.ends_with("on the own side"), "{text}");
    // Version 13 had flags where the oldest version is now.
    let (text, error) = refused(13, 15);
    assert_eq!(error, PacketError::Protocol { theirs: Versions::one(13) });
    assert!(text.contains("speaks version 13 of") && text.ends_with("on the other side"), "{text}");
    assert_eq!(refused(PROTOCOL, PROTOCOL + 1).1, {
        let theirs = Versions { oldest: PROTOCOL + 1, newest: PROTOCOL };
        PacketError::Protocol { theirs }
    });
    let welcome = packet(&Welcome { protocol: PROTOCOL + 1, ..head(MessageKind::Welcome) }, &[]);
    assert!(matches!(Message::parse(&welcome, fds(2)), Err(PacketError::Protocol { .. })), "never agreed");
}

#[test]
fn what_a_newer_side_adds_is_skipped_where_it_may_be() {
    let newer = packet(&Attach { protocol: PROTOCOL + 1, ..attach(0) }, b"a field of the future");
    let Message::Attach { head, .. } = Message::parse(&newer, Vec::new()).unwrap() else { panic!("no ATTACH") };
    assert_eq!(Versions::OURS.shared_with(head.versions()), Some(PROTOCOL));
    assert_eq!(head.trainer, 7);

    for kind in [OPTIONAL_KINDS, OPTIONAL_KINDS + 7, u32::MAX] {
        let bytes = packet(&kind, b"whatever it says");
        assert!(matches!(Message::parse(&bytes, fds(2)), Ok(Message::Unknown(known)) if known == kind));
        assert!(matches!(Message::from_trainer(&bytes, fds(2)), Err(PacketError::UnknownKind(_))), "of a trainer");
    }
    let bytes = packet(&(OPTIONAL_KINDS - 1), &[]);
    assert!(matches!(Message::parse(&bytes, Vec::new()), Err(PacketError::UnknownKind(_))), "it may not be skipped");
}

#[test]
fn fields_out_of_bounds_are_refused() {
    let bad = [
        packet(&attach(16), &[]),
        packet(&Attach { name: [0xFF; 64], ..attach(0) }, &[]),
        packet(
            &Attach {
                name: {
                    let mut name = [0; 64];
                    name[1] = b'x';
                    name
                },
                ..attach(0)
            },
            &[],
        ),
        packet(&Attach { shard_id: 2, num_shards: 2, ..attach(0) }, &[]),
        packet(&Attach { shard_id: 1, num_shards: 0, ..attach(0) }, &[]),
        ack(u32::MAX, &[ClaimSum { high: 0, low: 0 }]),
        ack(0, &vec![ClaimSum { high: 0, low: 0 }; SUMS_PER_ACK + 1]),
        packet(&Ack { last: 2, ..head(MessageKind::Ack) }, &[]),
        packet(&Ack { last: 1, freed: 2, ..head(MessageKind::Ack) }, &[]),
        packet(&Ack { last: 0, freed: 1, ..head(MessageKind::Ack) }, &[]),
        packet(&Ack { last: 0, more: 1, ..head(MessageKind::Ack) }, &[]),
    ];
    for bytes in bad {
        assert!(matches!(Message::parse(&bytes, Vec::new()), Err(PacketError::Field { .. })));
    }
    assert_eq!(Message::parse(&[1, 2, 3], Vec::new()).unwrap_err(), PacketError::Short(3));
    assert_eq!(Message::parse(&[99, 0, 0, 0], Vec::new()).unwrap_err(), PacketError::UnknownKind(99));
}

#[test]
fn names_and_texts_of_any_length_are_packed() {
    assert_eq!(Attach::pad_name(&"x".repeat(65)), None);
    assert_eq!(Attach::pad_name("a\0b"), None);
    let full = Attach { name: Attach::pad_name(&"x".repeat(64)).unwrap(), ..attach(0) };
    assert_eq!(full.stream_name().map(str::len), Some(64));
    let long = text(MessageKind::Failed, 0, &"ü".repeat(PACKET_LEN));
    assert!(long.len() <= PACKET_LEN);
    assert!(matches!(Message::parse(&long, Vec::new()), Ok(Message::Failed(0, text)) if text.ends_with('ü')));
}

#[test]
fn what_a_trainer_sent_before_it_died_comes_before_the_hang_up() {
    let (daemon, trainer) = Socket::pair().unwrap();
    assert_eq!(trainer.send(&number(MessageKind::Credit, 1), &[]).unwrap(), Sent::Done);
    assert_eq!(trainer.send(&number(MessageKind::Credit, 2), &[]).unwrap(), Sent::Done);
    drop(trainer);
    let events = daemon.wait(None).unwrap();
    assert!(events.readable && events.hung_up);
    let mut buffer = vec![0; PACKET_LEN];
    for expected in 1..=2 {
        let Received::Packet { len, fds } = daemon.recv(&mut buffer).unwrap() else { panic!("no packet") };
        assert!(matches!(Message::parse(&buffer[..len], fds), Ok(Message::Credit(value)) if value == expected));
    }
    assert!(matches!(daemon.recv(&mut buffer).unwrap(), Received::Closed));
    assert_eq!(daemon.send(&number(MessageKind::Credit, 1), &[]).unwrap(), Sent::Closed);
}

#[test]
fn a_peer_that_never_reads_blocks_nobody() {
    let (daemon, trainer) = Socket::pair().unwrap();
    let mut sent = 0;
    while daemon.send(&number(MessageKind::EpochEnd, sent), &[]).unwrap() == Sent::Done {
        sent += 1;
    }
    assert!(sent > 10, "{sent} packets were queued");
    let mut buffer = [0; 64];
    for expected in 0..sent {
        let Received::Packet { len, fds } = trainer.recv(&mut buffer).unwrap() else { panic!("no packet") };
        assert!(matches!(Message::parse(&buffer[..len], fds), Ok(Message::EpochEnd(value)) if value == expected));
    }
    assert!(matches!(trainer.recv(&mut buffer).unwrap(), Received::WouldBlock));
}

#[test]
fn a_packet_longer_than_any_message_is_an_error_that_says_so() {
    let (daemon, trainer) = Socket::pair().unwrap();
    assert_eq!(trainer.send(&vec![0; PACKET_LEN + 1], &[]).unwrap(), Sent::Done);
    let refused = daemon.recv(&mut vec![0; PACKET_LEN]).unwrap_err();
    assert!(refused.to_string().contains("longer than 32768 bytes"), "{refused}");
}

#[test]
fn what_is_no_socket_of_packets_is_refused() {
    let file = tempfile::tempfile().unwrap();
    assert!(Socket::from_fd(file.into()).is_err());
    let (stream, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    assert!(Socket::from_fd(stream.into()).is_err());
    let (one, _other) = Socket::pair().unwrap();
    assert!(Socket::from_fd(one.as_fd().try_clone_to_owned().unwrap()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_packets_never_panic(kind in 0..25_u32, rest in prop::collection::vec(any::<u8>(), 0..300), extra in 0..4_usize) {
        let bytes = [kind.to_le_bytes().as_slice(), &rest].concat();
        let _parsed = Message::parse(&bytes, fds(extra));
        let _parsed = Message::parse(&rest, Vec::new());
    }

    /// Right lengths, wild fields: what is let through keeps its bounds.
    #[test]
    fn hostile_acks_keep_their_bounds(first: u32, count in 0..3_u32, sums in 0..3_usize, last in 0..4_u32, slot: u32) {
        let ack = Ack { first, count, last, slot, ..head(MessageKind::Ack) };
        let bytes = packet(&ack, &vec![7; sums * size_of::<ClaimSum>()]);
        if let Ok(Message::Ack { head, sums }) = Message::parse(&bytes, Vec::new()) {
            prop_assert_eq!(sums.len(), count as usize);
            prop_assert!(head.first.checked_add(head.count).is_some() && head.last <= 1);
        }
    }
}
