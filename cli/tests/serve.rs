//! `thalweg serve` as its users run it, with curl and ffmpeg as clients where they are installed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{Running, run, scrape};

/// A video's bytes, which differ from place to place.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at ^ (at >> 8)) as u8).collect()
}

/// A server of a folder of its own.
struct Serving {
    folder: PathBuf,
    running: Running,
    opening: serde_json::Value,
    address: String,
}

impl Serving {
    fn start(name: &str, more: &[&str]) -> Serving {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("video.webm"), bytes(100_000)).expect("a file");
        Serving::of(folder, more)
    }

    fn of(folder: PathBuf, more: &[&str]) -> Serving {
        let path = folder.to_str().expect("UTF-8");
        let running = Running::start(&[&["serve", path, "--listen", "127.0.0.1:0"], more].concat());
        let opening = running.event("listening");
        let address = opening["address"].as_str().expect("an address").to_owned();
        Serving { folder, running, opening, address }
    }

    fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }
}

/// The first line of `thalweg`, which is then ended.
fn opening_line(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let mut child = command.args(args).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let line = BufReader::new(child.stderr.take().expect("piped")).lines().next().expect("a line").expect("UTF-8");
    child.kill().and_then(|()| child.wait()).expect("it still runs");
    line
}

/// Runs another program; returns its exit code and output, if it is installed.
fn peer(program: &str, args: &[&str]) -> Option<(i32, Vec<u8>)> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).output();
    let Ok(output) = output else {
        println!("skipped: no {program}");
        return None;
    };
    Some((output.status.code().expect("an exit code"), output.stdout))
}

/// A certificate for `localhost` and its key, made by openssl, if it is installed.
fn certificate(folder: &Path, name: &str) -> Option<(String, String)> {
    let path = |end: &str| folder.join(format!("{name}.{end}")).to_str().expect("UTF-8").to_owned();
    let (certificate, key) = (path("crt"), path("key"));
    let made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost";
    let files = ["-keyout", &key, "-out", &certificate];
    let (code, _) = peer("openssl", &[made.split(' ').collect(), files.to_vec()].concat())?;
    assert_eq!(code, 0);
    Some((certificate, key))
}

#[test]
fn rtsp_alone_or_beside_http_serves_what_ffmpeg_plays() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-rtsp");
    fs::create_dir_all(&folder).expect("a folder");
    let clip = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/clip.ts");
    fs::copy(clip, folder.join("clip.ts")).expect("a clip");
    let path = folder.to_str().expect("UTF-8");
    let alone = Running::start(&["serve", path, "--rtsp", "127.0.0.1:0"]);
    let opening = alone.event("listening");
    let url = opening["rtsp_url"].as_str().expect("a URL");
    assert_eq!((&opening["url"], url.starts_with("rtsp://127.0.0.1:")), (&url.into(), true));
    // Decoded pictures, each with its hash.
    let pictures = |options: &str, input: &str| {
        let line = format!("-v error {options} -i {input} -map 0:v -fps_mode passthrough -f framehash -");
        let (code, out) = peer("ffmpeg", &line.split_whitespace().collect::<Vec<_>>())?;
        let text = String::from_utf8_lossy(&out).into_owned();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Some((code, lines.filter_map(|line| line.split(',').nth(5)).map(str::to_owned).collect::<Vec<_>>()))
    };
    let Some(original) = pictures("", clip) else { return };
    assert!(original.1.len() > 10, "{original:?}");
    assert_eq!(pictures("-rtsp_transport tcp", &format!("{url}clip.ts")), Some(original));
    let both = Serving::of(folder, &["--rtsp", "127.0.0.1:0"]);
    let address = both.opening["rtsp_address"].as_str().expect("an address");
    let Some((_, page)) = peer("curl", &["-s", &both.url("")]) else { return };
    let page = String::from_utf8_lossy(&page);
    assert!(page.contains(&format!("<a href=\"rtsp://{address}/clip.ts\">clip.ts</a>")), "{page}");
}

