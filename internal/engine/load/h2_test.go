package load

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// An h2Server is a server of HTTP/2 in virtual time: it reads frames, and what it
// says to a request is the test's.
type h2Server struct {
	settings []byte        // the frame's payload
	after    int64         // the preface
	answer   func(*h2Peer) // is called for each request
	requests int
	deepest  int    // streams that were open at once
	canceled int    // streams that the client reset
	last     []byte // the client's last GOAWAY
	peers    map[int]*h2Peer
}

// An h2Peer is the server's end of a connection.
type h2Peer struct {
	*ring.Peer
	id    uint32 // of the stream that asks
	n     int    // which request of the connection it is, from 1
	of    int    // and of all
	open  int
	begun bool
	gone  bool
	in    []byte
}

// Frames, as far as the tests need them.
const (
	h2Headers, h2Reset, h2Settings, h2Ping, h2GoAway = 1, 3, 4, 6, 7
	h2Ack, h2End                                     = 1, 5 // the stream, and the header
	h2Cancel                                         = 8
	h2Preface                                        = len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
)

func frame(kind, flags byte, id uint32, payload ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = binary.BigEndian.AppendUint32(append(b, flags), id)
	return append(b, payload...)
}

func word(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }

// ok is a whole response: its status is the eighth of HPACK's table.
func ok(id uint32) []byte { return frame(h2Headers, h2End, id, 0x88) }

func (s *h2Server) sim() *ring.Sim {
	s.peers = map[int]*h2Peer{}
	return &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		c := s.peers[p.N]
		if c == nil {
			c = &h2Peer{Peer: p}
			s.peers[p.N] = c
		}
		s.hear(c, b)
	}}
}

func (s *h2Server) hear(c *h2Peer, b []byte) {
	c.in = append(c.in, b...)
	if !c.begun {
		c.begun = true
		c.in = c.in[h2Preface:]
		c.Reply(s.after, frame(h2Settings, 0, 0, s.settings...))
	}
	for len(c.in) >= 9 {
		size := int(c.in[0])<<16 | int(c.in[1])<<8 | int(c.in[2])
		kind, flags, id := c.in[3], c.in[4], binary.BigEndian.Uint32(c.in[5:])
		whole := bytes.Clone(c.in[:9+size])
		payload := whole[9:]
		c.in = c.in[9+size:]
		switch {
		case kind == h2Headers && !c.gone:
			s.requests++
			c.n++
			c.open++
			s.deepest = max(s.deepest, c.open)
			c.id, c.of = id, s.requests
			s.answer(c)
		case kind == h2Reset && payload[3] == h2Cancel:
			s.canceled++
		case kind == h2GoAway:
			s.last = whole
		case kind == h2Ping && flags&h2Ack == 0:
			c.Reply(0, frame(h2Ping, h2Ack, 0, payload...))
		}
	}
}

// reply answers the request that asks.
func (c *h2Peer) reply(after int64, frames ...[]byte) {
	c.open--
	c.Reply(after, bytes.Join(frames, nil))
}

// goAway says that this request is the last. What follows it is not heard.
func (c *h2Peer) goAway(after int64, last, code uint32) {
	c.gone = true
	c.Reply(after, frame(h2GoAway, 0, 0, append(word(last), word(code)...)...))
}

func h2Plan(change func(p *loadplan.Plan)) loadplan.Plan {
	return simPlan(func(p *loadplan.Plan) {
		p.Target.H2C, p.Target.URL, p.Streams = true, "h2c://sim/", 10
		p.Requested, p.Duration = 100, 0
		change(p)
	})
}

