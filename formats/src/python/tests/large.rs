//! Large records, which do not come through the socket.

use super::*;

#[test]
fn rule_55_large_records_come_through_memory_and_where_that_is_full_through_the_socket() {
    let content = |number: u64| vec![u8::try_from(number).unwrap(); usize::try_from(5000 * number + 1).unwrap()];
    let all: u64 = (100..103).map(|number| 5000 * number + 1).sum();
    let few = 600_000;
    let limited = format!("import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, ({few}, {few}))\n");
    for (limit, in_memory) in [("", all), (&limited, few)] {
        let script = Script::new(&reads(&format!("{limit}yield bytes([number]) * (5000 * number + 1)")));
        let source = script.open([("workers", "1")]).unwrap();
        for (record, number) in (0..).zip((0..5).chain(100..103)) {
            let mut buf = Vec::new();
            source.read(record, u64::MAX, &mut buf).unwrap();
            assert!(buf == content(number), "record {record}");
        }
        // The last task has the three largest records.
        let mut lent = source.pool().lend(false).unwrap();
        assert_eq!(lent.child().in_memory(), in_memory);
    }
}