#[test]
fn transport_streams_are_videos_and_refusals_have_a_reason_where_rtsp_serves_them() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-streams");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.to_str().expect("UTF-8");
    for (more, forms) in [
        (&["--listen", "127.0.0.1:0"][..], "MP4, WebM, HLS or DASH"),
        (&["--rtsp", "127.0.0.1:0"], "MP4 or MPEG transport streams"),
        (&["--listen", "127.0.0.1:0", "--rtsp", "127.0.0.1:0"], "MP4, WebM, HLS, DASH or MPEG transport streams"),
    ] {
        let line = opening_line(&[&["serve", path], more].concat());
        assert!(line.contains(&format!("no videos yet ({forms})")), "{line}");
    }
    fs::write(folder.join("broken.ts"), bytes(50_000)).expect("a file");
    let line = opening_line(&["serve", path, "--rtsp", "127.0.0.1:0"]);
    assert!(line.starts_with("serving 1 video of "), "{line}");
    let serving = Serving::of(folder, &["--rtsp", "127.0.0.1:0"]);
    let rtsp = serving.opening["rtsp_url"].as_str().expect("a URL");
    let (code, _, line) = run(&["play", &format!("{rtsp}broken.ts"), "--quiet", "--output", "udp://127.0.0.1:9"]);
    let reason = "neither MP4 nor an MPEG transport stream";
    assert!(code == 1 && line.contains(&format!("refused by the server: {reason} (RTSP 415)")), "{line}");
    let noted = serving.running.event("warning");
    assert!(noted["text"].as_str().expect("a text").starts_with("broken.ts: not served over RTSP: neither"), "{noted}");
    let Some((_, page)) = peer("curl", &["-s", &serving.url("")]) else { return };
    let page = String::from_utf8_lossy(&page);
    assert!(page.contains("broken.ts</a> <small>refused: neither MP4") && !page.contains("No videos yet"), "{page}");
}

#[test]
fn server_reports_url_and_figures_and_exits_on_interrupt() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-story");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("broken.mp4"), "nonsense").expect("a file");
    fs::write(folder.join("video.webm"), bytes(1000)).expect("a file");
    let mut serving = Serving::of(folder, &["--law", "paced"]);
    let url = format!("http://{}/", serving.address);
    assert_eq!((&serving.opening["url"], &serving.opening["videos"]), (&url.into(), &2.into()));
    let broken = serving.running.event("unreadable");
    assert_eq!((&broken["file"], &broken["reason"]), (&"broken.mp4".into(), &"not an MP4 file".into()));
    let row = serving.running.wait_for("figures", |value| value["videos"] == 2);
    assert_eq!((&row["side"], &row["connections"]), (&"serve".into(), &0.into()));
    serving.running.interrupt();
    serving.running.succeeds();
}

#[test]
fn metrics_are_served_on_their_own_port() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-metrics");
    fs::create_dir_all(&folder).expect("a folder");
    let args =
        ["serve", folder.to_str().expect("UTF-8"), "--listen", "127.0.0.1:0", "--metrics", "0", "--law", "system"];
    let running = Running::start(&args);
    let opening = running.event("listening");
    assert_eq!(opening["law"], "system");
    let page = scrape(opening["metrics"].as_str().expect("an address"));
    assert!(
        page.contains("# TYPE thalweg_sent_bytes_total counter\nthalweg_sent_bytes_total{side=\"serve\"} 0\n"),
        "{page}"
    );
}

#[test]
fn missing_kernel_law_is_reported_and_videos_are_paced() {
    let serving = Serving::start("law", &["--name", "no_such_law"]);
    let lost = serving.running.event("law_lost");
    let reason = lost["reason"].as_str().expect("text");
    assert!(
        reason.starts_with("this kernel has no no_such_law") && reason.ends_with("paced by this program instead"),
        "{reason}"
    );
}

