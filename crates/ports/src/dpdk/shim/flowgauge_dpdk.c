/* SPDX-License-Identifier: Apache-2.0 */
/* See flowgauge_dpdk.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_version.h>

#include "flowgauge_dpdk.h"

/* Rust reads and writes these fields itself: shim.rs has the same numbers. */
_Static_assert(offsetof(struct rte_mbuf, buf_addr) == 0, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, data_off) == 16, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, refcnt) == 18, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, nb_segs) == 20, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, port) == 22, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, ol_flags) == 24, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, pkt_len) == 36, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, data_len) == 40, "mbuf layout");
_Static_assert(offsetof(struct rte_mbuf, buf_len) == 54, "mbuf layout");
_Static_assert(sizeof(struct rte_mbuf) == 128, "mbuf layout");
_Static_assert(sizeof(((struct rte_mbuf *)0)->buf_addr) == 8, "64-bit pointers");
_Static_assert(RTE_ETHER_ADDR_LEN == sizeof(((struct fg_port *)0)->mac), "length of a MAC address");

/* Objects that a pool keeps for each thread, and the most a cache holds before it gives some back. */
#define CACHE_SIZE RTE_MEMPOOL_CACHE_MAX_SIZE
#define CACHE_MOST (CACHE_SIZE + CACHE_SIZE / 2)
#define THREADS 2 /* that use a pool at one time: the polling one and the one that closes */

/* --- What DPDK logs, kept so that an error can say why. --- */

static struct {
	pthread_mutex_t lock;
	char text[4096];
	size_t len;
	int echo;
} journal = { .lock = PTHREAD_MUTEX_INITIALIZER };

static ssize_t
journal_write(void *cookie __rte_unused, const char *text, size_t size)
{
	const size_t most = sizeof(journal.text) / 2;
	size_t tail = RTE_MIN(size, most);

	pthread_mutex_lock(&journal.lock);
	if (journal.len + tail > sizeof(journal.text)) {
		memmove(journal.text, journal.text + journal.len - most, most);
		journal.len = most;
	}
	memcpy(journal.text + journal.len, text + size - tail, tail);
	journal.len += tail;
	if (journal.echo)
		fwrite(text, 1, size, stderr);
	pthread_mutex_unlock(&journal.lock);
	return size;
}

static void
log_tail(char *text, size_t size)
{
	size_t len;

	if (size == 0)
		return;
	pthread_mutex_lock(&journal.lock);
	len = RTE_MIN(journal.len, size - 1);
	memcpy(text, journal.text + journal.len - len, len);
	pthread_mutex_unlock(&journal.lock);
	text[len] = '\0';
}

static void
log_echo(int echo)
{
	pthread_mutex_lock(&journal.lock);
	journal.echo = echo;
	pthread_mutex_unlock(&journal.lock);
}

static int
start(int argc, char **argv)
{
	cookie_io_functions_t functions = { .write = journal_write };
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream == NULL)
		return -errno;
	setlinebuf(stream);
	rte_openlog_stream(stream);
	return rte_eal_init(argc, argv) < 0 ? -rte_errno : 0;
}

/* --- Opening and closing. --- */

static int
find_port(const char *devargs, uint16_t *id)
{
	struct rte_dev_iterator iterator;

	RTE_ETH_FOREACH_MATCHING_DEV(*id, devargs, &iterator) {
		/* The first one is ours; the search has to be ended when it is left early. */
		rte_eth_iterator_cleanup(&iterator);
		return 0;
	}
	return -ENODEV;
}

static int
configure(struct fg_port *port, const struct fg_port_config *config, const struct rte_eth_dev_info *info)
{
	static const uint64_t hashes = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;
	struct rte_eth_conf conf;
	int offset, ret;
	uint64_t flag;

	memset(&conf, 0, sizeof(conf));
	conf.rxmode.mtu = port->mtu;
	/*
	 * Then asking for the link reads what DPDK's interrupt thread found. virtio-user would otherwise connect and disconnect
	 * on the asking thread, while the interrupt thread does the same.
	 */
	conf.intr_conf.lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	if (port->queues > 1 && (info->flow_type_rss_offloads & hashes) != 0) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & hashes;
	}
	/* Allowed, as all mbufs of a queue come from its own pool and are never shared. */
	conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
	port->timestamp_offset = -1;
	port->timestamp_flag = 0;
	if (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) {
		ret = rte_mbuf_dyn_rx_timestamp_register(&offset, &flag);
		if (ret == 0) {
			conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_TIMESTAMP;
			port->timestamp_offset = offset;
			port->timestamp_flag = flag;
		}
	}
	ret = rte_eth_dev_configure(port->id, port->queues, port->queues, &conf);
	if (ret != 0)
		return ret;
	port->rx_descriptors = config->rx_descriptors;
	port->tx_descriptors = config->tx_descriptors;
	return rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &port->rx_descriptors, &port->tx_descriptors);
}

