//! The bare loop of the engines.

use std::time::Duration;

use forebay_cuda::lane::ceiling::ceiling;
use forebay_fake_gpu::{Count, Fake, Knob};

use crate::{LIMIT, gpu, photographs};

#[test]
fn the_bare_loop_counts_what_it_decodes_and_leaves_out_what_the_engines_do_not_take() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut files = photographs(6);
    files.push(b"no JPEG".to_vec());
    assert!(ceiling(&gpu, &files, 2, 5, Duration::ZERO).unwrap() > 0.0);
    assert_eq!(fake.count(Count::Pictures), 10, "one batch of five for each of two states");
    fake.set(Knob::Memory, fake.count(Count::DeviceBytes) + (1 << 16));
    ceiling(&gpu, &files, 3, 5, Duration::ZERO).expect_err("states that cannot be set up hold nobody up");
    assert!(ceiling(&gpu, &files[6..], 2, 5, Duration::ZERO).unwrap() <= 0.0, "there is nothing to decode");
}
