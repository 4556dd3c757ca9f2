package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
	"dyno/internal/engine/stream"
)

const eventHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk is a chunk with that text.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// streamPlan is a plan whose answers are server-sent events.
func streamPlan(change func(p *loadplan.Plan)) loadplan.Plan {
	return simPlan(func(p *loadplan.Plan) {
		p.Stream.Spec = stream.Spec{Format: stream.SSE}
		p.Timeout, p.Drain = loadplan.StreamTimeout, loadplan.StreamDrain
		if change != nil {
			change(p)
		}
	})
}

// A law says when the events of a stream come: the first ones after a time, and so many together.
type law struct {
	first, gap       int64
	events, together int
}

// streams answers each request by the law.
func (l law) streams() *ring.Sim {
	return &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		p.Reply(l.first/2, []byte(eventHead))
		at := l.first
		for n := 0; n < l.events; n += l.together {
			p.Reply(at, []byte(strings.Repeat(chunk("data: x\n\n"), l.together)))
			at += l.gap
		}
		p.Reply(at-l.gap, []byte("0\r\n\r\n"))
	}}
}

// took is how long a stream takes.
func (l law) took() int64 { return l.first + l.gap*int64(l.events/l.together-1) }

// all reports whether all values of a histogram are near one.
func all(h *metric.Histogram, count, want int64) error {
	if h.Count != count || count > 0 && (!near(h.View().Quantile(0), want) || !near(h.Max, want)) {
		return fmt.Errorf("%d values from %d to %d; want %d of %d", h.Count, h.View().Quantile(0), h.Max, count, want)
	}
	return nil
}

// Events come as the law says, however many one read brings: events of one read are one arrival.
func TestStreamsOfALaw(t *testing.T) {
	for _, l := range []law{{100 * ms, 20 * ms, 50, 1}, {3 * ms, 7 * ms, 60, 5}, {ms, 0, 1, 1}} {
		const streams = 40
		p := streamPlan(func(p *loadplan.Plan) { p.Connections, p.Requested, p.Duration = 4, streams, 0 })
		r := simulate(t, p, l.streams())
		arrivals := int64(l.events / l.together)
		got := r.Total.Stream
		if r.Total.Completed != streams || got.All != streams*int64(l.events) || got.Counted != got.All ||
			got.Arrivals != streams*arrivals || got.Eventful != streams || got.Received != got.All {
			t.Errorf("%+v: %d completed, %+v", l, r.Total.Completed, got.StreamCounts)
		}
		for name, err := range map[string]error{
			"first": all(got.First, streams, l.first), "service": all(got.Service, streams, l.first),
			"gap":     all(got.Gap, streams*(arrivals-1), l.gap),
			"events":  all(got.Events, streams, int64(l.events)),
			"latency": all(r.Total.Latency, streams, l.took()),
		} {
			if err != nil {
				t.Errorf("%+v, %s: %v", l, name, err)
			}
		}
	}
}

// Each second has the first events and gaps that came in it.
func TestSecondsOfStreams(t *testing.T) {
	n := int64(0)
	p := streamPlan(func(p *loadplan.Plan) { p.Connections, p.Duration = 1, loadplan.Seconds(2*s) })
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		n++ // streams of 500 ms, whose gaps are 100 ms in the first second, and 200 in the next
		law{100 * ms, []int64{100 * ms, 200 * ms}[(n-1)/2], []int{5, 3}[(n-1)/2], 1}.streams().Server(p, b)
	}})
	for i, gap := range []int64{100 * ms, 200 * ms} {
		at := r.Intervals[i].StreamTimes
		if !near(int64(1e3*at.FirstP99US), 100*ms) || !near(int64(1e3*at.GapP50US), gap) || !near(int64(1e3*at.GapP99US), gap) {
			t.Errorf("second %d: %+v, want gaps of %d ms", i, at, gap/ms)
		}
	}
}

