//go:build ignore

/*
 * pacer RATE CONNECTIONS SECONDS PORT
 *
 * The least a program can do to send requests at an even rate: one thread, epoll, a timeout
 * in nanoseconds, no report while it runs. How late it sends is what the kernel and the
 * machine cost; dyno's send lag is held against it. It prints one JSON object:
 *
 *   late     from the instant a request was due to the instant it was sent
 *   lag      the same, but not before the connection was idle: the pacer's own share of it,
 *            counted as dyno counts it (connections take turns, longest idle first)
 *   latency  from due to answered; service: from sent to answered
 *
 * The build constraint above keeps the Go tool away from this file; bench compiles it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define DRAIN (5 * SECOND) /* how long answers are awaited after the last request was due */

static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

struct connection {
	int fd;
	int64_t due, sent; /* of the request under way */
	int64_t open;      /* when it became idle */
	size_t have;       /* bytes of its answer so far */
	char answer[4096];
};

static int epoll;
static struct connection *connections;
static int *idle, idle_first, idle_count, all; /* idle is a ring of all places */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void put_idle(int i, int64_t since)
{
	connections[i].open = since;
	idle[(idle_first + idle_count++) % all] = i;
}

static struct connection *take_idle(void)
{
	struct connection *c = &connections[idle[idle_first]];
	idle_first = (idle_first + 1) % all;
	idle_count--;
	return c;
}

static void dial(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int on = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < all; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
			fail("connect");
		if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
		    fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
		    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
			fail("prepare connection");
		connections[i].fd = fd;
		put_idle(i, now());
	}
}

/* complete says whether the answer so far is a whole one. */
static int complete(struct connection *c)
{
	c->answer[c->have] = 0;
	char *end = strstr(c->answer, "\r\n\r\n");
	if (!end)
		return 0;
	char *length = strcasestr(c->answer, "\r\nContent-Length:");
	if (!length || length > end) {
		fprintf(stderr, "the answer has no Content-Length\n");
		exit(1);
	}
	return c->have >= (size_t)(end + 4 - c->answer) + strtoul(length + 17, NULL, 10);
}

/* receive takes what has arrived and says whether the answer is whole now. */
static int receive(struct connection *c)
{
	ssize_t n = recv(c->fd, c->answer + c->have, sizeof c->answer - 1 - c->have, 0);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		fprintf(stderr, n ? "recv: %s\n" : "the server closed a connection\n",
			strerror(errno));
		exit(1);
	}
	c->have += n;
	return complete(c);
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void print(const char *name, int64_t *ns, int64_t n)
{
	double sum = 0;

	qsort(ns, n, sizeof *ns, ascending);
	for (int64_t i = 0; i < n; i++)
		sum += ns[i];
	printf(",\"%s_mean_us\":%.3f,\"%s_p50_us\":%.3f,\"%s_p99_us\":%.3f",
	       name, sum / n / 1e3, name, ns[n / 2] / 1e3, name, ns[(n * 99 + 99) / 100 - 1] / 1e3);
	printf(",\"%s_p99_9_us\":%.3f,\"%s_max_us\":%.3f",
	       name, ns[(n * 999 + 999) / 1000 - 1] / 1e3, name, ns[n - 1] / 1e3);
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: pacer RATE CONNECTIONS SECONDS PORT\n");
		return 2;
	}
	int64_t rate = atoll(argv[1]), total = rate * atoll(argv[3]), sent = 0, done = 0;
	all = atoi(argv[2]);
	if (rate < 1 || total < 1 || all < 1) {
		fprintf(stderr, "pacer: RATE, CONNECTIONS and SECONDS must be at least 1\n");
		return 2;
	}
	int64_t *lag = malloc(total * sizeof *lag), *late = malloc(total * sizeof *late);
	int64_t *latency = malloc(total * sizeof *latency);
	int64_t *service = malloc(total * sizeof *service);
	connections = calloc(all, sizeof *connections);
	idle = calloc(all, sizeof *idle);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!lag || !late || !latency || !service || !connections || !idle || epoll < 0)
		fail("set up");
	prctl(PR_SET_TIMERSLACK, 1);
	dial(atoi(argv[4]));

	struct epoll_event ready[256];
	int64_t start = now() + SECOND / 1000, t = now();
	int64_t give_up = start + total * SECOND / rate + DRAIN;
	while (done < total && t < give_up) {
		int64_t due = start + sent * SECOND / rate;
		while (sent < total && idle_count && due <= t) {
			struct connection *c = take_idle();
			c->due = due;
			c->sent = t;
			c->have = 0;
			if (send(c->fd, request, sizeof request - 1, MSG_NOSIGNAL) < 0)
				fail("send");
			late[sent] = t - due;
			lag[sent++] = t - (due > c->open ? due : c->open);
			due = start + sent * SECOND / rate;
			t = now();
		}
		int64_t wait = sent < total && idle_count ? due - t : give_up - t;
		if (wait < 0)
			wait = 0;
		struct timespec timeout = {wait / SECOND, wait % SECOND};
		int n = epoll_pwait2(epoll, ready, 256, &timeout, NULL);
		if (n < 0 && errno != EINTR)
			fail("epoll_pwait2");
		for (int i = 0; i < n; i++) {
			struct connection *c = &connections[ready[i].data.u32];
			if (!receive(c))
				continue;
			int64_t end = now();
			latency[done] = end - c->due;
			service[done++] = end - c->sent;
			put_idle(ready[i].data.u32, end);
		}
		t = now();
	}
	if (!done) {
		fprintf(stderr, "pacer: no answer\n");
		return 1;
	}
	printf("{\"sent\":%lld,\"completed\":%lld", (long long)sent, (long long)done);
	print("late", late, sent);
	print("lag", lag, sent);
	print("latency", latency, done);
	print("service", service, done);
	printf("}\n");
	return 0;
}
