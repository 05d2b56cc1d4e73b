//! `[ring]`: how many batches fit in a ring, and the memory of rings.

use forebay_pipeline::ByteSize;
use forebay_pipeline::settings::{Numa, RingSettings};
use forebay_ring::Pages;
use serde_json::Value;

use super::table::Table;
use super::value::{choice, size, whole};

pub(super) const EXAMPLE: &str = r#"[ring]
# Batches that one trainer may hold, unless it asks for another number. With 1, the Python loaders copy each batch: a for loop
# still holds its last batch when it asks for the next one. A stream can have its own value.
credits = 2
# Trainers that a ring has room for. Further trainers share the credits that are left. A stream can have its own value.
trainers = 2
# Memory that all rings together may take. Left out: what the machine and its control groups have free.
# memory = "8gb"
# Pages of this memory: huge pages where the kernel has room for them ("thp"), pages of 2 MiB that were set aside in
# /proc/sys/vm/nr_hugepages ("hugetlb"), or small pages ("small"). See docs/operating.md.
pages = "thp"
# NUMA node of this memory: a number, or "auto" for the node of the GPU that decodes a stream. Without such a GPU, the kernel
# chooses. Set a number if the trainers' GPUs are all on that node.
numa = "auto"
"#;

/// The section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Batches that one trainer may hold.
    pub credits: u32,
    /// Number of trainers that a ring is sized for.
    pub trainers: u32,
    /// Memory that all rings together may use. If it is left out, the limit is the free memory.
    pub memory: Option<ByteSize>,
    /// The pages of this memory.
    pub pages: Pages,
    /// The NUMA node of this memory.
    pub numa: Numa,
}

pub(super) const CREDITS: std::ops::RangeInclusive<u32> = 1..=64;
pub(super) const TRAINERS: std::ops::RangeInclusive<u32> = 1..=1024;

impl Default for Ring {
    fn default() -> Self {
        Self { credits: 2, trainers: 2, memory: None, pages: Pages::default(), numa: Numa::default() }
    }
}

impl Ring {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        let default = Self::default();
        Self {
            credits: table.take_or("credits", default.credits, whole(CREDITS)),
            trainers: table.take_or("trainers", default.trainers, whole(TRAINERS)),
            memory: table.take("memory", size),
            pages: table.take_or(
                "pages",
                default.pages,
                choice(&[("thp", Pages::Thp), ("hugetlb", Pages::Hugetlb), ("small", Pages::Small)]),
            ),
            numa: table.take_or("numa", default.numa, numa),
        }
    }

    /// The part for those who make rings.
    pub(crate) fn memory_settings(&self) -> RingSettings {
        RingSettings { memory: self.memory, pages: self.pages, numa: self.numa }
    }
}

fn numa(value: &Value) -> Result<Numa, String> {
    let node = || value.as_u64().and_then(|node| u32::try_from(node).ok()).map(Numa::Node);
    let numa = if value == "auto" { Some(Numa::Auto) } else { node() };
    numa.ok_or_else(|| "\"auto\", or the number of a NUMA node, such as 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn rings_are_made_of_the_pages_and_on_the_node_that_the_section_names() {
        let read = |text: &str| Config::parse(&format!("[ring]\n{text}\n"), "a.toml").map(|config| config.ring);
        let default = read("").unwrap().memory_settings();
        assert_eq!((default.pages, default.numa), (Pages::Thp, Numa::Auto));
        for (written, pages) in [("thp", Pages::Thp), ("hugetlb", Pages::Hugetlb), ("small", Pages::Small)] {
            assert_eq!(read(&format!("pages = \"{written}\"")).unwrap().memory_settings().pages, pages);
        }
        assert_eq!(read("numa = \"auto\"").unwrap().memory_settings().numa, Numa::Auto);
        assert_eq!(read("numa = 1").unwrap().memory_settings().numa, Numa::Node(1));
        for wrong in ["-1", "1.5", "\"1\"", "true", "[0]", "4294967296"] {
            let mistakes = read(&format!("numa = {wrong}")).unwrap_err().to_string();
            assert!(mistakes.contains("line 2: ring.numa: is ") && mistakes.contains("give \"auto\""), "{mistakes}");
        }
        let mistakes = read("pages = \"huge\"").unwrap_err().to_string();
        assert!(mistakes.contains("give one of \"thp\", \"hugetlb\", \"small\""), "{mistakes}");
    }
}