// Wherever the bytes of a stream are cut, an event comes with its last byte.
func TestStreamsCutAtEachByte(t *testing.T) {
	body := "data: a\r\n\r\ndata: b\n\n: c\n\ndata: d\n\n"
	whole := eventHead + chunk(body[:13]) + chunk(body[13:]) + "0\r\n\r\n"
	p := streamPlan(func(p *loadplan.Plan) { p.Requested, p.Duration = 1, 0 })
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		for i := range whole {
			p.Reply(int64(i+1)*ms, []byte{whole[i]})
		}
	}})
	// The carriage return behind which a line feed may come ends the first event.
	a := int64(strings.Index(whole, "a\r\n\r\n")+4) * ms
	b := int64(strings.Index(whole, "b\n\n")+3) * ms
	d := int64(strings.Index(whole, "d\n\n")+3) * ms
	got := r.Total.Stream
	if got.Arrivals != 3 || got.KeepAlives != 1 || !near(got.First.Max, a) || got.Gap.Count != 2 ||
		!near(got.Gap.View().Quantile(0), min(d-b, b-a)) || !near(got.Gap.Max, max(d-b, b-a)) {
		t.Errorf("%+v, first %d, gaps %d to %d", got.StreamCounts, got.First.Max, got.Gap.View().Quantile(0), got.Gap.Max)
	}
}

// A stream waits for a connection like any request, and its first event is measured from when it
// was due: stream k has it after ⌊k/c⌋·max(0, T − c/R) + f.
func TestStreamsInABacklog(t *testing.T) {
	l := law{30 * ms, 10 * ms, 18, 1} // T = 200 ms
	const rate, connections, streams = 40, 4, 120
	p := streamPlan(func(p *loadplan.Plan) {
		p.Rate, p.Connections, p.Requested, p.Duration = loadplan.RatePerSecond(rate), connections, streams, 0
	})
	r := simulate(t, p, l.streams())
	want := metric.NewHistogram(metric.Fine)
	for k := range int64(streams) {
		want.Record(k/connections*max(0, l.took()-connections*s/rate) + l.first)
	}
	got := r.Total.Stream
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		if !near(quantile(got.First, q), quantile(want, q)) {
			t.Errorf("quantile %v of the first event is %d, want %d", q, quantile(got.First, q), quantile(want, q))
		}
	}
	if err := all(got.Service, streams, l.first); err != nil {
		t.Error("from sending:", err)
	}
}

// A stream that stops is given up after its longest silence, which is a gap; its connection goes.
func TestStreamsThatStall(t *testing.T) {
	n := 0
	p := streamPlan(func(p *loadplan.Plan) {
		p.Requested, p.Duration, p.Stream.Stall = 3, 0, loadplan.Seconds(5*time.Second)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		if n++; n == 2 { // it begins after more than the silence that is allowed behind it
			p.Reply(8*s, []byte(eventHead+chunk("data: x\n\n")))
			p.Reply(9*s, []byte(chunk("data: x\n\n: alive\n\n")))
			p.Reply(12*s, []byte(chunk(": alive\n\n")))
			return
		}
		law{ms, 4 * s, 3, 1}.streams().Server(p, nil)
	}})
	got := r.Total.Stream
	if r.Total.Completed != 2 || r.Total.Failed != 1 || got.Stalled != 1 || !near(got.Gap.Max, 5*s) ||
		got.Gap.Count != 2+1+1+2 || r.Opened != 2 || !near(got.First.Max, 8*s) {
		t.Errorf("%+v, longest gap %d of %d, %d opened", got.StreamCounts, got.Gap.Max, got.Gap.Count, r.Opened)
	}
	if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Stream || f[0].Kind != "stalled" {
		t.Errorf("%+v", f)
	}
}

// What the end of the run cuts counts as far as it came.
func TestStreamsCutByTheEnd(t *testing.T) {
	l := law{100 * ms, s, 100, 1}
	p := streamPlan(func(p *loadplan.Plan) {
		p.Connections, p.Duration, p.Drain = 3, loadplan.Seconds(10*time.Second), loadplan.Seconds(5*time.Second+600*time.Millisecond)
	})
	r := simulate(t, p, l.streams())
	got := r.Total.Stream
	if got.Cut != 3 || got.CutMost != s/2 || got.Cuts[28] != 3 || r.Unfinished != 3 || got.Counted != 3*16 || got.Received != 3*10 ||
		len(r.Unanswered) != 1 || r.Unanswered[0].Eventful != 3 {
		t.Errorf("%+v, %d unfinished, %+v", got.StreamCounts, r.Unfinished, r.Unanswered)
	}
}