// There is no room before the server's SETTINGS, and none beyond what they say.
func TestHTTP2Room(t *testing.T) {
	s := &h2Server{settings: append([]byte{0, 3}, word(3)...), after: 20 * ms}
	s.answer = func(c *h2Peer) {
		if c.Now() < 20*ms {
			t.Errorf("a request after %d ns", c.Now())
		}
		c.Reply(ms, ok(c.id))
		if c.n%3 == 0 {
			c.open -= 3
		}
	}
	sim := s.sim()
	r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Requested = 99 }), sim)
	if r.Total.Completed != 99 || s.requests != 99 || s.deepest != 3 {
		t.Errorf("%d completed of %d, %d at once", r.Total.Completed, s.requests, s.deepest)
	}
	if sim.Now() != (20+33)*ms || r.FirstByte.Max != ms || r.Total.Latency.Max != ms {
		t.Errorf("%d ns, first byte after %d, latency %d", sim.Now(), r.FirstByte.Max,
			r.Total.Latency.Max)
	}
	if r.Protocols[loadplan.HTTP2] != 1 || r.Opened != 1 || r.Room != 3 {
		t.Errorf("%v of %d opened; room for %d", r.Protocols, r.Opened, r.Room)
	}
	want := fact.FewerStreams{Streams: 3, Asked: 10}
	if len(r.Notices) != 1 || r.Notices[0].Args != want {
		t.Errorf("notices %+v", r.Notices)
	}
}

// What becomes of the exchanges that a server does not answer as it should.
func TestHTTP2Unanswered(t *testing.T) {
	const refused, internal = 7, 2
	type want struct {
		completed, failed, retried int64
		phase                      loadresult.Phase
		kind                       string
	}
	for name, tc := range map[string]struct {
		answer func(c *h2Peer)
		want   want
	}{
		"refused once": {func(c *h2Peer) {
			if c.of <= 10 {
				c.reply(ms, frame(h2Reset, 0, c.id, word(refused)...))
			} else {
				c.reply(ms, ok(c.id))
			}
		}, want{100, 0, 10, "", ""}},
		"refused always": {func(c *h2Peer) {
			c.reply(ms, frame(h2Reset, 0, c.id, word(refused)...))
		}, want{0, 100, 100, loadresult.Protocol, "refused"}},
		"reset": {func(c *h2Peer) {
			if c.of%4 == 0 {
				c.reply(ms, frame(h2Reset, 0, c.id, word(internal)...))
			} else {
				c.reply(ms, ok(c.id))
			}
		}, want{75, 25, 0, loadresult.Protocol, "rst-internal-error"}},
		"going away before the answers": {func(c *h2Peer) {
			if c.n == 3 {
				c.goAway(ms, c.id, 0)
			}
			c.reply(2*ms, ok(c.id))
		}, want{100, 0, 222, "", ""}}, // 31 connections refuse 7 streams; the next 4 and 1
		"going away after the answers": {func(c *h2Peer) {
			if c.reply(ms, ok(c.id)); c.n == 15 {
				c.goAway(2*ms, c.id, 0)
			}
		}, want{100, 0, 60, "", ""}}, // 6 connections serve 15, and have 10 more by then
		"going away in anger": {func(c *h2Peer) {
			if c.of != 42 {
				c.reply(ms, ok(c.id))
				return
			}
			c.goAway(ms, c.id, internal)
			c.Hangup(2*ms, io.EOF)
		}, want{99, 1, 0, loadresult.Protocol, "goaway-internal-error"}},
		"cut in the midst": {func(c *h2Peer) {
			switch {
			case c.of == 42: // begins, as the only one: the others go again
				c.gone = true
				c.Reply(2*ms, frame(h2Headers, h2End-1, c.id, 0x88))
				c.Hangup(3*ms, syscall.ECONNRESET)
			default:
				c.reply(ms, ok(c.id))
			}
		}, want{99, 1, 0, loadresult.Read, "reset"}},
		"closed in the midst": {func(c *h2Peer) {
			if c.of != 42 {
				c.reply(ms, ok(c.id))
				return
			}
			c.gone = true
			c.Reply(2*ms, frame(h2Headers, h2End-1, c.id, 0x88))
			c.Hangup(3*ms, io.EOF)
		}, want{99, 1, 0, loadresult.Read, "truncated"}},
		"silent once": {func(c *h2Peer) {
			if c.of != 42 {
				c.reply(ms, ok(c.id))
			}
		}, want{99, 1, 0, loadresult.Timeout, "timeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &h2Server{answer: tc.answer}
			r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Timeout = loadplan.Seconds(50 * ms) }), s.sim())
			got := want{completed: r.Total.Completed, failed: r.Total.Failed}
			if tc.want.retried > 0 {
				got.retried = r.Retried
			}
			if len(r.Failures) > 0 {
				got.phase, got.kind = r.Failures[0].Phase, r.Failures[0].Kind
			}
			if got != tc.want || r.Total.Status[200] != got.completed {
				t.Errorf("got %+v, want %+v: %+v", got, tc.want, r.Failures)
			}
			if got.kind == "reset" && !strings.HasSuffix(r.Failures[0].Detail, " of an answer with status 200") {
				t.Errorf("behind a head with status 200: %q", r.Failures[0].Detail)
			}
		})
	}
}

