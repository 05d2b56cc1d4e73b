//! The option that says in which form the four numbers of a table's boxes are.

use forebay_sources::{Options, SourceError};

use crate::option_key::OptionKey;
use crate::roles::BoxFormat;

pub(super) const BOXES: OptionKey = OptionKey {
    name: "boxes",
    help: "the form of the column \"boxes\", which then follows the pictures: \"xyxy\", \"xywh\" or \"cxcywh\", each \
           also with \"_fractions\"",
};

/// The column that the option is about.
pub(super) const COLUMN: &str = "boxes";

/// The user's choice. `can_be` says whether the table has a column `boxes` of four numbers for each object.
///
/// # Errors
/// It is no such word, or there is no such column.
pub(super) fn chosen(options: &Options, can_be: bool) -> Result<Option<BoxFormat>, SourceError> {
    let words: Vec<(&str, Option<BoxFormat>)> =
        std::iter::once(("none", None)).chain(BoxFormat::words().map(|word| (word, BoxFormat::named(word)))).collect();
    let chosen = options.own.choice(BOXES.name, &words)?;
    if chosen.is_some() && !can_be {
        let expected = "left out, unless group=\"true\" and the column map has \"boxes\" with four columns of the \
                        table, such as columns = { boxes = \"x1,y1,x2,y2\" }";
        return Err(SourceError::bad_option(BOXES.name, options.own.get(BOXES.name).unwrap_or_default(), expected));
    }
    Ok(chosen)
}
