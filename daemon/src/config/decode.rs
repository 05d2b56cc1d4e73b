//! `[decode]`: the shared decode pool, and the limits for every picture.

use forebay_pipeline::ByteSize;
use forebay_pipeline::settings::{DecodeSettings, JpegDecoder, SeekKeeping};
use forebay_pixels::Limits;
use serde_json::Value;

use super::lanes;
use super::remote;
use super::table::Table;
use super::value::{choice, duration, flag, path, size, whole};

pub(super) const EXAMPLE: &str = r#"[decode]
# Threads of the decode pool. Left out: the usable cores, divided by LOCAL_WORLD_SIZE. Usable are the cores of the process's
# CPU affinity, up to the limit of its control groups (cpu.max).
# threads = 8
# What decodes: a list of "cpu", "hardware", "hardware-single", "gpu-huffman" and "hybrid"; or "auto", or "fixed". Set it to
# "auto" on a machine whose GPUs have JPEG engines. `forebay doctor` shows them; docs/decoding.md explains each lane.
lanes = ["cpu"]
# Memory that decoding may take of each GPU. Raise it if large pictures leave the GPU lanes; docs/decoding.md has the sizes.
gpu_memory_limit = "2gb"
# The file of libnvjpeg. Left out: searched for in FOREBAY_NVJPEG, the CUDA toolkit, the loader's path and Python's packages.
# nvjpeg = "/opt/cuda/lib64/libnvjpeg.so.13"
# Binds each decode thread to a core. Set it only if nothing else runs on these cores (docs/decoding.md).
pin = false
# What decodes JPEGs on the CPU: the fastest decoder ("auto"), or libjpeg-turbo alone ("libjpeg-turbo"). The pixels are the
# same. See docs/decoding.md.
jpeg = "auto"
# Keeps notes of where the parts of each JPEG begin, so that later epochs decode less of it for a crop ("memory"). They take
# at most 1 % of the dataset's size and 1/16 of the free memory. "off" keeps none. See docs/decoding.md, "Seek points".
seek = "memory"
# Memory for decoding on the CPU. A picture that needs more is decoded alone.
memory = "128mb"
# Pictures with more pixels are refused, before any memory is taken.
pixel_limit = 178956970
# Files with more bytes are refused unread.
byte_limit = "1gib"
# Progressive JPEGs with more scans are refused.
scan_limit = 500
# The longest time that one picture may take. Left out: no limit.
# time_limit = "10s"
# Decoders on other machines, which `forebay decode` runs there: they make pictures too, and all of them if `threads` is 0. A name may
# lead to several of them. See docs/cluster.md, "Decoders on other machines". Left out: none.
# remote = ["https://decoders:7272"]
# Memory for pictures that decoders are making, for each decoder and stream. Left out: 64 MiB.
# remote_memory = "64mib"
# A file with the token that the decoders ask for. It is read again when it changes. Left out: they ask for none.
# remote_token_file = "/etc/forebay/decoder-token"
# For https addresses. The certificates of the authority that has signed the decoders' certificates, in PEM.
# Left out: there are none.
# remote_tls_ca = "/etc/forebay/ca.pem"
# If the decoders ask for a certificate: the certificate and the key that this daemon shows them. Left out: it shows none.
# remote_tls_certificate = "/etc/forebay/node.pem"
# remote_tls_key = "/etc/forebay/node.key"
"#;

/// Reads the section.
pub(super) fn read(table: &mut Table<'_, '_>) -> DecodeSettings {
    let default = DecodeSettings::default();
    let settings = DecodeSettings {
        threads: table.take("threads", whole(0..=1024)),
        lanes: table.take_or("lanes", default.lanes, lanes::read),
        gpu_memory_limit: table.take_or("gpu_memory_limit", default.gpu_memory_limit, size),
        nvjpeg: table.take("nvjpeg", path),
        pin: table.take_or("pin", default.pin, flag),
        jpeg: table.take_or("jpeg", default.jpeg, jpeg),
        seek: table.take_or(
            "seek",
            default.seek,
            choice(&[("memory", SeekKeeping::Memory), ("off", SeekKeeping::Off)]),
        ),
        memory: table.take_or("memory", default.memory, size),
        limits: Limits {
            pixels: table.take_or("pixel_limit", default.limits.pixels, whole(1..=u64::from(u32::MAX))),
            bytes: table.take_or("byte_limit", ByteSize(default.limits.bytes), size).0,
            scans: table.take_or("scan_limit", default.limits.scans, whole(1..=100_000)),
            time: table.take("time_limit", duration),
        },
        remote: remote::read(table),
    };
    remote::check(table, &settings);
    settings
}

fn jpeg(value: &Value) -> Result<JpegDecoder, String> {
    if value == "image" {
        return Err(
            "\"auto\": it is faster, and has the pixels of libjpeg-turbo. There is no \"image\" any more".to_owned()
        );
    }
    choice(&[("auto", JpegDecoder::Auto), ("libjpeg-turbo", JpegDecoder::LibjpegTurbo)])(value)
}

/// The default number of decode threads: the usable cores, divided by the `LOCAL_WORLD_SIZE` processes of a training
/// job on this node (semantics rule 4).
pub(crate) fn default_threads(cores: usize, local_world_size: Option<&str>) -> usize {
    let processes = local_world_size.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(1).max(1);
    (cores / processes).max(1)
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn the_decoder_that_is_gone_names_the_one_to_use() {
        let read = |jpeg: &str| Config::parse(&format!("[decode]\njpeg = \"{jpeg}\"\n"), "forebay.toml");
        let mistakes = read("image").unwrap_err().to_string();
        assert!(mistakes.contains("decode.jpeg: is \"image\"; give \"auto\": it is faster"), "{mistakes}");
        let mistakes = read("mozjpeg").unwrap_err().to_string();
        assert!(mistakes.contains("give one of \"auto\", \"libjpeg-turbo\""), "{mistakes}");
        assert_eq!(read("libjpeg-turbo").unwrap().decode.jpeg, JpegDecoder::LibjpegTurbo);
    }

    #[test]
    fn rule_4_threads_are_the_cores_divided_by_the_processes_of_the_job() {
        assert_eq!(default_threads(16, None), 16);
        assert_eq!(default_threads(16, Some("4")), 4);
        assert_eq!(default_threads(2, Some("8")), 1);
        assert_eq!(default_threads(16, Some("many")), 16);
        assert_eq!(default_threads(16, Some("0")), 16);
    }
}
