//! The HTTP server for Prometheus' scrapes, driven by the event loop.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use thalweg_core::time::{Span, Time};

use crate::poll::{Interests, Ready};

/// Connections at a time; a further one replaces the oldest without a complete request, or else the oldest.
const MAX_CONNECTIONS: usize = 8;
/// Bytes of an incomplete request that are read before it is refused.
const MAX_REQUEST: usize = 4096;
/// Time limit of a scrape, from accept to the end of the response.
const TIMEOUT: Span = Span::from_secs(5);

/// A listener for `GET /metrics`.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    local: SocketAddr,
    connections: Vec<Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    deadline: Time,
    request: Vec<u8>,
    /// The response; empty until the request is complete.
    answer: Vec<u8>,
    written: usize,
}

impl Server {
    /// Listens at `address`.
    ///
    /// # Errors
    /// The address is not ours, or its port is in use.
    pub fn bind(address: SocketAddr) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { local: listener.local_addr()?, listener, connections: Vec::new() })
    }

    /// The address that the server listens on.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Registers the descriptors to wait for.
    pub fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        interests.read(&self.listener);
        for connection in &self.connections {
            match connection.answer.is_empty() {
                true => interests.read(&connection.stream),
                false => interests.write(&connection.stream),
            }
        }
    }

    /// The earliest deadline of a connection.
    pub fn next(&self) -> Option<Time> {
        self.connections.iter().map(|connection| connection.deadline).min()
    }

    /// Continues every scrape; calls `page` when a request is complete.
    pub fn serve(&mut self, now: Time, ready: &mut Ready, page: impl Fn() -> String) {
        let has_client = ready.take();
        self.connections.retain_mut(|connection| {
            let is_open = !ready.take() || connection.advance(&page).is_ok();
            is_open && now < connection.deadline
        });
        // One per turn: a flood of scrapers must not hold up the stream.
        if has_client && let Ok((stream, _)) = self.listener.accept() {
            let _ = stream.set_nonblocking(true);
            if self.connections.len() == MAX_CONNECTIONS {
                self.evict();
            }
            let deadline = now + TIMEOUT;
            self.connections.push(Connection { stream, deadline, request: vec![], answer: vec![], written: 0 });
        }
    }
}

impl Server {
    /// Closes the oldest connection without a complete request, or the oldest of all if each has one.
    fn evict(&mut self) {
        let idle = self.connections.iter().position(|connection| connection.answer.is_empty());
        self.connections.remove(idle.unwrap_or_default());
    }
}

impl Connection {
    /// Reads or writes as much as possible without blocking.
    ///
    /// # Errors
    /// The scrape is over, completed or failed.
    fn advance(&mut self, page: impl Fn() -> String) -> io::Result<()> {
        if self.answer.is_empty() {
            let mut bytes = [0; MAX_REQUEST];
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(len) => self.request.extend_from_slice(&bytes[..len]),
                Err(error) => return retry_later(error),
            }
            match answer(&self.request, page) {
                Some(answer) => self.answer = answer,
                None => return Ok(()),
            }
        }
        match self.stream.write(&self.answer[self.written..]) {
            Ok(len) => self.written += len,
            Err(error) => return retry_later(error),
        }
        match self.written == self.answer.len() {
            true => Err(ErrorKind::ConnectionAborted.into()),
            false => Ok(()),
        }
    }
}

fn retry_later(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
        _ => Err(error),
    }
}

