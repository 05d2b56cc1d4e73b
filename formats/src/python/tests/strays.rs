//! Children that talk too much.

use super::*;

#[test]
fn rule_55_a_child_that_sends_labels_without_records_gives_no_record() {
    for frame in ["b'L', 1, b'7'", "b'O', 2, b'[]'"] {
        let body = format!(
            "import socket, stat, struct\nfor fd in range(3, 20) if number == 3 else ():\n    try:\n        \
             if stat.S_ISSOCK(os.fstat(fd).st_mode):\n            \
             kind, size, text = {frame}\n            os.write(fd, 2 * (struct.pack('<cQ', kind, size) + text))\n    \
             except OSError:\n        pass\nyield content(task, number)"
        );
        let read = all(&Script::new(&reads(&body)).open([("records_per_task", "1")]).unwrap());
        assert!(read[3].as_ref().unwrap_err().contains("sent something that is not an answer"), "{read:?}");
        assert_eq!(read.iter().filter(|read| read.is_ok()).count(), 7);
    }
}
