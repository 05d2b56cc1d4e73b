//! One XML of Pascal VOC: the objects of a picture. Parts of an object have names and boxes of their own, which are left
//! alone.

use roxmltree::{Document, Node, ParsingOptions};

use crate::numbers::single;

/// What an XML says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct VocAnnotation {
    /// The picture's name, without folders. It is often wrong, so the name of the XML comes first.
    pub file_name: Option<String>,
    pub objects: Vec<VocObject>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct VocObject {
    pub name: String,
    /// Left, top, right and bottom as they are written.
    pub corners: [f64; 4],
    pub difficult: bool,
    pub truncated: bool,
    pub occluded: bool,
}

/// More elements and texts than an annotation has.
const MOST_NODES: u32 = 1 << 20;
/// More bytes than a tag has. The parser compares each attribute of a tag with all others.
const MOST_OF_A_TAG: usize = 64 << 10;

impl VocAnnotation {
    /// # Errors
    /// The text is no annotation. The error says what is wrong with it.
    pub(super) fn parse(xml: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(xml).map_err(|_| "is not in UTF-8. Save it in UTF-8.".to_owned())?;
        if text.split('<').skip(1).any(|piece| tag_len(piece) > MOST_OF_A_TAG) {
            return Err(format!("has a tag of more than {MOST_OF_A_TAG} bytes"));
        }
        // Entities could make a small file large, so there are none: a DTD is refused.
        let options = ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        let document =
            Document::parse_with_options(text, options).map_err(|error| format!("is not valid XML: {error}"))?;
        let root = document.root_element();
        if !root.has_tag_name("annotation") {
            return Err(format!("has the root \"{}\" and not \"annotation\"", root.tag_name().name()));
        }
        let file_name = child(root, "filename").map(text_of).and_then(|name| name.rsplit(['/', '\\']).next());
        let file_name = file_name.filter(|name| !name.is_empty()).map(str::to_owned);
        let objects = root.children().filter(|node| node.has_tag_name("object"));
        let objects = (1..).zip(objects).map(|(number, node)| {
            VocObject::parse(node).map_err(|problem| format!("has a wrong object {number}: {problem}"))
        });
        Ok(Self { file_name, objects: objects.collect::<Result<_, _>>()? })
    }
}

impl VocObject {
    fn parse(node: Node<'_, '_>) -> Result<Self, String> {
        let name = child(node, "name").map(text_of).unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err("it has no \"name\"".into());
        }
        let corners = child(node, "bndbox").ok_or("it has no \"bndbox\"")?;
        let number = |tag: &str| {
            let text = text_of(child(corners, tag).ok_or_else(|| format!("its box has no \"{tag}\""))?);
            let number = text.parse::<f64>().ok().filter(|number| single(*number).is_some());
            number.ok_or_else(|| format!("\"{text}\" is not an \"{tag}\" of a box"))
        };
        let corners = [number("xmin")?, number("ymin")?, number("xmax")?, number("ymax")?];
        let [left, top, right, bottom] = corners;
        if right < left || bottom < top {
            return Err(format!("its box ends before it begins: {left}, {top}, {right}, {bottom}"));
        }
        let flag = |tag: &str| match child(node, tag).map(text_of) {
            None | Some("0" | "") => Ok(false),
            Some("1") => Ok(true),
            Some(other) => Err(format!("\"{tag}\" is \"{other}\", and must be 0 or 1")),
        };
        let (difficult, truncated, occluded) = (flag("difficult")?, flag("truncated")?, flag("occluded")?);
        Ok(Self { name, corners, difficult, truncated, occluded })
    }
}

/// Bytes of a tag, of the text from there to the next `<`: no value of an attribute has that character. A comment is no tag.
fn tag_len(piece: &str) -> usize {
    if piece.starts_with(['!', '?']) {
        return 0;
    }
    let mut quote = None;
    let end = piece.bytes().position(|byte| {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
        quote.is_none() && byte == b'>'
    });
    end.unwrap_or(piece.len())
}

