/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Flowgauge needs of DPDK, as one table of functions.
 *
 * DPDK's data path is inline functions, so somebody has to compile C against the very DPDK that is installed. This does, and
 * nothing else: which devices, how many queues and when is decided in Rust (crates/ports/src/dpdk), which mirrors these
 * structures in shim.rs. Change both, and FG_DPDK_ABI with them.
 *
 * Functions that return int give 0 or a negative errno value.
 */
#ifndef FLOWGAUGE_DPDK_H
#define FLOWGAUGE_DPDK_H

#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;

#define FG_DPDK_ABI 1
#define FG_QUEUES_MAX 16
#define FG_DRIVER_LEN 32

/* How a port is opened. */
struct fg_port_config {
	const char *devargs;     /* what rte_dev_probe() takes */
	uint16_t queues;         /* pairs of a receive and a transmit queue */
	uint16_t rx_descriptors; /* per queue; the device may want fewer or more */
	uint16_t tx_descriptors;
	uint16_t mtu;            /* 0: the device's own */
	uint32_t spare;          /* mbufs per queue beyond those that its rings hold */
};

/* An open port. */
struct fg_port {
	uint16_t id;
	uint16_t queues;
	uint16_t rx_descriptors;
	uint16_t tx_descriptors;
	uint16_t mtu;
	uint16_t room;             /* bytes of a frame that fit into an mbuf */
	uint8_t mac[6];
	char driver[FG_DRIVER_LEN];
	int32_t timestamp_offset;  /* of the receive time in an mbuf; negative: there is none */
	uint64_t timestamp_flag;   /* set in ol_flags when that time is valid */
	struct rte_mempool *pools[FG_QUEUES_MAX]; /* one per queue */
};

struct fg_link {
	uint32_t mbps; /* UINT32_MAX: unknown */
	uint32_t up;
};

/* Since the port was opened. */
struct fg_stats {
	uint64_t rx_missed; /* arrived and found no room */
	uint64_t rx_errors;
	uint64_t rx_nombuf; /* receptions that were put off because the pool was empty */
	uint64_t tx_errors;
};

struct fg_dpdk {
	uint32_t abi; /* FG_DPDK_ABI: look at this before anything else */
	uint32_t headroom; /* bytes before the frame in a buffer */
	const char *(*version)(void);

	/* Once per process. */
	int (*start)(int argc, char **argv);
	/* The end of what DPDK has logged, as a string; `echo` writes it to stderr too. */
	void (*log_tail)(char *text, size_t size);
	void (*log_echo)(int echo);

	/* Threads that move frames join first: it gives them a cache in each pool. */
	int (*thread_join)(void);
	void (*thread_leave)(void);

	/* On failure `step` names the call that failed, and nothing is left behind. */
	int (*open)(const struct fg_port_config *config, struct fg_port *port, const char **step);
	/* 1 when mbufs are still on loan: the pools stay then. No thread may use the port any more. */
	int (*close)(struct fg_port *port);
	int (*link)(uint16_t port, struct fg_link *link);
	int (*stats)(uint16_t port, struct fg_stats *stats);
	/* The clock of the receive times, in its own unit. */
	int (*read_clock)(uint16_t port, uint64_t *ticks);

	/* The data path: one call per burst. */
	uint16_t (*alloc)(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint16_t n);
	void (*free)(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t (*rx)(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
	uint16_t (*tx)(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
	/* Makes a chain of segments one; fails when it does not fit into one mbuf. */
	int (*linearize)(struct rte_mbuf *mbuf);
};

/* The one symbol that is looked up. */
const struct fg_dpdk *flowgauge_dpdk(void);

#endif
