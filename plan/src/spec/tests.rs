//! Tests of what makes two ledgers the same.

use super::*;

fn spec() -> LedgerSpec {
    LedgerSpec { fingerprint: vec![1; 32], records: 500, permutation: PERMUTATION, ..LedgerSpec::default() }
}

#[test]
fn rule_1_each_field_changes_the_hash_and_is_named() {
    let shard = |shard_id, num_shards, stick_to_shard| Some(StaticShard { shard_id, num_shards, stick_to_shard });
    let others = [
        (LedgerSpec { fingerprint: vec![2; 32], ..spec() }, "fingerprint"),
        (LedgerSpec { records: 501, ..spec() }, "records was 500 and is now 501"),
        (LedgerSpec { shuffle: true, ..spec() }, "shuffle was false and is now true"),
        (LedgerSpec { seed: 9, ..spec() }, "seed was 0 and is now 9"),
        (LedgerSpec { permutation: 2, ..spec() }, "permutation"),
        (grained(3, 16), "shuffle was false and is now \"grains\""),
        (LedgerSpec { shard: shard(0, 2, false), ..spec() }, "was dynamic and is now static (shard_id 0"),
        (in_lockstep(8, 0, 2), "assignment was dynamic and is now lockstep (global_batch 8)"),
    ];
    for (other, words) in &others {
        assert_ne!(spec_hash(other), spec_hash(&spec()));
        let said = differences(&spec(), other);
        assert!(said.contains(words), "{said}");
    }
    assert_ne!(
        spec_hash(&LedgerSpec { shard: shard(0, 2, false), ..spec() }),
        spec_hash(&LedgerSpec { shard: shard(0, 2, true), ..spec() })
    );
    assert_eq!(differences(&spec(), &spec()), "");
}

fn in_lockstep(global_batch: u64, rank: u32, world_size: u32) -> LedgerSpec {
    LedgerSpec { lockstep: Some(LockstepRank { global_batch, rank, world_size }), ..spec() }
}

#[test]
fn rule_40_the_hash_of_a_lockstep_run_covers_the_global_batch_and_not_the_ranks() {
    assert_eq!(spec_hash(&in_lockstep(8, 0, 2)), spec_hash(&in_lockstep(8, 3, 4)));
    assert_ne!(spec_hash(&in_lockstep(8, 0, 2)), spec_hash(&in_lockstep(16, 0, 2)));
    assert_eq!(differences(&in_lockstep(8, 0, 2), &in_lockstep(8, 0, 4)), "world_size was 2 and is now 4");
    assert_eq!(
        differences(&in_lockstep(8, 0, 2), &in_lockstep(16, 0, 2)),
        "assignment was lockstep (global_batch 8) and is now lockstep (global_batch 16)"
    );
    assert_eq!(check(&in_lockstep(8, 1, 2)), Ok(()));
    assert!(matches!(check(&in_lockstep(9, 1, 2)), Err(SpecError::Lockstep(RankProblem::Uneven { .. }))));
    let shard = Some(StaticShard { shard_id: 0, num_shards: 2, stick_to_shard: false });
    let both = LedgerSpec { shard, ..in_lockstep(8, 1, 2) };
    assert_eq!(check(&both), Err(SpecError::Lockstep(RankProblem::Shard)));
}

fn grained(digest: u8, window: u32) -> LedgerSpec {
    let grains = Some(GrainOrder { digest: vec![digest; 32], window });
    LedgerSpec { shuffle: true, permutation: GRAIN_PERMUTATION, grains, ..spec() }
}

#[test]
fn rule_56_the_table_of_grains_and_the_window_are_part_of_the_spec() {
    let kept = grained(3, 16);
    for (other, words) in [
        (grained(4, 16), "the table of grains was 0303030303030303 and is now 0404040404040404"),
        (grained(3, 8), "shuffle_window was 16 and is now 8"),
    ] {
        assert_ne!(spec_hash(&other), spec_hash(&kept));
        assert_eq!(differences(&kept, &other), words);
    }
    let records = LedgerSpec { permutation: PERMUTATION, grains: None, ..kept.clone() };
    assert!(differences(&kept, &records).starts_with("shuffle was \"grains\" and is now true;"));
    assert_eq!(check(&kept), Ok(()));
}

