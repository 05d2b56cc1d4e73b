//! Colour: rows of luma and chroma samples to red, green and blue bytes, with libjpeg-turbo's roundings.
//!
//! The conversion is that of JFIF (ITU-T T.871): R = Y + 1.402 (Cr - 128), G = Y - 0.344 (Cb - 128) - 0.714 (Cr - 128),
//! B = Y + 1.772 (Cb - 128), in fixed point with 16 bits behind the point.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;

use crate::Path;
use crate::upsample::{self, RowPair, Upsampling};

/// Pixels that are made at once where chroma is upsampled first.
const SPAN: usize = 512;

/// Leaves the function by way of a kernel for AVX2 if that is the path.
macro_rules! on_avx2 {
    ($path:expr, $kernel:expr) => {
        #[cfg(target_arch = "x86_64")]
        if $path == Path::Avx2 && $path.is_available() {
            #[expect(unsafe_code, reason = "the processor has been asked")]
            // SAFETY: `is_available` says that there is AVX2, which is all that the kernels ask for.
            return unsafe { $kernel };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = $path;
    };
}

/// Converts a row of pixels with a sample of each component for every pixel.
///
/// # Panics
///
/// If the rows of samples have not all the same length, or `out` not three times that.
pub fn ycc(path: Path, luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [u8]) {
    assert_eq!(luma.len(), cb.len(), "a sample of each component for every pixel");
    assert_eq!(luma.len(), cr.len(), "a sample of each component for every pixel");
    assert_eq!(luma.len() * 3, out.len(), "three bytes for every pixel");
    let out = out.as_chunks_mut().0;
    on_avx2!(path, avx2::ycc(luma, cb, cr, out));
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "what every processor of this architecture has")]
    // SAFETY: every x86-64 processor has SSE2, which is all that the function asks for.
    unsafe {
        sse2::ycc(luma, cb, cr, out);
    }
    #[cfg(not(target_arch = "x86_64"))]
    portable::ycc(luma, cb, cr, out);
}

/// Makes a row of gray pixels.
///
/// # Panics
///
/// If `out` is not three times as long as the row of samples.
pub fn gray(path: Path, luma: &[u8], out: &mut [u8]) {
    assert_eq!(luma.len() * 3, out.len(), "three bytes for every pixel");
    let out = out.as_chunks_mut().0;
    on_avx2!(path, avx2::gray(luma, out));
    portable::gray(luma, out);
}

/// Upsamples chroma and converts, for a row of pixels or a span of it: `luma` has a sample for each of these pixels, and the
/// first of them is pixel `from` of those that the rows of chroma cover. The same as [`upsample::row`] for both and [`ycc`],
/// and faster.
///
/// # Panics
///
/// As these do.
pub fn row(
    path: Path,
    luma: &[u8],
    upsampling: Upsampling,
    cb: RowPair<'_>,
    cr: RowPair<'_>,
    from: usize,
    out: &mut [u8],
) {
    assert_eq!(luma.len() * 3, out.len(), "three bytes for every pixel");
    if upsampling == Upsampling::Repeat(1) {
        let pixels = from..from + luma.len();
        return ycc(path, luma, &cb.near[pixels.clone()], &cr.near[pixels], out);
    }
    on_avx2!(path, avx2::row(luma, upsampling, cb, cr, from, out));
    spans::<SPAN>(path, luma, upsampling, cb, cr, from, out);
}

/// Upsamples spans of the row and converts them.
fn spans<const SPAN: usize>(
    path: Path,
    luma: &[u8],
    upsampling: Upsampling,
    cb: RowPair<'_>,
    cr: RowPair<'_>,
    from: usize,
    out: &mut [u8],
) {
    let spans = luma.chunks(SPAN).zip(out.chunks_mut(SPAN * 3));
    for (from, (luma, out)) in (from..).step_by(SPAN).zip(spans) {
        let mut upsampled = [[0; SPAN]; 2];
        let [blue, red] = &mut upsampled;
        let (blue, red) = (&mut blue[..luma.len()], &mut red[..luma.len()]);
        upsample::row(upsampling, cb, from, blue);
        upsample::row(upsampling, cr, from, red);
        ycc(path, luma, blue, red, out);
    }
}
