use std::path::PathBuf;

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// A path for a child to write to.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("thalweg-exec-{}-{name}", std::process::id())))
    }

    fn read(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap_or_default()
    }

    /// Waits until the file has a whole line.
    fn line(&self) -> String {
        let start = Instant::now();
        while !self.read().ends_with('\n') {
            assert!(start.elapsed() < PATIENCE, "no line in {}", self.0.display());
            poll::sleep(LOOK);
        }
        self.read().trim().to_owned()
    }

    /// Starts a command that writes to this file, `$out`.
    fn start(&self, command: &str) -> Exec {
        Exec::start(&format!("out={}; {command}", self.0.display())).expect("a shell")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// One turn of an event loop.
fn turn(exec: &mut Exec, timeout: Duration) {
    let mut interests = Interests::new();
    exec.interests(&mut interests);
    let mut ready = interests.wait(Span::from_nanos(timeout.as_nanos() as u64)).expect("ppoll");
    exec.resume(&mut ready).expect("no error but a closed pipe");
}

/// Drives the child until it has ended.
fn exit_code(exec: &mut Exec) -> i32 {
    let start = Instant::now();
    loop {
        turn(exec, PATIENCE);
        match exec.exit_code() {
            Some(code) => return code,
            None => assert!(start.elapsed() < PATIENCE, "the child does not end"),
        }
    }
}

fn exists(pid: &str) -> bool {
    // A process that was ended but not waited for, as where there is no init, has the state Z.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|fields| !fields.is_empty() && !fields.starts_with(" Z"))
}

/// True if the process ends within a second.
fn ends(pid: &str) -> bool {
    (0..100).any(|_| {
        poll::sleep(LOOK);
        !exists(pid)
    })
}

#[test]
fn child_gets_all_data_then_the_end_of_its_input_and_its_exit_code_is_known() {
    let scratch = Scratch::new("all");
    let mut exec = scratch.start("wc -c >$out; exit 7");
    // More than a pipe holds (64 KiB).
    for _ in 0..1000 {
        exec.put(&[0x47; 1316]);
        exec.flush().expect("a full pipe is no error");
    }
    assert_eq!(exec.exit_code(), None);
    exec.finish();
    exec.flush().expect("a full pipe is no error");
    assert_eq!(exit_code(&mut exec), 7);
    assert_eq!((scratch.read().trim(), exec.dropped()), ("1316000", 0));
}

#[test]
fn child_that_reads_nothing_loses_datagrams_without_blocking() {
    let mut exec = Exec::start("exec sleep 1000").expect("a shell");
    let start = Instant::now();
    for _ in 0..5000 {
        exec.put(&[0x47; 1316]);
        exec.flush().expect("a full pipe is no error");
    }
    assert!(exec.is_waiting() && exec.dropped() > 0);
    turn(&mut exec, Duration::from_millis(10));
    assert_eq!(exec.exit_code(), None);
    drop(exec);
    assert!(start.elapsed() < GRACE, "SIGTERM ends it");
}

#[test]
fn early_end_of_the_child_is_noticed_and_later_data_ignored() {
    let mut exec = Exec::start("exit 3").expect("a shell");
    assert_eq!(exit_code(&mut exec), 3);
    for _ in 0..10_000 {
        exec.put(&[0x47; 1316]);
        exec.flush().expect("a closed pipe is no error");
    }
    assert!(!exec.is_waiting());

    let mut killed = Exec::start("kill -9 $$").expect("a shell");
    assert_eq!(exit_code(&mut killed), 128 + 9);
    let mut unknown = Exec::start("exec /nonexistent/player 2>/dev/null").expect("a shell");
    // POSIX: the command is not found.
    assert_eq!(exit_code(&mut unknown), 127);
}

#[test]
fn child_that_closes_its_input_may_go_on() {
    let scratch = Scratch::new("closes");
    let mut exec = scratch.start("exec <&-; echo >$out; sleep 0.2; exit 5");
    scratch.line();
    exec.put(&[0x47; 188]);
    exec.flush().expect("a closed pipe is no error");
    assert!(!exec.is_waiting());
    assert_eq!(exit_code(&mut exec), 5);
}

#[test]
fn all_processes_of_the_child_are_asked_to_end() {
    let scratch = Scratch::new("group");
    let exec = scratch.start("trap 'echo asked >>$out; exit' TERM; sleep 1000 & echo $! >$out; wait");
    let of_sleep = scratch.line();
    assert!(exists(&of_sleep));
    // It may take as long as init takes to wait for orphans: a zombie counts as a process of the group. And where the signal
    // meets a shell that is about to become `sleep`, it is SIGKILL that ends this.
    drop(exec);
    assert!(ends(&of_sleep), "{of_sleep} survived");
    assert_eq!(scratch.read(), format!("{of_sleep}\nasked\n"));
}

#[test]
fn processes_that_ignore_sigterm_are_killed_two_seconds_later() {
    let scratch = Scratch::new("ignores");
    // The shell ends at SIGTERM, its child does not.
    let exec = scratch.start("sh -c 'trap \"\" TERM; echo $$; while :; do sleep 1; done' >$out & wait");
    let stubborn = scratch.line();
    let start = Instant::now();
    drop(exec);
    let elapsed = start.elapsed();
    assert!(elapsed >= GRACE && elapsed < GRACE + Duration::from_secs(1), "{elapsed:?}");
    assert!(ends(&stubborn), "{stubborn} survived");
}

#[test]
fn processes_of_a_source_that_has_ended_are_killed_too() {
    let scratch = Scratch::new("source");
    let command = "sh -c 'trap \"\" TERM; echo $$ >$out; while :; do sleep 1; done' & exit 4";
    let (mut exec, _output) = Exec::source(&format!("export out={}; {command}", scratch.0.display())).expect("a shell");
    let stubborn = scratch.line();
    let has_ended = (0..100).any(|_| {
        let mut interests = Interests::new();
        exec.interests(&mut interests);
        let mut ready = interests.wait(Span::from_millis(100)).expect("ppoll");
        exec.resume_source(&mut ready).expect("no error but a closed pipe")
    });
    assert!(has_ended && exec.exit_code() == Some(4) && exists(&stubborn), "{:?}", exec.exit_code());
    drop(exec);
    assert!(ends(&stubborn), "{stubborn} survived");
}
