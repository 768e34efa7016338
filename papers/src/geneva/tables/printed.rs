//! The numbers of the paper's tables as printed, including errors, which are listed in `docs/reproduction.md`.

/// A row: data loss, packet loss, Fwnd, W_tot, bursty events, TPindex, link loss.
type Row = [Option<f64>; 7];

/// Table 1, by condition (10 ms and 12.5 transfers per second, 10 ms and 25, 100 ms and 12.5, 100 ms and 25), then
/// GENEVA, small static, large static, DP-FEC.
pub(super) const TABLE_1: [[Row; 4]; 4] = [
    [
        [Some(0.0011), Some(0.0068), Some(10.19), Some(105.26), Some(164.9), Some(0.57), Some(0.039)],
        [Some(0.0029), Some(0.0078), Some(8.0), None, Some(305.7), Some(0.61), Some(0.04)],
        [Some(0.0026), Some(0.0083), Some(12.0), None, Some(281.0), Some(0.49), Some(0.039)],
        [Some(0.0024), Some(0.32), Some(48.12), None, Some(169.7), Some(0.1), Some(0.024)],
    ],
    [
        [Some(0.0013), Some(0.007), Some(9.88), Some(110.56), Some(283.6), Some(0.61), Some(0.033)],
        [Some(0.0029), Some(0.0089), Some(8.0), None, Some(509.4), Some(0.65), Some(0.035)],
        [Some(0.0032), Some(0.0093), Some(12.0), None, Some(938.5), Some(0.46), Some(0.037)],
        [Some(0.0061), Some(0.23), Some(35.69), None, Some(610.0), Some(0.18), Some(0.025)],
    ],
    [
        [Some(0.0039), Some(0.0074), Some(8.19), Some(424.34), Some(393.5), Some(0.77), Some(0.03)],
        [Some(0.0044), Some(0.0077), Some(8.0), None, Some(452.0), Some(0.78), Some(0.03)],
        [Some(0.005), Some(0.0093), Some(12.0), None, Some(549.5), Some(0.63), Some(0.031)],
        [Some(0.0016), Some(0.35), Some(58.11), None, Some(878.6), Some(0.22), Some(0.025)],
    ],
    [
        [Some(0.0036), Some(0.0069), Some(8.14), Some(425.41), Some(459.6), Some(0.82), Some(0.023)],
        [Some(0.0037), Some(0.007), Some(8.0), None, Some(473.2), Some(0.82), Some(0.024)],
        [Some(0.0036), Some(0.0079), Some(12.0), None, Some(688.6), Some(0.7), Some(0.027)],
        [Some(0.0021), Some(0.25), Some(40.41), None, Some(1186.0), Some(0.33), Some(0.03)],
    ],
];

/// Table 2: GENEVA, small static, large static, DP-FEC; each at 30, 60 and 90 Mb/s, then the mean of all seven streams.
pub(super) const TABLE_2: [[Row; 4]; 4] = [
    [
        [Some(0.0014), Some(0.012), Some(9.28), Some(143.75), Some(110.6), None, None],
        [Some(0.0), Some(0.0095), Some(9.87), Some(273.35), Some(29.0), None, None],
        [Some(0.0), Some(0.011), Some(9.21), Some(413.25), Some(4.0), None, None],
        [Some(0.001), Some(0.011), Some(9.35), Some(200.77), Some(83.71), Some(0.62), Some(0.026)],
    ],
    [
        [Some(0.0027), Some(0.02), Some(8.0), None, Some(416.4), None, None],
        [Some(0.0), Some(0.0089), Some(8.0), None, Some(13.0), None, None],
        [Some(0.0), Some(0.011), Some(8.0), None, Some(0.0), None, None],
        [Some(0.0039), Some(0.016), Some(8.0), None, Some(299.29), Some(0.63), Some(0.027)],
    ],
    [
        [Some(0.0072), Some(0.023), Some(12.0), None, Some(873.0), None, None],
        [Some(0.0), Some(0.008), Some(12.0), None, Some(2.0), None, None],
        [Some(0.0), Some(0.0096), Some(12.0), None, Some(2.0), None, None],
        [Some(0.0051), Some(0.019), Some(12.0), None, Some(624.14), Some(0.6), Some(0.027)],
    ],
    [
        [Some(0.0), Some(0.00013), Some(52.1), None, Some(11.0), None, None],
        [Some(0.0000011), Some(0.00084), Some(40.9), None, Some(22.0), None, None],
        [Some(0.032), Some(0.037), Some(7.2), None, Some(23.0), None, None],
        [Some(0.0046), Some(0.0055), Some(44.09), None, Some(14.29), Some(0.49), Some(0.03)],
    ],
];
