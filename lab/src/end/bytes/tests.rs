use super::*;

#[test]
fn a_log_is_read_and_a_wrong_line_is_named() {
    let at = |micros, len| Write { at: Span::from_micros(micros), len };
    let log = Writes::parse("time_ms,bytes\n0,1\n12.5, 300\n\n12.5,7\n").expect("a log");
    assert_eq!(log, Writes::Log([at(0, 1), at(12_500, 300), at(12_500, 7)].into()));
    for (text, expected) in [
        ("", "line 1: expected 'time_ms,bytes'"),
        ("time_ms,bytes\n", "no writes"),
        ("time_ms,bytes\n1,0\n", "line 2: '1,0', expected"),
        ("time_ms,bytes\n1,2\n-1,2\n", "line 3: '-1,2', expected"),
        ("time_ms,bytes\n2,2\n1,2\n", "line 3: earlier than the write before"),
        ("time_ms,bytes\n1;2\n", "line 2: '1;2', expected"),
        ("time_ms,bytes\n1,1048577\n", "line 2: '1,1048577', expected"),
    ] {
        assert!(Writes::parse(text).is_err_and(|why| why.starts_with(expected)), "{text}");
    }
}

#[test]
fn a_burst_is_several_writes_of_which_the_last_has_the_rest() {
    let every = Span::from_millis(267);
    let bursts = Writes::Bursts { burst: Bytes(2_500), every, write: 1_000, waits: true };
    let all: Vec<_> = (0..4).filter_map(|number| bursts.nth(number)).map(|write| (write.at, write.len)).collect();
    assert_eq!(all, [(Span::ZERO, 1_000), (Span::ZERO, 1_000), (Span::ZERO, 500), (every, 1_000)]);
}

#[test]
fn writes_are_read_from_any_pieces() {
    let lens = [12, 13, 300, 5_000];
    let at = Time::ZERO + Span::from_millis(5);
    let bytes: Vec<u8> = lens.iter().flat_map(|len| message(at, *len)).collect();
    for piece in [1, 7, 12, 4_096, bytes.len()] {
        let mut reader = Reader::default();
        bytes.chunks(piece).for_each(|part| reader.take(at + Span::from_millis(20), part));
        assert_eq!((reader.delays.count(), reader.delivered.0, reader.wrong), (4, bytes.len() as u64, 0), "{piece}");
        assert!((reader.delays.mean() - 0.02).abs() < 1e-9);
    }
    let mut reader = Reader::default();
    let mut damaged = bytes.clone();
    damaged[40] ^= 1;
    reader.take(at, &damaged);
    assert_eq!(reader.wrong, 1);
}
