//! Loading, inspecting and unloading the control.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use libbpf_rs::{ErrorKind, Link, MapCore, MapFlags, MapHandle, MapMut, Object, ObjectBuilder, ProgramMut, set_print};
use thalweg_core::law::window::tcp_stream::Thresholds;
use thalweg_core::units::Rate;

use crate::bpffs::{self, Pins, Turn, folder, sweep};
use crate::{Connection, Error, Loaded, Name, Settings, Status, Unloaded, namespace};

/// `bpf/tcp_stream.bpf.c`, compiled.
static PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tcp_stream.bpf.o"));
/// Time for which the name may remain after its registration has ended.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Registers the control under a name, until [`unload`]: it outlives this process.
///
/// The registration itself is pinned last. A loader that is killed earlier leaves no control, and the next loader
/// removes its pins. If the default of this process's network namespace is an unloaded control of the same name, this
/// one becomes the default.
///
/// # Errors
/// Any [`Error`].
pub fn load(name: &Name, settings: &Settings) -> Result<Loaded, Error> {
    allowed()?;
    let _turn = Turn::take()?;
    let folder = folder(name);
    if registered(name)? {
        let is_ours = folder.join("link").exists();
        return Err(if is_ours { Error::Loaded(name.clone()) } else { Error::Taken(name.clone()) });
    }
    // No control of this name is registered: a default of this name was unloaded.
    let is_default = namespace::is_default(name);
    let pins = Pins::make(folder)?;
    let mut object = open(name)?;
    fill(&mut object, settings)?;
    for pin in ["settings", "ports", "rates"] {
        map(&mut object, pin)?.pin(pins.path(pin)).map_err(Error::bpf(format!("pinning {pin}")))?;
    }
    let mut shown = show(&mut object)?;
    shown.pin(pins.path("connections")).map_err(Error::bpf("pinning connections"))?;
    let registering = format!("registering {name}");
    let mut link = map(&mut object, "control")?.attach_struct_ops().map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Taken(name.clone()),
        _ => Error::bpf(&registering)(error),
    })?;
    link.pin(pins.path("link")).map_err(Error::bpf("pinning the registration"))?;
    pins.keep();
    let renewed = is_default.then(|| namespace::make_default(name));
    Ok(Loaded { renewed })
}

/// Reads the settings of a control, and the connections that use it.
///
/// # Errors
/// The control is not loaded, or this process is not root.
pub fn status(name: &Name) -> Result<Status, Error> {
    allowed()?;
    let _turn = Turn::take()?;
    let folder = loaded(name)?;
    Ok(Status { settings: settings(&folder)?, connections: connections(&folder)? })
}

/// Removes the name at once. Open connections keep the law. Pins left by a loader or an unloader that was killed are
/// removed, too. A default is left unchanged.
///
/// # Errors
/// The control is not loaded, or this process is not root.
pub fn unload(name: &Name) -> Result<Unloaded, Error> {
    allowed()?;
    let _turn = Turn::take()?;
    let folder = loaded(name).inspect_err(|error| {
        if matches!(error, Error::NotLoaded { .. }) {
            sweep(&folder(name));
        }
    })?;
    let taking = format!("unregistering {name}");
    let link = Link::open(folder.join("link")).map_err(Error::bpf(&taking))?;
    // From Linux 6.10 on; before, the registration ends with its last holder, which is this process.
    let _ = link.detach();
    fs::remove_file(folder.join("link")).map_err(Error::io::<std::io::Error>(&taking))?;
    drop(link);
    let deadline = Instant::now() + TIMEOUT;
    while registered(name)? {
        if Instant::now() > deadline {
            return Err(Error::Refused { tried: taking, reason: "another program holds the registration".to_owned() });
        }
        thread::sleep(Duration::from_millis(10));
    }
    let open = connections(&folder).map(|connections| connections.len());
    sweep(&folder);
    Ok(Unloaded { open: open?, instead: namespace::is_default(name).then(namespace::other) })
}

/// Reads the thresholds of a loaded control.
///
/// # Errors
/// There is no such control, or this process may not reach it.
pub fn thresholds(name: &Name) -> Result<Thresholds, Error> {
    settings(&folder(name)).map(|settings| settings.thresholds)
}

fn allowed() -> Result<(), Error> {
    if !rustix::process::geteuid().is_root() {
        return Err(Error::NotRoot);
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(Error::NoTypes);
    }
    Ok(())
}

