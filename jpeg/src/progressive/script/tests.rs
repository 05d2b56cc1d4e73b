//! Scans that are refused, each reason with a picture that has it; and what a file must have for its size.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use crate::fault::{Fault, Unsupported};
use crate::header::Header;
use crate::header::crafted::Crafted;
use crate::{Decoder, Region, Scale};

/// A scan: its header and its data, or a segment before it.
#[derive(Clone, Debug)]
struct Piece(u8, Vec<u8>, Vec<u8>);

/// A scan of all bits. Its data is one bit for each of some blocks.
fn scan(components: &[u8], first: u8, last: u8, bits: u8) -> Piece {
    let listed = components.iter().flat_map(|&id| [id, 0]);
    let header = [components.len() as u8].into_iter().chain(listed).chain([first, last, bits]).collect();
    Piece(0xDA, header, vec![0x0F])
}

/// A gray picture of 8 x 8 pixels, or one of three components, in the scans of a good picture.
fn good(count: u8) -> Vec<Piece> {
    let ids: Vec<u8> = (1..=count).collect();
    let mut pieces = vec![scan(&ids, 0, 0, 0)];
    pieces.extend(ids.iter().map(|&id| scan(&[id], 1, 63, 0)));
    pieces
}

/// The file of a picture of this size in these scans.
fn file((width, height): (u16, u16), count: u8, pieces: &[Piece]) -> Vec<u8> {
    let crafted = Crafted::new(width, height, &[0x11; 3][..usize::from(count)]).renamed(0xC0, 0xC2).without(0xDA);
    let mut bytes = crafted.bytes();
    for Piece(marker, segment, data) in pieces {
        bytes.extend([0xFF, *marker]);
        bytes.extend((segment.len() as u16 + 2).to_be_bytes());
        bytes.extend(segment);
        bytes.extend(data);
    }
    bytes.extend([0xFF, 0xD9]);
    bytes
}

fn fault(pieces: &[Piece]) -> Fault {
    Header::read(&file((8, 8), 3, pieces)).expect_err("the scans are not to be taken")
}

#[test]
fn a_flat_picture_has_a_bit_for_each_block_and_scan() {
    for count in [1, 3] {
        let bytes = file((8, 8), count, &good(count));
        let header = Header::read(&bytes).unwrap();
        assert_eq!(header.scans, u32::from(count) + 1);
        let mut rgb = vec![0; 8 * 8 * 3];
        let mut decoder = Decoder::default();
        let rows = decoder.begin(&header, &bytes, Scale::Full, Region::whole(8, 8)).read(&mut rgb);
        assert_eq!((rows, rgb), (Ok(8), vec![128; 8 * 8 * 3]));
    }
}

#[test]
fn segments_that_change_nothing_or_the_tables_may_be_between_scans() {
    let mut pieces = good(3);
    for (marker, segment) in [(0xFE, b"a comment".to_vec()), (0xE5, vec![1]), (0xDD, vec![0, 0]), (0xC4, vec![0; 17])] {
        pieces.insert(1, Piece(marker, segment, vec![]));
    }
    assert_eq!(Header::read(&file((8, 8), 3, &pieces)).unwrap().scans, 4);
}

