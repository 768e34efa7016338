//! nginx with a folder of videos, run as an administrator runs it: by a configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use thalweg_net::error::Error;
use thalweg_testbed::Namespace;

use crate::common::{signal, wait_until};

/// The path in Debian, which is not in the PATH of every user.
const PROGRAM: &str = "/usr/sbin/nginx";

/// An nginx that serves until this is dropped.
pub(crate) struct Nginx(Child);

impl Nginx {
    /// True if nginx is installed; otherwise a line is printed.
    pub(crate) fn is_there() -> bool {
        let there = Path::new(PROGRAM).exists();
        if !there {
            println!("skipped: no nginx");
        }
        there
    }

    /// Serves a folder at `address` of a computer, and a page there that plays the video.
    pub(crate) fn start(at: &Namespace, folder: &Path, address: &str) -> Nginx {
        let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nginx");
        fs::create_dir_all(&own).expect("a folder");
        let page = "<!doctype html>\n<title>nginx</title>\n<link rel=icon href=data:,>\n\
                    <video autoplay controls src=video.mp4 width=960></video>\n";
        fs::write(folder.join("index.html"), page).expect("a page");
        let configuration = own.join("videos.conf");
        fs::write(&configuration, configured(&own, folder, address)).expect("a file");
        let pid = own.join("pid");
        let _ = fs::remove_file(&pid);
        let mut nginx = Command::new(PROGRAM);
        nginx.arg("-p").arg(&own).arg("-c").arg(&configuration).stdin(Stdio::null());
        let nginx = Nginx(at.within(|| nginx.spawn().map_err(Error::io("nginx"))).expect("it is there"));
        // nginx writes the file once it listens.
        wait_until("nginx", || pid.exists());
        nginx
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Killed, it would leave its worker behind.
        signal(&self.0, Signal::TERM);
        let _ = self.0.wait();
    }
}

/// The complete configuration of `docs/kernel.md`, at this address and of this folder. Files other than videos are
/// redirected, since a test must not write where nginx would.
fn configured(own: &Path, folder: &Path, address: &str) -> String {
    let (own, folder) = (own.display(), folder.display());
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|of| format!("{of}_temp_path {own};\n"));
    let page = include_str!("../../../docs/kernel.md");
    let whole = page.lines().skip_while(|line| *line != "    events {}").take_while(|line| line.starts_with("    "));
    let whole = whole.collect::<Vec<_>>().join("\n");
    assert!(whole.contains("listen 80;") && whole.contains("root /srv/videos;"), "{whole}");
    let whole = whole
        .replace("http {", &format!("http {{\naccess_log off;\n{}", paths.concat()))
        .replace("listen 80;", &format!("listen {address};"))
        .replace("root /srv/videos;", &format!("root {folder};"));
    format!("daemon off;\nuser root;\npid {own}/pid;\nerror_log stderr;\n{whole}\n")
}

#[test]
fn what_the_page_has_for_nginx_is_a_whole_configuration() {
    if !Nginx::is_there() {
        return;
    }
    let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nginx-page");
    fs::create_dir_all(&own).expect("a folder");
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port");
    let file = own.join("videos.conf");
    fs::write(&file, configured(&own, &own, &free.to_string())).expect("a file");
    let found = Command::new(PROGRAM).arg("-t").arg("-p").arg(&own).arg("-c").arg(&file).output().expect("it is there");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
}