/// True if the kernel has a congestion control of this name.
fn registered(name: &Name) -> Result<bool, Error> {
    Ok(namespace::controls()?.iter().any(|known| known == name.as_str()))
}

/// The folder of a registered control: pins without a registration were left by a loader or an unloader that was
/// killed.
fn loaded(name: &Name) -> Result<std::path::PathBuf, Error> {
    let folder = folder(name);
    if folder.join("link").exists() && registered(name)? {
        return Ok(folder);
    }
    let known = namespace::controls()?;
    let others = bpffs::registrations().into_iter().filter(|other| *other != name.as_str() && known.contains(other));
    Err(Error::NotLoaded { name: name.clone(), others: others.collect() })
}

/// Loads the program into the kernel, which verifies it; it is not registered yet.
fn open(name: &Name) -> Result<Object, Error> {
    // The messages of libbpf, line by line, would hide the error.
    set_print(None);
    let mut object = ObjectBuilder::default().open_memory(PROGRAM).map_err(Error::bpf("reading the program"))?;
    let mut control = object.maps_mut().find(|map| map.name() == "control").expect("the program has it");
    let start = control.initial_value_mut().expect("its members");
    start[..16].copy_from_slice(&name.padded());
    object.load().map_err(Error::bpf("loading the program, which needs Linux 6.4 or later"))
}

fn map<'a>(object: &'a mut Object, name: &str) -> Result<MapMut<'a>, Error> {
    object.maps_mut().find(|map| map.name() == name).ok_or_else(|| absent(name))
}

fn absent(name: &str) -> Error {
    Error::Refused { tried: "reading the program".to_owned(), reason: format!("{name} is missing") }
}

fn fill(object: &mut Object, settings: &Settings) -> Result<(), Error> {
    let tried = "setting the playback rates";
    let vegas = u32::from(settings.thresholds == Thresholds::Vegas);
    let value = [&settings.rate.as_bps().to_ne_bytes()[..], &vegas.to_ne_bytes(), &[0; 4]].concat();
    map(object, "settings")?.update(&0_u32.to_ne_bytes(), &value, MapFlags::ANY).map_err(Error::bpf(tried))?;
    let ports = map(object, "ports")?;
    for (port, rate) in &settings.ports {
        let (key, value) = (u32::from(*port).to_ne_bytes(), rate.as_bps().to_ne_bytes());
        ports.update(&key, &value, MapFlags::ANY).map_err(Error::bpf(tried))?;
    }
    Ok(())
}

/// The iterator over the connections.
fn show(object: &mut Object) -> Result<Link, Error> {
    let connections =
        MapHandle::try_from(&*map(object, "connections")?).map_err(Error::bpf("listing the connections"))?;
    let program: ProgramMut<'_> =
        object.progs_mut().find(|program| program.name() == "stream_show").ok_or_else(|| absent("stream_show"))?;
    program.attach_iter(std::os::fd::AsFd::as_fd(&connections)).map_err(Error::bpf("listing the connections"))
}

fn settings(folder: &Path) -> Result<Settings, Error> {
    let tried = "reading the playback rates";
    let open = |pin| MapHandle::from_pinned_path(folder.join(pin)).map_err(Error::bpf(tried));
    let bits = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
    let lookup = |map: &MapHandle, key: &[u8]| map.lookup(key, MapFlags::ANY).map_err(Error::bpf(tried));
    let value = lookup(&open("settings")?, &0_u32.to_ne_bytes())?.ok_or_else(|| absent("settings"))?;
    let thresholds = if value[8..12] == [0; 4] { Thresholds::Paper } else { Thresholds::Vegas };
    let map = open("ports")?;
    let mut ports = Vec::new();
    for key in map.keys() {
        if let Some(value) = lookup(&map, &key)? {
            let port = u32::from_ne_bytes(key[..4].try_into().expect("four bytes"));
            ports.push((port as u16, Rate::from_bps(bits(&value))));
        }
    }
    ports.sort_unstable_by_key(|&(port, _)| port);
    Ok(Settings { rate: Rate::from_bps(bits(&value[..8])), thresholds, ports })
}

fn connections(folder: &Path) -> Result<Vec<Connection>, Error> {
    let text = fs::read_to_string(folder.join("connections"));
    let text = text.map_err(Error::io::<std::io::Error>("reading the connections"))?;
    Ok(text.lines().filter_map(Connection::parse).collect())
}
