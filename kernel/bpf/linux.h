/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0
 *
 * The parts of the kernel's types that the program reads, under the kernel's names. The loader finds the fields where
 * the running kernel has them (CO-RE), so that nothing here is a layout, except `tcp_congestion_ops`, whose members it
 * finds by name.
 */
#ifndef THALWEG_LINUX_H
#define THALWEG_LINUX_H

#define AF_INET 2
#define TCP_CA_LOSS 4
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CA_NAME_MAX 16

#define RELOCATED __attribute__((preserve_access_index))

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
} RELOCATED;

struct sock {
	struct sock_common __sk_common;
} RELOCATED;

struct tcp_sock {
	__u32 mss_cache;
	__u32 snd_nxt;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 max_packets_out;
	__u8 is_cwnd_limited : 1;
} RELOCATED;

struct ack_sample {
	__s32 rtt_us;
} RELOCATED;

struct tcp_congestion_ops {
	/* First: the loader writes the name of the control here. */
	char name[TCP_CA_NAME_MAX];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
};

struct seq_file;
struct bpf_map;

struct bpf_iter_meta {
	struct seq_file *seq;
} RELOCATED;

/* The context of an iterator over the storage of sockets: the kernel guarantees its layout. */
struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	void *value;
};

#endif