// An exchange that is not answered in time is canceled, and its connection goes on with
// the others.
func TestHTTP2TimeoutCancels(t *testing.T) {
	srv := &h2Server{answer: func(c *h2Peer) {
		if c.of%10 != 0 {
			c.reply(ms, ok(c.id))
		}
	}}
	sim := srv.sim()
	r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Timeout, p.Requested = loadplan.Seconds(50*ms), 1000 }), sim)
	if r.Total.Completed != 900 || r.Total.Failed != 100 || srv.canceled != 100 {
		t.Errorf("%d completed, %d failed, %d canceled", r.Total.Completed, r.Total.Failed, srv.canceled)
	}
	if r.Opened != 1 || r.Reconnects != 0 || r.Retried != 0 {
		t.Errorf("%d opened, %d reconnects, %d retried", r.Opened, r.Reconnects, r.Retried)
	}
	if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Timeout || f[0].Kind != "timeout" {
		t.Errorf("%+v", f)
	}
}

// A connection of which nothing is heard any more is lost a timeout after the first
// exchange was: its server answers no PING either. Another takes its place.
func TestHTTP2DeadConnection(t *testing.T) {
	srv := &h2Server{answer: func(c *h2Peer) { c.reply(ms, ok(c.id)) }}
	sim := srv.sim()
	hear := sim.Server
	sim.Server = func(p *ring.Peer, b []byte) {
		if dead := p.N == 0 && p.Now() >= 100*ms; !dead {
			hear(p, b)
		}
	}
	r := simulate(t, h2Plan(func(p *loadplan.Plan) {
		p.Timeout, p.Requested, p.Duration = loadplan.Seconds(50*ms), 0, loadplan.Seconds(400*ms)
	}), sim)
	// Ten were sent when it died, and timed out after 50 ms; 50 ms later it was lost.
	if r.Total.Failed != 10 || r.Reconnects != 1 {
		t.Errorf("%d failed, %d reconnects: %+v", r.Total.Failed, r.Reconnects, r.Failures)
	}
	if want := int64(10 * (100 + 200)); r.Total.Completed != want {
		t.Errorf("%d completed, want %d", r.Total.Completed, want)
	}
}

// A load of so many requests ends, although its server ends each connection without an answer: not
// at once, because it may begin to answer, and not for hours. One that also has a duration goes on.
func TestUnserved(t *testing.T) {
	closes := func(answers int64) *ring.Sim {
		return &ring.Sim{Server: func(p *ring.Peer, b []byte) {
			if p.Now() < answers {
				p.Reply(ms, hello)
			}
			p.Hangup(2*ms, io.EOF)
		}}
	}
	away := &h2Server{answer: func(c *h2Peer) { c.goAway(ms, 0, 0) }}
	late := func(from int64) *ring.Sim {
		return &ring.Sim{Server: func(p *ring.Peer, b []byte) {
			if p.Now() >= from {
				p.Reply(ms, hello)
			} else {
				p.Hangup(2*ms, io.EOF)
			}
		}}
	}
	for name, c := range map[string]struct {
		plan        loadplan.Plan
		sim         *ring.Sim
		ended       loadresult.Ending
		least, most int64 // until it ended
	}{
		"closed": {simPlan(func(p *loadplan.Plan) { p.Requested, p.Duration, p.Connections = 1000, 0, 3 }), closes(0),
			loadresult.Unserved, 9 * s, 11 * s},
		"answers at first": {simPlan(func(p *loadplan.Plan) { p.Requested, p.Duration, p.Connections = 1_000_000, 0, 3 }),
			closes(10 * s), loadresult.Unserved, 19 * s, 21 * s},
		"GOAWAY": {h2Plan(func(p *loadplan.Plan) { p.Requested, p.Connections = 1000, 10 }), away.sim(),
			loadresult.Unserved, 9 * s, 11 * s},
		"for a time": {simPlan(func(p *loadplan.Plan) {
			p.Requested, p.Duration, p.Connections = 1_000_000, loadplan.Seconds(20*s), 3
		}), closes(0), loadresult.ByDuration, 20 * s, 23 * s},
		"answers in the end": {simPlan(func(p *loadplan.Plan) { p.Requested, p.Duration, p.Connections = 1000, 0, 3 }),
			late(3 * s), loadresult.ByRequests, 3 * s, 5 * s},
	} {
		r := simulate(t, c.plan, c.sim)
		if r.Ended != c.ended || c.sim.Now() < c.least || c.sim.Now() > c.most {
			t.Errorf("%s: %s after %v", name, r.Ended, time.Duration(c.sim.Now()))
		}
	}
}

