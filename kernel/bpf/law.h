/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * TCP Stream in integers: H. Oda, H. Hisamatsu, H. Noborio, "Design, Implementation and Evaluation of Congestion Control
 * Mechanism for Video Streaming". The law of core/src/law/window/tcp_stream.rs with the same names, for code without
 * floating point; kernel/tests/law/main.rs compares the two.
 *
 * | paper, Table 1      | here       |                                                               |
 * |---------------------|------------|---------------------------------------------------------------|
 * | lwnd                | lwnd       | loss window, 2^-20 segments                                   |
 * | dwnd                | dwnd       | delay window, segments                                        |
 * | swnd                | law_swnd   | send-out window, whole segments of lwnd + dwnd                |
 * | ceil(Rate RTT/MSS)  | law_cap    | segments of one round trip at the playback rate               |
 * | tau                 | tau        | minimum round trip so far, us; 0 before the first             |
 * | RTT of Eq. (1)      | rtt        | latest round trip, us; 0 before the first                     |
 * | RTT of Eqs. (2)-(4) | sum, samples | mean round trip of a round, whole us                        |
 * | Diff < alpha        | law_adjust_dwnd | swnd (RTT - tau) < alpha RTT, which needs no division      |
 *
 * This file includes no other, so that it compiles anywhere. No product of values within the bounds below exceeds
 * 64 bits.
 */
#ifndef THALWEG_LAW_H
#define THALWEG_LAW_H

typedef unsigned int u32;
typedef unsigned long long u64;

/* A segment in the units of lwnd and ssthresh. */
#define LAW_SHIFT 20
#define LAW_SEGMENT (1ULL << LAW_SHIFT)
/* swnd and Diff are compared in 2^-10 segments. */
#define LAW_FINE 10
/* An ssthresh that no window reaches: Linux's TCP_INFINITE_SSTHRESH. */
#define LAW_INFINITE 0x7fffffffULL
/* Bounds: segments of any window, us of a round trip, bit/s of a video. */
#define LAW_WIDEST (1U << 20)
#define LAW_LONGEST (1U << 24)
#define LAW_FASTEST 1000000000000ULL

/* alpha and beta without the ceiling, segments in the queue (Eq. (4), from Vegas). */
#define LAW_ALPHA 2ULL
#define LAW_BETA 4ULL

/* Thresholds with the ceiling as a part of alpha and beta, Eq. (4) as printed, or without it. */
enum law_thresholds { LAW_PAPER, LAW_VEGAS };

struct law {
	u64 rate;        /* Rate, bit/s, 1 to LAW_FASTEST */
	u32 mss;         /* MSS, bytes, at least 1 */
	u32 thresholds;  /* enum law_thresholds */
	u32 per_ack;     /* segments that one acknowledgement may add in slow start: 1 by RFC 5681 */
	u32 delay_on;    /* true if lwnd has met its ceiling since the last loss */
	u64 lwnd;
	u64 ssthresh;    /* 2^-20 segments */
	u64 sum;         /* sum of the round's samples, us */
	u32 samples;
	u32 dwnd;
	u32 tau;
	u32 rtt;
	u32 diff;        /* Diff when it was last computed, 2^-10 segments */
	u32 kept_dwnd;   /* the windows and the latch before the last loss, in case that proves spurious */
	u64 kept_lwnd;
	u32 kept_on;
};

