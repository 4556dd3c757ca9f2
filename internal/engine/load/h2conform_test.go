package load

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h2/conform"
	"dyno/internal/engine/ring"
)

// Whatever a server says on the first connection before it closes it, every exchange
// comes to the end that it must, named as it must be, and the next connection carries
// what is left: nothing hangs, and nothing is lost or counted twice. If it is the
// server that is wrong it is told so before the connection ends.
func TestHTTP2Conform(t *testing.T) {
	const requested = 30
	for _, tc := range conform.Cases {
		t.Run(tc.String(), func(t *testing.T) {
			s := &h2Server{}
			s.answer = func(c *h2Peer) {
				switch {
				case c.N > 0:
					c.reply(0, ok(c.id))
				case c.n == 3:
					c.gone = true
					c.Reply(0, []byte(tc.ServerBytes))
					c.Hangup(0, io.EOF)
				}
			}
			r := simulate(t, h2Plan(func(p *loadplan.Plan) {
				p.Resend = loadplan.ResendUnsafe // one of the requests is a POST
				p.Streams, p.Requested, p.Rate = 3, requested, loadplan.RatePerSecond(1000)
				p.Requests, p.Expect = nil, []loadplan.Statuses{loadplan.AnyStatus()}
				for _, r := range conform.Requests() {
					p.Requests = append(p.Requests, loadplan.Request{Request: r})
				}
			}), s.sim())
			told, leaves := tc.WantedParts()
			if last := conform.GoAwayCode(s.last); last != leaves {
				t.Errorf("the server was told %q at last, not %q", last, leaves)
			}
			want, failed := failuresOf(told), int64(0)
			got := map[string]int64{}
			for _, f := range r.Failures {
				got[string(f.Phase)+" "+f.Kind] = f.Count
				failed += f.Count
			}
			if !maps.Equal(got, want) {
				t.Errorf("failed %v, want %v", got, want)
			}
			if r.Ended != loadresult.ByRequests || r.Total.Completed != requested-failed || r.Total.Failed != failed {
				t.Errorf("ended by %s: %d completed, %d failed", r.Ended, r.Total.Completed, r.Total.Failed)
			}
			if r.Opened != 2 || r.Reconnects != 1 {
				t.Errorf("%d opened, %d reconnects", r.Opened, r.Reconnects)
			}
		})
	}
}

// failuresOf is how the three exchanges of a case fail, by phase and kind, in a run. What
// the server did not begin to answer is sent again if the connection was of use before, and
// has not failed; when the server breaks a rule of connections, that is the failure of the
// oldest exchange and of those that it had begun to answer.
func failuresOf(want string) map[string]int64 {
	failed := map[string]int64{}
	fail := func(kind string) {
		phase := loadresult.Protocol
		if kind == loadresult.Behind || kind == "closed" || kind == "truncated" {
			phase = loadresult.Read
		}
		failed[string(phase)+" "+kind]++
	}
	open, begun := map[int]bool{0: true, 1: true, 2: true}, map[int]bool{}
	used := false
	for _, word := range strings.Fields(want) {
		if tag, _, is := strings.Cut(word, "+"); is {
			used = true
			delete(open, number(tag))
			continue
		}
		tag, what, is := strings.Cut(word, ":")
		switch {
		case is && number(what) > 0:
			begun[number(tag)] = true
		case is:
			delete(open, number(tag))
			if what != "refused" {
				fail(what)
			}
		case word == "closed" && used, word == "closing":
		default:
			oldest := true
			for i := range 3 {
				if !open[i] {
					continue
				}
				if oldest || begun[i] || word == "closed" {
					fail(word)
				} else {
					fail(loadresult.Behind)
				}
				oldest = false
			}
		}
	}
	return failed
}

