/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apsmpi-lab-switch DELAY PORT...: the switch of apsmpi-lab if links have a delay
 * and the kernel has no netem. It replaces the kernel's bridge: a packet that
 * enters by a port (an Ethernet interface of this network namespace) leaves by
 * another port DELAY nanoseconds later.
 *
 * The host at the Nth port has the Ethernet address 02:00:00:00:hi:lo, with N,
 * from 1, in the last two bytes. A packet to any other address, a broadcast,
 * goes to all other ports. Packets keep their order from port to port. The switch
 * drops packets if a buffer is full, and leaves rates to tc.
 *
 * The command returns when all ports are open, and the switch runs in the
 * background until it is killed. Large TCP segments (GSO) are not split: 1 Gbit/s
 * is about 2000 packets a second.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define DELAY_MAX (10 * SECOND)
#define PORTS_MAX 1000

/* Length of a packet of a packet socket: a header with the work that is left
 * (checksum, segments), then the frame. */
#define PACKET_MAX (sizeof(struct virtio_net_hdr) + ETH_HLEN + 65536)

/* Bytes of packets that are delayed: 10 Gbit/s for 200 ms. The kernel allocates
 * a page when it is first used. */
#define QUEUE_BYTES ((size_t)256 << 20)

/* A port's own buffers, to and from the kernel. */
#define SOCKET_BYTES (32 << 20)

/* A delayed packet. Its bytes follow. */
struct packet {
    int64_t due;   /* CLOCK_MONOTONIC */
    uint32_t port; /* that received it */
    uint32_t size; /* in bytes; 0: the next one is at the start */
};

/* A ring of packets in order of `due`. A packet never wraps around. */
struct queue {
    char *bytes;
    size_t head, tail; /* offsets in bytes; equal: empty */
};

static struct pollfd *ports;
static uint32_t port_count;

