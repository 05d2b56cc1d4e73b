//! Blocks of points that were made up, written and read.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use proptest::prelude::*;

use super::*;

const GRID_SPACING: Spacing = Spacing { every: 2, columns: 100, share: u32::MAX };

fn grid() -> Grid {
    Grid::new(GRID_SPACING, (6, 40), 1)
}

fn file(components: usize) -> FileOfBlock {
    FileOfBlock { hash: 7, data: (800, 800 + (1 << 33)), components }
}

/// Points with growing positions, as many as are asked for.
fn any_points(components: usize) -> impl Strategy<Value = Vec<Point>> {
    prop::collection::vec((1..1_u64 << 22, any::<[i32; 3]>()), 0..=grid().count()).prop_map(move |steps| {
        let mut at = 800;
        let point = |(step, mut dc): (u64, [i32; 3])| {
            at += step;
            dc[components..].fill(0);
            Point { at, dc }
        };
        steps.into_iter().map(point).collect()
    })
}

fn read(block: &[u8], file: &FileOfBlock) -> Option<Vec<Point>> {
    let mut points = Vec::new();
    block::read(block, &grid(), file, &mut points).map(|()| points)
}

proptest! {
    #[test]
    fn a_block_gives_the_points_that_it_was_made_of((components, points) in prop_oneof![Just(1_usize), Just(3)].prop_flat_map(|n| (Just(n), any_points(n)))) {
        let mut block = vec![1, 2, 3];
        block::write(&mut block, &grid(), &file(components), &points);
        prop_assert_eq!(read(&block, &file(components)), Some(points));
    }

    #[test]
    fn a_damaged_block_and_one_of_another_file_are_refused(points in any_points(3), at in any::<prop::sample::Index>(), change in 1..=u8::MAX) {
        let mut block = Vec::new();
        block::write(&mut block, &grid(), &file(3), &points);
        prop_assert_eq!(read(&block, &FileOfBlock { hash: 8, ..file(3) }), None);
        prop_assert_eq!(read(&block[..at.index(block.len())], &file(3)), None);
        let at = at.index(block.len());
        block[at] ^= change;
        prop_assert_eq!(read(&block, &file(3)), None);
    }

    #[test]
    fn what_a_sealed_block_of_noise_says_is_within_the_file(mut block in prop::collection::vec(any::<u8>(), 0..300), shaped in any::<bool>()) {
        if shaped && block.len() >= 13 {
            block[8..13].copy_from_slice(&[1, 2, 0, 3, 0]);
        }
        block::seal(&mut block, 7);
        if let Some(points) = read(&block, &file(3)) {
            prop_assert!(points.len() <= grid().count());
            prop_assert!(points.iter().all(|point| (800..800 + (1 << 33)).contains(&point.at)));
        }
    }
}

#[test]
fn a_block_with_other_points_than_the_picture_has_is_refused() {
    let points: Vec<_> = (1..=grid().count() as u64).map(|n| Point { at: 800 + n, dc: [0; 3] }).collect();
    let mut block = Vec::new();
    block::write(&mut block, &grid(), &file(1), &points);
    assert!(read(&block, &file(1)).is_some());
    block.extend([1, 0]);
    block::seal(&mut block, 7);
    assert_eq!(read(&block, &file(1)), None, "one more than there are places");
    let other = Grid::new(Spacing { every: 3, ..GRID_SPACING }, (6, 40), 1);
    block::write(&mut block, &other, &file(1), &points[..9]);
    assert_eq!(read(&block, &file(1)), None, "another spacing");
    block::write(&mut block, &grid(), &file(1), &points[..9]);
    block[8] += 1;
    block::seal(&mut block, 7);
    assert_eq!(read(&block, &file(1)), None, "another version");
    let data = (800, 805);
    block::write(&mut block, &grid(), &file(1), &points[..9]);
    assert_eq!(read(&block, &FileOfBlock { data, ..file(1) }), None, "beyond the end of the file");
}