// Each route has its own streams: their times, those that stalled or were cut, and the good ones.
func TestStreamsOfRoutes(t *testing.T) {
	p := streamPlan(func(p *loadplan.Plan) {
		p.Requested, p.Duration, p.Timeout, p.Goodput = 12, 0, loadplan.Seconds(3*time.Second), "first_event<150ms"
		p.Stream.Format, p.Stream.Stall = stream.OpenAI, loadplan.Seconds(time.Second)
		p.Requests = append(p.Requests, p.Requests[0])
		p.Requests[0].Name, p.Requests[0].Path, p.Requests[0].Weight = "a", "/a", 1
		p.Requests[1].Name, p.Requests[1].Path, p.Requests[1].Weight = "b", "/b", 1
	})
	b := 0
	event, end := chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"),
		chunk("data: {\"choices\":[],\"usage\":{\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")+"0\r\n\r\n"
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, request []byte) {
		first, gap := 100*ms, 20*ms
		if strings.Contains(string(request), "GET /b") {
			b++
			first, gap = 200*ms, 50*ms
		}
		p.Reply(first, []byte(eventHead+event))
		switch {
		case gap == 50*ms && b == 2: // stalls
			return
		case gap == 50*ms && b == 4: // goes on until its timeout
			for i := range int64(10) {
				p.Reply(first+500*ms*(i+1), []byte(event))
			}
			return
		}
		p.Reply(first+gap, []byte(event))
		p.Reply(first+2*gap, []byte(event+end))
	}})
	if len(r.Routes) != 2 {
		t.Fatalf("%+v", r.Routes)
	}
	for i, want := range []struct {
		first, token, tokens, stalled, cut, good, sent int64
	}{{100 * ms, 20 * ms, 6, 0, 0, 6, 6}, {200 * ms, 50 * ms, 4, 1, 1, 0, 6}} {
		x := r.Routes[i]
		if err := errors.Join(all(x.First, 6, want.first), all(x.Token, want.tokens, want.token)); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
		if x.Stalled != want.stalled || x.Cut != want.cut || x.Good != want.good || x.GoodEnded != want.good || x.Sent() != want.sent {
			t.Errorf("%s: %d stalled, %d cut, %+v, %d sent; want %+v", x.Name, x.Stalled, x.Cut, x.GoodCounts, x.Sent(), want)
		}
	}
	sum := loadresult.AddRoutes([]loadresult.Route{r.Routes[0]}, []loadresult.Route{r.Routes[1]})[0]
	if got := r.Total.Stream; sum.First.Count != got.First.Count || sum.Gap.Count != got.Gap.Count || sum.Token.Count != got.Token.Count ||
		sum.Received != got.Received || sum.ReceivedTokens != got.ReceivedTokens || r.Routes[0].Received != 18 || r.Routes[0].ReceivedTokens != 18 ||
		sum.Stalled != got.Stalled || sum.Cut != got.Cut || sum.GoodCounts != r.Total.GoodCounts || sum.Sent() != r.Total.Sent {
		t.Errorf("together %+v, %d sent; want %+v, %+v of %d", sum, sum.Sent(), got.StreamCounts, r.Total.GoodCounts, r.Total.Sent)
	}
}

// Only streams that were due in the window are counted, and what comes in it is its rate.
func TestStreamsOfTheWarmup(t *testing.T) {
	p := streamPlan(func(p *loadplan.Plan) {
		p.Warmup, p.Duration = loadplan.Seconds(1500*time.Millisecond), loadplan.Seconds(2*time.Second)
	})
	r := simulate(t, p, law{100 * ms, 100 * ms, 10, 1}.streams()) // begun at 0, 1, 2, 3 s
	got := r.Total.Stream
	if got.Counted != 20 || got.Received != 5+10+5 || got.First.Count != 2 || got.Gap.Count != 18 {
		t.Errorf("%+v, %d firsts, %d gaps", got.StreamCounts, got.First.Count, got.Gap.Count)
	}
}