// number is what s says, or 0.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// A server that does not begin as it must is none: that is known before the load.
func TestHTTP2Beginnings(t *testing.T) {
	for _, tc := range conform.Beginnings {
		told, leaves := tc.WantedParts()
		if told == "closing" {
			if tc.Section != "6.8" { // it begins well
				continue
			}
			told = "goaway-protocol-error"
		}
		t.Run(tc.String(), func(t *testing.T) {
			var last []byte
			sim := &ring.Sim{Server: func(p *ring.Peer, b []byte) {
				if !bytes.HasPrefix(b, []byte("PRI ")) {
					last = bytes.Clone(b)
					return
				}
				p.Reply(ms, []byte(tc.ServerBytes))
				p.Hangup(ms, io.EOF)
			}}
			r := simulate(t, h2Plan(func(*loadplan.Plan) {}), sim)
			if r.Ended != loadresult.Unreachable || r.Total.Sent != 0 || len(r.Failures) != 1 {
				t.Fatalf("ended by %s, %d sent: %+v", r.Ended, r.Total.Sent, r.Failures)
			}
			if f := r.Failures[0]; f.Phase != loadresult.Protocol || f.Kind != told {
				t.Errorf("%+v, want %s", f, told)
			}
			if last := conform.GoAwayCode(last); last != leaves {
				t.Errorf("the server was told %q at last, not %q", last, leaves)
			}
		})
	}
}

// A server that goes on talking and neither answers nor lets go of what was reset leaves a
// connection without room: it is replaced after the timeout, or -n would never end.
func TestHTTP2Babble(t *testing.T) {
	ping := frame(h2Ping, 0, 0, []byte("babbling")...)
	sim := &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if bytes.HasPrefix(b, []byte("PRI ")) {
			p.Reply(0, frame(h2Settings, 0, 0))
		}
		p.Reply(10*ms, ping)
	}}
	r := simulate(t, h2Plan(func(p *loadplan.Plan) {
		p.Timeout, p.Requested, p.Streams = loadplan.Seconds(50*ms), 20, 4
	}), sim)
	if r.Ended != loadresult.ByRequests || r.Total.Failed != 20 || r.Reconnects != 4 {
		t.Errorf("ended by %s, %d failed, %d reconnects", r.Ended, r.Total.Failed, r.Reconnects)
	}
	if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Timeout || f[0].Count != 20+4 {
		t.Errorf("%+v", f)
	}
}

// A server that allows no streams any more: another connection may do better, or not.
func TestHTTP2Shut(t *testing.T) {
	none := append([]byte{0, 3}, word(0)...)
	for name, forGood := range map[string]bool{"this connection": false, "all": true} {
		t.Run(name, func(t *testing.T) {
			s := &h2Server{}
			s.answer = func(c *h2Peer) {
				if c.of == 50 {
					c.Reply(0, frame(h2Settings, 0, 0, none...))
					if forGood {
						s.settings = none
					}
				}
				c.reply(ms, ok(c.id))
			}
			sim := s.sim()
			r := simulate(t, h2Plan(func(p *loadplan.Plan) {
				p.Timeout, p.Connecting, p.Requested = loadplan.Seconds(100*ms), loadplan.Seconds(1000*ms), 200
			}), sim)
			shut := slices.ContainsFunc(r.Failures, func(f loadresult.Failure) bool {
				return f.Phase == loadresult.Timeout && f.Count == 1
			})
			if r.Total.Failed != 0 || !shut {
				t.Errorf("%d failed: %+v", r.Total.Failed, r.Failures)
			}
			if !forGood && (r.Ended != loadresult.ByRequests || r.Total.Completed != 200 || r.Reconnects != 1) {
				t.Errorf("ended by %s, %d completed", r.Ended, r.Total.Completed)
			}
			if forGood && (r.Ended != loadresult.Gone || r.Total.Completed != 50 || sim.Now() > 2000*ms) {
				t.Errorf("ended by %s after %d ns, %d completed", r.Ended, sim.Now(), r.Total.Completed)
			}
		})
	}
}

// A server that answers what it has not read, and never reads, does not fill our memory
// with requests.
func TestHTTP2Unread(t *testing.T) {
	const long = 16 << 10
	sim := &ring.Sim{}
	sim.Server = func(p *ring.Peer, _ []byte) { // the preface, and that is all that comes
		p.Reply(0, frame(h2Settings, 0, 0))
		for k := range int64(200) {
			p.Reply((k+1)*ms, ok(uint32(1+2*k)))
		}
	}
	r := simulate(t, h2Plan(func(p *loadplan.Plan) {
		p.Requested, p.Streams = 150, 1
		p.Requests[0].Header = []proto.Field{{Name: "x", Value: strings.Repeat("~", long)}}
	}), clog{sim, map[int]bool{}})
	if r.Total.Completed != 150 || r.Total.Failed != 0 || r.Opened != 3 {
		t.Errorf("%d completed, %d failed on %d connections, for each of which 1 MiB waits: %+v",
			r.Total.Completed, r.Total.Failed, r.Opened, r.Failures)
	}
}
