//! Requests for a folder that is created for each test.

use std::fs;
use std::path::PathBuf;

use hyper::Request;
use proptest::prelude::*;

use super::*;

/// A folder that is removed on drop.
struct Folder(PathBuf, Site);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-answer-{}-{name}", std::process::id()));
        fs::create_dir_all(path.join("b")).expect("a folder");
        fs::write(path.join("a.mp4"), (0..=255).cycle().take(10_000).collect::<Vec<u8>>()).expect("a file");
        fs::write(path.join(".secret"), "x").expect("a file");
        fs::write(path.join("b/c d.txt"), "text").expect("a file");
        let site = Site::open(&path, Rate::from_mbps(3), !name.starts_with("no-")).expect("a folder");
        Folder(path, site)
    }

    fn ask(&self, method: Method, path: &str, fields: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        self.1.answer(&request.body(()).expect("a request").into_parts().0)
    }

    /// The status and the field `wanted` of an answer.
    fn get(&self, path: &str, fields: &[(&str, &str)], wanted: &str) -> (u16, String) {
        let answer = self.ask(Method::GET, path, fields);
        (answer.head.status().as_u16(), field(&answer, wanted))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn field(answer: &Answer, name: &str) -> String {
    answer.head.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

#[test]
fn video_is_answered_whole_or_in_the_requested_range() {
    let folder = Folder::new("range");
    let range = |range| folder.get("/a.mp4", &[("range", range)], "content-range");
    assert_eq!(folder.get("/a.mp4", &[], "content-length"), (200, "10000".into()));
    assert_eq!(range("bytes=500-999"), (206, "bytes 500-999/10000".into()));
    assert_eq!(range("bytes=-1"), (206, "bytes 9999-9999/10000".into()));
    assert_eq!(range("bytes=10000-"), (416, "bytes */10000".into()));
    assert_eq!(range("bytes=0-1,5-6"), (200, String::new()));
    let mut answer = folder.ask(Method::GET, "/a.mp4", &[("range", "bytes=256-511")]);
    let Content::Piece(piece) = &mut answer.content else { panic!("a piece of a file") };
    assert_eq!(piece.wait(10_000).expect("bytes"), (0..=255).collect::<Vec<u8>>());
    // The bytes are no valid video: the rate is that of videos that do not state theirs.
    assert_eq!(answer.video, Some(("a.mp4".to_owned(), Rate::from_mbps(3))));
    assert_eq!(folder.ask(Method::GET, "/b/c%20d.txt", &[]).video, None);
    let answer = folder.ask(Method::HEAD, "/a.mp4", &[("range", "bytes=0-0")]);
    assert_eq!((answer.head.status().as_u16(), field(&answer, "content-length")), (200, "10000".into()));
    assert!(matches!(answer.content, Content::Whole(bytes) if bytes.is_empty()));
}

/// RFC 6266 §5, RFC 8187 §3.2.3.
#[test]
fn download_is_an_attachment_with_its_file_name_and_not_played() {
    let folder = Folder::new("download");
    fs::write(folder.0.join("b/\u{20ac} \"rates\" 100%.mp4"), "x").expect("a file");
    let name = "/b/%E2%82%AC%20%22rates%22%20100%25.mp4";
    let expected = "attachment; filename=\"_ _rates_ 100_.mp4\"; \
                    filename*=UTF-8''%E2%82%AC%20%22rates%22%20100%25.mp4";
    for query in ["?download", "?download=1", "?a=b&download"] {
        let answer = folder.ask(Method::GET, &format!("{name}{query}"), &[]);
        assert_eq!((field(&answer, "content-disposition"), answer.download), (expected.to_owned(), true), "{query}");
        assert_eq!(answer.video, None);
    }
    assert_eq!(folder.get("/a.mp4?download", &[("range", "bytes=0-9")], "content-range").1, "bytes 0-9/10000");
    for path in ["/a.mp4", "/a.mp4?downloads", "/a.mp4?x=download"] {
        let answer = folder.ask(Method::GET, path, &[]);
        assert!(
            field(&answer, "content-disposition").is_empty() && !answer.download && answer.video.is_some(),
            "{path}"
        );
    }
    let answer = Folder::new("no-downloads").ask(Method::GET, "/a.mp4?download", &[]);
    assert!(field(&answer, "content-disposition").is_empty() && !answer.download && answer.video.is_some());
}

#[test]
fn conditional_requests_follow_rfc_9110() {
    let folder = Folder::new("conditions");
    let (_, tag) = folder.get("/a.mp4", &[], "etag");
    let (_, date) = folder.get("/a.mp4", &[], "last-modified");
    let (old, other) = ("Sun, 06 Nov 1994 08:49:37 GMT", "\"other\"");
    let status = |fields: &[(&str, &str)]| folder.get("/a.mp4", fields, "").0;
    assert_eq!(status(&[("if-none-match", &tag)]), 304);
    assert_eq!(status(&[("if-none-match", &format!("{other}, W/{tag}"))]), 304);
    assert_eq!(status(&[("if-none-match", other), ("if-modified-since", &date)]), 200);
    assert_eq!(status(&[("if-modified-since", &date)]), 304);
    assert_eq!(status(&[("if-modified-since", old)]), 200);
    assert_eq!(status(&[("if-match", &tag)]), 200);
    assert_eq!(status(&[("if-match", &format!("W/{tag}"))]), 412);
    assert_eq!(status(&[("if-match", other)]), 412);
    assert_eq!(status(&[("if-unmodified-since", old)]), 412);
    let range = ("range", "bytes=0-0");
    assert_eq!(status(&[range, ("if-range", &tag)]), 206);
    assert_eq!(status(&[range, ("if-range", other)]), 200);
    assert_eq!(status(&[range, ("if-range", &date)]), 200);
    assert_eq!(status(&[range, ("if-range", &format!("W/{tag}"))]), 200);
}

#[test]
fn hidden_files_and_files_outside_the_folder_are_not_served() {
    let folder = Folder::new("outside");
    std::os::unix::fs::symlink("/etc", folder.0.join("etc")).expect("a link");
    let _ = rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.0.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    );
    let status = |path| folder.get(path, &[], "").0;
    for path in
        ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/b/..%2f../etc/passwd", "//etc/passwd", "/a%00", "/%ff"]
    {
        assert_eq!(status(path), 400, "{path}");
    }
    let endless = format!("/{}", "a".repeat(5000));
    for path in ["/.secret", "/b/../.secret", "/etc/passwd", "/b", "/b/", "/a.mp4/x", "/pipe", "/none", &endless] {
        assert!([400, 404].contains(&status(path)), "{path}: {}", status(path));
    }
    let answer = folder.ask(Method::POST, "/a.mp4", &[]);
    assert_eq!((answer.head.status().as_u16(), field(&answer, "allow")), (405, "GET, HEAD".into()));
}

proptest! {
    #[test]
    fn any_path_and_fields_are_answered(
        path in r"(/|\.\.|%2e|%2f|%00|a\.mp4|b|[a-z]|%[0-9a-f]{2}){0,12}", range in r"[ -~]{0,20}", tag in r"[ -~]{0,20}"
    ) {
        let folder = Folder::new("any");
        if let Ok(uri) = format!("/{path}").parse::<hyper::Uri>() {
            let fields = [("range", &*range), ("if-none-match", &tag), ("if-range", &tag), ("if-match", &tag)];
            let status = folder.get(&uri.to_string(), &fields, "").0;
            prop_assert!([200, 206, 304, 400, 404, 412, 416].contains(&status), "{status}");
        }
    }
}
