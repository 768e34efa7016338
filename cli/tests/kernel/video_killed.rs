//! A loader or an unloader that dies: the control is loaded completely or not at all, and the next command cleans up.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::cable::Yard;
use crate::common::wait_until;
use crate::control::Control;

/// Kills `thalweg kernel VERB` at this time after its start.
fn kill(control: &Control, verb: &str, after: Duration) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["kernel", verb, "--name", control.name()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs");
    thread::sleep(after);
    let _ = child.kill();
    child.wait().expect("a child");
}

/// True if the control is loaded. It must not be loaded in part.
fn is_whole(control: &Control, when: &str) -> bool {
    let is_loaded = control.run("status", &[]).0 == 0;
    if is_loaded {
        assert!(control.is_registered(), "{when}");
    } else {
        // The kernel removes an unreferenced registration a moment later.
        wait_until("end of the registration", || !control.is_registered());
    }
    is_loaded
}

/// Points in time, from half a millisecond after the start up to 100 ms, the denser the earlier: the process to be
/// killed may be over within some milliseconds.
fn moments() -> impl Iterator<Item = Duration> {
    // Steps of the golden ratio fill an interval evenly, in no order.
    (1..=60_u32).map(|nth| Duration::from_secs_f64(0.0005 + 0.1 * (f64::from(nth) * 0.618_034).fract().powi(2)))
}

#[test]
fn a_video_loader_that_is_killed_leaves_all_or_nothing() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::named() else { return };
    let mut nothing = 0;
    for after in moments() {
        kill(&control, "load", after);
        let when = format!("load, {after:?}");
        if !is_whole(&control, &when) {
            nothing += 1;
            assert_eq!(control.run("load", &[]), (0, control.is_loaded(), String::new()), "{when}");
        }
        assert_eq!(control.run("unload", &[]).0, 0, "{when}");
        assert!(!control.is_registered() && !control.folder().exists(), "{when}");
    }
    assert!(nothing > 0, "none was killed in time");
}

#[test]
fn a_video_unloader_that_is_killed_leaves_all_or_nothing() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::named() else { return };
    let mut whole = 0;
    for after in moments() {
        assert_eq!(control.run("load", &[]), (0, control.is_loaded(), String::new()));
        kill(&control, "unload", after);
        let when = format!("unload, {after:?}");
        let is_whole = is_whole(&control, &when);
        whole += usize::from(is_whole);
        assert_eq!(control.run("unload", &[]).0, i32::from(!is_whole), "{when}");
        assert!(!control.is_registered() && !control.folder().exists(), "{when}");
    }
    assert!(whole > 0, "none was killed in time");
}

/// The first step of an unloader, and no more: the registration ends, its pin stays.
const DETACH: &str = r#"
    #include <linux/bpf.h>
    #include <stdio.h>
    #include <string.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    int main(int argc, char **argv) {
        char path[64];
        union bpf_attr attr;
        memset(&attr, 0, sizeof attr);
        snprintf(path, sizeof path, "/sys/fs/bpf/thalweg/%s/link", argv[argc - 1]);
        attr.pathname = (unsigned long)path;
        int link = syscall(__NR_bpf, BPF_OBJ_GET, &attr, sizeof attr);
        memset(&attr, 0, sizeof attr);
        attr.link_detach.link_fd = link;
        return link < 0 || syscall(__NR_bpf, BPF_LINK_DETACH, &attr, sizeof attr); }"#;

#[test]
fn a_video_unloader_that_dies_between_name_and_pin_is_as_one_that_has_ended() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::load(&[]) else { return };
    control.in_c("detach", DETACH, Stdio::null());
    assert!(!control.is_registered() && control.folder().join("link").exists());
    control.is_refused_as_not_loaded("status");
    assert_eq!(control.run("load", &[]), (0, control.is_loaded(), String::new()));
    assert!(is_whole(&control, "loaded again"));
    control.in_c("detach", DETACH, Stdio::null());
    control.is_refused_as_not_loaded("unload");
    assert!(!control.folder().exists());
}
