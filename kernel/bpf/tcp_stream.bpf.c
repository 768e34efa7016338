// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
//
// TCP Stream as a congestion control of Linux, by struct_ops. The law is in law.h; this file connects it to the kernel,
// which does a part by itself:
//
// | what | by |
// |---|---|
// | detection of losses, data in flight, timers, retransmissions | the kernel |
// | the window while losses are repaired | the kernel (PRR, RFC 6937), from its previous value down to ssthresh |
// | the window after a timeout, and after an idle time | the kernel; the law continues from there |
// | ssthresh, and the window outside recovery: lwnd + dwnd | the law |
// | the window after a spurious loss | the law, as it was before |
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "law.h"
#include "linux.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* The settings that the loader was given. */
struct setting {
	u64 rate;
	u32 thresholds;
	u32 reserved;
};

struct connection {
	struct law law;
	u32 round_end; /* the sequence number after which the round ends */
	u32 limited;   /* true if the window limited the sender at any time of the round */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct setting);
} settings SEC(".maps");

/* Playback rates of local ports, bit/s. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65535);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, u64);
} ports SEC(".maps");

/* Playback rates of sockets, bit/s; accepted sockets inherit that of their listener. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, u64);
} rates SEC(".maps");

/* The connections under the law. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} connections SEC(".maps");

/* The rate of the socket, else of its local port, else the default. */
static u64 rate_of(struct sock *sk, const struct setting *setting)
{
	u32 port = sk->__sk_common.skc_num;
	u64 *own = bpf_sk_storage_get(&rates, sk, 0, 0);
	u64 rate;

	if (!own || !*own)
		own = bpf_map_lookup_elem(&ports, &port);
	rate = own && *own ? *own : setting->rate;
	return law_most(1, law_least(rate, LAW_FASTEST));
}

/* Updates the parameters that may change while a connection is open. */
static void inform(struct law *law, struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 first = 0;
	const struct setting *setting = bpf_map_lookup_elem(&settings, &first);

	if (!setting)
		return;
	law->rate = rate_of(sk, setting);
	law->thresholds = setting->thresholds;
	law->mss = law_most(1, tp->mss_cache);
}

static struct connection *begin(struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *connection = bpf_sk_storage_get(&connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!connection)
		return 0;
	// Deviation(TCP Stream Eq. (1)): an acknowledgement may cover dozens of segments, and counts for all of them in slow
	// start, as in Linux's reno.
	connection->law.per_ack = LAW_WIDEST;
	law_start(&connection->law, tp->snd_cwnd, tp->snd_ssthresh);
	inform(&connection->law, sk);
	connection->round_end = tp->snd_nxt;
	connection->limited = 0;
	return connection;
}

/* The state of a connection; none if there was no memory for it, now and before: the window then stands still. */
static struct connection *connection_of(struct sock *sk)
{
	struct connection *connection = bpf_sk_storage_get(&connections, sk, 0, 0);

	return connection ? connection : begin(sk);
}

/* Adopts the kernel's changes of the window since the last event: an undo, an idle time, an unused part taken back. */
static void follow(struct law *law, const struct tcp_sock *tp)
{
	law_follow(law, tp->snd_cwnd, tp->snd_ssthresh);
}

/* True if the sender had more to send than it was allowed to; a window in slow start may grow to twice the segments in
 * flight, as with the kernel's own controls. */
static u32 is_limited(const struct law *law, const struct tcp_sock *tp)
{
	if (BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited))
		return 1;
	return law_in_slow_start(law) && tp->snd_cwnd < 2 * tp->max_packets_out;
}

SEC("struct_ops")
void BPF_PROG(stream_init, struct sock *sk)
{
	begin(sk);
}

SEC("struct_ops")
void BPF_PROG(stream_release, struct sock *sk)
{
	bpf_sk_storage_delete(&connections, sk);
}

