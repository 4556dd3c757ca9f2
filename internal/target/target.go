// Package target is a small, very fast HTTP/1.1 server to aim at: for
// demonstrations, for finding what a generator can do before a server holds it
// back, and for tests that compare both sides' counts.
//
// It always gives the same answer, and it can be given the faults and the
// delays of a real server: a service time behind a queue, a stall, connections
// that close. It counts what it answers; "GET /.dyno/served" tells, uncounted.
//
// On Linux each worker is one thread with one edge-triggered epoll and raw
// system calls. While at least a quarter of the connections have something to
// say it does not ask epoll which, it receives from all of them in turn: an
// answer then costs one receive and one send. Or it uses io_uring, where sending
// an answer is linked to receiving the next request, and one system call does both
// for all connections. Nothing is allocated, locked or shared for a request.
// Elsewhere a goroutine serves each connection. All drive the same session, which
// holds all there is of HTTP and no socket.
//
//	answer.go         the bytes of an answer
//	config.go         flags of dyno target
//	conn_linux.go     a connection of epoll
//	engine_linux.go   threads and listeners on Linux; engine_other.go
//	epoll_linux.go    the epoll loop
//	jobs_linux.go     answers that wait for their time
//	log.go            the server's own log of requests
//	loop_linux.go     one thread: timers, accepting
//	portable.go       a goroutine for each connection
//	request.go        reads HTTP/1 requests
//	service.go        service times, queue, stalls
//	session.go        what a connection does, whatever the loop
//	streaming.go      answers that are streams of events: --stream
//	sys_linux.go      system calls
//	target.go         Listen, Serve, counts
//	uring_linux.go    the io_uring loop
package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Server is a target that listens.
type Server struct {
	site   *site
	addr   net.Addr
	engine engine
}

// An engine accepts and serves connections until ctx is done, once, and then
// lets go of its listeners.
type engine interface {
	serveUntil(ctx context.Context) error
}

// Listen opens the addresses of c, so that connections are queued from now on.
// Serve must follow: it answers them, and closes what was opened here.
func Listen(c Config) (*Server, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l, err := listen(c.Addr)
	if err != nil {
		return nil, err
	}
	s := &Server{site: newSite(c), addr: l.Addr()}
	if c.Stream != "" {
		s.engine = newStreaming(s.site, l)
		return s, nil
	}
	if c.Portable {
		s.engine = newPortable(s.site, l)
		return s, nil
	}
	if s.engine, err = newEngine(s.site, l); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// Addr is the address of the socket, with the port that was chosen for ":0".
func (s *Server) Addr() net.Addr { return s.addr }

// Served is what the server has done so far.
func (s *Server) Served() Counts { return s.site.readCounts() }

// Serve answers until ctx is done. Requests then under way are not answered,
// connections are closed, the log is flushed. It may be called once.
func (s *Server) Serve(ctx context.Context) error {
	err := s.engine.serveUntil(ctx)
	if s.site.log != nil {
		err = errors.Join(err, s.site.log.flushLog())
	}
	return err
}

// Counts is what a server has done since it started.
type Counts struct {
	Requests      uint64 // answered as configured
	Connections   uint64 // accepted; not those whose first request asked for the counts
	Refused       uint64 // answered with an error, because they were not proper HTTP/1
	BytesReceived uint64 // of the requests counted in Requests and Refused
	BytesSent     uint64 // of answers handed to a connection that did not fail before
}

// counters are one worker's, alone on their cache lines. They are changed
// before an answer is sent, so that whoever has an answer finds it counted.
type counters struct {
	requests, connections, refused, received, sent atomic.Int64

	_ [128 - 5*8]byte
}

// A site is what all connections of a server share.
type site struct {
	Config
	answer  answer
	service service
	stall   stall
	log     *requestLog
	start   time.Time // the origin of the instants of now
	first   atomic.Int64
	counts  []counters

	mu    sync.Mutex // of queue
	queue *queue
}

// newSite makes the site of a checked configuration.
func newSite(c Config) *site {
	c.Workers = max(c.Workers, 1)
	if c.Ring == "" {
		c.Ring = "auto"
	}
	s := &site{Config: c, answer: newAnswer(c), start: time.Now()}
	s.service, _ = parseService(c.Service)
	s.stall, _ = parseStall(c.Stall)
	s.counts = make([]counters, c.Workers)
	if s.service.mean > 0 {
		s.queue = newQueue(c.Workers, s.service, c.Seed)
	}
	if c.Log != nil {
		s.log = newRequestLog(c.Log, s.start)
	}
	return s
}

// sinceStart is the time in nanoseconds after start, and never 0.
func (s *site) sinceStart() int64 { return int64(time.Since(s.start)) | 1 }

// arriveAt notes the instant of the first request, after which stalls are timed.
func (s *site) arriveAt(now int64) {
	if s.stall.length > 0 && s.first.Load() == 0 {
		s.first.CompareAndSwap(0, now)
	}
}

// stallEnd is when the stall at instant now ends; now itself when there is none.
func (s *site) stallEnd(now int64) int64 {
	first := s.first.Load()
	if first == 0 || now < first {
		return now
	}
	return first + s.stall.endOf(now-first)
}

// enqueue puts a request that arrives now into the queue, and says when its
// service begins and ends.
func (s *site) enqueue(now int64) (start, end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start, service := s.queue.scheduleArrival(now)
	end = start + service
	if first := s.first.Load(); first != 0 {
		end = first + s.stall.workEnd(start-first, service)
	}
	s.queue.occupyServer(end)
	return start, end
}

func (s *site) readCounts() Counts {
	var sum Counts
	for i := range s.counts {
		c := &s.counts[i]
		sum.Requests += uint64(c.requests.Load())
		sum.Connections += uint64(c.connections.Load())
		sum.Refused += uint64(c.refused.Load())
		sum.BytesReceived += uint64(c.received.Load())
		sum.BytesSent += uint64(c.sent.Load())
	}
	return sum
}

// listen opens the socket of an address as in Config.
func listen(addr string) (net.Listener, error) {
	network, address := "tcp", addr
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, address = "unix", path
		info, err := os.Stat(path)
		if err == nil && info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("--listen %s: that file is there already and is no socket; choose "+
				"another path, or remove it", addr)
		}
		removeStale(path)
	}
	l, err := net.Listen(network, address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("--listen %s: another program listens there; choose another "+
			"(port 0 takes a free one): %w", addr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", addr, err)
	}
	return l, nil
}

// removeStale removes a socket that a killed server has left behind, which
// nobody listens on and which would make the address seem taken.
func removeStale(path string) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		c.Close()
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
}
