//! Connections between tasks, through a tunnel over loopback.

use std::future::Future;
use std::io::ErrorKind;
use std::time::Duration;

use thalweg_tokio::{Config, Connection, Connector, Key, Listener, entropy};
use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::runtime::Builder;

fn run<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_time().build().expect("a runtime").block_on(future)
}

fn key() -> Key {
    Key::shared(&mut entropy::keys().expect("randomness"))
}

async fn pair() -> (Connector, Listener) {
    let key = key();
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address"), &key, Config::default()).expect("a port");
    let connector =
        Connector::connect(listener.local_addr(), &key, Config::default()).await.expect("both have the key");
    (connector, listener)
}

/// Echoes all bytes of a connection, to its end.
async fn echo(connection: Connection) {
    let (mut reader, mut writer) = split(connection);
    tokio::io::copy(&mut reader, &mut writer).await.expect("a whole connection");
    writer.shutdown().await.expect("a whole connection");
}

fn bytes(seed: usize, len: usize) -> Vec<u8> {
    (0..len).map(|nth| (nth * 31 + nth / 251 + seed) as u8).collect()
}

#[test]
fn many_connections_carry_far_more_than_their_buffers() {
    run(async {
        let (connector, listener) = pair().await;
        let server = tokio::spawn(async move {
            for _ in 0..20 {
                tokio::spawn(echo(listener.accept().await.expect("a connection")));
            }
            listener
        });
        let tasks: Vec<_> = (0..20)
            .map(|seed| {
                let (mut reader, mut writer) = split(connector.open().expect("a tunnel"));
                let sent = bytes(seed, 300_000);
                tokio::spawn(async move {
                    let mut got = Vec::new();
                    let write = async {
                        writer.write_all(&sent).await.expect("room, in time");
                        writer.shutdown().await.expect("a whole connection");
                    };
                    let (_, read) = tokio::join!(write, reader.read_to_end(&mut got));
                    read.expect("the end");
                    assert!(got == sent, "other bytes");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("the same bytes");
        }
        let listener = server.await.expect("a server");
        connector.close().await.expect("all has arrived");
        listener.close().await.expect("a good end");
    });
}

#[test]
fn dropped_connection_is_reset_at_the_peer() {
    run(async {
        let (connector, listener) = pair().await;
        let mut near = connector.open().expect("a tunnel");
        near.write_all(b"a").await.expect("room");
        let mut far = listener.accept().await.expect("a connection");
        assert_eq!(far.read_u8().await.expect("a byte"), b'a');
        drop(near);
        assert_eq!(far.read(&mut [0; 10]).await.expect("the end"), 0);
        // These bytes have no reader, so writing them must fail in the end.
        let error = loop {
            if let Err(error) = far.write_all(&[0; 10_000]).await {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn wrong_key_and_closed_peer_are_errors() {
    run(async {
        let (connector, listener) = pair().await;
        let other = key();
        let wrong_key = Connector::connect(listener.local_addr(), &other, Config::default());
        let error = wrong_key.await.expect_err("another key");
        assert!(error.to_string().contains("do both key files match"), "{error}");

        let mut near = connector.open().expect("a tunnel");
        near.write_all(b"a").await.expect("room");
        let far = listener.accept().await.expect("a connection");
        // With "a" unread, or still in flight.
        drop(far);
        listener.close().await.expect("a good end");
        // The tunnel is gone, and with it the data in flight.
        let read = near.read(&mut [0; 10]).await;
        assert!(matches!(read, Ok(0)) || read.is_err());
        assert!(near.write_all(&[0; 1 << 20]).await.is_err());
    });
}

#[test]
fn program_reads_events_and_metrics() {
    run(async {
        let (connector, listener) = pair().await;
        assert_eq!(connector.report().await.expect("an event").event, "up");
        assert_eq!(listener.report().await.expect("an event").event, "up");

        let mut near = connector.open().expect("a tunnel");
        near.write_all(&bytes(0, 30_000)).await.expect("room");
        near.shutdown().await.expect("a whole connection");
        let mut far = listener.accept().await.expect("a connection");
        let mut got = Vec::new();
        far.read_to_end(&mut got).await.expect("the end");
        assert_eq!(listener.report().await.expect("an event").event, "opened");

        // One full second later, all of it is counted.
        tokio::time::sleep(Duration::from_millis(2100)).await;
        let (at_near, at_far) = (connector.figures().expect("a second"), listener.figures().expect("a second"));
        assert_eq!(at_near.get("carried_out_bytes_total"), 30_000.0);
        assert_eq!(at_far.get("carried_in_bytes_total"), 30_000.0);
        // 30 000 bytes fill 25 packets of 1200 at least.
        assert!(at_near.get("new_packets_total") >= 25.0, "{at_near:?}");
        assert!(at_near.get("rtt_seconds") < 0.1, "{at_near:?}");

        drop((near, far));
        let close = tokio::join!(connector.close(), async {
            while listener.report().await.expect("an event").event != "down" {}
        });
        let last = close.0.expect("all has arrived");
        assert_eq!(last.get("carried_out_bytes_total"), 30_000.0);
    });
}
