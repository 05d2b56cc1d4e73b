//! `[decode]`: the shared decode pool, and the limits that every picture is held to.

use forebay_road::settings::{DecodeSettings, JpegDecoder};

use super::lanes;
use super::table::Table;
use super::value::{choice, duration, flag, path, size, whole};

pub(super) const EXAMPLE: &str = r#"[decode]
# Threads of the decode pool. Left out: the usable cores, divided by LOCAL_WORLD_SIZE. Usable are those of the process's
# affinity, and no more than its control groups' cpu.max pays for.
# threads = 8
# Ways to decode, of which several work together: "cpu"; "hardware" (a GPU's NVJPG engines, in groups); "hardware-single" (the
# same engines, a picture at a time for each: none waits for the others of a group, where sizes are mixed or batches small);
# "gpu-huffman" (all on the GPU's multiprocessors, in groups) and "hybrid" (the same with Huffman coding on a thread). A trainer
# may want the multiprocessors for itself. "auto" is hardware and CPU where there is hardware. "fixed" is
# the same, with the lane chosen by the record's number and not by the load: a run gives the same pixels again, more slowly. A lane
# that is not to be had on one of the GPUs is refused then, for the GPU follows from the number too; and where a picture fails for
# another reason than its file, twice, the daemon ends rather than give it to the CPU.
# What one lane fails on goes to the next, in the order hardware, hardware-single, gpu-huffman, hybrid, cpu.
# GPU lanes take baseline JPEGs that are to be decoded at their full size, "hybrid" progressive ones as well; what they do not
# take is the CPU lane's.
# The threads that feed a GPU run on the cores of its NUMA node, as far as this process may use them.
# With a GPU lane all streams share one pool, whatever their num_threads. `forebay doctor` shows what this machine has.
lanes = ["cpu"]
# Memory that decoding may take of each GPU, nvJPEG's own included. That of the engines' decoder comes past nvJPEG's
# allocator and is counted by what it can be at most, 4 bytes a pixel of the largest picture for each that it has in hand.
# So "hardware" takes pictures of up to about 2,100 pixels a side on a GPU of 7 engines, and twice that with four times the
# limit; larger ones go to the next lane. Pictures in 4:4:4 of more than about 8 megapixels, for "hardware-single" 2.7 and for
# "gpu-huffman" 14, do so as well; in 4:2:0 it is twice that.
# Beside it a GPU lane takes up to 55 MB of the host's memory, page-locked, and hybrid 120 MB: nvJPEG's part of that as
# pictures need it.
gpu_memory_limit = "2gb"
# The file of libnvjpeg. Left out: FOREBAY_NVJPEG, the CUDA toolkit, the loader's path, Python's packages (a Loader's own
# daemon is told of its Python's by FOREBAY_PYTHON_PACKAGES, which others may have as well).
# nvjpeg = "/opt/cuda/lib64/libnvjpeg.so.13"
# Binds each decode thread to a core of its own, as far as there are: those of streams with their own num_threads to the
# cores after the other threads'. It helps where nothing else runs on these cores, and harms where something does; a
# trainer's own threads count, and so do those of another daemon, which begins with the same core: start each daemon on
# CPUs of its own (CPUAffinity= of systemd, taskset).
pin = false
# "auto": baseline JPEGs are decoded by forebay-jpeg, which gives libjpeg-turbo's pixels in less time, and all others, and
# files with anything irregular, by libjpeg-turbo. "libjpeg-turbo": all JPEGs are. "image": gray and YCbCr JPEGs of one
# Huffman-coded scan are decoded by the decoder of the image crate, zune-jpeg, which is Rust, whole and without a look at
# time_limit meanwhile; all others, and what it objects to, by libjpeg-turbo. Damage may pass that libjpeg-turbo finds. Its
# inverse DCT and upsampling are its own: on ImageNet photographs its pixels are 0.05 of 255 from libjpeg-turbo's in the mean
# and 9 at most; chroma of pictures a few pixels wide differs by more.
jpeg = "auto"
# Memory for decoding; larger pictures queue for it alone.
memory = "128mb"
# Pictures with more pixels are refused by name, before any memory is taken.
pixel_limit = 178956970
# Files with more bytes are refused unread.
byte_limit = "1gib"
# Progressive JPEGs with more scans are refused.
scan_limit = 500
# Time for one picture. Left out: none.
# time_limit = "10s"
"#;

/// Reads the section.
pub(super) fn read(table: &mut Table<'_, '_>) -> DecodeSettings {
    let default = DecodeSettings::default();
    DecodeSettings {
        threads: table.take("threads", whole(1..=1024)),
        lanes: table.take_or("lanes", default.lanes, lanes::read),
        gpu_memory_limit: table.take_or("gpu_memory_limit", default.gpu_memory_limit, size),
        nvjpeg: table.take("nvjpeg", path),
        pin: table.take_or("pin", default.pin, flag),
        jpeg: table.take_or(
            "jpeg",
            default.jpeg,
            choice(&[
                ("auto", JpegDecoder::Auto),
                ("libjpeg-turbo", JpegDecoder::LibjpegTurbo),
                ("image", JpegDecoder::Image),
            ]),
        ),
        memory: table.take_or("memory", default.memory, size),
        pixel_limit: table.take_or("pixel_limit", default.pixel_limit, whole(1..=u64::from(u32::MAX))),
        byte_limit: table.take_or("byte_limit", default.byte_limit, size),
        scan_limit: table.take_or("scan_limit", default.scan_limit, whole(1..=100_000)),
        time_limit: table.take("time_limit", duration),
    }
}

/// Decode threads where nothing says otherwise: the usable cores, shared by the `LOCAL_WORLD_SIZE` processes of a
/// training job on this node (semantics rule 4).
pub fn default_threads(cores: usize, local_world_size: Option<&str>) -> usize {
    let processes = local_world_size.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(1).max(1);
    (cores / processes).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_4_threads_are_the_cores_divided_by_the_processes_of_the_job() {
        assert_eq!(default_threads(16, None), 16);
        assert_eq!(default_threads(16, Some("4")), 4);
        assert_eq!(default_threads(2, Some("8")), 1);
        assert_eq!(default_threads(16, Some("many")), 16);
        assert_eq!(default_threads(16, Some("0")), 16);
    }
}