static inline u64 law_least(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 law_most(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* Starts with a window of `iw` segments; the caller sets the rate, the MSS and the variant. */
static inline void law_start(struct law *law, u32 iw, u32 ssthresh)
{
	law->lwnd = law_most(1, law_least(iw, LAW_WIDEST)) * LAW_SEGMENT;
	law->ssthresh = ssthresh * LAW_SEGMENT;
	law->sum = law->kept_lwnd = 0;
	law->samples = law->dwnd = law->tau = law->rtt = law->diff = 0;
	law->delay_on = law->kept_dwnd = law->kept_on = 0;
}

/* The ceiling of the loss window at a round trip of `rtt` us, in segments. */
static inline u32 law_cap(const struct law *law, u32 rtt)
{
	u64 segment = 8000000ULL * law->mss;

	return law_most(1, law_least((law->rate * rtt + segment - 1) / segment, LAW_WIDEST));
}

/* The send-out window. */
static inline u32 law_swnd(const struct law *law)
{
	return (u32)(law->lwnd >> LAW_SHIFT) + law->dwnd;
}

/* Records a measured round trip of `rtt` us. */
static inline void law_sample(struct law *law, u32 rtt)
{
	rtt = law_most(1, law_least(rtt, LAW_LONGEST));
	law->rtt = rtt;
	if (!law->tau || rtt < law->tau)
		law->tau = rtt;
	law->sum += rtt;
	law->samples++;
}

/* True if the loss window grows towards its threshold. */
static inline u32 law_in_slow_start(const struct law *law)
{
	return law->lwnd < law->ssthresh && !law->delay_on;
}

/* Grows the loss window, Eq. (1). */
static inline void law_grow_lwnd(struct law *law, u32 newly)
{
	u64 more, cap;

	if (law->lwnd < law->ssthresh) {
		more = law_least(newly, law->per_ack) * LAW_SEGMENT;
		/* Up to the threshold, or one segment. */
		more = law_least(more, law_most(law->ssthresh - law->lwnd, LAW_SEGMENT));
	} else {
		more = law_least(newly, LAW_WIDEST) * LAW_SEGMENT * LAW_SEGMENT + law->lwnd / 2;
		more = law_least(more / law->lwnd, LAW_SEGMENT);
	}
	law->lwnd = law_least(law->lwnd + more, LAW_WIDEST * LAW_SEGMENT);
	if (law->rtt) {
		cap = law_cap(law, law->rtt) * LAW_SEGMENT;
		law->lwnd = law_least(law->lwnd, cap);
		/* A latch: a growing round trip raises the ceiling, which must not freeze dwnd just when it should fall. */
		if (law->lwnd >= cap)
			law->delay_on = 1;
	}
}

/* Adjusts the delay window, Eqs. (2) to (4), by the mean round trip of the round. */
static inline void law_adjust_dwnd(struct law *law, u32 rtt, u32 may_grow)
{
	u64 fine = (law->lwnd >> (LAW_SHIFT - LAW_FINE)) + ((u64)law->dwnd << LAW_FINE);
	u64 queued = fine * (rtt - law->tau);
	u64 base = law->thresholds == LAW_PAPER ? law_cap(law, rtt) : 0;

	law->diff = queued / rtt;
	if (queued < (LAW_ALPHA + base) * rtt << LAW_FINE) {
		if (may_grow && law->dwnd < LAW_WIDEST)
			law->dwnd++;
	} else if (queued > (LAW_BETA + base) * rtt << LAW_FINE && law->dwnd) {
		law->dwnd--;
	}
}

/* Handles an acknowledgement of `newly` segments outside recovery, after its sample; `may_grow` is false if the sender
 * had less to send than it was allowed to. */
static inline void law_acknowledge(struct law *law, u32 newly, u32 round_end, u32 may_grow)
{
	law_grow_lwnd(law, may_grow ? newly : 0);
	if (!round_end)
		return;
	if (law->delay_on && law->samples)
		law_adjust_dwnd(law, law->sum / law->samples, may_grow);
	law->sum = law->samples = 0;
}

/* Handles a detected loss: halves the loss window, and sets the delay window to zero. */
static inline void law_lose(struct law *law)
{
	law->kept_lwnd = law->lwnd;
	law->kept_dwnd = law->dwnd;
	law->kept_on = law->delay_on;
	law->ssthresh = law_most(law->lwnd / 2, 2 * LAW_SEGMENT);
	law->lwnd = law->ssthresh;
	law->dwnd = law->delay_on = 0;
}

/* Handles an expired timer: slow start, with tau unchanged. `again` keeps the threshold. */
static inline void law_expire(struct law *law, u32 again)
{
	if (!again)
		law_lose(law);
	law->lwnd = LAW_SEGMENT;
	law->dwnd = law->delay_on = 0;
}

/* Undoes the last loss, which was spurious. */
static inline void law_undo(struct law *law)
{
	if (law->kept_lwnd + (u64)law->kept_dwnd * LAW_SEGMENT <= law->lwnd + (u64)law->dwnd * LAW_SEGMENT)
		return;
	law->lwnd = law->kept_lwnd;
	law->dwnd = law->kept_dwnd;
	law->delay_on = law->kept_on;
}

/* Adopts the kernel's changes of the window and the threshold, in segments. A reduction is taken from dwnd first, which
 * is the part to spare. */
static inline void law_follow(struct law *law, u32 swnd, u32 ssthresh)
{
	u32 was = law_swnd(law);

	if (ssthresh != law->ssthresh >> LAW_SHIFT)
		law->ssthresh = ssthresh * LAW_SEGMENT;
	if (swnd >= was) {
		law->lwnd += (swnd - was) * LAW_SEGMENT;
	} else if (was - swnd <= law->dwnd) {
		law->dwnd -= was - swnd;
	} else {
		law->dwnd = 0;
		law->lwnd = law_most(swnd, 1) * LAW_SEGMENT;
	}
}

#endif
