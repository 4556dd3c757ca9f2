package load

import (
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
	"dyno/internal/fact"
)

// A timeout says how far the answer had come, and so do answers that had begun at the end of the
// run. What a silent server did is still no answer.
func TestUnfinishedAnswers(t *testing.T) {
	of := func(a fact.AnswerUnfinished) *fact.AnswerUnfinished { return &a }
	for name, c := range map[string]struct {
		says string
		want *fact.AnswerUnfinished
	}{
		"silent":               {"", nil},
		"interim":              {"HTTP/1.1 103 Early Hints\r\n\r\n", of(fact.AnswerUnfinished{Header: 28})},
		"a part of the header": {"HTTP/1.1 200 OK\r\nConte", of(fact.AnswerUnfinished{Header: 22})},
		"the header": {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
			of(fact.AnswerUnfinished{Status: 200, Length: 10, EndedBy: fact.ByLength})},
		"2 of 10 bytes": {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok",
			of(fact.AnswerUnfinished{Status: 200, Body: 2, Length: 10, EndedBy: fact.ByLength})},
		"no length": {"HTTP/1.1 404 No\r\n\r\nok",
			of(fact.AnswerUnfinished{Status: 404, Body: 2, EndedBy: fact.ByClose})},
		"identity": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
			of(fact.AnswerUnfinished{Status: 200, Body: 2, EndedBy: fact.ByClose})},
		"chunks": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
			of(fact.AnswerUnfinished{Status: 200, Body: 2, EndedBy: fact.ByChunk})},
	} {
		sim := func() ring.Ring {
			return &ring.Sim{Server: func(p *ring.Peer, b []byte) {
				if len(b) > 0 && c.says != "" {
					p.Reply(ms, []byte(c.says))
				}
			}}
		}
		r := simulate(t, simPlan(func(p *loadplan.Plan) {
			p.Requested, p.Duration, p.Timeout, p.Connections = 4, 0, loadplan.Seconds(50*ms), 2
		}), sim())
		if len(r.Failures) != 1 || r.Failures[0].Count != 4 {
			t.Fatalf("%s: %+v", name, r.Failures)
		}
		f, kind := r.Failures[0], "unfinished"
		if c.want == nil {
			kind = "timeout"
		}
		if f.Kind != kind || (f.Unfinished == nil) != (c.want == nil) ||
			c.want != nil && *f.Unfinished != *c.want {
			t.Errorf("%s: %s, %+v", name, f.Kind, f.Unfinished)
		}
		r = simulate(t, simPlan(func(p *loadplan.Plan) {
			p.Duration, p.Drain, p.Connections = loadplan.Seconds(s), loadplan.Seconds(s), 3
		}), sim())
		if c.want != nil {
			c.want.Count, c.want.AtEnd = 3, true
		}
		if r.Unfinished != 3 || (r.Cut == nil) != (c.want == nil) || c.want != nil && *r.Cut != *c.want {
			t.Errorf("%s, at the end: %d, %+v", name, r.Unfinished, r.Cut)
		}
	}
}

// Of each stream it is known by itself.
func TestUnfinishedStreams(t *testing.T) {
	srv := &h2Server{answer: func(c *h2Peer) {
		if c.of%2 == 0 {
			c.reply(ms, ok(c.id))
			return
		}
		c.open--
		c.Reply(ms, append(frame(h2Headers, 4, c.id, 0x88), frame(0, 0, c.id, 'a', 'b', 'c')...))
	}}
	r := simulate(t, h2Plan(func(p *loadplan.Plan) { p.Timeout = loadplan.Seconds(50 * ms) }), srv.sim())
	want := fact.AnswerUnfinished{Status: 200, Body: 3, EndedBy: fact.ByStream}
	if f := r.Failures; r.Total.Completed != 50 || len(f) != 1 || f[0].Count != 50 || *f[0].Unfinished != want {
		t.Errorf("%d completed, %+v", r.Total.Completed, f)
	}
}
