//! What rings are made of, with the machine's own memory: pages of each size, and a NUMA node.

use forebay_ring::{
    Backing, Dtype, Geometry, Layout, Memory, NumaBinding, Pages, Populated, Region, RegionError, Shape, View,
    numa_nodes,
};

const SLOTS: u32 = 2;

fn geometry(slots: u32) -> Geometry {
    let shape = Shape { batch: 3, height: 4, width: 4, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
    Geometry::try_new(shape, slots).expect("a small shape")
}

/// What the kernel says in `smaps` or `numa_maps` of the mapping at this address.
fn told(file: &str, address: usize) -> String {
    let text = std::fs::read_to_string(format!("/proc/self/{file}")).expect("the kernel's account");
    let begins = |line: &str| {
        let start = line.split([' ', '-']).next().unwrap_or_default();
        let plain = start.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if start.len() < 8 || !plain { None } else { usize::from_str_radix(start, 16).ok() }
    };
    let lines = text.lines().skip_while(|line| begins(line) != Some(address));
    let mut own = lines.enumerate().take_while(|(place, line)| *place == 0 || begins(line).is_none());
    let first = own.next().unwrap_or_else(|| panic!("no mapping at {address:x} in {file}")).1.to_owned();
    own.fold(first, |text, (_, line)| text + "\n" + line)
}

/// Kilobytes of a line of `smaps`.
fn kilobytes(smaps: &str, key: &str) -> u64 {
    let line = smaps.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let value = line.and_then(|line| line.trim().strip_suffix(" kB"));
    value.unwrap_or_else(|| panic!("{key} is not in {smaps}")).parse().expect("a number")
}

/// Where the daemon's mapping begins: it is the header, right before the slots.
fn start(region: &Region) -> usize {
    region.locate(0).expect("a slot").cast::<u8>().addr().get() - geometry(SLOTS).slot(0).start
}

/// A ring of this backing whose slots a trainer reads, each with what populating it gave.
fn ring(backing: Backing) -> (Region, View, Vec<Populated>) {
    let region = Region::backed(geometry(SLOTS), 7, 0, backing).expect("a small ring");
    let populated = (0..SLOTS).map(|slot| region.populate(slot).expect("memory for a slot")).collect();
    let view = View::map(region.share().expect("a descriptor"), 7, 0).expect("a ring");
    for slot in 0..SLOTS {
        region.slot(slot).expect("a free slot").place_mut(2).fill(5 + u8::try_from(slot).expect("few slots"));
        let images = view.images(slot);
        assert_eq!(images[images.len() - 1], 5 + u8::try_from(slot).expect("few slots"));
    }
    (region, view, populated)
}

#[test]
fn small_pages_are_small_and_thp_gives_huge_ones_or_says_why_not() {
    if std::env::var_os("QEMU_LD_PREFIX").is_some() {
        return println!("skipped: QEMU's account of memory does not tell huge pages");
    }
    let (region, _view, populated) = ring(Backing { pages: Pages::Small, ..Backing::default() });
    assert!(populated.iter().all(|slot| matches!(slot, Populated::AsAsked)), "{populated:?}");
    assert_eq!(kilobytes(&told("smaps", start(&region)), "ShmemPmdMapped"), 0);

    let (region, _view, populated) = ring(Backing::default());
    let smaps = told("smaps", start(&region));
    let huge = populated.iter().filter(|slot| matches!(slot, Populated::AsAsked)).count() as u64;
    if huge < SLOTS.into() {
        println!("skipped: the kernel has no room for huge pages now: {populated:?}");
    }
    let stride = geometry(SLOTS).stride() as u64;
    assert!(kilobytes(&smaps, "ShmemPmdMapped") << 10 >= huge * stride, "{huge} slots in huge pages\n{smaps}");
}

#[test]
fn huge_pages_that_are_set_aside_are_a_rings_alone_from_the_start() {
    let backing = Backing { pages: Pages::Hugetlb, ..Backing::default() };
    let needed = geometry(SLOTS).total_len() as u64;
    let memory = Memory::for_ring(&backing).expect("the pool");
    if let Err(refused) = memory.check(2 * needed) {
        println!("skipped: {refused}");
        return;
    }
    for pinnable in [false, true] {
        let (region, view, populated) = ring(Backing { pinnable, ..backing });
        assert!(populated.iter().all(|slot| matches!(slot, Populated::AsAsked)), "{populated:?}");
        assert_eq!(kilobytes(&told("smaps", start(&region)), "KernelPageSize"), 2048);
        assert_eq!(view.while_writable(|| ()).is_ok(), pinnable, "trainers lock them as they lock others");
    }
    let region = Region::backed(geometry(SLOTS), 7, 0, backing).expect("a small ring");
    assert_eq!(region.unpopulated().bytes(), 0, "the system's free memory does not have them");
    let other = || Memory::for_ring(&backing).expect("the pool").available;
    // Other processes may take huge pages or give them back at the same moment.
    let is_counted_before = (0..10).any(|_| {
        let region = Region::backed(geometry(SLOTS), 7, 0, backing).expect("a small ring");
        let kept = other();
        region.populate(0).expect("memory for a slot");
        other() == kept
    });
    assert!(is_counted_before, "populating takes what the mapping has reserved");
}

#[test]
fn a_ring_beyond_the_pool_of_huge_pages_is_refused_with_the_file_that_makes_more() {
    if std::env::var_os("QEMU_LD_PREFIX").is_some() {
        return println!("skipped: QEMU takes small pages for huge ones");
    }
    let backing = Backing { pages: Pages::Hugetlb, ..Backing::default() };
    let refused = Region::backed(geometry(1 << 22), 7, 0, backing).unwrap_err();
    assert!(matches!(refused, RegionError::HugePages { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("/proc/sys/vm/nr_hugepages") && said.contains("set ring.pages to \"thp\""), "{said}");
}

#[test]
fn memory_is_on_the_node_that_is_named_and_another_node_is_refused() {
    let nodes = numa_nodes();
    let last = *nodes.last().expect("a node");
    let other = Backing { node: Some(NumaBinding::Only(last + 1)), ..Backing::default() };
    assert!(
        matches!(Region::backed(geometry(1), 7, 0, other), Err(RegionError::NoNode(error)) if error.node == last + 1)
    );
    for (binding, policy) in [(NumaBinding::Only(last), "bind"), (NumaBinding::Preferred(last), "prefer")] {
        let backing = Backing { node: Some(binding), ..Backing::default() };
        match Region::backed(geometry(SLOTS), 7, 0, backing) {
            Err(RegionError::Bind { source, .. }) => {
                println!("skipped: this machine or its container has no mbind: {source}");
                return;
            }
            made => drop(made.expect("a small ring")),
        }
        let (region, _view, _populated) = ring(backing);
        let policies = told("numa_maps", start(&region));
        assert!(policies.contains(&format!(" {policy}")) && policies.contains(&format!(":{last} ")), "{policies}");
        assert!(policies.contains(&format!(" N{last}=")), "{policies}");
    }
}
