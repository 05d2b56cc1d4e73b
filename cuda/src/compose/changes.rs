//! What is done with the values of pixels, as the kernel takes it: `struct change` of `kernels/picture.h`, and the tables behind
//! all changes of a round.

use forebay_pixels::{BlendShares, Change, ValueTable};

/// Bytes of `struct change`: nine members of four.
const CHANGE: usize = 9 * 4;
/// Bytes of a table of values.
const TABLE: usize = 256;

/// The members of `struct change` that are not the same for all.
#[derive(Clone, Copy, Default)]
struct ChangeForm<'a> {
    what: u32,
    value: u32,
    rows: [u32; 2],
    columns: [u32; 2],
    tables: &'a [&'a ValueTable],
    shares: [f32; 2],
}

/// Bytes that changes take with their tables.
pub(super) fn changes_len(changes: &[Change]) -> usize {
    changes.len() * CHANGE + changes.iter().map(tables).sum::<usize>() * TABLE
}

/// Writes changes and their tables, one behind the other.
pub(super) fn write_changes(changes: &[Change], to: &mut [u8]) {
    let (places, mut rest) = to.split_at_mut(changes.len() * CHANGE);
    let mut table = places.len();
    for (change, to) in changes.iter().zip(places.chunks_exact_mut(CHANGE)) {
        with_form(change, |form| {
            let numbers = [form.what, form.value, form.rows[0], form.rows[1], form.columns[0], form.columns[1]];
            let numbers = numbers.into_iter().chain([u32::try_from(table).expect("a few tables have room")]);
            let numbers = numbers.chain(form.shares.map(f32::to_bits));
            for (to, number) in to.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                *to = number.to_le_bytes();
            }
            for values in form.tables {
                let (to, after) = std::mem::take(&mut rest).split_at_mut(TABLE);
                to.copy_from_slice(values.as_slice());
                (rest, table) = (after, table + TABLE);
            }
        });
    }
}

/// How many tables it has.
fn tables(change: &Change) -> usize {
    let mut count = 0;
    with_form(change, |form| count = form.tables.len());
    count
}

/// As the kernel numbers changes.
fn with_form(change: &Change, give: impl FnOnce(ChangeForm<'_>)) {
    let plain = ChangeForm::default();
    let shares = |shares: &BlendShares| [shares.own, shares.other];
    match change {
        Change::Table(table) => give(ChangeForm { what: 0, tables: &[table], ..plain }),
        Change::Saturation(by) => give(ChangeForm { what: 1, shares: shares(by), ..plain }),
        Change::Gray => give(ChangeForm { what: 2, ..plain }),
        Change::Hue { turn, factor } => {
            give(ChangeForm { what: 3, value: (*turn).into(), shares: [*factor, 0.0], ..plain });
        }
        Change::Gains { turn, saturations, values } => {
            give(ChangeForm { what: 4, value: (*turn).into(), tables: &[saturations, values], ..plain });
        }
        Change::Erase { rows, columns, rgb } => {
            give(ChangeForm { what: 5, value: colour(*rgb), rows: *rows, columns: *columns, ..plain });
        }
        Change::Contrast(by) => give(ChangeForm { what: 6, shares: shares(by), ..plain }),
        Change::Autocontrast => give(ChangeForm { what: 7, ..plain }),
        Change::Equalize => give(ChangeForm { what: 8, ..plain }),
    }
}

/// Red, green and blue from the lowest bits up.
pub(super) fn colour([red, green, blue]: [u8; 3]) -> u32 {
    u32::from_le_bytes([red, green, blue, 0])
}
