//! Peers that lie, or send something else: the audit notices, the daemon refuses, and nobody else is disturbed.

use std::fs::File;
use std::io::Write as _;

use bytemuck::Zeroable;
use forebay_proto::RecordSum;
use forebay_ring::{
    Attach, Bulk, ClaimSum, NO_RING, OLDEST_PROTOCOL, Offer, PROTOCOL, Versions, attach_flags, attach_join, packet,
    text_code,
};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};

use crate::daemon::{Home, stderr};
use crate::speaker::{DaemonMessage, Speaker, attach, goodbye};
use crate::trainer::{Puppet, Trainer, batches, records};

/// Sums over these records for a batch of one claim.
fn sum(records: impl IntoIterator<Item = u64>) -> RecordSum {
    records.into_iter().collect()
}

/// Consumes the eight records of an epoch and says of the second batch that it showed these.
fn consume(home: &Home, second: [u64; 4]) {
    let mut speaker = Speaker::connect(home);
    let view = speaker.welcome();
    for claimed in [[0, 1, 2, 3], second] {
        let offer = speaker.offer();
        assert_eq!(view.claims(offer.slot)[0].len, 4, "one claim");
        speaker.ack(&offer, &[sum(claimed)]);
    }
    home.wait_for("both batches are counted", |status| status.delivered == 8);
}

#[test]
fn rule_24_a_trainer_that_acks_a_record_twice_and_another_never_makes_the_audit_fail() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    consume(&home, [4, 5, 6, 6]);
    let audit = home.command(&["audit", "train"]);
    assert_eq!(audit.status.code(), Some(1));
    assert!(stderr(&audit).contains("1 epochs do not add up"), "{}", stderr(&audit));
}

#[test]
fn rule_24_the_same_trainer_with_true_sums_passes_the_audit() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    consume(&home, [4, 5, 6, 7]);
    assert_eq!(home.audit().len(), 2);
}

#[test]
fn a_trainer_that_acks_more_claims_than_its_batch_has_is_evict_and_the_batch_continues() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    {
        let mut speaker = Speaker::connect(&home);
        speaker.welcome();
        let offer = speaker.offer();
        speaker.ack(&offer, &[sum([0, 1, 2, 3]), sum([4])]);
        let reason = loop {
            match speaker.hear() {
                DaemonMessage::Evicted(reason) => break reason,
                DaemonMessage::Nothing => panic!("it was not told why"),
                _ => {}
            }
        };
        assert!(reason.contains("do not fit"), "{reason}");
    }
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn receipts_for_batches_that_one_does_not_hold_change_nothing() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    let mut speaker = Speaker::connect(&home);
    speaker.welcome();
    let offer = speaker.offer();
    speaker.ack(&Offer { generation: offer.generation + 1, ..offer }, &[sum([0, 1, 2, 3])]);
    speaker.ack(&Offer { seq: offer.seq + 1000, ..offer }, &[sum([0, 1, 2, 3])]);
    speaker.ack(&Offer { slot: 4_000_000, ..offer }, &[sum([0, 1, 2, 3])]);
    drop(speaker);
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_14_an_offer_that_crosses_a_goodbye_takes_no_slot_from_the_ring() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("");
    for _ in 0..20 {
        let mut speaker = Speaker::connect(&home);
        speaker.welcome();
        speaker.offer();
        // It says nothing of the offer, as if that came later.
        speaker.say(&goodbye(), &[]);
    }
    home.wait_for("every trainer has left", |status| status.consumers.is_empty());
    assert_eq!(home.status().slots_quarantined, 0);
}

#[test]
fn a_client_that_shares_no_protocol_version_is_told_both_and_which_side_is_older() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let ours = Versions::OURS;
    for (theirs, older) in [
        (Versions { oldest: PROTOCOL + 1, newest: PROTOCOL + 2 }, "daemon"),
        (Versions::one(OLDEST_PROTOCOL - 1), "trainer"),
    ] {
        let mut speaker = Speaker::connect(&home);
        let Versions { oldest, newest: protocol } = theirs;
        speaker.say(&packet(&Attach { protocol, oldest, ..attach() }, &[]), &[]);
        let (code, reason) = speaker.refused();
        assert_eq!(code, text_code::PROTOCOL);
        let both = format!("this daemon speaks {ours} of the protocol, the trainer {theirs}");
        assert!(reason.contains(&both), "{reason}");
        assert!(reason.ends_with(&format!("upgrade Forebay on the {older}'s side")), "{reason}");
    }
}

#[test]
fn a_newer_client_gets_the_newest_version_that_both_speak() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let mut speaker = Speaker::connect(&home);
    let newer = packet(&Attach { protocol: PROTOCOL + 1, ..attach() }, b"what the next version adds");
    speaker.say(&newer, &[]);
    // A WELCOME of another version would not be read.
    assert!(matches!(speaker.hear(), DaemonMessage::Welcome(_)));
}

