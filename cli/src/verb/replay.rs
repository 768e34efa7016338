//! `thalweg replay`: one law over a log of feedback, line by line.

use std::io::{self, BufReader, BufWriter, Write};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use thalweg_workbench::replay::{Law, Replay, Stop};

use crate::failure::Failure;

/// Run one law over a log of feedback.
///
/// Reads one JSON object per line from standard input. After each of them, writes the state of the law as one line of
/// JSON to standard output. Unknown keys and missing keys are errors.
///
/// Laws of repair read {"lost":1,"delivered":32,"srtt":0.02}: the packets lost and delivered since the last line, and a
/// round-trip sample in seconds, or null. dp-fec also needs "t", the time of the report in seconds.
///
/// newreno reads the events of a TCP sender: {"event":"ack","rtt":0.1,"round_end":false} for each acknowledged segment,
/// {"event":"dup3"} when a loss is detected, {"event":"recovered"} when the loss is repaired, and {"event":"timeout"}.
/// Between dup3 and recovered the window does not grow. "flight" is the number of segments in flight at a dup3 or
/// timeout; by default the window counts as full. "again":true marks a segment that has timed out before. newreno
/// writes cwnd and ssthresh in segments. Constants: iw=2 segments, ssthresh=inf.
///
/// tcp-stream reads the same events without "flight", because a loss halves its loss window and not the packets in
/// flight. It writes, in segments, lwnd, dwnd, their sum swnd, send_window (swnd in whole segments), ssthresh, diff
/// (segments in the queue) and cap (the ceiling of lwnd); also delay_on, and tau, the minimum round trip in seconds.
/// Constants: rate=3.6mbit of the video, mss=1500 bytes, iw=2, ssthresh=inf, thresholds=paper (or vegas), on_loss=reset
/// (or halve).
///
/// tfrc-equation reads {"s":1024,"rtt":0.05,"p":0.01}: packet size in bytes, round trip in seconds, loss event rate. It
/// writes the rate in bytes per second, and has no constants.
///
/// gca-equation reads the same with "alpha":1,"beta":0.5, and writes the rate of GCA's Eq. (2). gca-inverse reads
/// {"x":1000,"s":1024,"rtt":0.02,"alpha":1,"beta":0.5} and writes the loss event rate p at which that rate is x.
///
/// gca-share reads the needs of streams, {"demand":[9e6,6e6,3e6],"norm":"sum"}, and writes the multiplier m of each over
/// a TCP and its alpha at a beta of 0.5. "rtt" and "p", lists like demand, are by default equal for all streams; norm is
/// sum (the mean of m is 1, the default), max or min (the largest or smallest is 1).
///
/// gca-link reads {"capacity":2e6,"flows":[{"s":1024,"rtt":0.04,"alpha":1,"beta":0.5,"cap":null}]} in bytes per second.
/// It writes the loss event rate p at which the flows, each at most at its cap, share the link, and their rates x. If all
/// caps fit, p is 0.
///
/// decodability reads states of a lossless sender, as in the last example: loss rate; first undecoded, first unsent and
/// last queued original; coded packets as [first, last]. It writes the probability that each original becomes
/// decodable, the number of originals still needed, and the cost: once for the packets in flight, and once for each
/// packet that could be sent next.
///
/// deadline reads states of a live sender, {"loss":0.05,"run":1.06,"notice":0.1,"budget":0.04,"slot":0.001,
/// "age":[0.002,0.001,0],"received":[],"in_flight":[[1,1,0.001],[2,2,0]]}: the share of lost packets and their mean
/// number in a row; in seconds, the time until a loss is known, the time within which an original must leave, the time
/// from one original to the next, and the age of each original, the oldest, number 0, first; coded packets as first and last
/// original, those in flight with the time since they left. An original of which no packet has arrived or is in flight
/// is lost. It writes the weight of each original, the worth of the best packet in originals, and the choice: resend,
/// repair or null. Constant: price=0.001.
///
/// Predictors read {"x":0.02}, the next value of a series, and write the error of its prediction and the prediction of
/// the value that follows. Constants: m=10, theta=0.9, p0=100 of rls, alpha=0.875 of ewma.
///
/// r3cp-rate reads the state of a receiver at the start of a period,
/// {"q":30,"zeta_in_q":0,"zeta_next":0,"rho_prev":47,"p":0.01,"d":0.1,"mu":47,"p_l":23}: packets in the buffer; packets
/// that the sender skipped and that would be in the buffer; skipped packets that would arrive in this period; the rate
/// requested last; the predicted loss; the predicted length of the period in seconds; the playback rate; the
/// retransmission window. It writes lambda of Eq. (14), without bounds. Rates are in packets per second.
///
/// r3cp-table reads {"current":"unloaded","forecast":"loaded","lambda":47,"rho_prev":40,"bank_open":true}, with the
/// states unloaded, loaded and congested, and writes rho of Table 1. With bank_open, the first row of the table begins
/// with lambda_max, as printed, otherwise with lambda. Constants: inc_big, inc_small, lambda_max and rho_min in packets
/// per second, dec_small=0.875, dec_big=0.5, and base=requested (or throughput, which the input must then have, too).
///
/// playback reads a whole video in display order,
/// {"types":"IBP","arrival":[0.1,null,0.3],"deadline":[1,2,3],"sent":[1,0,1]}: the kind of each frame, the time at
/// which the frame was complete, the time at which it is played, and 1 if it was sent. It writes the label of each
/// frame (playable, skipped, broken, late or orphan), and the playback performance.
#[allow(rustdoc::broken_intra_doc_links, reason = "help shows JSON arrays")]
#[derive(clap::Args)]
#[command(after_help = "Examples: GENEVA after one loss among 33 packets at 20 ms; TCP Stream with a
video of 8 Mb/s; the choice of a live sender that has lost the first of three
packets; costs of the packets that a lossless sender could send next
  echo '{\"lost\":1,\"delivered\":32,\"srtt\":0.02}' \\
    | thalweg replay geneva --set state=real --set k=25
  echo '{\"event\":\"ack\",\"rtt\":0.1,\"round_end\":true}' \\
    | thalweg replay tcp-stream --set rate=8mbit
  echo '{\"loss\":0.05,\"run\":1.06,\"notice\":0.1,\"budget\":0.04,\"slot\":0.001,' \\
    '\"age\":[0.002,0.001,0],\"received\":[],' \\
    '\"in_flight\":[[1,1,0.001],[2,2,0]]}' | thalweg replay deadline
  echo '{\"eps\":0.1,\"b\":1,\"d\":5,\"e\":6,\"received\":[[2,2]],' \\
    '\"in_flight\":[[1,1],[1,4]],\"overhead\":{\"useless\":0,\"received\":0,' \\
    '\"in_flight\":4,\"sum_p_useless\":0.0}}' | thalweg replay decodability")]
