//! The tokens of a condition: names, values and signs, each with its place.

use super::Comparison;
use super::literal::Literal;

/// A token, and the byte where it begins.
pub(super) type Placed<'a> = (Token<'a>, usize);

/// What is wrong, and at which byte.
pub(super) type Wrong = (usize, String);

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A column or a word of the grammar.
    Name(&'a str),
    Value(Literal),
    Sign(Comparison),
    Open,
    Close,
    Comma,
    End,
}

/// The rest of a text.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

const SIGNS: [(&str, Comparison); 7] = [
    ("!=", Comparison::Unequal),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// What may be part of a number. Whether it is one is decided by its whole.
fn is_of_number(one: char) -> bool {
    one.is_ascii_alphanumeric() || matches!(one, '.' | '_')
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token. Behind the last one, the end.
    pub(super) fn next(&mut self) -> Result<Placed<'a>, Wrong> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let (token, len) = Self::first(rest).map_err(|problem| (start, problem))?;
        self.at = start + len;
        Ok((token, start))
    }

    fn first(rest: &'a str) -> Result<(Token<'a>, usize), String> {
        let Some(one) = rest.chars().next() else { return Ok((Token::End, 0)) };
        if one.is_ascii_alphabetic() || one == '_' {
            let len = rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_').unwrap_or(rest.len());
            let token = match &rest[..len] {
                "true" => Token::Value(Literal::Truth(true)),
                "false" => Token::Value(Literal::Truth(false)),
                name => Token::Name(name),
            };
            return Ok((token, len));
        }
        if rest.starts_with("<>") {
            return Err("\"<>\" is not a comparison; write \"!=\"".to_owned());
        }
        if let Some((sign, comparison)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
            return Ok((Token::Sign(*comparison), sign.len()));
        }
        match one {
            '(' => Ok((Token::Open, 1)),
            ')' => Ok((Token::Close, 1)),
            ',' => Ok((Token::Comma, 1)),
            '"' | '\'' => Self::quoted(rest, one),
            '0'..='9' | '-' | '+' | '.' => Self::number(rest),
            _ => Err("this character is no part of a condition. Columns, numbers, texts in quotes, = != < <= > >=, in, and, or, \
                      not and parentheses are"
                .to_owned()),
        }
    }

    /// A text in quotes. Two of the quotes in a row are one of the text.
    fn quoted(rest: &str, quote: char) -> Result<(Token<'a>, usize), String> {
        let (mut text, mut letters) = (String::new(), rest[1..].char_indices().peekable());
        while let Some((place, one)) = letters.next() {
            if one != quote {
                text.push(one);
            } else if letters.next_if(|(_, next)| *next == quote).is_some() {
                text.push(quote);
            } else {
                return Ok((Token::Value(Literal::Text(text)), place + 2));
            }
        }
        Err("this text does not end: its second quote is missing".to_owned())
    }

    fn number(rest: &str) -> Result<(Token<'a>, usize), String> {
        let mut len = 0;
        let mut last = ' ';
        for one in rest.chars() {
            // A sign is first, or behind the letter of an exponent.
            let is_sign = matches!(one, '+' | '-') && (len == 0 || matches!(last, 'e' | 'E'));
            if !is_sign && !is_of_number(one) {
                break;
            }
            (len, last) = (len + 1, one);
        }
        let digits = &rest[..len];
        let is_plain =
            digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
        let literal = match (digits.parse::<i128>(), digits.parse::<f64>()) {
            (Ok(whole), _) => Literal::Whole(whole),
            (_, Ok(real)) if is_plain && real.is_finite() => Literal::Real(real),
            _ => return Err("this is not a number; numbers are such as 12, -0.5 and 1e6".to_owned()),
        };
        Ok((Token::Value(literal), len))
    }
}
