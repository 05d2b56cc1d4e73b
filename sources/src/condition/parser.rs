//! The grammar of conditions: `or` binds weaker than `and`, and `and` weaker than `not`.

use super::tokens::{Placed, Token, Tokens, Wrong};
use super::{Comparison, Node, Test};

/// Most parentheses and `not`s within each other.
const MOST_DEPTH: usize = 64;

struct Parser<'a> {
    tokens: Tokens<'a>,
    /// The token that is looked at.
    next: Placed<'a>,
    depth: usize,
}

/// Reads a whole text.
pub(super) fn parse(text: &str) -> Result<Node, Wrong> {
    let mut tokens = Tokens::new(text);
    let next = tokens.next()?;
    let mut parser = Parser { tokens, next, depth: 0 };
    let node = parser.alternatives()?;
    match parser.next {
        (Token::End, _) => Ok(node),
        (Token::Close, at) => Err((at, "this parenthesis was not opened".to_owned())),
        (Token::Sign(_), at) => Err((at, "a comparison has one sign; join two comparisons by \"and\"".to_owned())),
        (_, at) => Err((at, "\"and\" or \"or\" is missing before this".to_owned())),
    }
}

impl<'a> Parser<'a> {
    fn take(&mut self) -> Result<Placed<'a>, Wrong> {
        let next = self.tokens.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    /// Passes over a word of the grammar, if it is the next one. It may be in upper case.
    fn takes(&mut self, word: &str) -> Result<bool, Wrong> {
        let is_next = matches!(self.next.0, Token::Name(name) if name.eq_ignore_ascii_case(word));
        if is_next {
            self.take()?;
        }
        Ok(is_next)
    }

    fn alternatives(&mut self) -> Result<Node, Wrong> {
        let mut all = vec![self.conjunction()?];
        while self.takes("or")? {
            all.push(self.conjunction()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Or(all) })
    }

    fn conjunction(&mut self) -> Result<Node, Wrong> {
        let mut all = vec![self.negation()?];
        while self.takes("and")? {
            all.push(self.negation()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::And(all) })
    }

    fn negation(&mut self) -> Result<Node, Wrong> {
        let at = self.next.1;
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return Err((at, format!("parentheses and \"not\" may be {MOST_DEPTH} deep, and these are deeper")));
        }
        let node = if self.takes("not")? {
            Node::Not(Box::new(self.negation()?))
        } else if self.next.0 == Token::Open {
            self.take()?;
            let inner = self.alternatives()?;
            if self.next.0 != Token::Close {
                return Err((self.next.1, "a \")\" is missing here".to_owned()));
            }
            self.take()?;
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn test(&mut self) -> Result<Node, Wrong> {
        let (column, at) = match self.take()? {
            (Token::Name(name), at) if !is_of_grammar(name) => (name.to_owned(), at),
            (Token::Value(_), at) => {
                return Err((at, "a comparison begins with a column; write the column first".to_owned()));
            }
            (_, at) => return Err((at, "the name of a column is missing here".to_owned())),
        };
        let is_negated = self.takes("not")?;
        let node = if self.takes("in")? {
            Node::Test(Test { column, at, comparison: Comparison::In, values: self.list()? })
        } else if is_negated {
            return Err((self.next.1, "\"in\" is missing behind \"not\"".to_owned()));
        } else {
            let comparison = match self.take()? {
                (Token::Sign(comparison), _) => comparison,
                (_, at) => return Err((at, "a comparison (= != < <= > >= or in) is missing before this".to_owned())),
            };
            Node::Test(Test { column, at, comparison, values: vec![self.value()?] })
        };
        Ok(if is_negated { Node::Not(Box::new(node)) } else { node })
    }

    fn list(&mut self) -> Result<Vec<(super::Literal, usize)>, Wrong> {
        if self.next.0 != Token::Open {
            return Err((self.next.1, "a list such as (1, 2) is missing here".to_owned()));
        }
        self.take()?;
        let mut values = vec![self.value()?];
        loop {
            match self.take()? {
                (Token::Comma, _) => values.push(self.value()?),
                (Token::Close, _) => return Ok(values),
                (_, at) => return Err((at, "a \",\" or a \")\" is missing before this".to_owned())),
            }
        }
    }

    fn value(&mut self) -> Result<(super::Literal, usize), Wrong> {
        match self.take()? {
            (Token::Value(literal), at) => Ok((literal, at)),
            (Token::Name(name), at) => {
                Err((at, format!("\"{name}\" is no value; write a number, or a text in quotes such as '{name}'")))
            }
            (_, at) => Err((at, "a number or a text in quotes is missing here".to_owned())),
        }
    }
}

fn is_of_grammar(name: &str) -> bool {
    ["and", "or", "not", "in"].iter().any(|word| name.eq_ignore_ascii_case(word))
}