pub(crate) struct Args {
    /// The law to run.
    #[arg(value_parser = parser())]
    law: Law,
    /// Set one of the law's constants; an unknown NAME lists the known ones.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = setting)]
    settings: Vec<(String, String)>,
}

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let law = Replay::new(&args.law, &args.settings);
    let mut law = law.map_err(|error| Failure::Usage(format!("replay: {error}")))?;
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut output = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let replayed = law.lines(&mut input, &mut output);
    // The answers to the lines before a bad one are still written.
    let written = output.flush();
    match replayed.and_then(|()| written.map_err(Stop::Output)) {
        Ok(()) => Ok(()),
        // The reader has closed the pipe: `thalweg replay ... | head`.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(Stop::Output(error)) => Err(Failure::Failed(format!("replay: cannot write standard output: {error}"))),
        Err(Stop::Input(error)) => Err(Failure::Failed(format!("replay: cannot read standard input: {error}"))),
        Err(Stop::Line(number, why)) => Err(Failure::Failed(format!("replay: standard input, line {number}: {why}"))),
    }
}

/// Parses the name of a law.
fn parser() -> impl TypedValueParser<Value = Law> {
    let all = Law::all().into_iter();
    PossibleValuesParser::new(all.map(|(_, name, about)| PossibleValue::new(name).help(about)))
        .map(|name| Law::named(&name).expect("the parser knows the names"))
}

/// Parses the NAME=VALUE of a `--set`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