#[test]
fn something_that_is_no_request_is_refused_and_the_daemon_continues() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("epochs = 1");
    let packets: [(&[u8], &str); 4] = [
        (b"GET", "4 bytes"),
        (b"GET / HTTP/1.1", "unknown kind"),
        (&packet(&attach(), &[])[..60], "60 bytes"),
        (&goodbye(), "the first message must ask for a stream"),
    ];
    for (bytes, words) in packets {
        let mut speaker = Speaker::connect(&home);
        speaker.say(bytes, &[]);
        let (code, reason) = speaker.refused();
        assert_eq!(code, text_code::PROTOCOL);
        assert!(reason.contains(words), "{words:?} is not in: {reason}");
    }
    // Once it is in, the same words put a trainer out.
    let mut speaker = Speaker::connect(&home);
    speaker.welcome();
    speaker.say(b"GET / HTTP/1.1", &[]);
    loop {
        match speaker.hear() {
            DaemonMessage::Evicted(reason) => break assert!(reason.contains("unknown kind"), "{reason}"),
            DaemonMessage::Nothing => panic!("it was not told why"),
            _ => {}
        }
    }
    drop(speaker);
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..4).collect::<Vec<_>>());
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    let _silent: Vec<Speaker> = (0..100).map(|_| Speaker::connect(&home)).collect();
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
}

#[test]
fn rule_25_bulk_without_seals_is_refused() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let mut file = File::from(memfd_create("settings", MemfdFlags::CLOEXEC).unwrap());
    file.write_all(b"{}").unwrap();
    let with_settings = packet(&Attach { flags: attach_flags::SETTINGS, ..attach() }, &[]);
    let mut speaker = Speaker::connect(&home);
    speaker.say(&with_settings, &[file.into()]);
    let (code, reason) = speaker.refused();
    assert_eq!(code, text_code::SETTINGS);
    assert!(reason.contains("sealed"), "{reason}");

    let mut speaker = Speaker::connect(&home);
    speaker.say(&with_settings, &[Bulk::write(b"{}").unwrap().into_fd()]);
    assert!(matches!(speaker.hear(), DaemonMessage::Welcome(_)), "the same with seals is taken");
}

#[test]
fn rule_47_a_trainer_that_names_a_group_or_a_column_that_is_not_there_is_told_so() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("");
    let refused = |request: Attach, columns: Option<&[u8]>| {
        let mut speaker = Speaker::connect(&home);
        let columns = columns.map(|names| Bulk::write(names).unwrap().into_fd());
        speaker.say(&packet(&request, &[]), columns.as_slice());
        speaker.refused()
    };
    let group = Attach { group: Attach::pad_name("debug").unwrap(), ..attach() };
    let (code, reason) = refused(group, None);
    assert_eq!(code, text_code::SETTINGS);
    assert!(reason.contains("stream \"train\" gives each batch to one trainer, so group means nothing"), "{reason}");
    let (code, reason) = refused(Attach { join: attach_join::EPOCH, ..attach() }, None);
    assert_eq!(code, text_code::SETTINGS);
    assert!(reason.contains("so join means nothing to it: leave it out, or set groups = \"each\""), "{reason}");

    let with_columns = Attach { flags: attach_flags::COLUMNS, ..attach() };
    for (names, words) in [
        (&b"images\0boxes"[..], "no column \"boxes\"; its columns are: images, labels, records, mask"),
        (b"\xff", "not UTF-8"),
        (&vec![b'a'; 70_000], "longer than the 65536 bytes"),
    ] {
        let (code, reason) = refused(with_columns, Some(names));
        assert_eq!(code, text_code::SETTINGS);
        assert!(reason.contains(words), "{words:?} is not in: {reason}");
    }
    let mut speaker = Speaker::connect(&home);
    speaker.say(&packet(&with_columns, &[]), &[Bulk::write(b"images\0mask").unwrap().into_fd()]);
    assert!(matches!(speaker.hear(), DaemonMessage::Welcome(_)), "columns that every batch has");
}

