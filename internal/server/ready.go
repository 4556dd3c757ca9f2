package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/transport"
)

// Limits of waiting for a server.
const (
	// DefaultReadyTimeout is also that of an experiment's file. dyno vs --ready has another: see
	// lab/versus.
	DefaultReadyTimeout = 30 * time.Second

	pollFirst  = 5 * time.Millisecond // doubled up to pollMost
	pollMost   = 100 * time.Millisecond
	answerTime = 5 * time.Second // for one answer
	answerMax  = 1 << 20         // bytes of it that are read
	settleTime = 3 * time.Second // before a stranger's answer is taken for the process's

	waitingAfter = time.Second // until it is said what is waited for
)

// Ready is the request whose answer says that a process is ready: a whole GET
// in HTTP/1.1 with Connection: close, because some servers die of a connection
// without a request and others open their port before they can answer. Or it is
// what the process writes.
type Ready struct {
	// URL is http://, https:// (any certificate), h2c:// (asked over HTTP/2) or
	// http+unix:///path/to.sock:/uri. A server of fcgi:// or fcgi+unix:// is not asked: it is ready
	// when it accepts a connection.
	URL      string
	Statuses []int         // of which the answer must have one; empty: any but loadplan.NotThere
	Log      string        // it is ready when it has written this; "": URL is asked
	Header   http.Header   // of the request; Host too
	Timeout  time.Duration // 0 means DefaultReadyTimeout
	// Way is how connections are made, but for where they lead and what is spoken: a load's.
	Way loadplan.Way
}

func (r Ready) withDefaults() (Ready, error) {
	if r.Timeout == 0 {
		r.Timeout = DefaultReadyTimeout
	}
	_, err := r.address()
	return r, err
}

// address is where the request goes.
type address struct {
	loadplan.Target
	url string // of the request, as net/http has it
}

// address is where the URL leads.
func (r Ready) address() (address, error) {
	u, err := requests.Parse(r.URL)
	if err != nil {
		return address{}, fmt.Errorf("ready URL: %w", err)
	}
	scheme := "http://"
	if u.Target.TLS {
		scheme = "https://"
	}
	return address{u.Target, scheme + u.Authority + u.Path}, nil
}

// way is how connections to an address are made.
func (r Ready) way(a address) loadplan.Way {
	way := r.Way
	way.Target, way.Connecting = a.Target, loadplan.Seconds(answerTime)
	if way.HTTP = loadplan.Auto; a.TLS {
		way.HTTP, way.TLS.Insecure = "1.1", true // a name proves nothing here
	}
	return way
}

