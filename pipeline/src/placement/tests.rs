//! Tests of placement: every refusal by its cause, and the choice that "auto" makes.

use forebay_cuda::{CudaError, OpenError};

use super::*;

const DAEMON: u32 = 1000;

fn uuid(number: u8) -> Uuid {
    Uuid([number; 16])
}

fn gpu(number: u8) -> Shareable {
    Shareable { uuid: uuid(number), part: false, alone: false, virtual_memory: true, descriptors: true }
}

fn machine(gpus: Vec<Shareable>) -> Machine {
    let gpus = gpus.into_iter().map(Ok).collect();
    Machine { uid: DAEMON, library: true, driver: Ok(()), device_file: true, gpus }
}

fn trainer(gpus: &[u8]) -> Credentials {
    Credentials { uid: DAEMON, gpus: gpus.iter().copied().map(uuid).collect() }
}

fn place(ordinal: i32, number: u8) -> PixelPlace {
    PixelPlace::Gpu { ordinal, uuid: uuid(number) }
}

fn failed(call: &'static str, code: i32, name: &str) -> CudaError {
    CudaError { call, code, name: name.to_owned() }
}

#[test]
fn host_asks_nothing_of_anybody() {
    let nothing = Machine { library: false, driver: Err("none".into()), device_file: false, ..machine(Vec::new()) };
    assert_eq!(PixelPlace::decide(Placement::Host, &nothing, None), Ok((PixelPlace::Host, None)));
    assert_eq!(PixelPlace::Host.open_to(&Credentials { uid: 7, gpus: Vec::new() }, DAEMON), Ok(()));
}

#[test]
fn a_gpu_by_its_number_is_had_by_trainers_that_see_it_whatever_number_they_give_it() {
    let machine = machine(vec![gpu(1), gpu(2)]);
    let decide = |wanted, trainer: Option<&Credentials>| PixelPlace::decide(wanted, &machine, trainer);
    assert_eq!(decide(Placement::Gpu(1), Some(&trainer(&[2]))), Ok((place(1, 2), None)));
    assert_eq!(decide(Placement::Gpu(1), None), Ok((place(1, 2), None)), "before there is a trainer");
    let refused = decide(Placement::Gpu(1), Some(&trainer(&[1]))).unwrap_err();
    assert!(matches!(refused, PlacementRefusal::OtherGpu { ordinal: 1, .. }));
    assert!(refused.to_string().contains("GPU-02020202") && refused.to_string().contains("GPU-01010101"), "{refused}");
}

#[test]
fn auto_takes_the_gpu_that_the_trainer_uses_first_among_those_that_can_be_shared() {
    let part = Shareable { part: true, ..gpu(3) };
    let machine = machine(vec![gpu(1), gpu(2), part]);
    let auto = |trainer: Option<Credentials>| PixelPlace::decide(Placement::Auto, &machine, trainer.as_ref());
    assert_eq!(auto(Some(trainer(&[2, 1]))), Ok((place(1, 2), None)));
    assert_eq!(auto(Some(trainer(&[3, 1]))), Ok((place(0, 1), None)));
    assert!(matches!(auto(Some(trainer(&[9]))), Ok((PixelPlace::Host, Some(PlacementRefusal::OtherGpu { .. })))));
    assert_eq!(auto(Some(trainer(&[]))), Ok((PixelPlace::Host, Some(PlacementRefusal::TrainerWithoutGpu))));
    assert_eq!(auto(None), Ok((PixelPlace::Host, Some(PlacementRefusal::TrainerWithoutGpu))));
}