// What is in flight when the last connection has been in vain that often may still be answered, and the
// load goes on then.
func TestUnservedWaitsForWhatIsInFlight(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) { p.Requested, p.Duration, p.Connections = 200, 0, 2 })
	for name, c := range map[string]struct {
		answers bool
		ended   loadresult.Ending
	}{"answered": {true, loadresult.ByRequests}, "lost": {false, loadresult.Unserved}} {
		lives := 0
		r := simulate(t, p, opensLate(&ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			lives++
			switch {
			case p.N == 1: // the second connection's lives begin between those of the first
				p.Hangup(600*ms, io.EOF)
			case p.N == 2*fruitlessMost || p.N < 2*fruitlessMost-1: // the last one is the second's
				p.Hangup(0, io.EOF)
			case c.answers:
				p.Reply(400*ms, hello)
			default:
				p.Hangup(400*ms, io.EOF)
			}
		}}))
		if r.Ended != c.ended || c.answers && r.Total.Completed != 200-2*fruitlessMost || lives > 4*fruitlessMost+200 {
			t.Errorf("%s: %s, %d completed, %d failed, %d unfinished", name, r.Ended, r.Total.Completed, r.Total.Failed, r.Unfinished)
		}
	}
}

// A server that never lets anybody in does not hold up a run of so many requests, and if it
// says why that is told.
func TestHTTP2GoesAwayAtOnce(t *testing.T) {
	for code, kind := range map[uint32]string{0: "refused", 11: "goaway-enhance-your-calm"} {
		s := &h2Server{answer: func(c *h2Peer) { c.goAway(ms, 0, code) }}
		r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Requested = 30 }), s.sim())
		if r.Ended != loadresult.Unserved || r.Total.Failed < 10 || r.Failures[0].Kind != kind ||
			r.Retried > 10*fruitlessMost {
			t.Errorf("%s: %d failed, %d retried: %+v", r.Ended, r.Total.Failed, r.Retried, r.Failures)
		}
	}
}

// A server that ends connections because of what it dislikes is told of, even if every
// request was then served by another; an orderly end is not.
func TestHTTP2Dismissed(t *testing.T) {
	for _, c := range []struct {
		code   uint32
		often  int // the connection's last request; the others are left to the next
		notice fact.Args
	}{
		{0, 30, nil},
		{11, 30, fact.ConnectionsEnded{Count: 3, Why: `ended by the server: GOAWAY, ENHANCE_YOUR_CALM: "too much"`}},
		{1, 60, fact.ConnectionsEnded{Count: 1, Why: `ended by the server: GOAWAY, PROTOCOL_ERROR: "too much"`}},
	} {
		s := &h2Server{answer: func(p *h2Peer) {
			if p.reply(ms, ok(p.id)); p.n == c.often {
				p.gone = true
				p.Reply(ms, frame(h2GoAway, 0, 0, slices.Concat(word(p.id), word(c.code), []byte("too much"))...))
			}
		}}
		r := simulate(t, h2Plan(func(*loadplan.Plan) {}), s.sim())
		said := len(r.Notices) == 1 && r.Notices[0].Args == c.notice
		if r.Total.Completed != 100 || len(r.Failures) > 0 || !said && (c.notice != nil || len(r.Notices) > 0) {
			t.Errorf("%d completed, %+v: %+v, want %+v", r.Total.Completed, r.Failures, r.Notices, c.notice)
		}
	}
}

