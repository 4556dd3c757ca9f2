//go:build ignore

/*
 * reader CONNECTIONS PORT
 *
 * The least a program can do to read streams: one thread, epoll, a receive for each arrival,
 * nothing of what arrives is looked at. What it takes for an event is about what this kernel
 * takes; dyno is held against it. It asks on all connections, ends when each was closed, and
 * prints how often something arrived.
 *
 * The build constraint above keeps the Go tool away from this file; bench/streams compiles it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BATCH 64

static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ask makes a connection and sends its request. */
static int ask(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
		fail("connect");
	if (write(fd, request, sizeof request - 1) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		fail("ask");
	return fd;
}

int main(int argc, char **argv)
{
	static char memory[64 << 10];
	struct epoll_event ready[BATCH];
	int waiting, set = epoll_create1(EPOLL_CLOEXEC);
	long arrivals = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: reader CONNECTIONS PORT\n");
		return 2;
	}
	waiting = atoi(argv[1]);
	for (int i = 0; i < waiting; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.fd = ask(atoi(argv[2]))};

		if (epoll_ctl(set, EPOLL_CTL_ADD, e.data.fd, &e) < 0)
			fail("epoll_ctl");
	}
	while (waiting > 0) {
		int n = epoll_wait(set, ready, BATCH, -1);

		if (n < 0 && errno != EINTR)
			fail("epoll_wait");
		for (int i = 0; i < n; i++) {
			ssize_t got = recv(ready[i].data.fd, memory, sizeof memory, 0);

			if (got > 0) {
				arrivals++;
			} else if (got == 0) {
				close(ready[i].data.fd);
				waiting--;
			} else if (errno != EAGAIN && errno != EINTR) {
				fail("recv");
			}
		}
	}
	printf("%ld\n", arrivals);
	return 0;
}
