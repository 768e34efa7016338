//! `law.c` as a child process.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

/// The state after an event; windows in segments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct State {
    pub(crate) lwnd: f64,
    pub(crate) dwnd: u32,
    pub(crate) swnd: u32,
    pub(crate) ssthresh: f64,
    pub(crate) delay_on: bool,
    /// The minimum round trip, in us.
    pub(crate) tau: u32,
    pub(crate) cap: u32,
    pub(crate) diff: f64,
}

/// The law in integers.
pub(crate) struct Integers {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Integers {
    /// Starts the process; without a C compiler none, and a line that states the reason.
    pub(crate) fn start() -> Option<Integers> {
        static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
        let program = PROGRAM.get_or_init(compile).as_ref()?;
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        Some(Integers { child, input, output })
    }

    /// Passes an event, and returns the state after it.
    pub(crate) fn tell(&mut self, event: &str) -> State {
        writeln!(self.input, "{event}").expect("it reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        let found: Vec<u64> = line.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        let [lwnd, dwnd, swnd, ssthresh, delay_on, tau, cap, diff, _] = found[..] else { panic!("{event}: {line:?}") };
        let segments = |fine: u64, bits: i32| fine as f64 * 2.0_f64.powi(-bits);
        let whole = |value: u64| u32::try_from(value).expect("32 bits");
        State {
            lwnd: segments(lwnd, 20),
            dwnd: whole(dwnd),
            swnd: whole(swnd),
            ssthresh: segments(ssthresh, 20),
            delay_on: delay_on == 1,
            tau: whole(tau),
            cap: whole(cap),
            diff: segments(diff, 10),
        }
    }
}

impl Drop for Integers {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn compile() -> Option<PathBuf> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("law-{}", std::process::id()));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/law/law.c");
    let mut command = Command::new(&compiler);
    command.args(["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).arg(source);
    match command.output() {
        Ok(output) if output.status.success() => Some(program),
        Ok(output) => panic!("law.h does not compile:\n{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            println!("skipped: no C compiler: {}: {error}", compiler.display());
            None
        }
    }
}
