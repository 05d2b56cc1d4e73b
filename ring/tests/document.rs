//! docs/ring.md has every byte: its tables are compared with the structs.

use std::mem::offset_of;

use forebay_columns::ElementType;
use forebay_ring::{
    Ack, Attach, Call, Claim, ClaimSum, ColumnEntry, Dtype, Geometry, Header, Held, LAYOUT_PROTOCOL, Layout,
    MessageKind, Missed, NewRing, Number, Offer, PROTOCOL, Pixels, Release, ResumedClaim, Shape, Text, Welcome,
};

const PAGE: &str = include_str!("../../docs/ring.md");

/// Name, offset and length of a field.
type Field = (String, usize, usize);

/// Fields of a struct, by the compiler.
macro_rules! fields {
    ($name:ident: $($field:ident)*) => {
        (stringify!($name), vec![$((
            stringify!($field).to_owned(),
            offset_of!($name, $field),
            field_len(|it: &$name| &it.$field),
        )),*])
    };
}

fn field_len<S, F>(_field: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Fields of the first table after `heading`, by the page.
fn table(heading: &str) -> Vec<Field> {
    let (_, rest) = PAGE.split_once(heading).unwrap_or_else(|| panic!("the page has no {heading}"));
    let rows = rest.lines().skip_while(|line| !line.starts_with("| offset")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let field = |row: &str| {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        (cells[3].to_owned(), cells[1].parse().expect("an offset"), cells[2].parse().expect("a length"))
    };
    rows.map(field).collect()
}

#[test]
fn tables_of_messages_have_every_field_at_its_offset() {
    let structs = [
        fields!(Claim: lease start len bare),
        fields!(Attach: kind protocol oldest flags name shard_id num_shards incarnation devices group join pid trainer credits reserved),
        fields!(ColumnEntry: name objects element depth dims room validity offsets values),
        fields!(Welcome: kind protocol incarnation consumer credits ring pixels),
        fields!(Offer: kind ring seq generation epoch slot shown valid claims redelivered height width deadline ready),
        fields!(Ack: kind slot seq generation first count last ring freed more),
        fields!(ClaimSum: high low),
        fields!(Release: kind slot seq generation returned ring),
        fields!(Number: kind reserved value),
        fields!(Text: kind len code reserved),
        fields!(Call: kind len id),
        fields!(Held: kind pid epoch seq for_ms expired len),
        fields!(Missed: kind reserved epoch from to records),
        fields!(NewRing: kind ring pixels),
        fields!(Pixels: place reserved device stride total),
        fields!(ResumedClaim: lease start len epoch seq held bare sum),
    ];
    for (name, fields) in structs {
        assert_eq!(table(&format!("**{name}**")), fields, "{name}");
    }
}

#[test]
fn every_kind_is_in_the_table_of_kinds() {
    for number in 1.. {
        let Ok(kind) = MessageKind::try_from(number) else { break };
        let name = format!("{kind:?}").to_uppercase().replace("EPOCHEND", "EPOCH_END");
        assert!(PAGE.contains(&format!("| {number} | {name} |")), "{name}");
        assert!(number > 19 || MessageKind::try_from(number + 1).is_ok(), "kinds have no gap before 20");
    }
}

#[test]
fn types_of_values_have_the_numbers_of_the_table() {
    let types = [(Dtype::U8, "uint8"), (Dtype::F16, "float16"), (Dtype::F32, "float32"), (Dtype::Bf16, "bfloat16")];
    let row = PAGE.lines().find(|line| line.contains("| dtype |")).expect("a row of the header");
    let said = types.map(|(dtype, name)| format!("{} {name}", dtype as u32)).join(", ");
    assert!(row.ends_with(&format!("| {said} |")), "{row}");
}

#[test]
fn types_of_columns_have_the_numbers_of_the_table() {
    let row = PAGE.lines().find(|line| line.contains("| element |")).expect("a row of the entry");
    let long = |name: &str| {
        let (letter, bits) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let kind = match letter {
            "u" => "uint",
            "i" => "int",
            "f" => "float",
            "bf" => "bfloat",
            other => other,
        };
        format!("{kind}{bits}")
    };
    let types = (1..).map_while(ElementType::from_wire);
    let said: Vec<String> = types.map(|of| format!("{} {}", of as u32, long(of.name()))).collect();
    assert!(row.ends_with(&format!(": {} |", said.join(", "))), "{row}");
}

#[test]
fn table_of_the_header_is_what_is_written() {
    let shape = Shape { batch: 7, height: 30, width: 20, channels: 3, dtype: Dtype::F32, layout: Layout::Nchw };
    let geometry = Geometry::try_new(shape, 5).unwrap();
    let bytes = Header { incarnation: 0xABCD, ring: 4, geometry: geometry.clone(), pinnable: true }.encode();
    let start = geometry.slot(0).start;
    let offset = |tensor: std::ops::Range<usize>| tensor.start - start;
    let expected = [
        ("magic", usize::try_from(u64::from_le_bytes(*b"FOREBAY\n")).unwrap()),
        ("protocol", LAYOUT_PROTOCOL as usize),
        ("ring", 4),
        ("incarnation", 0xABCD),
        ("slots", 5),
        ("batch", 7),
        ("height", 30),
        ("width", 20),
        ("channels", 3),
        ("dtype", 3),
        ("layout", 2),
        ("pinnable", 1),
        ("slots_offset", start),
        ("stride", geometry.stride()),
        ("labels", offset(geometry.labels(0))),
        ("records", offset(geometry.records(0))),
        ("mask", offset(geometry.mask(0))),
        ("claims", offset(geometry.claims(0))),
        ("total", geometry.total_len()),
        ("columns", 0),
        ("len", Header::LEN),
    ];
    assert!(PAGE.contains(&format!("| protocol | version, {LAYOUT_PROTOCOL} |")));
    assert!(PAGE.contains(&format!("The newest version is\n{PROTOCOL}.")));
    let table = table("### Header");
    assert_eq!(table.last().map(|(_, at, len)| at + len), Some(Header::LEN));
    for ((name, at, len), (expected_name, expected)) in table.into_iter().zip(expected) {
        let mut value = [0; 8];
        value[..len].copy_from_slice(&bytes[at..at + len]);
        assert_eq!((name.as_str(), usize::try_from(u64::from_le_bytes(value)).unwrap()), (expected_name, expected));
    }
}