static void fail(const char *what)
{
    fprintf(stderr, "apsmpi-lab-switch: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int64_t now(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

/* --- the queue ------------------------------------------------------------ */

/* Returns the bytes of a packet of this size in the ring, with its header. */
static size_t room_of(uint32_t size)
{
    const size_t align = _Alignof(struct packet);

    return (sizeof(struct packet) + size + align - 1) / align * align;
}

/* Returns the place for a packet of up to PACKET_MAX bytes, or NULL. */
static struct packet *queue_end(struct queue *queue)
{
    const size_t most = room_of(PACKET_MAX);

    if (queue->tail >= queue->head) {
        /* There is always room for the header that marks the jump. */
        if (queue->tail + most + sizeof(struct packet) <= QUEUE_BYTES)
            return (struct packet *)(queue->bytes + queue->tail);
        if (most >= queue->head)
            return NULL;
        ((struct packet *)(queue->bytes + queue->tail))->size = 0;
        queue->tail = 0;
    }
    if (queue->tail + most >= queue->head)
        return NULL;
    return (struct packet *)(queue->bytes + queue->tail);
}

/* Adds the packet at queue_end(). */
static void queue_push(struct queue *queue, const struct packet *packet)
{
    queue->tail += room_of(packet->size);
}

/* Returns the oldest packet, or NULL. */
static struct packet *queue_first(struct queue *queue)
{
    struct packet *packet = (struct packet *)(queue->bytes + queue->head);

    if (queue->head == queue->tail)
        return NULL;
    if (packet->size != 0)
        return packet;
    queue->head = 0;
    return queue->head == queue->tail ? NULL : (struct packet *)queue->bytes;
}

static void queue_pop(struct queue *queue)
{
    const struct packet *packet = queue_first(queue);

    queue->head += room_of(packet->size);
}

/* --- ports ---------------------------------------------------------------- */

static void port_option(int port, int level, int name, int value,
                        const char *what)
{
    if (setsockopt(port, level, name, &value, sizeof value) != 0)
        fail(what);
}

static int port_open(const char *name)
{
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)if_nametoindex(name),
    };
    const int size = SOCKET_BYTES;
    int port;

    if (address.sll_ifindex == 0)
        fail(name);
    port = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (port < 0)
        fail("packet socket");
    port_option(port, SOL_PACKET, PACKET_VNET_HDR, 1, "PACKET_VNET_HDR");
    port_option(port, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1,
                "PACKET_IGNORE_OUTGOING");
    port_option(port, SOL_SOCKET, SO_TIMESTAMPNS, 1, "SO_TIMESTAMPNS");
    /* Exceeds the machine's limits, if that is permitted. */
    if (setsockopt(port, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        port_option(port, SOL_SOCKET, SO_RCVBUF, size, "SO_RCVBUF");
    if (setsockopt(port, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        port_option(port, SOL_SOCKET, SO_SNDBUF, size, "SO_SNDBUF");
    if (bind(port, (const struct sockaddr *)&address, sizeof address) != 0)
        fail(name);
    return port;
}

/* Returns the time since the message reached the port, in nanoseconds. */
static int64_t age(struct msghdr *message)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL;
         part = CMSG_NXTHDR(message, part)) {
        struct timespec time;
        int64_t since;

        if (part->cmsg_level != SOL_SOCKET ||
            part->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&time, CMSG_DATA(part), sizeof time);
        since = now(CLOCK_REALTIME) - time.tv_sec * SECOND - time.tv_nsec;
        return since > 0 ? since : 0;
    }
    return 0;
}

/* Moves a packet from the port to the queue. Returns 0 if there was none. */
static int port_receive(uint32_t port, int64_t delay, struct queue *queue)
{
    struct packet *packet = queue_end(queue);
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    struct iovec part = {packet + 1, PACKET_MAX};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    ssize_t size;

    if (packet == NULL)
        return 0;
    size = recvmsg(ports[port].fd, &message, 0);
    if (size < (ssize_t)(sizeof(struct virtio_net_hdr) + ETH_HLEN) ||
        message.msg_flags & MSG_TRUNC)
        return size >= 0;
    packet->port = port;
    packet->size = (uint32_t)size;
    packet->due = now(CLOCK_MONOTONIC) - age(&message) + delay;
    queue_push(queue, packet);
    return 1;
}

/* Returns the port of the packet's receiver, or port_count for all ports. */
static uint32_t port_to(const struct packet *packet)
{
    const unsigned char *address =
        (const unsigned char *)(packet + 1) + sizeof(struct virtio_net_hdr);
    static const unsigned char ours[4] = {2, 0, 0, 0};
    const uint32_t number = (uint32_t)address[4] << 8 | address[5];

    if (memcmp(address, ours, sizeof ours) != 0)
        return port_count;
    return number >= 1 && number <= port_count ? number - 1 : port_count;
}

/* Errors are ignored: a port without room loses the packet. */
static void port_send(uint32_t port, const struct packet *packet)
{
    if (port != packet->port)
        (void)!write(ports[port].fd, packet + 1, packet->size);
}

static void forward(const struct packet *packet)
{
    const uint32_t to = port_to(packet);

    if (to < port_count) {
        port_send(to, packet);
        return;
    }
    for (uint32_t i = 0; i < port_count; i++)
        port_send(i, packet);
}

/* --- the switch ----------------------------------------------------------- */

static void run(int64_t delay)
{
    struct queue queue = {0};

    queue.bytes = mmap(NULL, QUEUE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (queue.bytes == MAP_FAILED)
        fail("memory");
    for (;;) {
        const struct packet *packet;
        int64_t wait = -1;
        int received = 0;

        /* One packet a port and round keeps packets in order of arrival. */
        for (uint32_t i = 0; i < port_count; i++)
            received |= port_receive(i, delay, &queue);
        while ((packet = queue_first(&queue)) != NULL) {
            wait = packet->due - now(CLOCK_MONOTONIC);
            if (wait > 0)
                break;
            forward(packet);
            queue_pop(&queue);
            wait = -1;
        }
        if (!received) {
            struct timespec time = {wait / SECOND, wait % SECOND};

            /* The ports are not polled while the queue is full. */
            ppoll(ports, queue_end(&queue) != NULL ? port_count : 0,
                  wait >= 0 ? &time : NULL, NULL);
        }
    }
}

int main(int argc, char **argv)
{
    const struct sched_param first = {.sched_priority = 1};
    char *end;
    long long delay;

    if (argc < 3 || argc - 2 > PORTS_MAX) {
        fputs("usage: apsmpi-lab-switch NANOSECONDS PORT ...\n", stderr);
        return 2;
    }
    delay = strtoll(argv[1], &end, 10);
    if (end == argv[1] || *end != '\0' || delay < 0 || delay > DELAY_MAX) {
        fprintf(stderr, "apsmpi-lab-switch: bad delay '%s'\n", argv[1]);
        return 2;
    }
    port_count = (uint32_t)(argc - 2);
    ports = calloc(port_count, sizeof *ports);
    if (ports == NULL)
        fail("memory");
    for (uint32_t i = 0; i < port_count; i++) {
        ports[i].fd = port_open(argv[2 + i]);
        ports[i].events = POLLIN;
    }
    if (daemon(1, 1) != 0)
        fail("fork");
    /* Runs before ranks that spin. Without the priority delays are less exact. */
    prctl(PR_SET_TIMERSLACK, 1UL);
    sched_setscheduler(0, SCHED_FIFO, &first);
    run(delay);
}