#[test]
fn control_characters_in_file_names_are_escaped() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-names");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("evil\u{1b}[2J\nthalweg: forged \u{202e}.mp4"), "nonsense").expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["serve", folder.to_str().expect("UTF-8"), "--listen", "127.0.0.1:0", "--law", "paced"])
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let stderr = BufReader::new(child.stderr.take().expect("piped"));
    let lines: Vec<_> = stderr.lines().map_while(Result::ok).take(2).collect();
    child.kill().and_then(|()| child.wait()).expect("it runs");
    assert_eq!(lines[1], "evil\\u{1b}[2J\\nthalweg: forged \\u{202e}.mp4: not an MP4 file");
    let (code, _, line) = run(&["serve", "/no/such\u{1b}[2J\nfolder", "--listen", "127.0.0.1:0"]);
    let expected = "thalweg: serve: /no/such\\u{1b}[2J\\nfolder: no such file or directory\n";
    assert_eq!((code, &*line), (1, expected));
}

#[test]
fn startup_errors_are_reported_in_one_line() {
    for (args, code, expected) in [
        (
            vec!["serve", "/no/such/folder", "--listen", "127.0.0.1:0"],
            1,
            "serve: /no/such/folder: no such file or directory",
        ),
        (vec!["serve", "/etc/passwd", "--listen", "127.0.0.1:0"], 1, "serve: /etc/passwd: not a directory"),
        (vec!["serve", ".", "--listen", "192.0.2.1:80"], 1, "serve: listening on 192.0.2.1:80: "),
        (vec!["serve", ".", "--listen", "127.0.0.1:0", "--user", "no one"], 1, "serve: /etc/passwd has no user no one"),
        (vec!["serve", ".", "--listen", "[fe80::1]:80"], 1, "serve: listening on [fe80::1]:80: a link-local address"),
        (vec!["serve", "."], 2, "--listen <HOST:PORT>"),
        (vec!["serve", ".", "--rtsp", "192.0.2.1:554"], 1, "serve: listening on 192.0.2.1:554: "),
        (vec!["serve", ".", "--rtsp", ":0", "--tls"], 2, "--tls is for HTTP, and RTSP is in the clear"),
        (vec!["serve", "."], 2, "<--listen <HOST:PORT>|--rtsp <HOST:PORT>>"),
        (vec!["serve", ".", "--listen", ":0", "--public"], 2, "--rtsp <HOST:PORT>"),
        (vec!["serve", ".", "--listen", ":0", "--tls", "--rtsp", ":0"], 2, "with TLS, add --public"),
        (vec!["serve", ".", "--rtsp", ":0", "--public"], 2, "leave it out, or add --tls or --cert"),
        (vec!["serve", ".", "--listen", ":0", "--cert", "a"], 2, "--key <FILE>"),
        (vec!["serve", ".", "--listen", ":0", "--key", "a"], 2, "--cert <FILE>"),
        (vec!["serve", ".", "--listen", ":0", "--tls", "--cert", "a", "--key", "b"], 2, "cannot be used with"),
        (
            vec!["serve", ".", "--listen", ":0", "--cert", "/no/such", "--key", "b"],
            1,
            "serve: /no/such: no such file or directory",
        ),
        (vec!["serve", ".", "--listen", ":0", "--law", "cubic"], 2, "invalid value 'cubic' for '--law <LAW>'"),
        (vec!["serve", ".", "--listen", ":0", "--rate", "0bit"], 2, "between 1bit and 1000gbit"),
    ] {
        let (actual, out, line) = run(&args);
        assert_eq!((actual, &*out, line.lines().count()), (code, "", 1), "{args:?}: {line}");
        assert!(line.contains(expected), "{args:?}: {line}");
    }
}

