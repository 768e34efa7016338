//! Reed-Solomon encoding and decoding, beside ISA-L.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --features crates --bin rs` adds the published crates that
//! could have been used instead.

#[cfg(feature = "crates")]
mod crates;

use std::process::ExitCode;

use thalweg_bench::isal::IsaL;
use thalweg_bench::noise;
use thalweg_bench::race::{Contestant, Times, race};
use thalweg_bench::report::{Bound, Target, Unit, main as report, section, table, verdicts};
use thalweg_core::code::reed_solomon::{Encoder, decode};
use thalweg_gf::Kernel;

/// Source and repair symbols of a block.
const BLOCKS: [(usize, usize); 3] = [(25, 8), (75, 20), (170, 85)];

/// The bytes of a symbol: the flow ID and length of RFC 6865 §4.3, then an RTP packet of seven TS packets.
const SYMBOL: usize = 3 + 12 + 7 * 188;

/// The number of source symbols that decoding has to recover.
const ERASURES: usize = 8;

/// The indices of the contestants that are compared, in the order of the table.
const ISA_L: usize = 0;
const ENCODE: usize = 1;
const DECODE: usize = 2;

fn main() -> ExitCode {
    report("rs", |_| bench())
}

fn bench() -> Result<(), String> {
    let isal = IsaL::load()?;
    let mut results = Vec::new();
    for (k, repair) in BLOCKS {
        eprintln!("rs: ({k}, {repair}) ...");
        results.push(Block::new(k, repair).measure(&isal)?);
    }
    let text = format!(
        "Megabytes of source data a second on one core, for blocks of (source, repair) symbols of {SYMBOL} bytes. \
         The codes run in turns; values are medians, ratios are of neighbouring turns."
    );
    section("Reed-Solomon", &text, &["benches/run rs".into()]);
    let rate = |block: usize, contestant: usize| {
        let megabytes = (BLOCKS[block].0 * SYMBOL) as f64 / 1e6;
        format!("{:.0}", megabytes / results[block][contestant].1.median())
    };
    let row = |(i, (name, _)): (usize, &(String, Times))| [name.clone(), rate(0, i), rate(1, i), rate(2, i)];
    let rows: Vec<[String; 4]> = results[0].iter().enumerate().map(row).collect();
    let [first, second, third] = BLOCKS.map(|block| format!("{block:?}"));
    table(["contestant", &first, &second, &third], &rows);
    let mut reached = Vec::new();
    for (name, over, under) in [("encode / ISA-L", ENCODE, ISA_L), ("decode / encode", DECODE, ENCODE)] {
        for (block, times) in BLOCKS.iter().zip(&results) {
            let target = Target { what: format!("{name}, {block:?}"), bound: Bound::AtLeast(0.5), unit: Unit::Ratio };
            reached.push((target, times[over].1.speed_over(&times[under].1)));
        }
    }
    verdicts(&reached);
    Ok(())
}

/// A block of symbols.
struct Block {
    source: Vec<Vec<u8>>,
    repair: Vec<Vec<u8>>,
    /// The coefficients of the source symbols in the repair symbols.
    matrix: Vec<u8>,
    missing: Vec<u8>,
}

impl Block {
    fn new(k: usize, repair: usize) -> Block {
        let mut seed = 1;
        let source: Vec<Vec<u8>> = (0..k).map(|_| noise(&mut seed, SYMBOL)).collect();
        let units: Vec<Vec<u8>> = (0..k).map(|i| (0..k).map(|j| u8::from(i == j)).collect()).collect();
        Block {
            repair: encoded(&source, repair),
            matrix: encoded(&units, repair).concat(),
            missing: (0..ERASURES).map(|i| (i * k / ERASURES) as u8).collect(),
            source,
        }
    }

    /// Runs all contestants; returns the name and the times of each.
    fn measure(&self, isal: &IsaL) -> Result<Vec<(String, Times)>, String> {
        let (k, source) = (self.source.len(), slices(&self.source));
        let theirs = isal.matrix(&self.matrix, k)?;
        let mut encoder = Encoder::new(k).expect("k is in range");
        let received = self.received();
        let [mut by_isal, mut by_encoder, mut by_fresh] = [(); 3].map(|()| self.blank());
        let mut recovered = vec![vec![0; SYMBOL]; ERASURES];
        let kernels: Vec<Kernel> = Kernel::ALL.iter().copied().filter(|kernel| kernel.is_available()).collect();
        let mut by_kernel = vec![self.blank(); kernels.len()];

        let mut contestants: Vec<Contestant<'_>> = vec![
            ("ISA-L `ec_encode_data`".into(), Box::new(|| theirs.multiply(&source, &mut by_isal))),
            ("encode".into(), Box::new(|| encode(&mut encoder, &source, &mut by_encoder))),
            (
                format!("decode {ERASURES} erasures"),
                Box::new(|| decode(k, &received, &self.missing, &mut views(&mut recovered)).expect("enough symbols")),
            ),
            (
                "encode the first block of a size".into(),
                Box::new(|| encode(&mut Encoder::new(k).expect("k is in range"), &source, &mut by_fresh)),
            ),
        ];
        for (kernel, sums) in kernels.iter().zip(&mut by_kernel) {
            let work = || kernel.mul_add(&self.matrix, &source, &mut views(sums));
            contestants.push((format!("kernel {kernel:?}"), Box::new(work)));
        }
        #[cfg(feature = "crates")]
        contestants.extend(crates::contestants(&source, &self.matrix, &self.repair));
        let times = race(&mut contestants);
        let names: Vec<String> = contestants.into_iter().map(|(name, _)| name).collect();

        assert!(by_isal == self.repair && by_encoder == self.repair, "ISA-L multiplies to the same bytes");
        assert!(recovered.iter().zip(&self.missing).all(|(symbol, &esi)| symbol == source[usize::from(esi)]));
        Ok(names.into_iter().zip(times).collect())
    }

    /// All source symbols except the missing ones, and as many repair symbols in their place.
    fn received(&self) -> Vec<(u8, &[u8])> {
        let source = (0u8..).zip(slices(&self.source)).filter(|(esi, _)| !self.missing.contains(esi));
        let repair = (self.source.len() as u8..).zip(slices(&self.repair)).take(ERASURES);
        source.chain(repair).collect()
    }

    /// Buffers for the repair symbols.
    fn blank(&self) -> Vec<Vec<u8>> {
        vec![vec![0; SYMBOL]; self.repair.len()]
    }
}

fn encoded(source: &[Vec<u8>], repair: usize) -> Vec<Vec<u8>> {
    let mut symbols = vec![vec![0; source[0].len()]; repair];
    encode(&mut Encoder::new(source.len()).expect("k is in range"), &slices(source), &mut symbols);
    symbols
}

fn encode(encoder: &mut Encoder, source: &[&[u8]], repair: &mut [Vec<u8>]) {
    encoder.encode(source, 0, &mut views(repair)).expect("a block of these sizes");
}

fn slices(symbols: &[Vec<u8>]) -> Vec<&[u8]> {
    symbols.iter().map(Vec::as_slice).collect()
}

fn views(symbols: &mut [Vec<u8>]) -> Vec<&mut [u8]> {
    symbols.iter_mut().map(Vec::as_mut_slice).collect()
}