/* Handles a measured round trip, of a segment that was sent once. */
SEC("struct_ops")
void BPF_PROG(stream_pkts_acked, struct sock *sk, const struct ack_sample *sample)
{
	struct connection *connection = connection_of(sk);
	__s32 rtt = sample->rtt_us;

	if (connection && rtt >= 0)
		law_sample(&connection->law, rtt);
}

/* Handles an acknowledgement outside recovery, or after a timeout. */
SEC("struct_ops")
void BPF_PROG(stream_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *connection = connection_of(sk);
	u32 round_end, limited, window;

	if (!connection)
		return;
	follow(&connection->law, tp);
	limited = is_limited(&connection->law, tp);
	connection->limited |= limited;
	round_end = (__s32)(ack - connection->round_end) > 0;
	if (round_end) {
		inform(&connection->law, sk);
		connection->round_end = tp->snd_nxt;
		limited = connection->limited;
		connection->limited = 0;
	}
	law_acknowledge(&connection->law, acked, round_end, limited);
	window = law_least(law_swnd(&connection->law), tp->snd_cwnd_clamp);
	tp->snd_cwnd = law_most(1, window);
}

/* Handles a detected loss, or a congestion mark. */
SEC("struct_ops")
__u32 BPF_PROG(stream_ssthresh, struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *connection = connection_of(sk);

	if (!connection)
		return law_most(2, tp->snd_cwnd / 2);
	follow(&connection->law, tp);
	law_lose(&connection->law);
	return connection->law.ssthresh >> LAW_SHIFT;
}

/* Handles an expired timer; the kernel has asked for ssthresh if this loss is a new one. */
SEC("struct_ops")
void BPF_PROG(stream_set_state, struct sock *sk, __u8 new_state)
{
	struct connection *connection;

	if (new_state != TCP_CA_LOSS)
		return;
	connection = connection_of(sk);
	if (!connection)
		return;
	law_expire(&connection->law, 1);
	follow(&connection->law, (struct tcp_sock *)sk);
}

/* Undoes the last loss, which was spurious. */
SEC("struct_ops")
__u32 BPF_PROG(stream_undo_cwnd, struct sock *sk)
{
	const struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct connection *connection = connection_of(sk);

	if (!connection)
		return tp->snd_cwnd;
	follow(&connection->law, tp);
	law_undo(&connection->law);
	return law_most(law_swnd(&connection->law), tp->snd_cwnd);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops control = {
	.name = "tcp_stream",
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)stream_init,
	.release = (void *)stream_release,
	.ssthresh = (void *)stream_ssthresh,
	.cong_avoid = (void *)stream_cong_avoid,
	.set_state = (void *)stream_set_state,
	.pkts_acked = (void *)stream_pkts_acked,
	.undo_cwnd = (void *)stream_undo_cwnd,
};

static void show_ends(struct seq_file *seq, struct sock_common *ends)
{
	__u16 near = ends->skc_num, far = bpf_ntohs(ends->skc_dport);

	if (ends->skc_family == AF_INET)
		BPF_SEQ_PRINTF(seq, "%pI4 %u %pI4 %u", &ends->skc_rcv_saddr, near, &ends->skc_daddr, far);
	else
		BPF_SEQ_PRINTF(seq, "%pI6 %u %pI6 %u", &ends->skc_v6_rcv_saddr, near, &ends->skc_v6_daddr, far);
}

/* Shows a line for each connection under the law, in every network namespace. */
SEC("iter/bpf_sk_storage_map")
int stream_show(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct connection *connection = ctx->value;
	struct sock *sk = ctx->sk;
	struct law *law;

	if (!sk || !connection)
		return 0;
	law = &connection->law;
	show_ends(seq, &sk->__sk_common);
	BPF_SEQ_PRINTF(seq, " rate %llu mss %u lwnd %llu dwnd %u ssthresh %llu cap %u", law->rate, law->mss, law->lwnd, law->dwnd,
		       law->ssthresh, law->rtt ? law_cap(law, law->rtt) : 0);
	BPF_SEQ_PRINTF(seq, " diff %u tau %u rtt %u delay_on %u\n", law->diff, law->tau, law->rtt, law->delay_on);
	return 0;
}
