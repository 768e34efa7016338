//! Programs that people run through tunnels: ssh, rsync and VNC, over 50 Mb/s with 60 ms of round trip and 5 % of loss,
//! with the default rate law.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::common::{TIMEOUT, wait_until};
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{Tunnel, file, is_long};

const PATH: &str = r#"
seed = 1
forward.element = [
    { kind = "loss", rate = 0.05 },
    { kind = "drop_tail", rate = "50mbit", queue = "400kB" },
    { kind = "wire", delay = "30ms" },
]
reverse.element = [
    { kind = "loss", rate = 0.05 },
    { kind = "drop_tail", rate = "50mbit", queue = "400kB" },
    { kind = "wire", delay = "30ms" },
]
"#;

/// True if the programs are installed; otherwise a line is printed.
fn have(programs: &[&str], packages: &str) -> bool {
    let folders = ["/usr/sbin", "/usr/bin", "/bin", "/usr/local/bin"];
    let is_here = |program: &str| folders.iter().any(|folder| Path::new(folder).join(program).exists());
    let all = programs.iter().all(|program| is_here(program));
    if !all {
        println!("skipped: {programs:?} are not all here (on Debian: apt-get install {packages})");
    }
    all
}

/// A program that ends with its test.
struct Server {
    child: Child,
}