// isTaken tells whether somebody already listens where the process is to.
func (r Ready) isTaken() bool {
	a, err := r.address()
	if err != nil {
		return false
	}
	network, at := "tcp", net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
	if a.Unix != "" {
		network, at = "unix", a.Unix
	}
	conn, err := net.DialTimeout(network, at, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// fits reports whether an answer of that status says that the server is ready. One that is asked
// for what it does not have is ready, too.
func (r Ready) fits(status int) bool {
	if len(r.Statuses) == 0 {
		return !slices.Contains(loadplan.NotThere, status)
	}
	return slices.Contains(r.Statuses, status)
}

// exactly is r whose answer must be a success if nothing else is said. So it is of another port
// than the right one, which may be that of metrics.
func (r Ready) exactly() Ready {
	if len(r.Statuses) == 0 {
		for status := 200; status < 300; status++ {
			r.Statuses = append(r.Statuses, status)
		}
	}
	return r
}

// A Waiting is what is waited for.
type Waiting struct {
	Process string
	URL     string // that is to answer, or to accept a connection
	Log     string // or what the process is to write; "": it is asked
	Status  string // that the answer must have, as "200-399"; "": any that is the server's own
}

// A witness tells whose answer it was.
type witness struct {
	complains func() bool         // the process says that its port is taken
	wrote     func() bool         // it has written Ready.Log
	owns      func(port int) bool // a process of the tree listens there
	listens   func() []int        // the TCP ports on which the process and those below it listen
}

// awaitReady asks until the answer is the right one. If a stranger gives it, the
// process gets some time to say that its port is taken; then it is believed to
// be served by others on purpose, as by a container's daemon.
func (r Ready) awaitReady(ctx context.Context, w witness) *Failure {
	if r.Log != "" {
		return r.awaitLog(ctx, w)
	}
	a, err := r.address()
	if err != nil {
		return &Failure{Kind: CannotStart, Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	client := r.newClient(a)
	defer client.CloseIdleConnections()
	var last error
	var answered time.Time
	search := astray{witness: w, looked: time.Now()}
	for pause := pollFirst; ; pause = min(2*pause, pollMost) {
		err := r.tryOnce(ctx, client, a)
		if last == nil || ctx.Err() == nil { // that time was up says less than a try before
			last = err
		}
		if w.complains() {
			return &Failure{Kind: PortTaken, Reason: "says that its address is already in use"}
		}
		if err == nil && answered.IsZero() {
			answered = time.Now()
		}
		if err == nil && (w.owns(int(a.Port)) || time.Since(answered) > settleTime) {
			return nil
		}
		if err != nil && search.isSure(ctx, r, a) {
			return &Failure{Kind: NotReady, Elsewhere: search.at.url, Reason: fmt.Sprintf(
				"not ready: nothing answers at %s as it should; the last try: %v", r.URL, last) +
				portsText([]int{int(search.at.Port)})}
		}
		select {
		case <-ctx.Done():
			return &Failure{Kind: NotReady, Elsewhere: search.at.url, Reason: fmt.Sprintf(
				"not ready: %s did not %s within %v; the last try: %v", r.URL, r.describeReady(a), r.Timeout,
				last) + portsText(search.otherPorts(a))}
		case <-time.After(pause):
		}
	}
}

// awaitLog waits until the process has written what it writes when it is ready.
func (r Ready) awaitLog(ctx context.Context, w witness) *Failure {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	for pause := pollFirst; !w.wrote(); pause = min(2*pause, pollMost) {
		if w.complains() {
			return &Failure{Kind: PortTaken, Reason: "says that its address is already in use"}
		}
		select {
		case <-ctx.Done():
			return &Failure{Kind: NotReady, Reason: fmt.Sprintf(
				"not ready: it did not write %q within %v", r.Log, r.Timeout)}
		case <-time.After(pause):
		}
	}
	return nil
}

// describeReady says what a server does that is ready.
func (r Ready) describeReady(a address) string {
	switch {
	case a.FastCGI:
		return "accept a connection"
	case len(r.Statuses) == 0:
		return "answer"
	}
	return "answer with status " + r.statuses()
}

// statuses are those that the answer must have: "200-399 or 404".
func (r Ready) statuses() string {
	return strings.ReplaceAll(formatRanges(r.Statuses), ",", " or ")
}

// tryOnce makes one request. With FastCGI it only connects, because what a request must have
// depends on the application.
func (r Ready) tryOnce(ctx context.Context, client *http.Client, a address) error {
	if !a.FastCGI {
		return r.requestOnce(ctx, client, a.url)
	}
	d, err := transport.NewDialer(r.way(a))
	if err != nil {
		return err
	}
	c, err := d.Open(ctx)
	if err != nil {
		return err
	}
	return c.Close()
}

// requestOnce makes one request, and says what is wrong with the answer.
func (r Ready) requestOnce(ctx context.Context, client *http.Client, to string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, to, nil)
	if err != nil {
		return err
	}
	for name, values := range r.Header {
		q.Header[http.CanonicalHeaderKey(name)] = values
	}
	if host := q.Header.Get("Host"); host != "" {
		q.Host = host
	}
	answer, err := client.Do(q)
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err // without the URL, which the caller names
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	// To its end: a server may take a connection that is reset for an error.
	if _, err := io.CopyN(io.Discard, answer.Body, answerMax); err != nil && err != io.EOF {
		return fmt.Errorf("status %d, and then %w", answer.StatusCode, err)
	}
	if r.fits(answer.StatusCode) {
		return nil
	}
	return fmt.Errorf("status %d", answer.StatusCode)
}

// newClient asks without redirects or connections that are kept, and over HTTP/2 only of h2c.
func (r Ready) newClient(a address) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     transport.RoundTripper(r.way(a)),
	}
}