#[test]
fn each_scan_that_is_refused_has_its_reason() {
    let with = |number: usize, change: &dyn Fn(&mut Piece)| {
        let mut pieces = good(3);
        change(&mut pieces[number]);
        pieces
    };
    let and = |piece: Piece| [good(3), vec![piece]].concat();
    let length = "a scan header of another length than its components take";
    let order = "a scan with its components in another order than the frame's";
    let spectrum = "a progressive scan of an impossible part of the spectrum";
    let gaps = "progressive scans in an order that leaves gaps";
    let between = "a marker that does not belong between scans";
    let restarts = "restart markers other than the scan's";
    let cases = [
        (with(0, &|piece| piece.1.clear()), length),
        (with(0, &|piece| piece.1.push(0)), length),
        (with(0, &|piece| piece.1[0] = 4), length),
        (with(0, &|piece| piece.1.swap(1, 3)), order),
        (with(1, &|piece| piece.1[1] = 9), order),
        (with(0, &|piece| piece.1[8] = 5), spectrum),
        (with(1, &|piece| piece.1[4] = 64), spectrum),
        (with(1, &|piece| piece.1.splice(3..5, [9, 8]).for_each(drop)), spectrum),
        (and(scan(&[1, 2], 1, 63, 0)), spectrum),
        (and(scan(&[1], 1, 63, 0)), gaps),
        (and(scan(&[1], 1, 63, 0x10)), gaps),
        (with(1, &|piece| piece.1[5] = 0x20), gaps),
        (with(1, &|piece| piece.1[5] = 14), gaps),
        (vec![scan(&[1], 1, 63, 0)], gaps),
        (and(Piece(0xDB, vec![0; 65], vec![])), between),
        (and(Piece(0xC2, vec![0; 6], vec![])), between),
        (and(Piece(0xDD, vec![0], vec![])), "a DRI of another length than 4"),
        (with(2, &|piece| piece.2.extend([0xFF, 0xD0])), restarts),
    ];
    for (pieces, reason) in &cases {
        assert_eq!(fault(pieces), Fault::Irregular(reason), "{pieces:?}");
    }
    let source = include_str!("../script.rs");
    for reason in source.split("Irregular(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(cases.iter().any(|&(_, told)| told == reason), "no case is told to have {reason:?}");
    }
}

#[test]
fn restart_markers_have_their_numbers_in_turn_and_there_are_as_many_as_the_blocks_need() {
    // Three blocks of a gray picture, each behind a marker of its own.
    let data = |numbers: &[u8]| {
        let mut data = vec![0x7F];
        for number in numbers {
            data.extend([0xFF, 0xD0 + number, 0x7F]);
        }
        data
    };
    let read = |numbers: &[u8]| {
        let mut pieces = vec![Piece(0xDD, vec![0, 1], vec![])];
        pieces.extend(good(1));
        pieces[1].2 = data(numbers);
        pieces[2].2 = data(&[0, 1]);
        Header::read(&file((24, 8), 1, &pieces)).map(|header| header.scans)
    };
    assert_eq!(read(&[0, 1]), Ok(2));
    for numbers in [&[][..], &[0], &[1, 0], &[0, 0], &[0, 1, 2]] {
        assert_eq!(read(numbers), Err(Fault::Irregular("restart markers other than the scan's")), "{numbers:?}");
    }
}

#[test]
fn scans_that_leave_bits_open_or_have_no_tables_are_left_to_others() {
    let mut open = good(3);
    open.pop();
    assert_eq!(fault(&open), Unsupported::OpenScans.into());
    let mut no_table = good(3);
    no_table[0].1[2] = 0x40;
    assert_eq!(fault(&no_table), Unsupported::NoTables.into());
    no_table = good(3);
    no_table[1].1[2] = 4;
    assert_eq!(fault(&no_table), Unsupported::NoTables.into());
}

#[test]
fn rule_31_a_small_file_that_declares_an_enormous_picture_is_refused_before_any_memory_is_taken() {
    for size in [(u16::MAX, u16::MAX), (u16::MAX, 1), (64, 64)] {
        assert_eq!(Header::read(&file(size, 3, &good(3))).map(drop), Err(Fault::Truncated), "{size:?}");
    }
    // 64 blocks of each component are 24 bytes.
    let mut pieces = good(3);
    for (bytes, is_enough) in [(23, false), (24, true)] {
        pieces[0].2 = vec![0; bytes];
        assert_eq!(Header::read(&file((64, 64), 3, &pieces)).is_ok(), is_enough, "{bytes} bytes");
    }
}
