package load

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/stream"
)

// Streams of quic-go's own server come event by event: all that it wrote, and together none sooner
// than it wrote them. Users who leave one cancel it, and its connection goes on.
func TestHTTP3Streams(t *testing.T) {
	const streams, events = 30, 10
	for take, counted := range map[string]int64{"": streams * events, "3": streams * 3} {
		var wrote, left atomic.Int64 // ns from arrivals to last events; streams that their users left
		port, _ := serveHTTP3(t, func(w http.ResponseWriter, r *http.Request) {
			arrived := time.Now()
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range events {
				if i == events-1 && take != "" {
					<-r.Context().Done()
					left.Add(1)
					return
				}
				time.Sleep(2 * time.Millisecond)
				if i == events-1 {
					wrote.Add(int64(time.Since(arrived)))
				}
				io.WriteString(w, "data: {\"choices\":[{\"text\":\"a\"}]}\n\n")
				w.(http.Flusher).Flush()
			}
			io.WriteString(w, "data: [DONE]\n\n")
		}, nil)
		r := measure(t, http3Plan(port, func(p *loadplan.Plan) {
			p.Requested, p.Connections, p.Stream.Format, p.Stream.Take = streams, 2, stream.OpenAI, take
			p.Timeout, p.Drain = loadplan.Seconds(2*time.Minute), loadplan.Seconds(time.Minute)
		}))
		got := r.Total.Stream
		if r.Total.Completed != streams || len(r.Failures) > 0 || got.Counted < counted || take == "" && got.Counted != counted || got.Eventful != streams || r.Opened != 2 {
			t.Errorf("take %q: %d completed on %d connections, %+v, %+v", take, r.Total.Completed, r.Opened, got.StreamCounts, r.Failures)
		}
		if took := got.First.Sum.Float64() + got.Gap.Sum.Float64(); take == "" && took < 0.99*float64(wrote.Load()) {
			t.Errorf("first events and gaps are %.0f ns, and the server wrote for %d", took, wrote.Load())
		}
		if take != "" && (got.Taken != streams || left.Load() == 0) {
			t.Errorf("%d were left, %d by the server's account", got.Taken, left.Load())
		}
	}
}