// What is wrong with a stream is an error by name, and its arrivals stay.
func TestBrokenStreams(t *testing.T) {
	head := func(kind string) string { return strings.Replace(eventHead, "text/event-stream", kind, 1) }
	for want, answer := range map[string]string{
		"no-end: the stream ended without what it must end with":  eventHead + chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\n"),
		"no-event: no event that counts; Content-Type: text/html": head("text/html") + chunk("<html>"),
		"error-event: an event said that the stream failed: {\"message\":\"no memory\"}": eventHead +
			chunk("data: {\"error\":{\"message\":\"no memory\"}}\n\n"),
		"malformed: an event was not the JSON that it must be: {": eventHead + chunk("data: {\n\n"),
		"compressed: the answer was compressed, which was not asked for: Content-Encoding: gzip": head("text/event-stream\r\nContent-Encoding: gzip") +
			chunk("\x1f\x8b"),
		"oversized: an event was longer than dyno keeps, 1048576 bytes at most": eventHead + chunk("data: "+strings.Repeat("x", stream.MaxEvent)),
	} {
		for _, steps := range []bool{false, true} {
			p := streamPlan(func(p *loadplan.Plan) { p.Stream.Format = stream.OpenAI })
			if steps {
				p = scenarioPlan(&script{steps: make([]scenario.Step, 1)}, 1, func(p *loadplan.Plan) {
					p.Stream.Format = stream.OpenAI
				})
			}
			p.Requested, p.Duration = 2, 0
			r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(ms, []byte(answer+"0\r\n\r\n")) }})
			if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Stream || f[0].Kind+": "+f[0].Detail != want ||
				r.Total.Failed != 2 || r.Total.ErrorLatency.Count != 2 || r.Total.Stream.Events.Count != 0 {
				t.Errorf("scenario %v: %+v, want %s", steps, f, want)
			}
		}
	}
}

// A connection that ends, or is reset, within a stream's event is an error of reading, and what came
// stays.
func TestStreamsThatEndEarly(t *testing.T) {
	for _, end := range []error{io.EOF, syscall.ECONNRESET} {
		p := streamPlan(func(p *loadplan.Plan) { p.Requested, p.Duration = 1, 0 })
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			p.Reply(ms, []byte(eventHead+chunk("data: x\n\ndata: y")))
			p.Hangup(2*ms, end)
		}})
		if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Read || r.Total.Stream.Arrivals != 1 || r.Total.Stream.Counted != 1 {
			t.Errorf("%v: %+v, %+v", end, f, r.Total.Stream.StreamCounts)
		}
	}
}

// A stream that does not begin is given up when its time is up, and not before: silence behind the
// head is no stall, and comments keep nothing waiting for longer.
func TestStreamsThatNeverBegin(t *testing.T) {
	for name, pings := range map[string]int64{"silence": 0, "comments": 30} {
		p := streamPlan(func(p *loadplan.Plan) {
			p.Requested, p.Duration, p.Timeout, p.Stream.Stall = 1, 0, loadplan.Seconds(20*time.Second), loadplan.Seconds(time.Second)
		})
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			p.Reply(ms, []byte(eventHead))
			for i := range pings {
				p.Reply((i+1)*s, []byte(chunk(": ping\n\n")))
			}
		}})
		got := r.Total.Stream
		if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Timeout || got.Stalled+got.Cut+got.First.Count != 0 || got.KeepAlives != min(pings, 19) ||
			len(r.Unanswered) != 1 || !near(int64(r.Unanswered[0].After), 20*s) {
			t.Errorf("%s: %+v, %+v, %+v", name, f, got.StreamCounts, r.Unanswered)
		}
	}
}

// Events cost no allocation.
func TestEventsAllocateNothing(t *testing.T) {
	p := streamPlan(func(p *loadplan.Plan) { p.Stream.Format = stream.OpenAI })
	event := "data: {\"choices\":[{\"delta\":{\"content\":\"token\"}}]}\n\n"
	reply := eventHead + chunk(event+event[:20]) + chunk(event[20:]) + chunk("data: [DONE]\n\n") + "0\r\n\r\n"
	g := &loop{reply: []byte(reply)}
	w := loopWorker(t, &p, g, func(*metric.Counters) {})
	checkAllocations(t, w, func() int64 { return w.counters.Stream.Events.Count })
}

