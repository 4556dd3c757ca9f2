package target

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// A streaming engine answers with streams of events, by known laws. Each stream is a goroutine with
// a timer: its log says when each event was written, so nobody has to rely on the timer. It speaks
// HTTP/1.1, and HTTP/2 without TLS.
type streaming struct {
	site       *site
	listener   net.Listener
	first, gap service
	shape      shape

	mu   sync.Mutex
	rand *rand.Rand
	n    int64 // streams begun
}

// A shape is what the events of a format are.
type shape struct {
	kind  string // Content-Type
	event string
	ends  []string // behind the last event; %d is the number of tokens
}

// shapes are those of the formats.
var shapes = map[string]shape{
	"sse":    {"text/event-stream", "data: {\"n\":%d}\n\n", nil},
	"ndjson": {"application/x-ndjson", "{\"n\":%d}\n", nil},
	"openai": {"text/event-stream", `data: {"id":"chatcmpl-dyno","object":"chat.completion.chunk",` +
		`"created":1790000000,"model":"dyno","choices":[{"index":0,"delta":{"content":" %d"},` +
		`"finish_reason":null}]}` + "\n\n",
		[]string{`data: {"choices":[],"usage":{"completion_tokens":%d}}` + "\n\n", "data: [DONE]\n\n"}},
	"anthropic": {"text/event-stream", "event: content_block_delta\ndata: " +
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" %d"}}` + "\n\n",
		[]string{"event: message_delta\ndata: " +
			`{"type":"message_delta","usage":{"output_tokens":%d}}` + "\n\n",
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"}},
	"ollama": {"application/x-ndjson", "{\"model\":\"dyno\",\"response\":\" %d\",\"done\":false}\n",
		[]string{"{\"model\":\"dyno\",\"response\":\"\",\"done\":true,\"eval_count\":%d}\n"}},
}

// eventsMost is how many events a stream has at most.
const eventsMost = 1 << 20

// StreamFormats are the formats that Config.Stream can have.
var StreamFormats = []string{"sse", "ndjson", "openai", "anthropic", "ollama"}

// checkStream reports what is wrong with the settings of streams.
func (c Config) checkStream(fault func(format string, args ...any)) {
	if c.Stream == "" {
		if c.First+c.Gap != "" || c.Events != 0 {
			fault("--first, --gap and --events are of streams: give --stream FORMAT too")
		}
		return
	}
	if !slices.Contains(StreamFormats, c.Stream) {
		fault("--stream %q: want %s", c.Stream, strings.Join(StreamFormats, ", "))
	}
	if _, err := parseService(c.First); err != nil {
		fault("--first %q: %w", c.First, err)
	}
	if _, err := parseService(c.Gap); err != nil {
		fault("--gap %q: %w", c.Gap, err)
	}
	if c.Events < 0 || c.Events > eventsMost {
		fault("--events %d: want 1 to %d", c.Events, eventsMost)
	}
	if c.Status != 0 || c.Body != 0 || len(c.Header) > 0 || c.CloseAfter != 0 || c.Workers > 1 ||
		c.Service+c.Stall+c.Ring != "" || c.Portable {
		fault("--stream has answers and times of its own: leave out --status, --body, --header, " +
			"--close-after, --workers, --service, --stall, --ring and --portable")
	}
}

func newStreaming(s *site, l net.Listener) *streaming {
	e := &streaming{site: s, listener: l, shape: shapes[s.Stream],
		rand: rand.New(rand.NewPCG(s.Seed, 1))}
	e.first, _ = parseService(s.First)
	e.gap, _ = parseService(s.Gap)
	return e
}

// serveUntil serves until ctx is done.
func (e *streaming) serveUntil(ctx context.Context) error {
	server := &http.Server{Handler: e, ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				e.site.counts[0].connections.Add(1)
			}
		}}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// draw is a time by a law.
func (e *streaming) draw(s service) time.Duration {
	if !s.exponential {
		return s.mean
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Duration(e.rand.ExpFloat64() * float64(s.mean))
}

// ServeHTTP answers one request with a stream. Its events are due by the law from the request's
// arrival on, so that a late one delays no other.
func (e *streaming) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	e.mu.Lock()
	e.n++
	n := e.n
	e.mu.Unlock()
	flush := http.NewResponseController(w)
	due := arrived.Add(e.draw(e.first))
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	wait := func() bool {
		select {
		case <-timer.C:
			return true
		case <-r.Context().Done():
			return false
		}
	}
	w.Header().Set("Content-Type", e.shape.kind)
	for i := range max(e.site.Events, 1) {
		if !wait() {
			return
		}
		if e.site.log != nil {
			e.site.log.addEvent(n, arrived, i+1, time.Now())
		}
		if _, err := fmt.Fprintf(w, e.shape.event, i+1); err != nil || flush.Flush() != nil {
			return
		}
		due = due.Add(e.draw(e.gap))
		timer.Reset(time.Until(due))
	}
	for _, end := range e.shape.ends {
		if strings.Contains(end, "%d") {
			end = fmt.Sprintf(end, max(e.site.Events, 1))
		}
		if _, err := w.Write([]byte(end)); err != nil {
			return
		}
	}
	e.site.counts[0].requests.Add(1)
}
