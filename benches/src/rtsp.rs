//! Servers of RTSP, and a client that waits for each response.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use thalweg_core::wire::sdp::stored::Presentation;
use thalweg_rtsp::decoder::{Decoder, Item};
use thalweg_rtsp::message::{Method, Request, Response};

use crate::program::{Program, command_line};
use crate::scrap::Scrap;
use crate::site::{await_listener, free};

/// The video's file name.
pub const VIDEO: &str = "video.mp4";
/// The longest time that a response may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A server program.
#[derive(Clone, Debug)]
pub enum Tool {
    /// `thalweg serve`.
    Thalweg(PathBuf),
    /// GStreamer's RTSP server, by its library for Python: a pipeline for each viewer.
    Gstreamer,
}

/// A listening server. Dropping it ends the server.
#[derive(Debug)]
pub struct Server {
    /// Its only process.
    pub program: Program,
    /// The address that it listens on.
    pub address: SocketAddr,
    _script: Option<Scrap>,
}

/// A connection to a server, with one session.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    decoder: Decoder,
    url: String,
    session: Option<String>,
    sequence: u32,
}

impl Tool {
    /// Starts a server of the video in `folder`.
    pub fn start(&self, folder: &Path) -> Result<Server, String> {
        let address = free()?;
        let script = match self {
            Tool::Thalweg(_) => None,
            Tool::Gstreamer => Some(Scrap::write(&script(address, folder))?),
        };
        let mut program = Program::start(self.command(folder, address, script.as_ref().map(Scrap::path)))?;
        await_listener(&mut program, address)?;
        Ok(Server { program, address, _script: script })
    }

    /// The command as a user would type it; for GStreamer, also its script.
    pub fn lines(&self) -> String {
        let (folder, address) = (Path::new("/srv/videos"), SocketAddr::from(([127, 0, 0, 1], 8554)));
        let command = command_line(&self.command(folder, address, Some(Path::new("server.py"))));
        match self {
            Tool::Thalweg(_) => command,
            Tool::Gstreamer => format!("{command}   # which has:\n{}", script(address, folder).trim_end()),
        }
    }

    fn command(&self, folder: &Path, address: SocketAddr, script: Option<&Path>) -> Command {
        match self {
            Tool::Thalweg(binary) => {
                let mut command = Command::new(binary);
                command.arg("serve").arg(folder).args(["--rtsp", &address.to_string()]);
                command
            }
            Tool::Gstreamer => {
                let mut command = Command::new("/usr/bin/python3");
                command.args(script);
                command
            }
        }
    }
}

/// The complete script of GStreamer's server.
fn script(address: SocketAddr, folder: &Path) -> String {
    let (ip, port, folder) = (address.ip(), address.port(), folder.display());
    format!(
        "import gi\n\
         gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0')\n\
         from gi.repository import GLib, Gst, GstRtspServer\n\
         Gst.init(None)\n\
         server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()\n\
         server.set_address('{ip}'); server.set_service('{port}')\n\
         factory.set_launch('( filesrc location={folder}/{VIDEO} ! qtdemux ! queue ! rtph264pay name=pay0 pt=96 )')\n\
         server.get_mount_points().add_factory('/{VIDEO}', factory)\n\
         server.attach(None)\n\
         GLib.MainLoop().run()\n"
    )
}

/// Writes a video of H.264 with this rate in bits per second and this length, 25 pictures a second in groups of 25.
pub fn video(folder: &Path, rate: u32, seconds: u32) -> Result<(), String> {
    let source = format!("testsrc2=size=640x360:rate=25:d={seconds},noise=alls=12:allf=t,format=yuv420p");
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-f", "lavfi", "-i", &source, "-c:v", "libx264", "-preset", "veryfast", "-g", "25"]);
    let rate = rate.to_string();
    command.args(["-bf", "2", "-b:v", &rate, "-maxrate", &rate, "-bufsize", &rate]).arg(folder.join(VIDEO));
    crate::job::Job::run(command).map(drop)
}

impl Client {
    /// Connects to a server and describes its video.
    pub fn open(address: SocketAddr) -> Result<(Client, Presentation), String> {
        let stream = TcpStream::connect(address).map_err(|error| format!("{address}: {error}"))?;
        stream.set_read_timeout(Some(TIMEOUT)).map_err(|error| error.to_string())?;
        let url = format!("rtsp://{address}/{VIDEO}");
        let mut client = Client { stream, decoder: Decoder::default(), url, session: None, sequence: 0 };
        let response = client.ask(Method::Describe, None, &[])?;
        let text = String::from_utf8_lossy(&response.body);
        let presentation = Presentation::parse(&text).map_err(|error| format!("{}: {error:?}", client.url))?;
        Ok((client, presentation))
    }

    /// Sends a request about the video or the track of this URL; returns the response, if it is no refusal.
    pub fn ask(&mut self, method: Method, track: Option<&str>, fields: &[(&str, &str)]) -> Result<Response, String> {
        let url = track.map_or(self.url.clone(), |track| format!("{}/{track}", self.url));
        self.sequence += 1;
        let request = Request::new(method.clone(), &url).with("CSeq", self.sequence);
        let request = self.session.iter().fold(request, |request, session| request.with("Session", session));
        let request = fields.iter().fold(request, |request, (name, value)| request.with(name, value));
        self.stream.write_all(&request.to_bytes()).map_err(|error| format!("{method}: {error}"))?;
        let response = self.response().map_err(|error| format!("{method}: {error}"))?;
        if let Some(session) = response.fields.get("Session") {
            self.session = session.split(';').next().map(str::to_owned);
        }
        if response.status.0 == 200 { Ok(response) } else { Err(format!("{method}: status {}", response.status.0)) }
    }

    fn response(&mut self) -> std::io::Result<Response> {
        let mut buf = [0; 4096];
        loop {
            match self.decoder.poll() {
                Some(Item::Response(response)) => return Ok(response),
                Some(_) => {}
                None => match self.stream.read(&mut buf)? {
                    0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                    len => self.decoder.push(&buf[..len]),
                },
            }
        }
    }
}