// When a connection breaks at one exchange the others are lost more often; what broke it
// comes first all the same, and is why the run was worth nothing.
func TestHTTP2CauseFirst(t *testing.T) {
	s := &h2Server{answer: func(c *h2Peer) {
		if c.n == 10 {
			c.Reply(ms, frame(h2Headers, h2End, 1, 0xff, 0x20))
		}
	}}
	r := simulate(t, h2Plan(func(*loadplan.Plan) {}), s.sim())
	if len(r.Failures) != 2 || r.Failures[0].Phase != loadresult.Protocol || r.Failures[0].Kind != "compression" ||
		r.Failures[1].Kind != loadresult.Behind || r.Failures[1].Count <= r.Failures[0].Count {
		t.Errorf("%+v", r.Failures)
	}
}

// Servers that are not such ones: no connection is ever ready.
func TestHTTP2Unspoken(t *testing.T) {
	for name, tc := range map[string]struct {
		server func(p *ring.Peer, b []byte)
		phase  loadresult.Phase
		kind   string
		detail string
	}{
		"HTTP/1.1": {func(p *ring.Peer, _ []byte) { p.Reply(ms, hello) }, loadresult.Protocol, "garbage", "HTTP/1"},
		"silent":   {func(*ring.Peer, []byte) {}, loadresult.Connect, "timeout", "connected, but"},
		"no streams": {func(p *ring.Peer, _ []byte) {
			p.Reply(ms, frame(h2Settings, 0, 0, append([]byte{0, 3}, word(0)...)...))
		}, loadresult.Connect, "timeout", "not allowed a request"},
		"closes": {func(p *ring.Peer, _ []byte) { p.Hangup(ms, io.EOF) }, loadresult.Protocol, "closed", ""},
		"resets": {func(p *ring.Peer, _ []byte) { p.Hangup(ms, syscall.ECONNRESET) }, loadresult.Connect, "reset", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := simulate(t, h2Plan(func(*loadplan.Plan) {}), &ring.Sim{Server: tc.server})
			if r.Ended != loadresult.Unreachable || len(r.Failures) != 1 || len(r.Protocols) != 0 {
				t.Fatalf("ended by %s: %+v, %v", r.Ended, r.Failures, r.Protocols)
			}
			f := r.Failures[0]
			if f.Phase != tc.phase || f.Kind != tc.kind || !strings.Contains(f.Detail, tc.detail) {
				t.Errorf("%+v", f)
			}
		})
	}
}

// An h2Loop is a loop that answers HTTP/2. It is told all of a frame at once.
type h2Loop struct {
	*loop
	said [64][]byte // more than there are connections, each of which has one under way
	turn int
}

func (l *h2Loop) Send(fd int, b []byte) bool {
	l.turn = (l.turn + 1) % len(l.said)
	out := l.said[l.turn][:0]
	if bytes.HasPrefix(b, []byte("PRI ")) {
		b = b[h2Preface:]
		out = append(out, 0, 0, 0, h2Settings, 0, 0, 0, 0, 0)
	}
	for len(b) > 0 {
		if b[3] == h2Headers {
			out = append(append(append(out, 0, 0, 1, h2Headers, h2End), b[5:9]...), 0x88)
		}
		b = b[9+int(b[0])<<16+int(b[1])<<8+int(b[2]):]
	}
	if l.said[l.turn] = out; len(out) > 0 {
		l.queue = append(l.queue, ring.Completion{Op: ring.Received, User: l.user[fd], Data: out})
	}
	return true
}

func newH2Worker(t testing.TB, publish func(*metric.Counters)) *worker {
	p := h2Plan(func(p *loadplan.Plan) { p.Connections, p.Requested, p.Duration = 4, 0, loadplan.Seconds(1000*s) })
	return loopWorker(t, &p, &h2Loop{loop: &loop{}}, publish)
}

// As with HTTP/1.1 nothing is allocated once it is warm.
func TestHTTP2TurnAllocatesNothing(t *testing.T) {
	w := newH2Worker(t, func(*metric.Counters) {})
	checkAllocations(t, w, func() int64 { return w.counters.Completed })
}

func BenchmarkExchangeHTTP2(b *testing.B) {
	total := int64(0)
	w := newH2Worker(b, func(s *metric.Counters) { total += s.Completed })
	for b.Loop() {
		w.turn()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(total+w.counters.Completed), "ns/exchange")
}
