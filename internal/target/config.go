package target

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Config is all that decides how a server behaves. The zero value but for
// Addr is one that answers 200 with an empty body as fast as it can.
type Config struct {
	Addr   string   // "127.0.0.1:8080", ":0" for a free port, "unix:/path.sock"
	Status int      // of every answer, 200 to 599; 0 means 200
	Body   int      // bytes of body; 204 and 304 have none
	Header []string // lines "Name: value" added to every answer

	// Workers is how many requests are served at once; 0 means 1. Without
	// Service it is the number of event loops, one a core (on the portable
	// implementation the Go scheduler decides). With Service it is the number
	// of servers of one first-come-first-served queue.
	Workers int

	// Service is how long serving a request takes: "" no time, "constant:5ms",
	// or "exponential:5ms", distributed so with that mean.
	Service string

	// Stall stops the server again and again: "1s/10s" for the first second of
	// every ten, counted from 5 s (half of the period) after the first request.
	// It then neither reads nor works nor answers; requests wait.
	Stall string

	// Stream answers with streams of events of a format, one of StreamFormats; "": it does not. First
	// is when the first event comes after a request, and Gap how much later each further one, as
	// Service has times. Events is how many there are; 0 means 1.
	Stream, First, Gap string
	Events             int

	CloseAfter int       // close a connection after so many requests; 0 never
	Log        io.Writer // one line of CSV a request, see below; nil for none
	Seed       uint64    // of the exponential service times

	// Ring is how Linux is asked to receive and send: "epoll", or "uring", which
	// serves many busy connections with less CPU time, one with more, and is not
	// everywhere permitted; "auto", as is "", is epoll.
	Ring string

	// Portable selects the implementation that is used outside of Linux.
	Portable bool
}

// The columns of the log are arrival_ns, service_start_ns, service_ns, path, in
// the order of the answers. Instants are nanoseconds since 1970, service_ns is 0
// without Service. A request arrives when the server has read it whole; one
// pipelined behind another, when that one is answered. With Stream they are
// stream, arrival_ns, event, event_ns, a line for each event: the number of the
// stream, and of the event in it, and when it was written.

const (
	bodyMax   = 1 << 30 // it is held in memory
	headerMax = 32 << 10
	unixMax   = 107 // what a socket address has room for
)

// Check reports all that is wrong with c, each fault with the flag to mend.
func (c Config) Check() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf(format, args...))
	}
	if err := checkAddr(c.Addr); err != nil {
		fault("--listen %q: %w", c.Addr, err)
	}
	if c.Status != 0 && (c.Status < 200 || c.Status > 599) {
		fault("--status %d: want 200 to 599", c.Status)
	}
	if c.Body < 0 || c.Body > bodyMax {
		fault("--body %d: want 0 to %d bytes", c.Body, bodyMax)
	}
	if c.Body > 0 && (c.Status == 204 || c.Status == 304) {
		fault("--body %d: an answer of status %d has none", c.Body, c.Status)
	}
	size := 0
	for _, line := range c.Header {
		if err := checkHeader(line); err != nil {
			fault("--header %q: %w", line, err)
		}
		size += len(line)
	}
	if size > headerMax {
		fault("--header: %d bytes in all, want at most %d", size, headerMax)
	}
	if c.Workers < 0 || c.Workers > 1024 {
		fault("--workers %d: want 1 to 1024", c.Workers)
	}
	if _, err := parseService(c.Service); err != nil {
		fault("--service %q: %w", c.Service, err)
	}
	if _, err := parseStall(c.Stall); err != nil {
		fault("--stall %q: %w", c.Stall, err)
	}
	if !slices.Contains([]string{"", "auto", "epoll", "uring"}, c.Ring) {
		fault("--ring %q: want auto, epoll or uring", c.Ring)
	} else if c.Portable && c.Ring != "" && c.Ring != "auto" {
		fault("--ring %s: --portable has no choice of it", c.Ring)
	}
	c.checkStream(fault)
	if c.CloseAfter < 0 {
		fault("--close-after %d: want 0 (never) or a number of requests", c.CloseAfter)
	}
	return errors.Join(faults...)
}

func checkAddr(addr string) error {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" || len(path) > unixMax {
			return fmt.Errorf("want unix: and a path of 1 to %d bytes", unixMax)
		}
		return nil
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("want HOST:PORT, :PORT or unix:PATH")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return errors.New("want a port of 0 to 65535")
	}
	return nil
}

// ownHeaders are those without which the server could not be understood.
var ownHeaders = []string{"connection", "content-length", "transfer-encoding"}

func checkHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok || !isToken([]byte(name)) {
		return errors.New("want 'Name: value'")
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("a value is one line")
	}
	if slices.Contains(ownHeaders, strings.ToLower(name)) {
		return errors.New("the server sets this one itself")
	}
	return nil
}

// A service is the distribution of service times.
type service struct {
	mean        time.Duration // 0: no service
	exponential bool
}

func parseService(s string) (service, error) {
	if s == "" {
		return service{}, nil
	}
	kind, mean, _ := strings.Cut(s, ":")
	d, err := parseDuration(mean)
	if err != nil || kind != "constant" && kind != "exponential" {
		return service{}, errors.New("want constant:D or exponential:D, " +
			"with a duration such as 5ms")
	}
	return service{mean: d, exponential: kind == "exponential"}, nil
}

func parseStall(s string) (stall, error) {
	if s == "" {
		return stall{}, nil
	}
	l, p, _ := strings.Cut(s, "/")
	length, err1 := parseDuration(l)
	period, err2 := parseDuration(p)
	if err1 != nil || err2 != nil || length >= period {
		return stall{}, errors.New("want LENGTH/PERIOD, two durations " +
			"with the length below the period, such as 1s/10s")
	}
	return stall{length: int64(length), period: int64(period)}, nil
}

// parseDuration reads a positive Go duration or a bare number of seconds.
func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if f, ferr := strconv.ParseFloat(s, 64); ferr == nil && math.Abs(f) < 1e9 {
		d, err = time.Duration(f*float64(time.Second)), nil
	}
	if err != nil || d <= 0 || d > durationMax {
		return 0, errors.New("want a duration above 0")
	}
	return d, nil
}

// durationMax keeps sums of instants far from overflow.
const durationMax = 24 * time.Hour