#[test]
fn a_list_of_held_batches_that_makes_no_sense_is_refused_or_leads_nowhere() {
    let home = Home::with_pictures(8);
    let _daemon = home.serve("epochs = 1");
    let resume = packet(&Attach { flags: attach_flags::RESUME, incarnation: 7, ..attach() }, &[]);
    let mut speaker = Speaker::connect(&home);
    speaker.say(&resume, &[Bulk::write(&[0; 65]).unwrap().into_fd()]);
    let (code, reason) = speaker.refused();
    assert_eq!(code, text_code::PROTOCOL);
    assert!(reason.contains("is incomplete"), "{reason}");

    // Leases that never were, ranges without an end, and every number at its limit.
    let wild =
        [[0_u64, 0, 0], [1, u64::MAX, u64::MAX], [u64::MAX, 0, 8], [3, 5, u64::MAX]].map(|[lease, start, len]| {
            [0, 1].map(|held| forebay_ring::ResumedClaim {
                lease,
                start,
                len,
                epoch: u64::MAX,
                seq: u64::MAX,
                held,
                bare: held,
                sum: ClaimSum { high: u64::MAX, low: u64::MAX },
            })
        });
    let mut speaker = Speaker::connect(&home);
    speaker.say(&resume, &[Bulk::write(bytemuck::cast_slice(wild.as_flattened())).unwrap().into_fd()]);
    assert!(matches!(speaker.hear(), DaemonMessage::Welcome(_)));
    drop(speaker);
    assert_eq!(records(&Trainer::attach(&home).epoch()), (0..8).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn rule_16_batches_that_others_hold_from_a_living_daemon_cannot_be_resumed() {
    let home = Home::with_pictures(16);
    let _daemon = home.serve("epochs = 1");
    let mut other = Puppet::with_one_credit(&home);
    let first = other.next().batch();
    // One lease feeds all four batches: its number is learned from another of them.
    let lease = {
        let mut speaker = Speaker::connect(&home);
        let view = speaker.welcome();
        let offer = speaker.offer();
        view.claims(offer.slot)[0].lease
    };
    let stolen: Vec<forebay_ring::ResumedClaim> = (0..16)
        .map(|place| {
            let (high, low) = sum([place]).halves();
            forebay_ring::ResumedClaim {
                lease,
                start: place,
                len: 1,
                epoch: 0,
                seq: place,
                held: if place % 2 == 1 { u32::try_from(place).unwrap() } else { 0 },
                bare: 0,
                sum: ClaimSum { high, low },
            }
        })
        .collect();
    let resume = packet(&Attach { flags: attach_flags::RESUME, incarnation: 7, ..attach() }, &[]);
    let mut speaker = Speaker::connect(&home);
    speaker.say(&resume, &[Bulk::write(bytemuck::cast_slice(&stolen)).unwrap().into_fd()]);
    assert!(matches!(speaker.hear(), DaemonMessage::Welcome(_)));
    drop(speaker);
    let rest = batches(&other.finish());
    assert_eq!(records([&first].into_iter().chain(&rest)), (0..16).collect::<Vec<_>>());
    home.audit();
}

#[test]
fn a_list_of_held_batches_is_not_read_beyond_what_a_trainer_can_hold() {
    let home = Home::with_pictures(4);
    let _daemon = home.serve("epochs = 1");
    // It takes no memory here, and would take as much as it says in the daemon.
    let sparse = memfd_create("resume", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&sparse, 1 << 40).unwrap();
    fcntl_add_seals(&sparse, SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE).unwrap();
    let mut speaker = Speaker::connect(&home);
    let resume = packet(&Attach { flags: attach_flags::RESUME, incarnation: 7, ..attach() }, &[]);
    speaker.say(&resume, &[sparse]);
    let (code, reason) = speaker.refused();
    assert_eq!(code, text_code::PROTOCOL);
    assert!(reason.contains("1099511627776 bytes is longer than the 134217728 bytes"), "{reason}");
}

#[test]
fn rule_16_more_claims_than_are_read_at_once_are_resumed() {
    let home = Home::with_pictures(200);
    let daemon = home.serve_little_ahead("epochs = 1");
    let mut speaker = Speaker::connect(&home);
    let view = speaker.welcome();
    let offer = speaker.offer();
    let claim = view.claims(offer.slot)[0];
    daemon.kill();
    let _daemon = home.start();
    // Of many leases that are over long since, then of the one that counts.
    let resumed = |lease, start, held| forebay_ring::ResumedClaim {
        lease,
        start,
        len: claim.len.into(),
        epoch: 0,
        seq: offer.seq,
        held,
        bare: 0,
        sum: ClaimSum::zeroed(),
    };
    let old = (0..70_000).map(|number| resumed(1, number, 0));
    let list: Vec<_> = old.chain([resumed(claim.lease, claim.start, 1)]).collect();
    let resume = packet(&Attach { flags: attach_flags::RESUME, incarnation: 7, ..attach() }, &[]);
    let mut speaker = Speaker::connect(&home);
    speaker.say(&resume, &[Bulk::write(bytemuck::cast_slice(&list)).unwrap().into_fd()]);
    assert!(matches!(speaker.hear(), DaemonMessage::Welcome(_)));
    speaker.ack(&Offer { ring: NO_RING, slot: 0, generation: 1, ..offer }, &[sum(0..u64::from(claim.len))]);
    drop(speaker);
    assert_eq!(records(&Trainer::attach(&home).epoch()), (u64::from(claim.len)..200).collect::<Vec<_>>());
    home.audit();
}