#[test]
fn every_lack_is_refused_by_its_cause_with_a_remedy_and_auto_falls_back_to_the_host() {
    let lacking = |change: fn(&mut Shareable)| {
        let mut gpu = gpu(1);
        change(&mut gpu);
        machine(vec![gpu])
    };
    let missing = |symbol| OpenError::Symbol { path: "libcuda.so.1".into(), symbol };
    let lost = failed("cuDeviceGet", 46, "CUDA_ERROR_DEVICE_UNAVAILABLE");
    let init = "cuInit failed with CUDA_ERROR_NO_DEVICE (100)".to_owned();
    let cases = [
        (
            Machine {
                library: false,
                driver: Err("libcuda.so.1 was not found".into()),
                device_file: false,
                ..machine(Vec::new())
            },
            "not found",
            "docker run --gpus",
        ),
        (
            Machine { driver: Err(init.clone()), device_file: false, ..machine(Vec::new()) },
            "/dev/nvidiactl",
            "nvidia.com/gpu",
        ),
        (Machine { driver: Err(init), ..machine(Vec::new()) }, "CUDA_ERROR_NO_DEVICE", "Install"),
        (machine(Vec::new()), "shows no GPU", "CUDA_VISIBLE_DEVICES"),
        (
            Machine { gpus: vec![Err(PlacementRefusal::by(&missing("cuMemCreate").into(), 0))], ..machine(Vec::new()) },
            "cuMemCreate",
            "Install driver",
        ),
        (
            Machine { gpus: vec![Err(PlacementRefusal::by(&lost.clone().into(), 0))], ..machine(Vec::new()) },
            "CUDA_ERROR_DEVICE_UNAVAILABLE",
            "nvidia-smi",
        ),
        (lacking(|gpu| gpu.alone = true), "compute mode", "-c DEFAULT"),
        (lacking(|gpu| gpu.part = true), "MIG", "Switch MIG off"),
        (lacking(|gpu| gpu.virtual_memory = false), "virtual memory", "\"host\""),
        (lacking(|gpu| gpu.descriptors = false), "descriptors", "\"host\""),
    ];
    for (machine, cause, remedy) in cases {
        let refused = PixelPlace::decide(Placement::Gpu(0), &machine, Some(&trainer(&[1]))).unwrap_err();
        let text = refused.to_string();
        assert!(text.contains(cause) && text.contains(remedy), "{cause}: {text}");
        let auto = PixelPlace::decide(Placement::Auto, &machine, Some(&trainer(&[1])));
        assert_eq!(auto, Ok((PixelPlace::Host, Some(refused))), "{cause}");
    }
    let none = PixelPlace::decide(Placement::Gpu(4), &machine(vec![gpu(1)]), None).unwrap_err();
    assert_eq!(none, PlacementRefusal::NoSuchGpu { asked: 4, count: 1 });
}

#[test]
fn only_a_gpu_whose_memory_is_full_is_refused_for_its_memory() {
    let full = PlacementRefusal::by(&failed("cuMemCreate", 2, "CUDA_ERROR_OUT_OF_MEMORY").into(), 1);
    assert!(
        matches!(&full, PlacementRefusal::Memory { ordinal: 1, .. }) && full.to_string().contains("Lower batch_size"),
        "{full}"
    );
    let other =
        PlacementRefusal::by(&failed("cuMemExportToShareableHandle", 801, "CUDA_ERROR_NOT_SUPPORTED").into(), 1);
    assert!(
        matches!(&other, PlacementRefusal::Unusable { ordinal: 1, .. }) && other.code() == text_code::SETTINGS,
        "{other}"
    );
}

#[test]
fn trainers_of_other_users_never_map_a_gpu_ring() {
    let other = Credentials { uid: 7, ..trainer(&[1]) };
    let machine = machine(vec![gpu(1)]);
    let refused = PixelPlace::decide(Placement::Gpu(0), &machine, Some(&other)).unwrap_err();
    assert_eq!(
        (refused.clone(), refused.code()),
        (PlacementRefusal::OtherUser { uid: 7, daemon: DAEMON }, text_code::PERMISSION)
    );
    assert_eq!(refused.key(), "placement");
    assert_eq!(place(0, 1).open_to(&other, DAEMON), Err(refused.clone()));
    let auto = PixelPlace::decide(Placement::Auto, &machine, Some(&other));
    assert_eq!(auto, Ok((PixelPlace::Host, Some(refused))));
}

#[test]
fn trainers_of_other_users_never_have_a_ring_that_they_could_write() {
    let refused = Credentials { uid: 7, ..trainer(&[]) }.may_pin(DAEMON).unwrap_err();
    assert_eq!((refused.code(), refused.key()), (text_code::PERMISSION, "pin_memory"));
    assert!(refused.to_string().contains("not of user 7. Leave pin_memory out"), "{refused}");
    assert_eq!(trainer(&[]).may_pin(DAEMON), Ok(()));
}