static void
free_pools(struct fg_port *port)
{
	uint16_t queue;

	for (queue = 0; queue < port->queues; queue++) {
		rte_mempool_free(port->pools[queue]);
		port->pools[queue] = NULL;
	}
}

static int
setup_queues(struct fg_port *port, const struct fg_port_config *config)
{
	static unsigned int pools; /* that there ever were: those with mbufs on loan outlive their port */
	unsigned int n = port->rx_descriptors + port->tx_descriptors + config->spare + THREADS * CACHE_MOST;
	int ret, socket = rte_eth_dev_socket_id(port->id);
	char name[RTE_MEMPOOL_NAMESIZE];
	uint16_t queue;

	for (queue = 0; queue < port->queues; queue++) {
		snprintf(name, sizeof(name), "fg_%u", pools++);
		port->pools[queue] = rte_pktmbuf_pool_create(name, n, CACHE_SIZE, 0,
				port->room + RTE_PKTMBUF_HEADROOM, socket);
		if (port->pools[queue] == NULL)
			return -rte_errno;
		ret = rte_eth_rx_queue_setup(port->id, queue, port->rx_descriptors, socket, NULL,
				port->pools[queue]);
		if (ret != 0)
			return ret;
		ret = rte_eth_tx_queue_setup(port->id, queue, port->tx_descriptors, socket, NULL);
		if (ret != 0)
			return ret;
	}
	return 0;
}

/* Takes out what virtual devices (net_ring) keep beyond their end. */
static void
drain(const struct fg_port *port)
{
	const unsigned int most = 2 * RTE_MAX(port->rx_descriptors, 1024) / 32;
	struct rte_mbuf *mbufs[32];
	unsigned int turn;
	uint16_t queue, n;

	for (queue = 0; queue < port->queues; queue++) {
		/* Bounded: net_null never runs dry. */
		for (turn = 0; turn < most; turn++) {
			n = rte_eth_rx_burst(port->id, queue, mbufs, RTE_DIM(mbufs));
			if (n == 0)
				break;
			rte_pktmbuf_free_bulk(mbufs, n);
		}
	}
}

struct removal {
	const struct fg_port *port;
	bool started;
	sem_t done;
};

static void
remove_now(void *argument)
{
	struct removal *removal = argument;
	uint16_t id = removal->port->id;
	struct rte_eth_dev_info info;
	int ret;

	ret = rte_eth_dev_info_get(id, &info);
	if (removal->started) {
		drain(removal->port);
		rte_eth_dev_stop(id);
	}
	rte_eth_dev_close(id);
	if (ret == 0)
		rte_dev_remove(info.device);
	sem_post(&removal->done);
}

/*
 * On DPDK's interrupt thread, where alarms run: that is where memif and virtio-user learn that the other side has gone, and
 * take the connection down without a lock. Two threads would free the same memory.
 */
static void
remove_device(const struct fg_port *port, bool started)
{
	struct removal removal = { .port = port, .started = started };

	sem_init(&removal.done, 0, 0);
	if (rte_eal_alarm_set(1, remove_now, &removal) != 0)
		remove_now(&removal);
	while (sem_wait(&removal.done) != 0)
		; /* a signal came */
	sem_destroy(&removal.done);
}

