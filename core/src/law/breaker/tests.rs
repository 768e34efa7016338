//! The breakers against the formulas of RFC 8083.

use super::*;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(seconds)
}

/// A stream of 1000-byte packets, `rate` of them per second, that receives a report each Tdr from 0 on.
struct Fixture {
    breaker: Breaker,
    reports: u64,
    rate: u64,
    rtt: Span,
}

impl Fixture {
    fn new(config: Config, rate: u64, rtt: Span) -> Fixture {
        Fixture { breaker: Breaker::new(config), reports: 0, rate, rtt }
    }

    /// Sends for one interval and takes a report at its end; returns the verdict of that moment.
    fn interval(&mut self, fraction_lost: f64, highest: Option<u64>) -> Option<Cause> {
        let tdr = self.breaker.config.tdr;
        let packets = self.rate * tdr.as_nanos() / 1_000_000_000;
        let start = Time::ZERO + tdr * self.reports;
        for n in 0..packets {
            self.breaker.on_sent(start + tdr.mul_div(n, packets), Bytes(1000));
        }
        self.reports += 1;
        let now = Time::ZERO + tdr * self.reports;
        let highest = highest.unwrap_or(self.reports * packets);
        self.breaker.on_report(now, &Report { highest, fraction_lost, rtt: self.rtt });
        self.breaker.verdict(now)
    }
}

#[test]
fn three_intervals_without_reports_trigger_the_rtcp_timeout() {
    let mut breaker = Breaker::new(Config::default());
    assert_eq!(breaker.verdict(at(100.0)), None);
    breaker.on_sent(at(100.0), Bytes(1200));
    breaker.on_sent(at(114.0), Bytes(1200));
    assert_eq!(breaker.verdict(at(114.999)), None);
    assert_eq!(breaker.verdict(at(115.0)), Some(Cause::RtcpTimeout));
    // Any report, even a late one, restarts the timeout; silence after the last packet is no timeout.
    breaker.on_report(at(116.0), &Report { highest: 1, fraction_lost: 0.0, rtt: Span::from_millis(50) });
    assert_eq!(breaker.verdict(at(1000.0)), None);
}

#[test]
fn five_reports_without_progress_trigger_the_media_timeout() {
    let mut fixture = Fixture::new(Config::default(), 100, Span::from_millis(50));
    assert_eq!(fixture.interval(0.0, Some(480)), None);
    for _ in 0..4 {
        assert_eq!(fixture.interval(0.0, Some(480)), None);
    }
    assert_eq!(fixture.interval(0.0, Some(480)), Some(Cause::MediaTimeout));
    // Progress closes it again.
    assert_eq!(fixture.interval(0.0, Some(481)), None);
    // No packets are sent, so no report is missed.
    fixture.rate = 0;
    for _ in 0..20 {
        assert_eq!(fixture.interval(0.0, Some(481)), None);
    }
}

#[test]
fn a_long_round_trip_stretches_the_media_timeout() {
    // ceil(5 max(0.04, 1.3, 1) / 1) = 7 reports.
    let config = Config { tdr: Span::from_secs(1), ..Config::default() };
    let mut fixture = Fixture::new(config, 100, Span::from_millis(1300));
    fixture.interval(0.0, Some(7));
    let verdicts: Vec<_> = (0..7).map(|_| fixture.interval(0.0, Some(7))).collect();
    assert_eq!(verdicts[5], None);
    assert_eq!(verdicts[6], Some(Cause::MediaTimeout));
}

#[test]
fn cb_interval_follows_the_formula() {
    let cb = |tdr: f64, tf: f64, g, rtt: f64| {
        let [tdr, tf, rtt] = [tdr, tf, rtt].map(Span::from_secs_f64);
        let mut breaker = Breaker::new(Config { tdr, tf, g, ..Config::default() });
        breaker.rtt = rtt;
        breaker.cb_interval()
    };
    // min(max(0.4, 0.5, 15), 15) / 5.
    assert_eq!(cb(5.0, 0.04, 1, 0.05), 3);
    // min(max(4.8, 1, 3), 15) / 1, rounded up.
    assert_eq!(cb(1.0, 0.04, 12, 0.1), 5);
    // min(max(0.4, 8, 3), 15) / 1: ten round trips over a satellite.
    assert_eq!(cb(1.0, 0.04, 1, 0.8), 8);
    // A group of two seconds would need 20 s, bounded to 15.
    assert_eq!(cb(1.0, 0.04, 50, 0.1), 15);
}

#[test]
fn breaker_opens_above_ten_times_the_tcp_rate_after_three_reports() {
    // p = 0.06 and Tr = 0.1 s: X = 1000 / (0.1 sqrt(0.04)) = 50 000 bytes/s. 500 packets/s are exactly ten times it.
    let ratio = |rate| {
        let mut fixture = Fixture::new(Config::default(), rate, Span::from_millis(100));
        let verdicts: Vec<_> = (0..3).map(|_| fixture.interval(0.06, None)).collect();
        assert_eq!(verdicts[..2], [None, None]);
        (verdicts[2], fixture.breaker.rate_to_tcp().expect("three reports with loss"))
    };
    let (verdict, found) = ratio(499);
    assert_eq!(verdict, None);
    assert!((found - 9.98).abs() < 1e-9, "{found}");
    let (verdict, found) = ratio(501);
    assert_eq!(verdict, Some(Cause::Congestion));
    assert!((found - 10.02).abs() < 1e-9, "{found}");
}

#[test]
fn only_the_loss_of_the_last_cb_interval_counts() {
    let mut fixture = Fixture::new(Config::default(), 1000, Span::from_millis(100));
    for _ in 0..3 {
        fixture.interval(0.06, None);
    }
    assert_eq!(fixture.breaker.verdict(at(15.0)), Some(Cause::Congestion));
    // Mean loss 0.04, 0.02, 0; 20 times a TCP's rate at 0.06, so 20 sqrt(p / 0.06).
    for ratio in [Some(16.329_931_618_55), Some(11.547_005_383_79), None] {
        fixture.interval(0.0, None);
        let found = fixture.breaker.rate_to_tcp();
        assert_eq!(found.is_some(), ratio.is_some());
        assert!((found.unwrap_or(0.0) - ratio.unwrap_or(0.0)).abs() < 1e-9, "{found:?}");
    }
    assert_eq!(fixture.breaker.verdict(at(30.0)), None);
}

#[test]
fn arbitrary_reports_keep_the_breaker_bounded_and_finite() {
    let config = Config { tdr: Span::ZERO, ..Config::default() };
    let mut breaker = Breaker::new(config);
    for (n, fraction_lost) in [f64::NAN, -1.0, 7.0, f64::INFINITY].into_iter().cycle().take(50_000).enumerate() {
        breaker.on_sent(at(1.0), Bytes(u64::from(u32::MAX)));
        let report = Report { highest: n as u64, fraction_lost, rtt: Span::MAX };
        breaker.on_report(at(1.0), &report);
        if n % 1000 == 0 {
            breaker.verdict(at(1.0));
        }
    }
    assert!(breaker.intervals.len() <= 15_000);
    assert!(breaker.rate_to_tcp().is_none_or(f64::is_finite));
}