// A request is good if it is right and keeps all limits; what is due in the warm-up counts in the
// rate alone.
func TestGoodRequests(t *testing.T) {
	n := int64(0)
	p := simPlan(func(p *loadplan.Plan) {
		p.Goodput, p.Warmup, p.Duration = "latency<300ms", loadplan.Seconds(900*time.Millisecond), loadplan.Seconds(2*time.Second)
	})
	sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) { // after 100, 200, 300 ms and again
		n++
		p.Reply((1+(n-1)%3)*100*ms, hello)
	}}
	r := simulate(t, p, sim)
	// Begun after 0, 100, 300 | 600, 700, 900 … ms: three in 600 ms, of which two are good. The one of
	// 700 ms ends when the window begins.
	if r.Total.Completed != 10 || r.Total.Good != 6 || r.Total.GoodEnded != 7 {
		t.Errorf("%d completed, %+v", r.Total.Completed, r.Total.GoodCounts)
	}
}

// Of streams the first event, the longest gap and the token time have limits too.
func TestGoodStreams(t *testing.T) {
	for limits, want := range map[string]int64{
		"first_event<101ms,gap.max<21ms": 10, "first_event<100ms": 0, "gap.max<20ms": 0, "gap.max<=20ms": 10,
		"token_time<20ms": 10, "token_time<1ms": 0, "latency<280ms,ttft<1s": 0, "latency<281ms": 10,
	} {
		p := streamPlan(func(p *loadplan.Plan) {
			p.Requested, p.Duration, p.Goodput, p.Stream.Format = 10, 0, limits, stream.OpenAI
		})
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			event := chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\n")
			p.Reply(100*ms, []byte(eventHead+event))
			for i := range int64(9) {
				p.Reply((120+20*i)*ms, []byte(event))
			}
			p.Reply(280*ms, []byte(chunk("data: {\"choices\":[],\"usage\":{\"completion_tokens\":19}}\n\ndata: [DONE]\n\n")+"0\r\n\r\n"))
		}})
		if r.Total.Good != want || r.Total.Completed != 10 {
			t.Errorf("%s: %d of %d are good, want %d", limits, r.Total.Good, r.Total.Completed, want)
		}
	}
}

// An answer that is an error by its status, or a redirect that nobody follows, is no stream.
func TestStatusesThatAreNoStreams(t *testing.T) {
	for status, failed := range map[string]int64{"503 Busy": 4, "302 Found": 0} {
		p := streamPlan(func(p *loadplan.Plan) { p.Stream.Format, p.Requested, p.Duration = stream.NDJSON, 4, 0 })
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			p.Reply(ms, []byte("HTTP/1.1 "+status+"\r\nContent-Length: 16\r\n\r\n{\"error\":\"busy\"\n"))
		}})
		if r.Total.Stream.All != 0 || r.Total.Stream.First.Count != 0 || r.Total.Failed != failed {
			t.Errorf("%s: %d failed, %+v", status, r.Total.Failed, r.Total.Stream.StreamCounts)
		}
	}
}

// Chunks of HTTP that come at once are one event of --stream chunks.
func TestChunksThatComeTogether(t *testing.T) {
	p := streamPlan(func(p *loadplan.Plan) { p.Stream.Format, p.Requested, p.Duration = stream.Chunks, 1, 0 })
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		p.Reply(ms, []byte(eventHead+chunk("a")+chunk("b")))
		p.Reply(3*ms, []byte(chunk("c")+chunk("d")+chunk("e")+"0\r\n\r\n"))
	}})
	if s := r.Total.Stream; s.Counted != 2 || s.Arrivals != 2 || s.Gap.Count != 1 || !near(s.Gap.Max, 2*ms) {
		t.Errorf("%+v", s.StreamCounts)
	}
}

// A stream whose time is up behind an event is cut: its silence is known.
func TestStreamsThatTimeOut(t *testing.T) {
	p := streamPlan(func(p *loadplan.Plan) {
		p.Requested, p.Duration, p.Timeout = 1, 0, loadplan.Seconds(20*time.Second)
	})
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) { p.Reply(s, []byte(eventHead+chunk("data: x\n\n"))) }})
	if got := r.Total.Stream; got.Cut != 1 || got.CutMost != 19*s || r.Total.Failed != 1 {
		t.Errorf("%+v, %d failed", got.StreamCounts, r.Total.Failed)
	}
}

