//! The terminal: lines on the whole screen, which the user scrolls.

use std::io::{self, Stdout, Write as _, stdout};
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::{Print, PrintStyledContent, Stylize as _};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{execute, queue};

use super::keyboard::{Event, Key, Keyboard};
use super::page::Row;

/// The user's terminal, which is as it was when this has been dropped.
pub(super) struct Screen {
    out: Stdout,
    keyboard: Keyboard,
    /// Lines that are scrolled away at the top.
    above: usize,
}

/// What the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Stay,
    Leave,
}

const KEYS: &str = "q: leave   up, down: scroll";

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        let keyboard = Keyboard::open()?;
        enable_raw_mode()?;
        // From here on, dropping it restores the terminal.
        let mut screen = Self { out: stdout(), keyboard, above: 0 };
        execute!(screen.out, EnterAlternateScreen, Hide)?;
        Ok(screen)
    }

    /// Shows as many lines as there is room for. `gone` says why they are no longer updated: it is shown above them, and
    /// they are dimmed.
    pub(super) fn show(&mut self, lines: &[Row], gone: Option<&str>) -> io::Result<()> {
        let (width, height) = size()?;
        let room = usize::from(height.saturating_sub(1));
        let lines = with_reason(lines, gone);
        let lines: Vec<Row> = lines.iter().flat_map(|line| wrapped(line, usize::from(width))).collect();
        self.above = self.above.min(lines.len().saturating_sub(room));
        queue!(self.out, BeginSynchronizedUpdate, Clear(ClearType::All))?;
        for (row, line) in (0..height.saturating_sub(1)).zip(&lines[self.above..]) {
            queue!(self.out, MoveTo(0, row))?;
            for part in line {
                queue!(self.out, PrintStyledContent(part.clone()))?;
            }
        }
        queue!(self.out, MoveTo(0, height.saturating_sub(1)))?;
        queue!(self.out, Print(clipped(KEYS, usize::from(width)).dim()))?;
        queue!(self.out, EndSynchronizedUpdate)?;
        self.out.flush()
    }

    /// Waits for a key or for another size, for at most this time.
    pub(super) fn wait(&mut self, time: Duration) -> io::Result<Wish> {
        match self.keyboard.wait(time)? {
            Event::Pressed(Key::Leave) | Event::HungUp => return Ok(Wish::Leave),
            Event::Pressed(Key::Up) => self.above = self.above.saturating_sub(1),
            Event::Pressed(Key::Down) => self.above = self.above.saturating_add(1),
            Event::Resized | Event::Nothing => {}
        }
        Ok(Wish::Stay)
    }

    /// The terminal has been closed: nothing is shown there any more.
    pub(super) fn is_hung_up(&self) -> bool {
        self.keyboard.is_hung_up()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // An error means that the terminal is gone, so nothing needs to be restored.
        let _shown = execute!(self.out, LeaveAlternateScreen, Show);
        let _cooked = disable_raw_mode();
    }
}

/// The lines, or what was last known behind the reason why nothing newer is.
fn with_reason(lines: &[Row], gone: Option<&str>) -> Vec<Row> {
    let Some(why) = gone else { return lines.to_vec() };
    let old = |line: &Row| line.iter().map(|part| part.content().clone().dim()).collect();
    let reason = [format!("{why} This is how it was last:").red()];
    [reason.into(), Row::new()].into_iter().chain(lines.iter().map(old)).collect()
}

/// A line of one part is broken between words, and its further lines are indented as it is. The parts of others are clipped.
fn wrapped(line: &Row, width: usize) -> Vec<Row> {
    let [part] = line.as_slice() else { return vec![fitted(line, width)] };
    let text = part.content();
    let indent: String = text.chars().take_while(|letter| *letter == ' ').collect();
    let mut rows = vec![indent.clone()];
    for word in text.split_whitespace() {
        let row = rows.last_mut().expect("there is one from the start");
        let is_first = row.len() == indent.len();
        if !is_first && row.chars().count() + 1 + word.chars().count() > width {
            rows.push(format!("{indent}{word}"));
        } else {
            row.push_str(if is_first { "" } else { " " });
            row.push_str(word);
        }
    }
    rows.iter().map(|row| vec![part.style().apply(clipped(row, width))]).collect()
}

fn fitted(line: &Row, mut width: usize) -> Row {
    let fit = line.iter().map(|part| {
        let text = clipped(part.content(), width);
        width -= text.chars().count();
        part.style().apply(text)
    });
    fit.collect()
}

fn clipped(text: &str, width: usize) -> String {
    text.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &Row, width: usize) -> Vec<String> {
        let text = |line: Row| line.iter().map(|part| part.content().clone()).collect();
        wrapped(line, width).into_iter().map(text).collect()
    }

    #[test]
    fn lines_that_are_not_renewed_are_dim_and_stand_below_the_reason() {
        let lines: [Row; 1] = [vec!["ring ".to_owned().stylize(), "HHRR".to_owned().red()]];
        assert_eq!(with_reason(&lines, None), lines);
        let reason = "No daemon answers. This is how it was last:".to_owned().red();
        let old = vec!["ring ".to_owned().dim(), "HHRR".to_owned().dim()];
        assert_eq!(with_reason(&lines, Some("No daemon answers.")), [vec![reason], Row::new(), old]);
    }

    #[test]
    fn sentences_are_broken_and_lines_of_parts_are_clipped() {
        let sentence: Row = vec!["  one two three".to_owned().stylize()];
        assert_eq!(rows(&sentence, 9), ["  one two", "  three"]);
        assert_eq!(rows(&sentence, 80), ["  one two three"]);
        assert_eq!(rows(&sentence, 4), ["  on", "  tw", "  th"]);
        let parts: Row = vec!["ring ".to_owned().stylize(), "HHRR".to_owned().red()];
        assert_eq!(rows(&parts, 7), ["ring HH"]);
        assert_eq!(rows(&parts, 4), ["ring"]);
        assert_eq!(rows(&Row::new(), 3), [""]);
    }
}