/// The response to a request (RFC 9112); none while the request is incomplete.
fn answer(request: &[u8], page: impl Fn() -> String) -> Option<Vec<u8>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let (status, body) = match parsed.parse(request) {
        Ok(httparse::Status::Partial) if request.len() < MAX_REQUEST => return None,
        Ok(httparse::Status::Complete(_)) => match (parsed.method, parsed.path) {
            (Some("GET"), Some("/" | "/metrics")) => ("200 OK", page()),
            (Some("GET"), _) => ("404 Not Found", "metrics are at /metrics\n".to_owned()),
            _ => ("405 Method Not Allowed", "only GET is supported\n".to_owned()),
        },
        _ => ("400 Bad Request", "not an HTTP request\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    Some((head + &body).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn status(request: &str) -> Option<String> {
        let answer = answer(request.as_bytes(), || "page\n".into())?;
        Some(String::from_utf8(answer).expect("text").lines().next().expect("a status line").to_owned())
    }

    #[test]
    fn only_the_page_is_served_and_requests_may_arrive_in_pieces() {
        let request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
        for end in 0..request.len() {
            assert_eq!(status(&request[..end]), None, "{end}");
        }
        assert_eq!(status(request).as_deref(), Some("HTTP/1.1 200 OK"));
        assert_eq!(status("GET /x HTTP/1.1\r\n\r\n").as_deref(), Some("HTTP/1.1 404 Not Found"));
        assert_eq!(status("POST /metrics HTTP/1.1\r\n\r\n").as_deref(), Some("HTTP/1.1 405 Method Not Allowed"));
        assert_eq!(status("\u{16}\u{3}\u{1}").as_deref(), Some("HTTP/1.1 400 Bad Request"));
        let endless = format!("GET /{} HTTP/1.1\r\n", "x".repeat(MAX_REQUEST));
        assert_eq!(status(&endless).as_deref(), Some("HTTP/1.1 400 Bad Request"));
    }

    #[test]
    fn scraper_gets_the_whole_page_and_an_idle_one_is_closed() {
        let mut server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a loopback listener");
        let idle = TcpStream::connect(server.local()).expect("a connection");
        let mut scraper = TcpStream::connect(server.local()).expect("a connection");
        scraper.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("a request");
        let page = "x".repeat(1 << 20);
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            scraper.read_to_string(&mut text).expect("an answer");
            text
        });
        let mut turns = 0;
        while !reader.is_finished() {
            let mut interests = Interests::new();
            server.interests(&mut interests);
            let mut ready = interests.wait(Span::from_millis(100)).expect("ppoll");
            server.serve(Time::ZERO, &mut ready, || page.clone());
            turns += 1;
            assert!(turns < 10_000, "the scraper still waits");
        }
        assert!(reader.join().expect("the scraper").ends_with(&page));

        let mut interests = Interests::new();
        server.interests(&mut interests);
        let mut ready = interests.wait(Span::ZERO).expect("ppoll");
        server.serve(Time::ZERO + TIMEOUT, &mut ready, String::new);
        assert_eq!(server.next(), None);
        drop(idle);
    }

    #[test]
    fn scraper_is_answered_despite_any_number_of_idle_ones() {
        let mut server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a loopback listener");
        let connect = || TcpStream::connect(server.local()).expect("a connection");
        let mut slow = connect();
        slow.write_all(b"GET / HTTP/1.1\r\n").expect("half a request");
        let idle: Vec<_> = (0..3 * MAX_CONNECTIONS).map(|_| connect()).collect();
        let mut scraper = connect();
        scraper.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("a request");
        scraper.set_nonblocking(true).expect("a socket");
        let (mut text, mut turns) = (String::new(), 0);
        while !text.ends_with("page\n") {
            let mut interests = Interests::new();
            server.interests(&mut interests);
            let mut ready = interests.wait(Span::from_millis(100)).expect("ppoll");
            // No time passes: no connection is closed for its deadline.
            server.serve(Time::ZERO, &mut ready, || "page\n".to_owned());
            assert!(server.connections.len() <= MAX_CONNECTIONS);
            let _ = scraper.read_to_string(&mut text);
            turns += 1;
            assert!(turns < 1000, "the scraper still waits");
        }
        drop(idle);
    }

    /// Requests, near-requests, and arbitrary bytes.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let almost =
            r"(GET|HEAD|PUT) (/|/metrics|/\PC{0,9}) HTTP/1\.[0-9](\r?\n[A-Za-z-]{1,9}: ?\PC{0,40}){0,70}(\r?\n){0,2}";
        prop_oneof![prop::collection::vec(any::<u8>(), 0..5000), almost.prop_map(String::into_bytes)]
    }

    proptest! {
        /// However it is cut into pieces, a request gets one response, with one of four statuses, before it exceeds its
        /// limit.
        #[test]
        fn any_request_is_answered_within_its_limit(bytes in bytes(), piece in 1usize..5000) {
            let mut read = 0;
            let response = loop {
                let answer = answer(&bytes[..read], || "page\n".into());
                if answer.is_some() || read == bytes.len() {
                    break answer;
                }
                prop_assert!(read < MAX_REQUEST, "{read} bytes are enough");
                read = bytes.len().min(read + piece);
            };
            let Some(response) = response else { return Ok(()) };
            let response = String::from_utf8(response).expect("text");
            let status = response.lines().next().expect("a status line");
            let known = ["200", "400", "404", "405"].map(|code| format!("HTTP/1.1 {code} "));
            prop_assert!(known.iter().any(|known| status.starts_with(known)), "{status}");
            prop_assert!(response.len() < 300, "{response}");
        }
    }
}