/// The element right below another one that has this name.
fn child<'a, 'i>(node: Node<'a, 'i>, tag: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|node| node.has_tag_name(tag))
}

fn text_of<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_s_own_name_and_box_are_read_in_any_order_and_those_of_its_parts_are_not() {
        let xml = "\u{feff}<?xml version=\"1.0\"?>\r\n<annotation verified=\"yes\"><filename>C:\\x\\dog.JPG</filename>\
            <object><part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>\
            <bndbox><ymax> 40 </ymax><xmax>30.5</xmax><ymin>20</ymin><xmin>1e1</xmin></bndbox>\
            <difficult>1</difficult><name> a &amp; b</name></object><object><name>x</name><occluded>1</occluded>\
            <bndbox><xmin>0</xmin><ymin>0</ymin><xmax>0</xmax><ymax>0</ymax></bndbox></object></annotation>";
        let annotation = VocAnnotation::parse(xml.as_bytes()).unwrap();
        assert_eq!(annotation.file_name.as_deref(), Some("dog.JPG"));
        let [first, second] = &annotation.objects[..] else { panic!("{annotation:?}") };
        assert_eq!((&*first.name, first.corners), ("a & b", [10.0, 20.0, 30.5, 40.0]));
        assert_eq!([first.difficult, first.truncated, first.occluded], [true, false, false]);
        assert_eq!(([second.difficult, second.occluded], &*second.name), ([false, true], "x"));
        assert_eq!(VocAnnotation::parse(b"<annotation/>").unwrap(), VocAnnotation::default());
        let long = "it's > ".repeat(20_000);
        let xml = format!("<annotation><!-- {long} --><note by='a>b'>{long}</note></annotation>");
        assert_eq!(VocAnnotation::parse(xml.as_bytes()).unwrap(), VocAnnotation::default());
    }

    #[test]
    fn what_is_no_annotation_is_refused_with_the_reason() {
        let object = |inside: &str| format!("<annotation><object>{inside}</object></annotation>");
        let boxed = |left: &str, right: &str| {
            object(&format!(
                "<name>a</name><bndbox><xmin>{left}</xmin><ymin>1</ymin><xmax>{right}</xmax><ymax>2</ymax></bndbox>"
            ))
        };
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><annotation>&c;</annotation>";
        for (xml, words) in [
            (String::new(), "is not valid XML"),
            ("<annotation>".into(), "is not valid XML"),
            ("<annotations/>".into(), "the root \"annotations\""),
            (bomb.into(), "is not valid XML"),
            ("<annotation>&unknown;</annotation>".into(), "is not valid XML"),
            ("<a>".repeat(200_000), "is not valid XML"),
            (format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000)), "the root \"a\""),
            (format!("<annotation{}/>", " a='>'".repeat(20_000)), "a tag of more than 65536 bytes"),
            (object(""), "object 1: it has no \"name\""),
            (object("<name> </name>"), "no \"name\""),
            (object("<name>a</name>"), "no \"bndbox\""),
            (object("<name>a</name><bndbox><xmin>1</xmin></bndbox>"), "no \"ymin\""),
            (boxed("nan", "2"), "\"nan\" is not an \"xmin\""),
            (boxed("1", "inf"), "\"inf\" is not an \"xmax\""),
            (boxed("1", "1e39"), "not an \"xmax\""),
            (boxed("", "2"), "\"\" is not an \"xmin\""),
            (boxed("3", "2"), "ends before it begins"),
            (boxed("1", "2").replace("<name>", "<difficult>2</difficult><name>"), "\"difficult\" is \"2\""),
        ] {
            let problem = VocAnnotation::parse(xml.as_bytes()).unwrap_err();
            assert!(problem.contains(words), "{words}: {problem}");
        }
        assert!(VocAnnotation::parse(b"<annotation>\xc4\xe3</annotation>").unwrap_err().contains("UTF-8"));
    }
}