impl Server {
    /// Starts it, and waits until it listens at `port`.
    fn start(command: &mut Command, port: u16) -> Server {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Server { child: child.expect("it is here") };
        wait_until("server", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound").port()
}

/// An sshd with throw-away keys, and the tunnel to it.
struct Ssh {
    _sshd: Server,
    tunnel: Tunnel,
    folder: PathBuf,
}

impl Ssh {
    fn start(name: &str) -> Ssh {
        let folder = file(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).expect("a temporary directory");
        let path = |name: &str| folder.join(name).display().to_string();
        for key in ["host", "user"] {
            let mut keygen = Command::new("ssh-keygen");
            let made = keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]).status();
            assert!(made.expect("ssh-keygen is here").success());
        }
        let port = free_port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPidFile none\nPermitRootLogin prohibit-password\n",
            path("host"),
            path("user.pub"),
        );
        fs::write(path("sshd_config"), config).expect("a temporary file");
        if rustix::process::geteuid().is_root() {
            // The folder in which sshd confines its children; the system's own start makes it.
            fs::create_dir_all("/run/sshd").expect("root may");
        }
        let sshd = Server::start(Command::new("/usr/sbin/sshd").args(["-D", "-f", &path("sshd_config")]), port);
        let tunnel = Tunnel::with(name, &format!("127.0.0.1:{port}"), Some(PATH), &[]);
        Ssh { _sshd: sshd, tunnel, folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// ssh's arguments before the host.
    fn options(&self) -> Vec<String> {
        let port = self.tunnel.local().rsplit(':').next().expect("a port");
        let known = "UserKnownHostsFile=/dev/null";
        let fixed = ["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o", known, "-p", port];
        let mut options: Vec<String> = fixed.map(str::to_owned).into();
        options.extend(["-i".to_owned(), self.path("user")]);
        options
    }

    fn command(&self, line: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(self.options()).args(["127.0.0.1", line]);
        ssh
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn make(path: &str, seed: u64, len: u64) {
    Noise::new(seed).write(&mut File::create(path).expect("a temporary file"), len).expect("room on the disk");
}

fn expect(path: &str, seed: u64, len: u64) {
    Noise::new(seed).expect(&mut File::open(path).expect("a copy"), len);
}

#[test]
fn ssh_runs_a_command_and_copies_a_file() {
    if !is_long() || !have(&["sshd", "ssh"], "openssh-server openssh-client") {
        return;
    }
    let ssh = Ssh::start("ssh");
    let output = ssh.command("echo a word; exit 7").output().expect("ssh runs");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(7), b"a word\n".as_slice()));
    make(&ssh.path("original"), 1, 5 << 20);
    let mut copy = ssh.command(&format!("cat > {}", ssh.path("copy")));
    copy.stdin(File::open(ssh.path("original")).expect("just made"));
    assert!(copy.status().expect("ssh runs").success());
    expect(&ssh.path("copy"), 1, 5 << 20);
}

#[test]
fn rsync_copies_256_mebibytes() {
    if !is_long() || !have(&["sshd", "ssh", "rsync"], "openssh-server openssh-client rsync") {
        return;
    }
    let ssh = Ssh::start("rsync");
    make(&ssh.path("original"), 2, 256 << 20);
    let mut rsync = Command::new("rsync");
    let shell = format!("ssh {}", ssh.options().join(" "));
    rsync.args(["--archive", "--rsh", &shell, &ssh.path("original")]);
    rsync.arg(format!("127.0.0.1:{}", ssh.path("copy")));
    let started = std::time::Instant::now();
    assert!(rsync.status().expect("rsync runs").success());
    println!("256 MiB took {:.1} s", started.elapsed().as_secs_f64());
    expect(&ssh.path("copy"), 2, 256 << 20);
}

/// A client of RFC 6143 that requests the whole screen `times` times, and types.
fn look(address: &str, times: usize) -> Vec<Vec<u8>> {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    let get = |stream: &mut TcpStream, len: usize| {
        let mut bytes = vec![0; len];
        stream.read_exact(&mut bytes).expect("what the protocol says");
        bytes
    };
    assert_eq!(get(&mut stream, 12), b"RFB 003.008\n");
    stream.write_all(b"RFB 003.008\n").expect("room");
    let kinds = get(&mut stream, 1)[0].into();
    assert!(get(&mut stream, kinds).contains(&1), "security type None");
    stream.write_all(&[1]).expect("room");
    assert_eq!(get(&mut stream, 4), [0; 4], "SecurityResult");
    stream.write_all(&[1]).expect("room");
    let server = get(&mut stream, 24);
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let (width, height, depth) = (number(&server[..2]), number(&server[2..4]), number(&server[4..5]) / 8);
    let name = number(&server[20..24]);
    get(&mut stream, name);
    // SetEncodings: Raw alone.
    stream.write_all(&[2, 0, 0, 1, 0, 0, 0, 0]).expect("room");
    let mut screens = Vec::new();
    for nth in 0..times {
        // KeyEvent, down and up; no program reads it, but the server takes it.
        for down in [1, 0] {
            stream.write_all(&[4, down, 0, 0, 0, 0, 0, b'a' + nth as u8]).expect("room");
        }
        let [a, b, c, d] = [width >> 8, width & 255, height >> 8, height & 255].map(|byte| byte as u8);
        stream.write_all(&[3, 0, 0, 0, 0, 0, a, b, c, d]).expect("room");
        let mut screen = vec![0; width * height * depth];
        let head = get(&mut stream, 4);
        assert_eq!(head[0], 0, "FramebufferUpdate");
        for _ in 0..number(&head[2..]) {
            let rectangle = get(&mut stream, 12);
            let [x, y, w, h] = [0, 2, 4, 6].map(|at| number(&rectangle[at..at + 2]));
            for row in y..y + h {
                let at = (row * width + x) * depth;
                screen[at..at + w * depth].copy_from_slice(&get(&mut stream, w * depth));
            }
        }
        screens.push(screen);
    }
    screens
}

#[test]
fn a_vnc_session_shows_the_same_screen() {
    if !is_long() || !have(&["Xvnc"], "tigervnc-standalone-server") {
        return;
    }
    let port = free_port();
    let display = format!(":{}", 100 + port % 1000);
    let geometry = ["-geometry", "640x480", "-depth", "24", "-SecurityTypes", "None", "-localhost", "-retro"];
    let mut command = Command::new("Xvnc");
    let _xvnc = Server::start(command.arg(display).args(geometry).args(["-rfbport", &port.to_string()]), port);
    let tunnel = Tunnel::with("vnc", &format!("127.0.0.1:{port}"), Some(PATH), &[]);
    let direct = look(&format!("127.0.0.1:{port}"), 5);
    let through = look(tunnel.local(), 5);
    assert!(direct[0].iter().any(|byte| *byte != direct[0][0]), "a screen that shows something");
    assert!(direct == through, "the same screens");
}
