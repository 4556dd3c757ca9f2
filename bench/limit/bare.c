//go:build ignore

/*
 * bare epoll|uring CONNECTIONS SECONDS PIPELINE PORT
 *
 * The least a program can do to load a server as fast as it answers: one thread, one buffer,
 * no option, no report while it runs, an answer's Content-Length and nothing else of HTTP.
 * What it takes for a request is about what this kernel takes; a load generator is held
 * against it. PIPELINE requests are sent together, and the next ones when all are answered.
 *
 * Both ways are the best of those that were tried: epoll edge-triggered, asked only while
 * less than an eighth of the sockets have an answer, and else recv on each in turn; io_uring
 * with each send linked to the receive of its answer, submitted once for all.
 *
 * It prints one JSON object. The build constraint above keeps the Go tool away from this
 * file; bench compiles it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define HEADER 512         /* bytes that an answer's header has at most */
#define BUFFER (256 << 10) /* what one receive takes with epoll */
#define SMALL 4096         /* the same with io_uring, for each connection */

static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

struct connection {
	int fd;
	int wanted;      /* answers to what was sent last */
	int64_t sent;    /* when that was */
	size_t body;     /* bytes of the body that are still to come */
	size_t have;     /* bytes of a header that was not whole */
	char header[HEADER];
};

static struct connection *connections;
static int all, pipeline;
static char *batch; /* as many requests as are sent together */
static size_t batch_size;
static int64_t completed, calls, end;
static uint32_t micros[1 << 20]; /* how often an answer took so many microseconds */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void wrong(const char *what)
{
	fprintf(stderr, "bare: %s\n", what);
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void dial(int port, int flags)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int on = 1;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < all; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
			fail("connect");
		if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
		    fcntl(fd, F_SETFL, flags) < 0)
			fail("prepare connection");
		connections[i].fd = fd;
	}
}

/* body_of is the length that a whole header tells. */
static size_t body_of(const char *header, size_t length)
{
	static const char name[] = "\r\nContent-Length: ";
	const char *found = memmem(header, length, name, sizeof name - 1);

	if (!found)
		wrong("an answer has no Content-Length");
	return strtoul(found + sizeof name - 1, NULL, 10);
}

/*
 * header takes what belongs to an answer's header and returns how much that was. The
 * connection's body is then what follows; a header that is not whole yet is kept.
 */
static size_t header(struct connection *c, const char *at, size_t n, int *whole)
{
	if (!c->have) {
		const char *stop = memmem(at, n, "\r\n\r\n", 4);
		if (stop) {
			*whole = 1;
			c->body = body_of(at, stop + 2 - at);
			return stop + 4 - at;
		}
	}
	size_t had = c->have, more = n < HEADER - had ? n : HEADER - had;
	memcpy(c->header + had, at, more);
	const char *stop = memmem(c->header, had + more, "\r\n\r\n", 4);
	if (!stop) {
		if ((c->have = had + more) == HEADER)
			wrong("an answer's header is too long");
		return more;
	}
	*whole = 1;
	c->have = 0;
	c->body = body_of(c->header, stop + 2 - c->header);
	return stop + 4 - c->header - had;
}

/* take counts the answers in what was received and says whether all wanted are there. */
static int take(struct connection *c, const char *at, size_t n)
{
	while (n) {
		int whole = c->body > 0;
		if (!whole) {
			size_t used = header(c, at, n, &whole);
			at += used;
			n -= used;
			if (!whole)
				continue;
		}
		size_t used = n < c->body ? n : c->body;
		at += used;
		n -= used;
		if (c->body -= used)
			break;
		int64_t took = (now() - c->sent) / 1000;
		micros[took < 1 << 20 ? took : (1 << 20) - 1]++;
		completed++;
		c->wanted--;
	}
	return !c->wanted;
}

static void sending(struct connection *c)
{
	c->wanted = pipeline;
	c->sent = now();
}

static void send_now(struct connection *c)
{
	sending(c);
	calls++;
	if (send(c->fd, batch, batch_size, MSG_NOSIGNAL) != (ssize_t)batch_size)
		fail("send");
}

/* receive asks a socket for its answer and says how many bytes there were. */
static ssize_t receive(struct connection *c)
{
	static char buffer[BUFFER];
	ssize_t n = recv(c->fd, buffer, sizeof buffer, 0);

	calls++;
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0)
		fail("recv");
	if (!n)
		wrong("the server closed a connection");
	if (take(c, buffer, n))
		send_now(c);
	return n;
}

static void by_epoll(void)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event *ready = calloc(all, sizeof *ready);

	for (int i = 0; i < all; i++) {
		struct epoll_event e = {.events = EPOLLIN | EPOLLET, .data.u32 = i};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, connections[i].fd, &e) < 0)
			fail("epoll_ctl");
		send_now(&connections[i]);
	}
	int sweeping = 0;
	while (now() < end) {
		if (sweeping) {
			int found = 0;
			for (int i = 0; i < all; i++)
				found += receive(&connections[i]) > 0;
			sweeping = found * 8 >= all;
			continue;
		}
		int n = epoll_wait(epoll, ready, all, 10);
		calls++;
		if (n < 0 && errno != EINTR)
			fail("epoll_wait");
		for (int i = 0; i < n; i++)
			/* an edge tells once; a receive that was not full has left nothing */
			while (receive(&connections[ready[i].data.u32]) == BUFFER)
				;
		sweeping = n * 8 >= all && all > 1;
	}
}

/* The two queues that are shared with the kernel. */
static struct {
	int fd;
	struct io_uring_sqe *entries;
	unsigned *sq_tail, sq_mask, tail, submitted;
	unsigned *cq_head, *cq_tail, cq_mask;
	struct io_uring_cqe *completions;
	char *buffers;
} ring;

