//go:build ignore

/*
 * relay PORT FILE
 *
 * A bare reader of streams, on the way of the load: it listens on a free port, and passes on what
 * it reads to 127.0.0.1:PORT and back. One thread, epoll, no protocol: it notes when it read a
 * request, which has n=NUMBER in its first line, and when it read the end of each server-sent
 * event, before it passes them on. When its stdin ends it writes FILE, a line for each event:
 *
 *   stream,arrival_ns,event,event_ns
 *
 * Events of one read have one instant. The build constraint keeps the Go tool away from this file;
 * the command truth compiles it.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 1024

struct stream {
	long number, events;
	int64_t arrived;
	int newline; /* the last byte was one */
};

/* A side is a socket of a pair: even ones are of clients, and the next one is of the server. */
static int sides[2 * CONNECTIONS];
static struct stream streams[CONNECTIONS];
static int pairs;

struct line {
	long number, event;
	int64_t arrived, at;
};

static struct line *lines;
static size_t have, room;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct sockaddr_in loopback(int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static void watch(int epoll, int fd, int id)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = id};
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* stdin is no socket */
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		fail("epoll_ctl");
}

static void accept_pair(int epoll, int listener, int port)
{
	struct sockaddr_in to = loopback(port);
	int client = accept(listener, NULL, NULL), server = socket(AF_INET, SOCK_STREAM, 0);

	if (client < 0 || server < 0 || connect(server, (struct sockaddr *)&to, sizeof to) < 0)
		fail("connect");
	if (pairs == CONNECTIONS) {
		fprintf(stderr, "relay: more than %d connections\n", CONNECTIONS);
		exit(1);
	}
	sides[2 * pairs] = client;
	sides[2 * pairs + 1] = server;
	watch(epoll, client, 2 * pairs);
	watch(epoll, server, 2 * pairs + 1);
	pairs++;
}

static void note(struct stream *s, int64_t at)
{
	if (have == room) {
		room = room ? 2 * room : 4096;
		lines = realloc(lines, room * sizeof *lines);
		if (!lines)
			fail("realloc");
	}
	lines[have++] = (struct line){s->number, ++s->events, s->arrived, at};
}

static void pass(int id)
{
	static char bytes[64 << 10];
	struct stream *s = &streams[id / 2];
	ssize_t n = recv(sides[id], bytes, sizeof bytes - 1, MSG_DONTWAIT);
	int64_t at = now();

	if (n <= 0) { /* the other side hears of it, and its answer to that closes it */
		shutdown(sides[id ^ 1], SHUT_WR);
		close(sides[id]);
		sides[id] = -1; /* the number will be another's */
		return;
	}
	bytes[n] = 0;
	if (id % 2 == 0) {
		char *number = strstr(bytes, "n=");

		*s = (struct stream){number ? atol(number + 2) : 0, 0, at, 0};
	} else {
		for (ssize_t i = 0; i < n; i++) {
			if (bytes[i] == '\n' && s->newline)
				note(s, at);
			s->newline = bytes[i] == '\n' && !s->newline;
		}
	}
	for (ssize_t sent = 0, k; sent < n; sent += k) {
		k = send(sides[id ^ 1], bytes + sent, n - sent, MSG_NOSIGNAL);
		if (k < 0)
			return; /* the other side has gone */
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in own = loopback(0);
	socklen_t size = sizeof own;
	int epoll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0);
	enum { END = 1 << 30, LISTENER };
	FILE *out;

	if (argc != 3 || bind(listener, (struct sockaddr *)&own, size) < 0 ||
	    listen(listener, CONNECTIONS) < 0 || getsockname(listener, (struct sockaddr *)&own, &size) < 0)
		fail("usage: relay PORT FILE");
	watch(epoll, listener, LISTENER);
	watch(epoll, 0, END);
	printf("listening on 127.0.0.1:%d\n", ntohs(own.sin_port));
	fflush(stdout);
	for (int ended = 0; !ended;) {
		struct epoll_event e[64];
		int n = epoll_wait(epoll, e, 64, -1);

		for (int i = 0; i < n; i++) {
			if (e[i].data.u32 == END)
				ended = 1;
			else if (e[i].data.u32 == LISTENER)
				accept_pair(epoll, listener, atoi(argv[1]));
			else
				pass(e[i].data.u32);
		}
	}
	out = fopen(argv[2], "w");
	if (!out)
		fail(argv[2]);
	for (size_t i = 0; i < have; i++)
		fprintf(out, "%ld,%lld,%ld,%lld\n", lines[i].number, (long long)lines[i].arrived,
			lines[i].event, (long long)lines[i].at);
	return fclose(out) ? 1 : 0;
}
