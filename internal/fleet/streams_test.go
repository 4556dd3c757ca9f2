package fleet

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/stream"
	"dyno/internal/fleet/wire"
	"dyno/internal/result/streamed"
)

// The streams of three agents together are those that the agents counted, exactly.
func TestStreamsOfAFleet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.startAgent(name, 1, unhurriedly)
	}
	const streams, events = 90, 6
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range events {
			time.Sleep(2 * time.Millisecond)
			fmt.Fprint(w, "data: {\"choices\":[{\"text\":\"a\"}]}\n\n")
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "data: {\"choices\":[],\"usage\":{\"completion_tokens\":9}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	c := w.newController()
	c.lease = unhurried
	want, seen := metric.NewStreams(), map[string]bool{}
	c.alter = func(m *nats.Msg) []*nats.Msg {
		var r wire.Report
		name, what, _ := wire.ParseSubject(m.Subject)
		if what == wire.Reported && wire.Decode(m.Data, &r) == nil && !seen[fmt.Sprint(name, r.Seq)] && r.Tick != nil {
			seen[fmt.Sprint(name, r.Seq)] = true
			want.Merge(r.Tick.Stream.Streams())
		}
		return []*nats.Msg{m}
	}
	p := w.newPlan(0, 0, 9)
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	p.Target = loadplan.Target{URL: server.URL, Host: at.Addr().String(), Port: at.Port()}
	p.Stream.Spec, p.Requested, p.Goodput = stream.Spec{Format: stream.OpenAI}, streams, "latency<1h"
	p.Requests = append(p.Requests, p.Requests[0])
	p.Requests[1].Name = "again"
	r := w.mustRun(c, p)
	whole, _ := streamed.From(p.Stream.Format, want, nil, time.Duration(r.Window.MeasuredS*1e9))
	got := r.Stream
	if got == nil || len(got.Samples) != min(streams, loadresult.RainStreams) || got.Counted != streams*events || got.Tokens != streams*9 || got.First.Count != streams {
		t.Fatalf("%+v", got)
	}
	for name, pair := range map[string][2]any{
		"first event": {*got.First, *whole.First}, "gap": {*got.Gap, *whole.Gap}, "token time": {*got.Token, *whole.Token},
		"arrivals": {got.Arrivals, whole.Arrivals}, "events": {*got.Each.Events, *whole.Each.Events},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %+v, want %+v", name, pair[0], pair[1])
		}
	}
	var first, tokens, good int64
	for _, x := range r.Routes {
		first, tokens, good = first+x.First.Count, tokens+x.Token.Count, good+x.Goodput.Count
	}
	if len(r.Routes) != 2 || first != streams || tokens != got.Token.Count || good != streams {
		t.Errorf("%d first events, %d token times, %d good of %+v", first, tokens, good, r.Routes)
	}
	var inSeconds int64
	for _, s := range r.Series {
		inSeconds += s.Events
	}
	if inSeconds != got.Counted {
		t.Errorf("%d events in the seconds, of %d", inSeconds, got.Counted)
	}
}
