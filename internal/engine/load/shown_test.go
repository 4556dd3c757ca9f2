package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/stream"
)

// The first requests of the window are shown, whatever became of them, and no others; errors of a
// load that does not save them have no sample besides.
func TestShownRequests(t *testing.T) {
	for _, threads := range []int{1, 2} {
		p := simPlan(func(p *loadplan.Plan) {
			p.Show, p.Requested, p.Duration, p.Connections, p.Threads = 3, 40, 0, 2, threads
			p.Requests[0].Method, p.Requests[0].Body = "POST", []byte("what")
		})
		n := 0
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			if n++; n%2 == 0 {
				p.Reply(10*ms, answer(500, fmt.Sprint("error ", n)))
			} else {
				p.Reply(10*ms, answer(200, fmt.Sprint("number ", n)))
			}
		}})
		if len(r.Samples) != 3 || r.Total.Completed != 20 {
			t.Fatalf("%d threads: %d samples of %d and %d requests", threads, len(r.Samples), r.Total.Completed, r.Total.Failed)
		}
		statuses := map[uint16]int{}
		for _, s := range r.Samples {
			statuses[s.Status]++
			if s.Phase != loadresult.Shown || s.Detail != "" || string(s.Request.Body) != "what" || len(s.Body) < 7 ||
				s.BodyBytes != int64(len(s.Body)) || len(s.Fields) != 2 {
				t.Errorf("%d threads: %+v", threads, s)
			}
		}
		if statuses[200] == 0 || statuses[500] == 0 {
			t.Errorf("%d threads: %v", threads, statuses)
		}
	}
}

// A request without an answer is shown with the reason.
func TestShownFailure(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Show, p.Requested, p.Duration, p.Connections = 1, 1, 0, 1 })
	p.Timeout = loadplan.Seconds(50 * ms)
	r := simulate(t, p, &ring.Sim{Server: func(*ring.Peer, []byte) {}})
	if len(r.Samples) != 1 || r.Samples[0].Status != 0 || r.Samples[0].Detail == "" || r.Samples[0].Request.Path != "/" {
		t.Errorf("%+v", r.Samples)
	}
}

// When enough are shown, nothing is copied any more, and nothing is allocated.
func TestShownAllocateNothing(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration, p.Show = 4, loadplan.Seconds(1000*s), 2 })
	w := loopWorker(t, &p, &loop{reply: hello}, func(*metric.Counters) {})
	checkAllocations(t, w, func() int64 { return w.counters.Completed })
	if len(w.samples.Kept) != 2 {
		t.Errorf("%d are shown", len(w.samples.Kept))
	}
	for _, c := range w.pool.conns {
		for _, r := range c.responses.Whole.Of {
			if len(r.Body) > 0 {
				t.Errorf("a response is copied that nobody will see: %q", r.Body)
			}
		}
	}
}

// A stream is shown event by event, with when each came; of many events the first are.
func TestShownEvents(t *testing.T) {
	p := streamPlan(func(p *loadplan.Plan) { p.Show, p.Requested, p.Duration, p.Stream.Format = 2, 4, 0, stream.OpenAI })
	n := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		if n++; n == 2 {
			p.Reply(ms, []byte(eventHead+chunk(strings.Repeat("data: {\"choices\":[{\"text\":\"a\"}]}\n\n", 1200)+"data: [DONE]\n\n")+"0\r\n\r\n"))
			return
		}
		p.Reply(2*ms, []byte(eventHead+chunk("data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n: ping\n\n")))
		p.Reply(5*ms, []byte(chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[{\"text\":\""+strings.Repeat("b", 5000)+"\"}]}\n\n")))
		p.Reply(7*ms, []byte(chunk("data: [DONE]\n\n")+"0\r\n\r\n"))
	}})
	if len(r.Samples) != 2 {
		t.Fatalf("%d samples", len(r.Samples))
	}
	var got []string
	for _, e := range r.Samples[0].Events {
		got = append(got, fmt.Sprint(e.After, " ", e.Bytes, " ", e.Counted, " ", string(e.Text)))
	}
	want := []string{`2ms 38 false {"choices":[{"delta":{"content":""}}]}`, `5ms 26 true {"choices":[{"text":"a"}]}`, "5ms 5025 true ", "7ms 6 false [DONE]"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if s := r.Samples[1]; len(s.Events) != loadresult.ShownEvents || s.More != 201 {
		t.Errorf("%d events, and %d more", len(s.Events), s.More)
	}
}