#[test]
fn rule_62_the_classes_of_steps_are_part_of_the_spec_and_their_rule_is_for_people() {
    let classes = ClassOrder {
        digest: vec![3; 32],
        places: vec![8, 16],
        leftovers: 1,
        repeats: vec![],
        rule: "kohya".to_owned(),
        accumulate: 0,
        lengths: Vec::new(),
    };
    let of = |classes: ClassOrder| {
        let classes = Some(classes);
        LedgerSpec { shuffle: true, permutation: CLASS_PERMUTATION, classes, ..spec() }
    };
    let kept = of(classes.clone());
    for (other, words) in [
        (
            ClassOrder { digest: vec![4; 32], ..classes.clone() },
            "classes was 0303030303030303 (kohya) and is now 04040404",
        ),
        (ClassOrder { places: vec![8, 8], ..classes.clone() }, "each class was 8, 16 and is now 8, 8"),
        (ClassOrder { leftovers: 3, ..classes.clone() }, "leftovers was neighbour and is now drop"),
        (ClassOrder { repeats: vec![2], ..classes.clone() }, "the repeats of each source was none and is now 2"),
        (ClassOrder { accumulate: 4, ..classes.clone() }, "accumulate was 1 and is now 4"),
        (ClassOrder { lengths: vec![16, 32], ..classes.clone() }, "seq_lens was none and is now 16, 32"),
    ] {
        assert_ne!(spec_hash(&of(other.clone())), spec_hash(&kept));
        let said = differences(&kept, &of(other));
        assert!(said.contains(words), "{said}");
    }
    let renamed = of(ClassOrder { rule: "buckets of kohya".to_owned(), ..classes.clone() });
    assert_eq!((spec_hash(&renamed), nameless(&renamed)), (spec_hash(&kept), nameless(&kept)));
    assert_eq!(check(&kept), Ok(()));
    let groups = |accumulate, leftovers| check(&of(ClassOrder { accumulate, leftovers, ..classes.clone() }));
    assert_eq!((groups(4, 1), groups(1 << 16, 3), groups(1, 2)), (Ok(()), Ok(()), Ok(())));
    for (accumulate, leftovers) in [(2, 2), ((1 << 16) + 1, 1), (u32::MAX, 3)] {
        assert_eq!(groups(accumulate, leftovers), Err(ClassProblem::Accumulate { steps: accumulate }.into()));
    }
}

#[test]
fn rule_56_hashes_of_specs_are_pinned_and_those_without_grains_are_the_old_ones() {
    let shard = Some(StaticShard { shard_id: 1, num_shards: 2, stick_to_shard: true });
    let hash = |spec: LedgerSpec| blake3::Hash::from(spec_hash(&spec)).to_hex().to_string();
    let hashes = [spec(), LedgerSpec { shuffle: true, shard, ..spec() }, grained(3, 16)].map(hash);
    assert_eq!(hashes, PINNED);
}

const PINNED: [&str; 3] = [
    "f82f944a5fd896fff81f104878374ce2523e3fac276180d0d02b5813415fc4df",
    "d1dcce3654502ad8a470c7ad7deff0fe0b6c26b8578f0ecd6fdcde8ac58b2d0a",
    "7a758227803e47a359f625a71664349b88868f10c95451950fbeb1a9b95b3ee6",
];

#[test]
fn specs_that_no_ledger_can_have_are_refused_by_name() {
    let shard = |shard_id, num_shards| Some(StaticShard { shard_id, num_shards, stick_to_shard: false });
    assert_eq!(check(&spec()), Ok(()));
    assert_eq!(check(&LedgerSpec { records: 0, ..spec() }), Err(SpecError::Empty));
    assert_eq!(check(&LedgerSpec { records: u64::MAX, ..spec() }), Err(SpecError::TooLarge(u64::MAX)));
    assert_eq!(check(&LedgerSpec { permutation: 0, ..spec() }), Err(SpecError::Permutation(0)));
    assert_eq!(check(&LedgerSpec { fingerprint: vec![], ..spec() }), Err(SpecError::Fingerprint(0)));
    let without = |version, grains| Err(GrainProblem::Spec { version, grains }.into());
    assert_eq!(check(&LedgerSpec { permutation: 2, shuffle: true, ..spec() }), without(2, false));
    assert_eq!(check(&LedgerSpec { permutation: 1, ..grained(3, 16) }), without(1, true));
    assert_eq!(check(&LedgerSpec { shuffle: false, ..grained(3, 16) }), without(2, true));
    assert_eq!(check(&grained(3, 0)), without(2, true));
    for (shard_id, num_shards) in [(0, 0), (2, 2), (3, 2)] {
        assert_eq!(
            check(&LedgerSpec { shard: shard(shard_id, num_shards), ..spec() }),
            Err(SpecError::Shard { shard_id, num_shards })
        );
    }
}