#[test]
fn curl_gets_videos_ranges_and_resumed_downloads() {
    let serving = Serving::start("curl", &["--law", "paced"]);
    let (video, expected) = (serving.url("video.webm"), bytes(100_000));
    let curl = |args: &[&str]| peer("curl", &[&["-sS", "--max-time", "20"], args].concat());
    let Some(whole) = curl(&[&video]) else { return };
    assert!(whole == (0, expected.clone()));
    assert!(curl(&["-r", "1000-1999", &video]) == Some((0, expected[1000..2000].to_vec())));
    assert!(curl(&["-r", "-10", &video]) == Some((0, expected[99_990..].to_vec())));
    // An interrupted download is resumed.
    let part = serving.folder.join("part.bin");
    fs::write(&part, &expected[..60_000]).expect("a file");
    assert_eq!(curl(&["-C", "-", "-o", part.to_str().expect("UTF-8"), &video]), Some((0, vec![])));
    assert!(fs::read(&part).expect("a file") == expected);
    let status = |args: &[&str]| {
        let (_, said) = curl(&[&["-o", "/dev/null", "-w", "%{http_code}"], args].concat()).expect("curl");
        String::from_utf8(said).expect("text")
    };
    let etag = String::from_utf8(curl(&["-I", &video]).expect("curl").1).expect("text");
    let etag = etag.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag").to_owned();
    assert_eq!(status(&["-H", &format!("If-None-Match: {etag}"), &video]), "304");
    // The file is sent only if it is newer than the copy.
    assert_eq!(status(&["-z", part.to_str().expect("UTF-8"), &video]), "304");
    assert_eq!(status(&["-r", "100000-", &video]), "416");
    assert_eq!(status(&["--path-as-is", &serving.url("../../etc/passwd")]), "400");
    assert_eq!(status(&["-X", "PUT", &video]), "405");
}

#[test]
fn curl_downloads_under_the_file_name_faster_than_playback() {
    let serving = Serving::start("download", &["--law", "paced", "--rate", "1mbit"]);
    let expected = bytes(20_000_000);
    fs::write(serving.folder.join("long video.webm"), &expected).expect("a file");
    let kept = serving.folder.with_file_name("serve-download-kept");
    let _ = fs::remove_dir_all(&kept);
    fs::create_dir_all(&kept).expect("a folder");
    let (url, to) = (serving.url("long%20video.webm"), kept.to_str().expect("UTF-8"));
    // When it is played, ten seconds of it are sent at once, and the other 18.75 MB at 1.25 Mb/s, in two minutes.
    let curl = |more: &[&str]| peer("curl", &[&["-sS", "--max-time", "60"], more].concat());
    let Some((code, _)) = curl(&["-OJ", "--output-dir", to, &format!("{url}?download")]) else { return };
    assert_eq!(code, 0);
    assert!(fs::read(kept.join("long video.webm")).expect("under its own name") == expected);
    let head = String::from_utf8(curl(&["-I", &format!("{url}?download")]).expect("curl").1).expect("text");
    let field = "content-disposition: attachment; filename=\"long video.webm\"; filename*=UTF-8''long%20video.webm";
    assert!(head.lines().any(|line| line == field), "{head}");
    let page = String::from_utf8(curl(&[&serving.url("")]).expect("curl").1).expect("text");
    assert!(page.contains("<a href=\"/video.webm?download\" download>"), "{page}");
    let serving = Serving::start("no-download", &["--law", "paced", "--no-download"]);
    let head = curl(&["-I", &serving.url("video.webm?download")]).expect("curl").1;
    assert!(!String::from_utf8(head).expect("text").contains("disposition"));
    let page = String::from_utf8(curl(&[&serving.url("")]).expect("curl").1).expect("text");
    assert!(!page.contains("?download"), "{page}");
}

