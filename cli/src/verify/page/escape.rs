//! Escapes text and bytes for HTML.

/// Escapes text for use between tags and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            '`' => html.push_str("&#96;"),
            c => html.push(c),
        }
    }
    html
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base64, with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4_usize {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_opens_a_tag_or_ends_an_attribute(text in any::<String>()) {
            let html = escaped(&text);
            prop_assert!(!html.contains(['<', '>', '"', '\'', '`']));
            let back = html.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
            prop_assert_eq!(back.replace("&#39;", "'").replace("&#96;", "`").replace("&amp;", "&"), text);
        }

        #[test]
        fn base64_has_every_bit(bytes in prop::collection::vec(any::<u8>(), 0..50)) {
            let text = base64(&bytes);
            prop_assert_eq!(text.len() % 4, 0);
            let mut back: Vec<u8> = Vec::new();
            for four in text.as_bytes().chunks(4) {
                let values = four.iter().map(|letter| LETTERS.iter().position(|known| known == letter).unwrap_or(0));
                let bits = values.fold(0_u32, |bits, value| bits << 6 | u32::try_from(value).unwrap());
                let padding = four.len() - four.iter().position(|letter| *letter == b'=').unwrap_or(four.len());
                back.extend(&bits.to_be_bytes()[1..4 - padding]);
            }
            prop_assert_eq!(back, bytes);
        }
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("an", "YW4="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}
