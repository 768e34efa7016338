//! nginx with a folder of films, as whoever installed it runs it: by a configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use thalweg_net::error::Error;
use thalweg_net::testbed::Namespace;

use crate::common::{signal, wait_until};

/// Where Debian has it: not on everybody's path.
const PROGRAM: &str = "/usr/sbin/nginx";

/// It serves until this is dropped.
pub(crate) struct Nginx(Child);

impl Nginx {
    /// Whether it is installed; a line that says so if not.
    pub(crate) fn is_there() -> bool {
        let there = Path::new(PROGRAM).exists();
        if !there {
            println!("skipped: no nginx");
        }
        there
    }

    /// Serves a folder at `address` of a computer, and a page there that plays `film.mp4`.
    pub(crate) fn start(at: &Namespace, folder: &Path, address: &str) -> Nginx {
        let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("nginx");
        fs::create_dir_all(&own).expect("a folder");
        let page = "<!doctype html>\n<title>nginx</title>\n<link rel=icon href=data:,>\n\
                    <video autoplay controls src=film.mp4 width=960></video>\n";
        fs::write(folder.join("index.html"), page).expect("a page");
        let configuration = own.join("films.conf");
        fs::write(&configuration, configured(&own, folder, address)).expect("a file");
        let pid = own.join("pid");
        let _ = fs::remove_file(&pid);
        let mut nginx = Command::new(PROGRAM);
        nginx.arg("-p").arg(&own).arg("-c").arg(&configuration).stdin(Stdio::null());
        let nginx = Nginx(at.within(|| nginx.spawn().map_err(Error::io("nginx"))).expect("it is there"));
        // It is written when nginx listens.
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

fn configured(own: &Path, folder: &Path, address: &str) -> String {
    let (own, folder) = (own.display(), folder.display());
    format!(
        "daemon off;
user root;
pid {own}/pid;
error_log stderr;
events {{}}
http {{
    types {{ text/html html; video/mp4 mp4; }}
    access_log off;
    client_body_temp_path {own};
    proxy_temp_path {own};
    fastcgi_temp_path {own};
    uwsgi_temp_path {own};
    scgi_temp_path {own};
    server {{
        listen {address};
        root {folder};
    }}
}}
"
    )
}