#[test]
fn curl_gets_videos_over_tls_and_accepts_a_pinned_certificate() {
    let serving = Serving::start("curl-own", &["--law", "paced", "--tls"]);
    let event = serving.running.event("certificate");
    let pin = format!("sha256//{}", event["pin"].as_str().expect("a pin"));
    let (video, expected) = (format!("https://{}/video.webm", serving.address), bytes(100_000));
    let curl = |args: &[&str]| peer("curl", &[&["-sS", "--max-time", "20"], args].concat());
    let Some(whole) = curl(&["-k", "--pinnedpubkey", &pin, &video]) else { return };
    assert!(whole == (0, expected.clone()));
    assert!(
        curl(&["-k", "--pinnedpubkey", &pin, "-r", "1000-1999", &video]) == Some((0, expected[1000..2000].to_vec()))
    );
    assert!(curl(&["-k", "--tls-max", "1.2", &video]) == Some((0, expected.clone())));
    let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    // 90: not the key that is pinned; 60: no authority that curl trusts signed the certificate (curl's EXIT CODES).
    assert_eq!(curl(&["-k", "--pinnedpubkey", other, &video]).expect("curl").0, 90);
    assert_eq!(curl(&[&video]).expect("curl").0, 60);
    let (code, said) = curl(&[&serving.url("video.webm")]).expect("curl");
    assert_eq!((code, &*String::from_utf8_lossy(&said)), (0, "this port uses TLS; use https://\n"));
    let row = serving.running.wait_for("figures", |value| value["refused_requests_total"] == 1);
    assert_eq!((&row["tls_requests_total"], &row["requests_total"]), (&3.into(), &4.into()), "{row}");
    assert!(row["failed_handshakes_total"].as_f64().expect("a number") >= 2.0, "{row}");
}

#[test]
fn given_certificate_is_used_and_a_mismatched_key_is_reported() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-given");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("video.webm"), bytes(100_000)).expect("a file");
    let (Some((certificate, key)), Some((other, _))) = (certificate(&folder, "one"), certificate(&folder, "two"))
    else {
        return;
    };
    let serving = Serving::of(folder.clone(), &["--law", "paced", "--cert", &certificate, "--key", &key]);
    let port = serving.address.rsplit_once(':').expect("a port").1;
    let video = format!("https://localhost:{port}/video.webm");
    let curl = |args: &[&str]| peer("curl", &[&["-4sS", "--max-time", "20"], args].concat());
    let Some(whole) = curl(&["--cacert", &certificate, &video]) else { return };
    assert!(whole == (0, bytes(100_000)));
    assert_eq!(curl(&["--cacert", &other, &video]).expect("curl").0, 60);
    let path = folder.to_str().expect("UTF-8");
    let (code, out, line) = run(&["serve", path, "--listen", "127.0.0.1:0", "--cert", &other, "--key", &key]);
    assert_eq!((code, &*out, line.lines().count()), (1, "", 1), "{line}");
    assert!(line.contains(&format!("serve: the key in {key} does not belong to {other}")), "{line}");
}

#[test]
fn ngtcp2_client_gets_videos_over_http3_byte_for_byte() {
    let serving = Serving::start("http3", &["--tls", "--name", "no_such_law"]);
    let lost = serving.running.event("law_lost");
    let reason = lost["reason"].as_str().expect("text");
    assert!(reason.contains("paced") && reason.ends_with("; over QUIC they use TCP Stream"), "{lost}");
    fs::write(serving.folder.join("long.webm"), bytes(5_000_000)).expect("a file");
    let got = serving.folder.with_file_name("serve-http3-got");
    fs::create_dir_all(&got).expect("a folder");
    let (host, port) = serving.address.rsplit_once(':').expect("a port");
    let url = |name: &str| format!("https://localhost:{port}/{name}");
    let download = format!("--download={}", got.display());
    let args = ["-q", "--exit-on-all-streams-close", "--timeout=20s", &download, host, port];
    let names = ["video.webm", "long.webm", "none"];
    let urls = names.map(url);
    let asked: Vec<&str> = args.into_iter().chain(urls.iter().map(String::as_str)).collect();
    let Some((code, _)) = peer("gtlsclient", &asked) else { return };
    assert_eq!(code, 0);
    for (name, expected) in names.into_iter().zip([bytes(100_000), bytes(5_000_000), b"no such file\n".to_vec()]) {
        assert!(fs::read(got.join(name)).expect(name) == expected, "{name}");
    }
    let row = serving.running.wait_for("figures", |value| value["quic_requests_total"] == 3);
    assert_eq!((&row["tls_requests_total"], &row["refused_requests_total"]), (&0.into(), &1.into()), "{row}");
}

