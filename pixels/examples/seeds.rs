//! Writes small pictures of many kinds into a folder, as seeds for the fuzz targets: `seeds FOLDER`.

use std::path::PathBuf;

use forebay_pixels::sample::{JpegForm, photograph_rgb};

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("usage: seeds FOLDER"));
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in jpegs().into_iter().chain(portable()) {
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}

/// Every sampling, sequential and progressive, Huffman and arithmetic, with and without restart markers.
fn jpegs() -> Vec<(String, Vec<u8>)> {
    let (width, height) = (37, 29);
    let rgb = photograph_rgb(1, width, height);
    let mut seeds = Vec::new();
    for sampling in [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [4, 2]] {
        for bits in 0..8 {
            let (progressive, arithmetic, restart_rows) = (bits & 1 != 0, bits & 2 != 0, u32::from(bits & 4 != 0));
            let form = JpegForm { sampling, progressive, arithmetic, restart_rows, ..JpegForm::default() };
            if let Some(bytes) = form.encode(&rgb, width, height) {
                seeds.push((format!("{}x{}-{bits}.jpg", sampling[0], sampling[1]), bytes));
            }
        }
    }
    seeds
}

/// Formats that are written by hand.
fn portable() -> Vec<(String, Vec<u8>)> {
    let ppm = [b"P6 3 2 255\n".as_slice(), &[7; 18]].concat();
    let pgm = [b"P5 4 4 255\n".as_slice(), &[9; 16]].concat();
    let mut bmp = b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x02\0\0\0\x02\0\0\0\x01\0\x18\0".to_vec();
    bmp.resize(0x46, 0);
    let gif = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xFF\xFF\xFF,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;".to_vec();
    [("3x2.ppm", ppm), ("4x4.pgm", pgm), ("2x2.bmp", bmp), ("1x1.gif", gif)]
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .into()
}