// Of a request that is redirected, first events run from its first sending, as its service time does.
func TestStreamsBehindRedirects(t *testing.T) {
	arrived := 0
	p := redirectPlan(func(p *loadplan.Plan) { p.Requested, p.Stream.Format = 3, stream.SSE })
	moved := redirecting(&arrived).Server
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if stepOf(b) < 2 {
			moved(p, b)
			return
		}
		p.Reply(30*ms, []byte(eventHead+chunk("data: x\n\n")+"0\r\n\r\n"))
	}})
	if got := r.Total.Stream; all(got.First, 3, 60*ms) != nil || all(got.Service, 3, 60*ms) != nil {
		t.Error(all(got.First, 3, 60*ms), all(got.Service, 3, 60*ms))
	}
}

// A server that refuses a request whose stream has begun did process it: it is not sent again.
func TestRefusedStreamsThatHadBegun(t *testing.T) {
	const data, endOfHeader, refused = 0, 4, 7
	server := &h2Server{answer: func(c *h2Peer) {
		c.reply(ms, frame(h2Headers, endOfHeader, c.id, 0x88), frame(data, 0, c.id, []byte("data: x\n\n")...),
			frame(h2Reset, 0, c.id, word(refused)...))
	}}
	r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Requested, p.Stream.Format = 20, stream.SSE }), server.sim())
	if got := r.Total.Stream; server.requests != 20 || r.Total.Failed != 20 || r.Retried != 0 || got.First.Count != 20 ||
		r.FirstByte.Count != 20 {
		t.Errorf("%d arrived, %d failed, %d retried, %d first events", server.requests, r.Total.Failed, r.Retried, got.First.Count)
	}
}

// What was wrong with a stream stays, while its step waits for the message that it lent and another
// has its place on the connection.
func TestBrokenStreamOfALentStep(t *testing.T) {
	x := &uploading{body: make([]byte, 200<<10), next: func(*scenario.Response) {}}
	p := scenarioPlan(x, 1, func(p *loadplan.Plan) {
		p.Requests[0].Method, p.Requests[0].Body = "POST", []byte{}
		p.Requests[0].Holes = []proto.Hole{{In: proto.InBody}}
		p.Users, p.Requested, p.Duration, p.Stream.Format = 2, 2, 0, stream.OpenAI
	})
	r := simulate(t, p, &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		for range bytes.Count(b, []byte("POST ")) {
			p.Reply(ms, []byte(eventHead+chunk("data: {\n\n")+"0\r\n\r\n"))
		}
	}}})
	if f := r.Failures; len(f) != 1 || f[0].Kind != "malformed" || f[0].Count != 2 || f[0].Detail != "an event was not the JSON that it must be: {" {
		t.Errorf("%+v", f)
	}
}

// Streams whose steps were not judged when the run ended had their first events.
func TestStreamsThatAreNotJudged(t *testing.T) {
	sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		p.Reply(10*ms, []byte(eventHead+chunk("data: x\n\n")+"0\r\n\r\n"))
	}}
	does := thinking(0)
	does.check = func(int, *scenario.Response) { sim.Advance(sim.Now() + 600*ms) }
	r := simulate(t, scenarioPlan(does, 1, func(p *loadplan.Plan) {
		p.Stream.Format, p.Connections, p.Duration, p.Drain = stream.SSE, 50, loadplan.Seconds(2*s), loadplan.Seconds(s)
	}), sim)
	if len(r.Unanswered) != 1 || r.Unfinished < 40 || r.Unanswered[0].Eventful != r.Unfinished {
		t.Errorf("%d unfinished, %+v", r.Unfinished, r.Unanswered)
	}
}

// Users who leave a stream end it: behind so many events, with those that came with the last, or so
// long behind the first. It is complete, and HTTP/1.1 needs another connection.
func TestStreamsThatUsersLeave(t *testing.T) {
	l := law{100 * ms, 20 * ms, 1000, 2}
	for _, c := range []struct {
		take          string
		events, took  int64
		taken, opened int64
	}{
		{"5", 6, 140 * ms, 10, 10}, {"90ms", 10, 190 * ms, 10, 10}, {"1", 2, 100 * ms, 10, 10}, {"1001", 1000, l.took(), 0, 1},
	} {
		p := streamPlan(func(p *loadplan.Plan) { p.Requested, p.Duration, p.Stream.Take = 10, 0, c.take })
		r := simulate(t, p, l.streams())
		got := r.Total.Stream
		if r.Total.Completed != 10 || len(r.Failures) > 0 || got.Taken != c.taken || r.Opened != c.opened || got.Cut != 0 || r.Unfinished != 0 {
			t.Errorf("%s: %d completed, %d opened, %+v", c.take, r.Total.Completed, r.Opened, got.StreamCounts)
		}
		if err := all(got.Events, 10, c.events); err != nil {
			t.Errorf("%s: events: %v", c.take, err)
		}
		if err := all(r.Total.Latency, 10, c.took); err != nil {
			t.Errorf("%s: latency: %v", c.take, err)
		}
	}
}

