//! Reads the footer of a Parquet file: its schema, and where the columns of its row groups are.

use std::path::Path;

use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use ::parquet::file::reader::Length as _;
use forebay_sources::SourceError;

use super::thrift;
use crate::contained::contained;
use crate::ranges::FileRanges;

/// At both ends of a file.
pub(super) const MAGIC: &[u8; 4] = b"PAR1";
/// At the end of a file whose footer is encrypted.
const ENCRYPTED: &[u8; 4] = b"PARE";
/// The length of the footer and the magic.
const TAIL: u64 = 8;
/// The most bytes of a footer. It is held in memory, and takes far more when it is read.
const MOST: u64 = 256 << 20;

/// Reads the footer, and checks what is counted by it.
pub(super) fn read(path: &Path, chunks: &FileRanges) -> Result<ParquetMetaData, SourceError> {
    let len = chunks.len();
    let malformed = |offset, problem: &str| {
        let fault = chunks.fault().map(SourceError::Outage);
        Err(fault.unwrap_or_else(|| SourceError::malformed_at(path, offset, problem)))
    };
    if chunks.range(0, 4).is_none_or(|magic| magic != *MAGIC && magic != *ENCRYPTED) {
        return malformed(
            0,
            "A Parquet file begins with \"PAR1\", and this one does not. Check that it is the right file.",
        );
    }
    let cut = "The file does not end with a Parquet footer: it was cut, or is still being written. Copy it again.";
    let Some(tail) = len.checked_sub(TAIL).filter(|start| *start >= 4) else { return malformed(len, cut) };
    let Some(last) = chunks.range(tail, TAIL) else { return malformed(tail, cut) };
    let (size, magic) = last.split_at(4);
    if magic == ENCRYPTED {
        return malformed(tail, "The footer is encrypted, which is not read here. Write the file without encryption.");
    }
    if magic != MAGIC {
        return malformed(tail, cut);
    }
    let size = u64::from(u32::from_le_bytes(size.try_into().expect("four bytes")));
    let Some(start) = tail.checked_sub(size).filter(|start| *start >= 4) else {
        return malformed(
            tail,
            "The footer would begin before the file does: its length is damaged. Copy the file again.",
        );
    };
    if size > MOST {
        return malformed(
            tail,
            &format!(
                "The footer has {size} bytes, and {MOST} are read at most. Write the table into more files, or copy this one anew."
            ),
        );
    }
    let damaged = "The footer is damaged. Copy the file again.";
    let Some(bytes) = chunks.range(start, size) else { return malformed(start, damaged) };
    if thrift::check_footer(&bytes).is_err() {
        return malformed(start, damaged);
    }
    let metadata = match contained(|| ParquetMetaDataReader::decode_metadata(&bytes)) {
        Ok(metadata) => metadata,
        Err(words) => return malformed(start, &format!("The footer is damaged ({words}). Copy the file again.")),
    };
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        let sum = rows.checked_add(group.num_rows()).filter(|_| group.num_rows() >= 0);
        match sum {
            Some(sum) if group.num_columns() == columns => rows = sum,
            _ => {
                return malformed(
                    start,
                    "The footer does not agree with itself about its row groups. Copy the file again.",
                );
            }
        }
    }
    // A picture has at least one byte, and a file is not made of repetitions. Labels take memory for every row.
    let most = len.saturating_add(1 << 20);
    if rows != metadata.file_metadata().num_rows() || u64::try_from(rows).is_ok_and(|rows| rows > most) {
        return malformed(start, "The footer counts more rows than there are. Copy the file again.");
    }
    Ok(metadata)
}
