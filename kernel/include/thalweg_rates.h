/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Passes the playback rate of a socket's video to the kernel's TCP Stream (`thalweg kernel load`). Nothing to link.
 *
 *     int rates = thalweg_rates_open("tcp_stream");      as root, before privileges are given up
 *     thalweg_rates_set(rates, socket, 8000000);         bits per second, before or after the connection begins
 *
 * The rate of a listening socket applies to all connections that it accepts from then on.
 *
 * `syscall` is not ISO C: -std=c11 needs -D_DEFAULT_SOURCE as well; GNU C, the default of compilers, needs no option.
 */
#ifndef THALWEG_RATES_H
#define THALWEG_RATES_H

#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Returns a descriptor to be closed, or -1 and errno: no such control is loaded, or this process may not reach it. */
static inline int thalweg_rates_open(const char *name)
{
	char path[64];
	union bpf_attr attr;

	snprintf(path, sizeof(path), "/sys/fs/bpf/thalweg/%s/rates", name);
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (unsigned long)path;
	return (int)syscall(__NR_bpf, BPF_OBJ_GET, &attr, sizeof(attr));
}

/* Returns 0, or -1 and errno. */
static inline int thalweg_rates_set(int rates, int socket, unsigned long long bits_per_second)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (unsigned)rates;
	attr.key = (unsigned long)&socket;
	attr.value = (unsigned long)&bits_per_second;
	return (int)syscall(__NR_bpf, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

#endif