static void *map(size_t size, off_t what)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			ring.fd, what);
	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

static void set_up(void)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			 IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
		.cq_entries = 32768,
	};

	ring.fd = syscall(SYS_io_uring_setup, 4096, &p);
	if (ring.fd < 0)
		fail("io_uring_setup");
	char *sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	char *cq = map(p.cq_off.cqes + p.cq_entries * sizeof *ring.completions, IORING_OFF_CQ_RING);
	ring.entries = map(p.sq_entries * sizeof *ring.entries, IORING_OFF_SQES);
	ring.sq_tail = (unsigned *)(sq + p.sq_off.tail);
	ring.sq_mask = p.sq_entries - 1;
	ring.cq_head = (unsigned *)(cq + p.cq_off.head);
	ring.cq_tail = (unsigned *)(cq + p.cq_off.tail);
	ring.cq_mask = p.cq_entries - 1;
	ring.completions = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	unsigned *array = (unsigned *)(sq + p.sq_off.array);
	for (unsigned i = 0; i < p.sq_entries; i++)
		array[i] = i;
	ring.buffers = aligned_alloc(4096, (size_t)all * SMALL);
	int *files = calloc(all, sizeof *files);
	for (int i = 0; i < all; i++)
		files[i] = connections[i].fd;
	if (!ring.buffers ||
	    syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, files, all) < 0)
		fail("io_uring_register");
	free(files);
}

/* enter submits what was prepared, and waits for as many completions. */
static void enter(unsigned least)
{
	struct __kernel_timespec limit = {.tv_nsec = SECOND / 100};
	struct io_uring_getevents_arg wait = {.ts = (uintptr_t)&limit};

	__atomic_store_n(ring.sq_tail, ring.tail, __ATOMIC_RELEASE);
	calls++;
	if (syscall(SYS_io_uring_enter, ring.fd, ring.tail - ring.submitted, least,
		    IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &wait, sizeof wait) < 0 &&
	    errno != ETIME && errno != EINTR)
		fail("io_uring_enter");
	ring.submitted = ring.tail;
}

static struct io_uring_sqe *entry(int i)
{
	struct io_uring_sqe *e = &ring.entries[ring.tail++ & ring.sq_mask];

	memset(e, 0, sizeof *e);
	e->fd = i;
	e->flags = IOSQE_FIXED_FILE;
	e->user_data = i;
	return e;
}

static void prepare_receive(int i)
{
	struct io_uring_sqe *e = entry(i);

	e->opcode = IORING_OP_RECV;
	e->addr = (uintptr_t)(ring.buffers + (size_t)i * SMALL);
	e->len = SMALL;
}

/* prepare links a send to the receive of what answers it; only the latter completes. */
static void prepare(int i)
{
	if (ring.tail - ring.submitted + 2 > ring.sq_mask)
		enter(0);
	struct io_uring_sqe *e = entry(i);
	e->opcode = IORING_OP_SEND;
	e->addr = (uintptr_t)batch;
	e->len = batch_size;
	e->msg_flags = MSG_NOSIGNAL | MSG_WAITALL;
	e->flags |= IOSQE_IO_LINK | IOSQE_CQE_SKIP_SUCCESS;
	prepare_receive(i);
	sending(&connections[i]);
}

static void by_uring(void)
{
	set_up();
	for (int i = 0; i < all; i++)
		prepare(i);
	while (now() < end) {
		enter(1);
		unsigned head = *ring.cq_head, tail = __atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE);
		for (; head != tail; head++) {
			struct io_uring_cqe *done = &ring.completions[head & ring.cq_mask];
			int i = done->user_data;
			if (done->res <= 0)
				wrong(done->res ? strerror(-done->res) : "the server closed a connection");
			if (take(&connections[i], ring.buffers + (size_t)i * SMALL, done->res)) {
				prepare(i);
				continue;
			}
			if (ring.tail - ring.submitted + 1 > ring.sq_mask)
				enter(0);
			prepare_receive(i);
		}
		__atomic_store_n(ring.cq_head, head, __ATOMIC_RELEASE);
	}
}

static double quantile(double q)
{
	int64_t before = 0, rank = completed * q;

	for (int i = 0; i < 1 << 20; i++)
		if ((before += micros[i]) > rank)
			return i;
	return 1 << 20;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: bare epoll|uring CONNECTIONS SECONDS PIPELINE PORT\n");
		return 2;
	}
	int uring = !strcmp(argv[1], "uring");
	all = atoi(argv[2]);
	pipeline = atoi(argv[4]);
	if (all < 1 || pipeline < 1)
		wrong("CONNECTIONS and PIPELINE must be at least 1");
	connections = calloc(all, sizeof *connections);
	batch_size = (sizeof request - 1) * pipeline;
	batch = malloc(batch_size);
	if (!connections || !batch)
		fail("set up");
	for (int i = 0; i < pipeline; i++)
		memcpy(batch + i * (sizeof request - 1), request, sizeof request - 1);
	dial(atoi(argv[5]), uring ? 0 : O_NONBLOCK);
	int64_t start = now();
	end = start + atoll(argv[3]) * SECOND;
	if (uring)
		by_uring();
	else
		by_epoll();
	double seconds = (now() - start) / 1e9;
	printf("{\"completed\":%lld,\"seconds\":%.3f,\"calls\":%lld,\"p50_us\":%.0f,\"p99_us\":%.0f}\n",
	       (long long)completed, seconds, (long long)calls, quantile(0.5), quantile(0.99));
	return !completed;
}
