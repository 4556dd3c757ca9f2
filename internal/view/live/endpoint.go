package live

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/observe/probe"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// LastRead is how long an Endpoint stays after the end of a run, so that the final totals are read:
// a little longer than the minute that Prometheus lets pass between two reads, unless it is told
// otherwise.
const LastRead = 70 * time.Second

// readersMost is how many may read at once.
const readersMost = 4

// An Endpoint is the server that Prometheus asks for the metrics of a run.
type Endpoint struct {
	metrics  *Metrics
	listener net.Listener
	server   *http.Server
	served   chan error

	mutex     sync.Mutex
	ended     bool
	wasRead   bool          // at all
	finalRead chan struct{} // closed when somebody has read it after the end
}

// CheckAddress reports what is wrong with an address to Listen at.
func CheckAddress(address string) error {
	if host, _, err := net.SplitHostPort(address); err != nil || host == "" {
		return fmt.Errorf("%q is not HOST:PORT, as 127.0.0.1:9090; other machines reach it only with "+
			"a host such as 0.0.0.0", address)
	}
	return nil
}

// Listen begins to serve m at address, a HOST:PORT. Port 0 is a free one.
func Listen(address string, m *Metrics) (*Endpoint, error) {
	if err := CheckAddress(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(m); err != nil {
		l.Close()
		return nil, err
	}
	e := &Endpoint{metrics: m, listener: l, served: make(chan error, 1),
		finalRead: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", e.noteReads(promhttp.HandlerFor(registry,
		promhttp.HandlerOpts{MaxRequestsInFlight: readersMost})))
	e.server = &http.Server{Handler: mux, ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute, MaxHeaderBytes: 64 << 10}
	go func() { e.served <- e.server.Serve(l) }()
	return e, nil
}

// noteReads notes that somebody has read the metrics, and whether these were the final ones.
func (e *Endpoint) noteReads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mutex.Lock()
		final := e.ended
		e.mutex.Unlock()
		next.ServeHTTP(w, r)
		e.mutex.Lock()
		defer e.mutex.Unlock()
		e.wasRead = true
		select {
		case <-e.finalRead:
		default:
			if final {
				close(e.finalRead)
			}
		}
	})
}

// URL is where the metrics are.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + "/metrics" }

// Add adds an interval.
func (e *Endpoint) Add(iv loadresult.Interval) { e.metrics.Add(iv) }

// Watch is Metrics.Watch.
func (e *Endpoint) Watch(readings func() []probe.Reading) { e.metrics.Watch(readings) }

// Finish notes that the run has ended, and reports whether somebody reads the metrics and has not
// read the final ones: then Wait waits for that.
func (e *Endpoint) Finish() (awaited bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.ended = true
	return e.wasRead
}

// Wait waits until somebody has read the metrics after Finish, for at most LastRead, or until ctx
// ends.
func (e *Endpoint) Wait(ctx context.Context) {
	ctx, stop := context.WithTimeout(ctx, LastRead)
	defer stop()
	select {
	case <-e.finalRead:
	case <-ctx.Done():
	}
}

// Close ends the server. An answer that is being read gets a second.
func (e *Endpoint) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	err := e.server.Shutdown(ctx)
	<-e.served
	return err
}
