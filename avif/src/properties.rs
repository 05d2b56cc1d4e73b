//! Properties of an item: the boxes of `ipco`, as far as a picture needs them (ISO/IEC 23008-12, section 6.5; AV1-ISOBMFF, section 2.3).

use crate::boxes::{Boxed, Reader};
use crate::fault::AvifFault;

/// What names colours: primaries, transfer, matrix (ITU-T H.273), and whether values have the full range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nclx {
    pub(crate) primaries: u16,
    pub(crate) transfer: u16,
    pub(crate) matrix: u16,
    pub(crate) is_full_range: bool,
}

/// What the `av1C` of an item says of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) depth: u8,
    pub(crate) is_gray: bool,
    /// By how much the planes of colour are halved: in a row, and in a column.
    pub(crate) halved: [bool; 2],
}

/// The properties of an item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Properties<'a> {
    pub(crate) size: Option<(u32, u32)>,
    pub(crate) config: Option<Config>,
    pub(crate) nclx: Option<Nclx>,
    pub(crate) profile: Option<&'a [u8]>,
    /// Quarters by which it is turned left.
    pub(crate) turned: Option<u8>,
    /// 0: top and bottom change places, 1: left and right.
    pub(crate) mirrored: Option<u8>,
    pub(crate) is_alpha: bool,
    pub(crate) operating_point: u8,
}

/// What the two names of the auxiliary picture with alpha are.
const ALPHA: [&[u8]; 2] = [b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0", b"urn:mpeg:hevc:2015:auxid:1\0"];

impl<'a> Properties<'a> {
    /// Adds a property. One that must be understood and is not, is refused.
    pub(crate) fn add(&mut self, property: &Boxed<'a>, is_essential: bool) -> Result<(), AvifFault> {
        let mut body = Reader::new(property.body);
        match &property.kind {
            b"ispe" => {
                body.version()?;
                once(&mut self.size, (body.long()?, body.long()?))
            }
            b"av1C" => once(&mut self.config, config(&mut body)?),
            b"colr" => self.colours(&mut body),
            b"irot" => once(&mut self.turned, body.byte()? & 3),
            b"imir" => once(&mut self.mirrored, body.byte()? & 1),
            b"auxC" => {
                body.version()?;
                self.is_alpha = ALPHA.iter().any(|name| body.rest().starts_with(name));
                Ok(())
            }
            b"a1op" => {
                self.operating_point = body.byte()?;
                if self.operating_point < 32 { Ok(()) } else { Err(AvifFault::Corrupt("its operating point is none")) }
            }
            b"lsel" if body.short()? != u16::MAX => Err(AvifFault::Unsupported("of which a layer is selected")),
            // What is left out at the sides is shown by Pillow and others too.
            b"clap" | b"pasp" | b"pixi" | b"clli" | b"mdcv" | b"amve" | b"cclv" | b"a1lx" | b"lsel" => Ok(()),
            _ if is_essential => Err(AvifFault::Unsupported("with a property that is not known and that must be")),
            _ => Ok(()),
        }
    }

    fn colours(&mut self, body: &mut Reader<'a>) -> Result<(), AvifFault> {
        match &body.name()? {
            b"nclx" => {
                let [primaries, transfer, matrix] = [body.short()?, body.short()?, body.short()?];
                let is_full_range = body.byte()? & 0x80 != 0;
                once(&mut self.nclx, Nclx { primaries, transfer, matrix, is_full_range })
            }
            b"prof" | b"rICC" => once(&mut self.profile, body.rest()),
            _ => Ok(()),
        }
    }

    /// How the picture is turned to be seen, as the number that EXIF has for it: turned first, and then mirrored.
    pub(crate) fn orientation(&self) -> u8 {
        match (self.turned.unwrap_or(0), self.mirrored) {
            (0, None) => 1,
            (0, Some(0)) | (2, Some(1)) => 4,
            (0 | 2, Some(_)) => 2,
            (1, None) => 8,
            (1, Some(0)) | (3, Some(1)) => 5,
            (1 | 3, Some(_)) => 7,
            (2, None) => 3,
            _ => 6,
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T) -> Result<(), AvifFault> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(AvifFault::Corrupt("a picture has a property twice")),
    }
}

fn config(body: &mut Reader<'_>) -> Result<Config, AvifFault> {
    if body.byte()? != 0x81 {
        return Err(AvifFault::Corrupt("the version of its configuration is not 1"));
    }
    body.byte()?;
    let flags = body.byte()?;
    let has = |bit: u8| flags & bit != 0;
    let depth = match (has(0x40), has(0x20)) {
        (false, _) => 8,
        (true, false) => 10,
        (true, true) => 12,
    };
    Ok(Config { depth, is_gray: has(0x10), halved: [has(8), has(4)] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added<'a>(properties: &[(&[u8; 4], &'a [u8], bool)]) -> Result<Properties<'a>, AvifFault> {
        let mut all = Properties::default();
        for (kind, body, is_essential) in properties {
            all.add(&Boxed { kind: **kind, body }, *is_essential)?;
        }
        Ok(all)
    }

    #[test]
    fn properties_say_what_they_are_of() {
        let all = added(&[
            (b"ispe", &[0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4], false),
            (b"av1C", &[0x81, 0, 0x6c, 0], true),
            (b"colr", b"nclx\0\x09\0\x10\0\x05\x80", false),
            (b"colr", b"prof-profile", false),
            (b"auxC", b"\0\0\0\0urn:mpeg:hevc:2015:auxid:1\0", false),
            (b"a1op", &[3], true),
            (b"lsel", &[0xff, 0xff], true),
            (b"xxxx", &[], false),
        ]);
        let all = all.unwrap();
        assert_eq!(all.size, Some((258, 772)));
        assert_eq!(all.config, Some(Config { depth: 12, is_gray: false, halved: [true, true] }));
        assert_eq!(all.nclx, Some(Nclx { primaries: 9, transfer: 16, matrix: 5, is_full_range: true }));
        assert_eq!((all.profile, all.is_alpha, all.operating_point), (Some(&b"-profile"[..]), true, 3));
    }

    #[test]
    fn what_is_not_understood_is_refused_by_name() {
        let unsupported =
            |kind, body, is_essential| matches!(added(&[(kind, body, is_essential)]), Err(AvifFault::Unsupported(_)));
        assert!(unsupported(b"xxxx", &[], true) && unsupported(b"lsel", &[0, 1], true));
        for wrong in [(b"ispe", &[0; 11][..]), (b"av1C", &[0x80, 0, 0, 0]), (b"irot", &[]), (b"a1op", &[32])] {
            assert!(matches!(added(&[(wrong.0, wrong.1, false)]), Err(AvifFault::Corrupt(_))), "{wrong:?}");
        }
        let twice = (b"irot", &[1][..], false);
        assert!(matches!(added(&[twice, twice]), Err(AvifFault::Corrupt(_))));
    }

    #[test]
    fn turns_and_mirrors_have_a_number_of_exif() {
        let number = |turned, mirrored| Properties { turned, mirrored, ..Properties::default() }.orientation();
        let turned = [None, Some(0), Some(1), Some(2), Some(3)];
        assert_eq!(turned.map(|turned| number(turned, None)), [1, 1, 8, 3, 6]);
        assert_eq!(turned.map(|turned| number(turned, Some(0))), [4, 4, 5, 2, 7]);
        assert_eq!(turned.map(|turned| number(turned, Some(1))), [2, 2, 7, 4, 5]);
    }
}