// Wherever a stream was cut when its user left it, what came of the next event is none, and no fault.
func TestStreamsLeftWithinAnEvent(t *testing.T) {
	for format, events := range map[string][]string{
		stream.SSE:       {"data: a\n\n", "id: 1\r\ndata: bc\n\n", "data: d\n\n"},
		stream.NDJSON:    {"{\"n\": 1}\n", "{\"n\": 2}\n", "{\"n\": 3}\n"},
		stream.Chunks:    {"ab", "cd"},
		stream.OpenAI:    {"data: {\"choices\":[{\"text\":\"a\"}]}\n\n", "data: {\"choices\":[{\"text\":\"b\"}]}\n\n", "data: [DONE]\n\n"},
		stream.Anthropic: {"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"a\"}}\n\n", "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"b\"}}\n\n"},
		stream.Ollama:    {"{\"response\":\"a\",\"done\":false}\n", "{\"response\":\"b\",\"done\":false}\n"},
	} {
		body, first := strings.Join(events, ""), len(events[0])
		counted := int64(0)
		cut := first - 1
		p := streamPlan(func(p *loadplan.Plan) {
			p.Requested, p.Duration, p.Stream.Format, p.Stream.Take = int64(len(body)-first+1), 0, format, "1"
		})
		r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			cut++
			for n, end := 0, 0; n < len(events); n++ {
				if end += len(events[n]); end <= cut && format != stream.Chunks && events[n] != "data: [DONE]\n\n" {
					counted++
				}
			}
			p.Reply(ms, []byte(eventHead+chunk(body[:cut])))
		}})
		if format == stream.Chunks {
			counted = p.Requested
		}
		got := r.Total.Stream
		if r.Total.Completed != p.Requested || len(r.Failures) > 0 || got.Taken != p.Requested || got.Counted != counted {
			t.Errorf("%s: %d of %d completed, %d events counted of %d, %+v", format, r.Total.Completed, p.Requested, got.Counted, counted, r.Failures)
		}
	}
}

// Until the first event of a stream nobody looks whether its user leaves, or it stalls.
func TestStreamsAreLookedAtFromTheirFirstEvent(t *testing.T) {
	for _, c := range []struct{ take, stall string }{{"1ms", ""}, {"1us", ""}, {"", "1ms"}} {
		turns := int64(0)
		p := streamPlan(func(p *loadplan.Plan) {
			p.Requested, p.Duration, p.Connections, p.Stream.Take = 4, 0, 4, c.take
			if c.stall != "" {
				p.Stream.Stall = loadplan.Seconds(time.Millisecond)
			}
		})
		r := simulate(t, p, turning{law{5 * s, 100 * ms, 3, 1}.streams(), &turns})
		left, stalled := r.Total.Stream.Taken, r.Total.Stream.Stalled
		if left+stalled != 4 || stalled != map[bool]int64{true: 4}[c.stall != ""] || turns > 600 { // of which one in 10 ms is for other things
			t.Errorf("%+v: %d were left and %d stalled, after %d turns", c, left, stalled, turns)
		}
		if want := 5*s + ms; c.take == "1ms" && !near(r.Total.Latency.Max, want) {
			t.Errorf("left after %d ns, want %d", r.Total.Latency.Max, want)
		}
	}
}

