//! Another program, which never outlives its test.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::peers::stage::Stage;

/// The longest wait: no program here has more than twenty seconds of video to handle.
const TIMEOUT: Duration = Duration::from_secs(50);

/// A running program.
pub(crate) struct Program {
    name: String,
    child: Child,
    output: PathBuf,
    errors: PathBuf,
}

/// The result of a program that has ended.
pub(crate) struct Ended {
    name: String,
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) errors: String,
}

impl Program {
    /// Starts `command`; its output goes to files named after `name`.
    pub(crate) fn start(stage: &Stage, name: &str, command: &mut Command) -> Program {
        let file = |kind| stage.directory().join(format!("{name}.{kind}"));
        let create = |path| std::fs::File::create(path).expect("the temporary directory can be written");
        let (output, errors) = (file("stdout"), file("stderr"));
        // A process group of its own, so that a signal reaches all of a pipeline.
        command.process_group(0);
        command.current_dir(stage.directory()).stdin(Stdio::null()).stdout(create(&output)).stderr(create(&errors));
        let child = command.spawn().unwrap_or_else(|error| panic!("{name}: {error}"));
        Program { name: name.to_owned(), child, output, errors }
    }

    /// Starts a program with arguments that are separated by spaces.
    pub(crate) fn line(stage: &Stage, name: &str, line: &str) -> Program {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("a program"));
        Program::start(stage, name, command.args(words))
    }

    /// Asks the program to stop, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        // The program may have ended by itself.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::INT);
    }

    /// Waits for the end of the program.
    pub(crate) fn end(mut self) -> Ended {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(Instant::now() < deadline, "{} does not end: {}", self.name, read(&self.errors));
            std::thread::sleep(Duration::from_millis(10));
        };
        let (output, errors) = (read(&self.output), read(&self.errors));
        Ended { name: self.name.clone(), code: status.code(), output, errors }
    }
}

impl Ended {
    /// Expects success, and no error message but those that `excused` accepts.
    pub(crate) fn expect_no_complaint(&self, excused: impl Fn(&str) -> bool) {
        let complaint = self.errors.lines().find(|line| !line.trim().is_empty() && !excused(line));
        assert!(complaint.is_none(), "{}: {}", self.name, self.errors);
        assert_eq!(self.code, Some(0), "{}: {}", self.name, self.errors);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn read(path: &PathBuf) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}
