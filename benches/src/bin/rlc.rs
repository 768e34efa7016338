//! The sliding-window random linear code: beside the crate `cu-fec`, and by window size and loss rate.

use std::hint::black_box;
use std::process::ExitCode;

use cu_fec::{DensityThreshold, EncodingSymbolId, Field, RepairParameters, RlcConfig, RlcEncoder};
use thalweg_bench::noise;
use thalweg_bench::race::{Contestant, race};
use thalweg_bench::report::{Bound, Target, Unit, grid, main as report, section, verdicts};
use thalweg_core::code::rlc::{Arrival, Config, Decoder, Density, Encoder, LENGTH, RepairId};

/// The bytes of an original.
const ORIGINAL: usize = 1200;

/// The numbers of originals that repair symbols cover.
const WINDOWS: [usize; 5] = [16, 64, 256, 1024, 4095];

/// The largest window for `cu-fec`, whose encoder is built on the stack.
const THEIR_WINDOW: usize = 256;

/// One original in this many is lost.
const LOSSES: [usize; 4] = [100, 20, 10, 5];

/// The interval, in originals, at which a receiver learns which ones the sender will not cover again.
const FORGET: u64 = 32;

fn main() -> ExitCode {
    report("rlc", |_| bench())
}

fn bench() -> Result<(), String> {
    let text = format!(
        "Originals of {ORIGINAL} bytes on one core; the codes run in turns, values are medians. Encoding: microseconds \
         for one repair symbol, by the number of originals that the symbol covers, and megabytes of originals a \
         second. DT is the density threshold of RFC 8681: (DT + 1) / 16 of the coefficients are not zero. Before the \
         measurement, 1000 symbols of `cu-fec` for each window are compared with ours, byte by byte."
    );
    section("Random linear code", &text, &["benches/run rlc".into()]);
    let mut clean = f64::INFINITY;
    let mut encoding = Vec::new();
    for window in WINDOWS {
        eprintln!("rlc: encoding, {window} ...");
        encoding.push(encode(&Work::new(window), window));
    }
    println!("{}", grid(["originals", "DT 15", "DT 3", "DT 0", "`cu-fec`, DT 15"], &encoding));
    println!(
        "Decoding: megabytes of originals a second that a receiver delivers. One original in so many of a window is \
         lost, and as many repair symbols over the whole window (DT 15) replace them.\n"
    );
    let mut decoding = Vec::new();
    for window in WINDOWS {
        eprintln!("rlc: decoding, {window} ...");
        let (row, rate) = decode(&Work::new(window), window);
        decoding.push(row);
        clean = f64::min(clean, rate);
    }
    let losses = LOSSES.map(|one_in| format!("1 in {one_in}"));
    let head = ["window", "none lost", &losses[0], &losses[1], &losses[2], &losses[3]];
    println!("{}", grid(head, &decoding));
    let bound = Bound::AtLeast(20e9);
    let target =
        Target { what: "originals in order through the decoder, any window".into(), bound, unit: Unit::Megabits };
    verdicts(&[(target, clean * 8.0)]);
    Ok(())
}

/// A window of originals.
struct Work {
    config: Config,
    originals: Vec<Vec<u8>>,
    encoder: Encoder,
}

impl Work {
    fn new(window: usize) -> Work {
        let config = Config { window, buffer: window, longest: ORIGINAL };
        let mut seed = 1;
        let originals: Vec<Vec<u8>> = (0..window).map(|_| noise(&mut seed, ORIGINAL)).collect();
        let mut encoder = Encoder::new(config).expect("a window in range");
        for original in &originals {
            encoder.push(original).expect("room for a window");
        }
        Work { config, originals, encoder }
    }

    /// The ID of a repair symbol over the whole window.
    fn id(&self, key: u16, dt: u8) -> RepairId {
        let density = Density::new(dt).expect("a threshold");
        RepairId { first: 0, last: self.originals.len() as u64 - 1, key, density }
    }

    fn repair(&self, id: &RepairId, symbol: &mut [u8]) {
        self.encoder.repair(id, symbol).expect("a kept range");
    }
}

/// Measures encoding. A row holds the time of one repair symbol and the rate, for three densities and for the other
/// crate.
fn encode(work: &Work, window: usize) -> [String; 5] {
    let theirs = (window <= THEIR_WINDOW).then(|| their_encoder(work));
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for dt in [15, 3, 0] {
        let mut symbol = vec![0; LENGTH + ORIGINAL];
        let mut key = 0u16;
        let encode = move || {
            key = key.wrapping_add(1);
            work.repair(&work.id(key, dt), &mut symbol);
        };
        contestants.push((format!("DT {dt}"), Box::new(encode)));
    }
    if let Some(theirs) = &theirs {
        let mut symbol = vec![0; LENGTH + ORIGINAL];
        let mut key = 0u16;
        let encode = move || {
            key = key.wrapping_add(1);
            theirs.encode_repair(RepairParameters::new(key, DensityThreshold::FULL), &mut symbol).expect("a window");
        };
        contestants.push(("cu-fec".into(), Box::new(encode)));
    }
    let cells = race(&mut contestants).into_iter().map(|times| {
        let seconds = times.median();
        format!("{:.2} us, {:.0}", seconds * 1e6, (window * ORIGINAL) as f64 / 1e6 / seconds)
    });
    let mut row = [const { String::new() }; 5];
    row.iter_mut().zip([window.to_string()].into_iter().chain(cells)).for_each(|(cell, text)| *cell = text);
    row
}