/* Everything between a probed device and a running port. */
static int
bring_up(struct fg_port *port, const struct fg_port_config *config, const char **step)
{
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	uint32_t frame;
	int ret;

	*step = "rte_eth_dev_info_get";
	ret = rte_eth_dev_info_get(port->id, &info);
	if (ret != 0)
		return ret;
	*step = "the number of queues";
	if (config->queues == 0 ||
	    config->queues > RTE_MIN(RTE_MIN(info.max_rx_queues, info.max_tx_queues), FG_QUEUES_MAX))
		return -ERANGE;
	snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
	port->mtu = config->mtu;
	if (port->mtu == 0)
		rte_eth_dev_get_mtu(port->id, &port->mtu);
	/* Room for a whole frame with two VLAN tags and FCS, so that no frame is ever in segments. */
	frame = port->mtu + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 2 * RTE_VLAN_HLEN;
	frame = RTE_MAX(RTE_ALIGN_CEIL(frame, RTE_CACHE_LINE_SIZE), info.min_rx_bufsize);
	port->room = RTE_MIN(RTE_MAX(frame, 2048u), (uint32_t)UINT16_MAX - RTE_PKTMBUF_HEADROOM);
	*step = "rte_eth_dev_configure";
	port->queues = config->queues;
	ret = configure(port, config, &info);
	if (ret != 0)
		return ret;
	*step = "setting up queues and their memory";
	ret = setup_queues(port, config);
	if (ret != 0)
		return ret;
	*step = "rte_eth_dev_start";
	ret = rte_eth_dev_start(port->id);
	if (ret != 0)
		return ret;
	/* Some virtual devices can't, and receive everything anyway. */
	rte_eth_promiscuous_enable(port->id);
	if (rte_eth_macaddr_get(port->id, &mac) == 0)
		memcpy(port->mac, mac.addr_bytes, sizeof(port->mac));
	rte_eth_stats_reset(port->id);
	return 0;
}

static int
port_open(const struct fg_port_config *config, struct fg_port *port, const char **step)
{
	int ret;

	memset(port, 0, sizeof(*port));
	*step = "rte_dev_probe";
	ret = rte_dev_probe(config->devargs);
	if (ret != 0)
		return ret;
	ret = find_port(config->devargs, &port->id);
	if (ret != 0)
		return ret;
	ret = bring_up(port, config, step);
	if (ret != 0) {
		remove_device(port, false);
		free_pools(port);
	}
	return ret;
}

static int
port_close(struct fg_port *port)
{
	uint16_t queue;

	remove_device(port, true);
	for (queue = 0; queue < port->queues; queue++)
		if (!rte_mempool_full(port->pools[queue]))
			return 1;
	free_pools(port);
	return 0;
}

static int
port_link(uint16_t port, struct fg_link *link)
{
	struct rte_eth_link found;
	int ret;

	ret = rte_eth_link_get_nowait(port, &found);
	link->mbps = found.link_speed;
	link->up = found.link_status == RTE_ETH_LINK_UP;
	return ret;
}

static int
port_stats(uint16_t port, struct fg_stats *stats)
{
	struct rte_eth_stats found;
	int ret;

	ret = rte_eth_stats_get(port, &found);
	if (ret != 0)
		return ret;
	stats->rx_missed = found.imissed;
	stats->rx_errors = found.ierrors;
	stats->rx_nombuf = found.rx_nombuf;
	stats->tx_errors = found.oerrors;
	return 0;
}

/* --- The data path. --- */

/* Raw: an mbuf in a pool has one segment and one reference; whoever sends it sets the rest. */
static uint16_t
burst_alloc(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint16_t n)
{
	while (n > 0 && rte_mempool_get_bulk(pool, (void **)mbufs, n) != 0)
		n /= 2;
	return n;
}

/* Whether an mbuf can go back as it is. Looks at its first cache line only, unlike rte_pktmbuf_prefree_seg(). */
static inline bool
is_plain(const struct rte_mbuf *m, const struct rte_mempool *pool)
{
	return m->pool == pool && m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
}

static void
burst_free(struct rte_mempool *pool, struct rte_mbuf **mbufs, uint16_t n)
{
	uint16_t i, plain = 0;

	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (likely(is_plain(m, pool)))
			mbufs[plain++] = m;
		else
			rte_pktmbuf_free(m);
	}
	if (plain > 0)
		rte_mempool_put_bulk(pool, (void **)mbufs, plain);
}

static uint16_t
burst_rx(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_rx_burst(port, queue, mbufs, n);
}

static uint16_t
burst_tx(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	return rte_eth_tx_burst(port, queue, mbufs, n);
}

static int
linearize(struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_linearize(mbuf) == 0 ? 0 : -EMSGSIZE;
}

__attribute__((visibility("default"))) const struct fg_dpdk *
flowgauge_dpdk(void)
{
	static const struct fg_dpdk table = {
		.abi = FG_DPDK_ABI,
		.headroom = RTE_PKTMBUF_HEADROOM,
		.version = rte_version,
		.start = start,
		.log_tail = log_tail,
		.log_echo = log_echo,
		.thread_join = rte_thread_register,
		.thread_leave = rte_thread_unregister,
		.open = port_open,
		.close = port_close,
		.link = port_link,
		.stats = port_stats,
		.read_clock = rte_eth_read_clock,
		.alloc = burst_alloc,
		.free = burst_free,
		.rx = burst_rx,
		.tx = burst_tx,
		.linearize = linearize,
	};

	return &table;
}
