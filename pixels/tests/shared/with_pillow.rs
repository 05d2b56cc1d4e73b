//! A Python with Pillow: `FOREBAY_PYTHON`, else `python3`.

use std::process::Command;

/// Its command. None, with the reason printed, where it has no Pillow.
pub(crate) fn with_pillow() -> Option<String> {
    let python = std::env::var("FOREBAY_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_pillow = Command::new(&python).args(["-c", "import PIL"]).output();
    if has_pillow.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    println!("skipped: {python} has no Pillow; set FOREBAY_PYTHON to one that has it");
    None
}
