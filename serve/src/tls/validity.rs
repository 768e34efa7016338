//! The period in which a certificate is valid (RFC 5280 §4.1.2.5).

use std::time::{Duration, SystemTime};

use httpdate::fmt_http_date;

/// Tags of DER that lead to the two times (X.690 §8.1.2).
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Remaining time at which a warning is due: certificates are renewed earlier.
const SOON: Duration = Duration::from_secs(14 * 86_400);
const DAY: u64 = 86_400;

/// The period in which a certificate is valid, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Validity {
    from: SystemTime,
    until: SystemTime,
}

impl Validity {
    /// The period of a certificate in DER; none if it is not at its place.
    pub(super) fn of(certificate: &[u8]) -> Option<Validity> {
        let signed = signed(certificate)?;
        let rest = tagged(VERSION, signed).map_or(signed, |(_, rest)| rest);
        let (_, rest) = tagged(INTEGER, rest)?;
        let (_algorithm, rest) = tagged(SEQUENCE, rest)?;
        let (_issuer, rest) = tagged(SEQUENCE, rest)?;
        let (times, _) = tagged(SEQUENCE, rest)?;
        let (from, rest) = time(times)?;
        let (until, _) = time(rest)?;
        Some(Validity { from, until })
    }

    /// A warning if the certificate is not valid at `now`, or soon will not be.
    pub(super) fn warning(self, now: SystemTime) -> Option<String> {
        let Validity { from, until } = self;
        if now > until {
            return Some(format!("it expired on {}: browsers refuse it", fmt_http_date(until)));
        }
        if now < from {
            return Some(format!("it is not valid before {}: browsers refuse it until then", fmt_http_date(from)));
        }
        until.duration_since(now).ok().filter(|left| *left < SOON)?;
        Some(format!("it expires on {}; renew it and restart `serve`", fmt_http_date(until)))
    }
}

/// True if a certificate does not state its version, and so is of version 1 (RFC 5280 §4.1.2.1).
pub(super) fn is_of_version_1(certificate: &[u8]) -> bool {
    signed(certificate).is_some_and(|signed| tagged(INTEGER, signed).is_some())
}

/// The signed part of a certificate.
fn signed(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = tagged(SEQUENCE, certificate)?;
    Some(tagged(SEQUENCE, certificate)?.0)
}

/// The content of a value that has this tag, and the rest after it.
fn tagged(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = der.split_first().filter(|(found, _)| **found == tag)?;
    let (&first, rest) = rest.split_first()?;
    let (len, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // Up to three bytes of length: files are shorter than 16 MiB.
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |len, digit| len << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(len)
}

/// Parses a time in either of its two forms, both in UTC and to the second (RFC 5280 §4.1.2.5.1 and .2), and returns
/// the rest after it.
fn time(der: &[u8]) -> Option<(SystemTime, &[u8])> {
    let ((text, rest), digits) = match tagged(UTC_TIME, der) {
        Some(found) => (found, 2),
        None => (tagged(GENERALIZED_TIME, der)?, 4),
    };
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if text.len() != digits + 10 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |from: usize, len: usize| text[from..from + len].parse::<u64>().ok();
    let year = match (number(0, digits)?, digits) {
        (year @ 0..50, 2) => 2000 + year,
        (year, 2) => 1900 + year,
        (year, _) => year,
    };
    let [month, day, hour, minute, second] = [0, 2, 4, 6, 8].map(|at| number(digits + at, 2).unwrap_or_default());
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let seconds = days(year, month, day) * DAY + hour * 3600 + minute * 60 + second;
    Some((SystemTime::UNIX_EPOCH + Duration::from_secs(seconds), rest))
}

/// The number of days since 1970: years begin in March here, so that a leap day is the last one.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month > 2 { year } else { year - 1 };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// The numbers are those of `date -u -d '...' +%s`.
    #[test]
    fn utc_and_generalized_times_are_parsed() {
        for (tag, text, seconds) in [
            (UTC_TIME, "700101000000Z", 0),
            (UTC_TIME, "240229235959Z", 1_709_251_199),
            (UTC_TIME, "491231235959Z", 2_524_607_999),
            (GENERALIZED_TIME, "20500101000000Z", 2_524_608_000),
            (GENERALIZED_TIME, "99991231235959Z", 253_402_300_799),
        ] {
            let der = [&[tag, text.len() as u8], text.as_bytes(), b"rest"].concat();
            assert_eq!(time(&der), Some((at(seconds), &b"rest"[..])), "{text}");
        }
        for text in ["500101000000Z", "241301000000Z", "240100000000Z", "2402292359Z", "240229235959+", "24022923595xZ"]
        {
            let der = [&[UTC_TIME, text.len() as u8], text.as_bytes()].concat();
            assert_eq!(time(&der), None, "{text}");
        }
    }

    #[test]
    fn warnings_cover_certificates_not_yet_valid_expired_and_expiring() {
        let made = rcgen::KeyPair::generate().and_then(|key| {
            let mut params = rcgen::CertificateParams::new(["localhost".to_owned()])?;
            params.not_before = at(1_700_000_000).into();
            params.not_after = at(1_800_000_000).into();
            params.self_signed(&key)
        });
        let found = Validity::of(made.expect("a certificate").der()).expect("times");
        assert_eq!(found, Validity { from: at(1_700_000_000), until: at(1_800_000_000) });
        let day = 86_400;
        for (now, expected) in [
            (1_699_999_999, "it is not valid before Tue, 14 Nov 2023 22:13:20 GMT"),
            (1_800_000_001, "it expired on Fri, 15 Jan 2027 08:00:00 GMT"),
            (1_800_000_000 - 3 * day, "it expires on Fri, 15 Jan 2027 08:00:00 GMT"),
        ] {
            let warning = found.warning(at(now)).expect(expected);
            assert!(warning.starts_with(expected), "{warning}");
        }
        for now in [1_700_000_000, 1_800_000_000 - 14 * day] {
            assert_eq!(found.warning(at(now)), None, "{now}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (Validity::of(&bytes), time(&bytes));
        }

        #[test]
        fn any_digits_are_a_time_or_none(text in "[0-9]{10,14}Z") {
            for tag in [UTC_TIME, GENERALIZED_TIME] {
                let _ = time(&[&[tag, text.len() as u8], text.as_bytes()].concat());
            }
        }
    }
}