// HTTP/2 cancels a stream that its user leaves, and the connection goes on. No token is missed.
func TestStreamsThatUsersLeaveOverHTTP2(t *testing.T) {
	const data, endOfHeader = 0, 4
	for take, took := range map[string]int64{"3": 4 * ms, "2500us": 4500 * us} {
		server := &h2Server{answer: func(c *h2Peer) {
			c.Reply(ms, frame(h2Headers, endOfHeader, c.id, 0x88))
			for i := range int64(3) {
				c.Reply((2+i)*ms, frame(data, 0, c.id, []byte("data: {\"choices\":[{\"text\":\"a\"}]}\n\n")...))
			}
		}}
		r := simulate(t, h2Plan(func(p *loadplan.Plan) {
			p.Requested, p.Streams, p.Stream.Format, p.Stream.Take = 40, 4, stream.OpenAI, take
		}), server.sim())
		got := r.Total.Stream
		if r.Total.Completed != 40 || got.Taken != 40 || got.Untold != 0 || r.Opened != 1 || server.canceled != 40 ||
			len(r.Failures) > 0 || all(got.Events, 40, 3) != nil || all(r.Total.Latency, 40, took) != nil {
			t.Errorf("%s: %d completed, %d opened, %d canceled, %+v, %+v; %v, %v", take, r.Total.Completed, r.Opened, server.canceled,
				r.Failures, got.StreamCounts, all(got.Events, 40, 3), all(r.Total.Latency, 40, took))
		}
	}
}

// A sample of streams is evenly spread over the window, and has when their events came: of many
// events each second, fourth and so on.
func TestRain(t *testing.T) {
	for _, c := range []struct{ streams, events, each int }{{30, 100, 1}, {300, 7, 1}, {20, 600, 8}} {
		l := law{10 * ms, ms, c.events, 1}
		p := streamPlan(func(p *loadplan.Plan) { p.Requested, p.Duration = int64(c.streams), 0 })
		r := simulate(t, p, l.streams())
		if least := min(c.streams, loadresult.RainStreams/2+1); len(r.Rain) < least || len(r.Rain) > loadresult.RainStreams {
			t.Errorf("%+v: %d streams", c, len(r.Rain))
		}
		for i, x := range r.Rain {
			want := int64(i) * l.took() * int64((c.streams+len(r.Rain)-1)/len(r.Rain))
			if x.Each != c.each || int64(x.Due) != want || len(x.Arrivals) != (c.events+c.each-1)/c.each {
				t.Errorf("%+v: stream %d, due at %v (want %d), has %d arrivals, each %d", c, i, x.Due, want, len(x.Arrivals), x.Each)
			}
			for k, at := range x.Arrivals {
				if at != 10_000+1000*int64(k*c.each) {
					t.Fatalf("%+v: arrival %d after %d µs", c, k, at)
				}
			}
		}
	}
}

// Of a session only some steps stream: a login's answer is no stream, it needs none of their limits,
// and one that has no answer waits for no first event.
func TestStepsThatStream(t *testing.T) {
	does := &script{steps: []scenario.Step{{Plain: true}, {}, {Plain: true}}}
	p := scenarioPlan(does, 3, func(p *loadplan.Plan) {
		p.Stream.Format, p.Goodput = stream.OpenAI, "gap.max<21ms,first_event<11ms,latency<1s"
		p.Timeout, p.Requested, p.Duration = loadplan.Seconds(5*time.Second), 4, 0
	})
	n := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		switch stepOf(b) {
		case 0:
			p.Reply(ms, answer(200, "Content-Encoding: gzip"))
		case 1:
			event := chunk("data: {\"choices\":[{\"text\":\"a\"}]}\n\n")
			p.Reply(10*ms, []byte(eventHead+event))
			p.Reply(30*ms, []byte(event+chunk("data: [DONE]\n\n")+"0\r\n\r\n"))
		case 2:
			if n++; n < 4 {
				p.Reply(ms, hello)
			}
		}
	}})
	got := r.Total.Stream
	if r.Total.Completed != 11 || r.Total.Failed != 1 || got.Events.Count != 4 || got.Eventful != 4 || got.Cut != 0 || r.Total.Good != 11 ||
		all(got.First, 4, 10*ms) != nil || all(got.Gap, 4, 20*ms) != nil || len(r.Rain) != 4 {
		t.Errorf("%d completed, %d good, %+v, %+v", r.Total.Completed, r.Total.Good, got.StreamCounts, r.Failures)
	}
	if w := r.Unanswered; len(w) != 1 || w[0].Requests != 1 || w[0].Eventful != 1 {
		t.Errorf("%+v", w)
	}
	for i, n := range []int64{0, 4, 0} {
		if x := r.Routes[i]; all(x.First, n, 10*ms) != nil || all(x.Gap, n, 20*ms) != nil {
			t.Errorf("%s: %v, %v", x.Name, all(x.First, n, 10*ms), all(x.Gap, n, 20*ms))
		}
	}
}