/// A Python that has aioquic, if there is one: that of `./test --all`, or the system's.
fn python_with_aioquic() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("aioquic").join("bin/python");
    let has = |python: &PathBuf| {
        let tried = Command::new(python).args(["-c", "import aioquic"]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let found = [own, "python3".into()].into_iter().find(has);
    if found.is_none() {
        println!("skipped: no aioquic");
    }
    found
}

#[test]
fn aioquic_gets_videos_ranges_and_parallel_streams_over_http3() {
    let Some(python) = python_with_aioquic() else { return };
    let serving = Serving::start("aioquic", &["--tls"]);
    let port = serving.address.rsplit_once(':').expect("a port").1;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/http3.py");
    let output = Command::new(python).args([script, port]).arg(serving.folder.join("video.webm")).output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // 25 at once, 3 before them and 3 after them.
    let row = serving.running.wait_for("figures", |value| value["requests_total"] == 31);
    assert_eq!((&row["quic_requests_total"], &row["refused_requests_total"]), (&31.into(), &3.into()), "{row}");
}

/// Makes a video in four forms with ffmpeg, if it is installed.
fn make_videos(folder: &Path) -> bool {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("hls")).expect("a folder");
    fs::create_dir_all(folder.join("dash")).expect("a folder");
    let source = "-v error -f lavfi -i testsrc2=size=320x180:rate=10:duration=4 -c:v libx264 -preset ultrafast -g 10";
    for target in [
        "-movflags +faststart video.mp4",
        "-movflags frag_keyframe+empty_moov pieces.mp4",
        "-f hls -hls_time 1 -hls_list_size 0 -master_pl_name master.m3u8 -b:v 400k hls/low.m3u8",
        "-f dash -seg_duration 1 dash/video.mpd",
    ] {
        let mut command = Command::new("ffmpeg");
        command.args(source.split(' ')).args(target.split(' ')).current_dir(folder).stdin(Stdio::null());
        match command.status() {
            Ok(status) => assert!(status.success(), "{target}"),
            Err(_) => {
                println!("skipped: no ffmpeg");
                return false;
            }
        }
    }
    true
}

#[test]
fn ffmpeg_plays_mp4_fragmented_mp4_hls_and_dash_frame_for_frame() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("serve-ffmpeg");
    if !make_videos(&folder) {
        return;
    }
    let serving = Serving::of(folder.clone(), &[]);
    for name in ["video.mp4", "pieces.mp4", "hls/master.m3u8", "dash/video.mpd"] {
        let frames = |from: &str| {
            let (code, said) =
                peer("ffmpeg", &["-v", "error", "-i", from, "-map", "0:v", "-f", "framemd5", "-"]).expect("ffmpeg");
            let said = String::from_utf8(said).expect("text");
            assert_eq!(code, 0, "{name}: {said}");
            said.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>()
        };
        let local = frames(folder.join(name).to_str().expect("UTF-8"));
        assert_eq!(local.len(), 40, "{name}");
        assert!(local == frames(&serving.url(name)), "{name}");
    }
    // The rates that the server reads are those that ffprobe reports.
    let page = Command::new("curl").args(["-sS", &serving.url("")]).output();
    let page = page.map(|page| String::from_utf8(page.stdout).expect("text")).unwrap_or_default();
    for line in page.lines().filter(|line| line.contains("data-player")) {
        assert!(!line.contains("rate unknown"), "{line}");
    }
    for name in ["video.mp4", "pieces.mp4"] {
        let path = folder.join(name);
        let asked =
            ["-v", "error", "-show_entries", "format=bit_rate", "-of", "csv=p=0", path.to_str().expect("UTF-8")];
        let (_, said) = peer("ffprobe", &asked).expect("ffprobe comes with ffmpeg");
        let theirs: f64 = String::from_utf8(said).expect("text").trim().parse().expect("a number");
        let root = thalweg_serve::Root::open(&folder).expect("a folder");
        let catalog = thalweg_serve::Catalog::scan(&root).expect("it can be read");
        let ours = catalog.rate(name).expect(name).as_bps() as f64;
        assert!((ours / theirs - 1.0).abs() < 0.01, "{name}: {ours} and {theirs}");
    }
}