/// The other crate's encoder with the same window; panics unless it produces the same symbols.
fn their_encoder(work: &Work) -> Box<RlcEncoder<{ LENGTH + ORIGINAL }, THEIR_WINDOW>> {
    let config = RlcConfig::new(LENGTH + ORIGINAL, work.originals.len(), Field::Gf256).expect("values in range");
    let mut theirs = Box::new(RlcEncoder::new(config, EncodingSymbolId::new(0)).expect("values in range"));
    for original in &work.originals {
        let symbol = [&(ORIGINAL as u16).to_be_bytes(), original.as_slice()].concat();
        theirs.push_source(&symbol).expect("a symbol of this size");
    }
    let [mut by_us, mut by_them] = [(); 2].map(|()| vec![0; LENGTH + ORIGINAL]);
    for key in 0..1000 {
        let dt = (key % 16) as u8;
        let parameters = RepairParameters::new(key, DensityThreshold::new(dt).expect("a threshold"));
        theirs.encode_repair(parameters, &mut by_them).expect("a window");
        work.repair(&work.id(key, dt), &mut by_us);
        assert_eq!(by_us, by_them, "key {key}, DT {dt}");
    }
    theirs
}

/// Measures decoding. A row holds megabytes per second without loss and for each of [`LOSSES`]; the second value is the
/// rate without loss in bytes per second.
fn decode(work: &Work, window: usize) -> ([String; 6], f64) {
    let mut contestants: Vec<Contestant<'_>> = vec![("none".into(), Box::new(in_order(work)))];
    for one_in in LOSSES {
        let lost: Vec<u64> = (0..window as u64).filter(|number| number % one_in as u64 == one_in as u64 / 2).collect();
        if !lost.is_empty() {
            contestants.push((format!("1 in {one_in}"), Box::new(with_loss(work, lost))));
        }
    }
    let times = race(&mut contestants);
    let rate = |seconds: f64| (window * ORIGINAL) as f64 / seconds;
    let mut row = [const { String::new() }; 6];
    row[0] = window.to_string();
    // Small windows skip the rarest losses.
    let skipped = row.len() - 1 - times.len();
    for (i, times) in times.iter().enumerate() {
        row[if i == 0 { 1 } else { i + 1 + skipped }] = format!("{:.0}", rate(times.median()) / 1e6);
    }
    (row, rate(times[0].median()))
}

/// Work of a receiver without losses: one window per call, with the decoder kept from call to call.
fn in_order(work: &Work) -> impl FnMut() {
    let mut decoder = Decoder::new(work.config).expect("a window in range");
    move || {
        for original in &work.originals {
            let arrival = decoder.handle_original(decoder.edge(), original);
            assert_eq!(arrival, Ok(Arrival::Innovative));
            let (number, original) = decoder.poll_original().expect("it is in order");
            black_box(original);
            if number % FORGET == 0 {
                decoder.forget(number);
            }
        }
    }
}

/// Work of a receiver with losses: one window per call, followed by repair symbols until no original is missing.
fn with_loss(work: &Work, lost: Vec<u64>) -> impl FnMut() {
    let repair: Vec<(RepairId, Vec<u8>)> = (0..lost.len() as u16 + 4)
        .map(|key| {
            let mut symbol = vec![0; LENGTH + ORIGINAL];
            work.repair(&work.id(key, 15), &mut symbol);
            (work.id(key, 15), symbol)
        })
        .collect();
    move || {
        let mut decoder = Decoder::new(work.config).expect("a window in range");
        let mut missing = lost.iter().copied().peekable();
        for (number, original) in (0..).zip(&work.originals) {
            if missing.next_if_eq(&number).is_none() {
                assert_eq!(decoder.handle_original(number, original), Ok(Arrival::Innovative));
            }
        }
        let mut repair = repair.iter();
        while decoder.edge() < work.originals.len() as u64 {
            let (id, symbol) = repair.next().expect("a few more than losses");
            let _ = decoder.handle_repair(id, symbol).expect("a good symbol");
        }
        while let Some(original) = decoder.poll_original() {
            black_box(original);
        }
    }
}
