package load

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// records is what an application says to a request: a response, if there is one, and how
// the request ended.
func records(response string, status byte) []byte {
	b := []byte{1, 6, 0, 1, 0, byte(len(response)), 0, 0}
	b = append(b, response...)
	return append(b, 1, 3, 0, 1, 0, 8, 0, 0, 0, 0, 0, 0, status, 0, 0, 0)
}

// What becomes of requests that an application does not take or does not answer. A refusal
// leaves the connection as it was; a timeout ends it, for nothing else is sure to stop what
// the application may still say about that request.
func TestFastCGIUnanswered(t *testing.T) {
	const multiplex, overloaded, role = 1, 2, 3
	fine := records("Status: 200\r\n\r\nhello", 0)
	for name, tc := range map[string]struct {
		answer     []byte // to each fourth request; none: silence
		phase      loadresult.Phase
		kind       string
		reconnects int64
	}{
		"overloaded":       {records("", overloaded), loadresult.Protocol, "overloaded", 0},
		"cannot multiplex": {records("", multiplex), loadresult.Protocol, "multiplexed", 0},
		"another role":     {records("", role), loadresult.Protocol, "unknown-role", 0},
		"overloaded, late": {records("Status: 200\r\n\r\nhel", overloaded), loadresult.Protocol, "overloaded", 0},
		"silent":           {nil, loadresult.Timeout, "timeout", 24},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			sim := &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
				asked++
				switch {
				case asked%4 != 0:
					p.Reply(ms, fine)
				case tc.answer != nil:
					p.Reply(ms, tc.answer)
				}
			}}
			r := simulate(t, simPlan(func(p *loadplan.Plan) {
				p.Target.FastCGI, p.Target.URL = true, "fcgi://sim/"
				p.Requested, p.Duration, p.Timeout = 100, 0, loadplan.Seconds(50*ms)
			}), sim)
			if r.Total.Completed != 75 || r.Total.Failed != 25 || asked != 100 {
				t.Errorf("%d asked, %d completed, %d failed", asked, r.Total.Completed, r.Total.Failed)
			}
			f := r.Failures
			if len(f) != 1 || f[0].Phase != tc.phase || f[0].Kind != tc.kind || f[0].Count != 25 {
				t.Errorf("%+v", f)
			}
			if r.Reconnects != tc.reconnects {
				t.Errorf("%d reconnects, want %d", r.Reconnects, tc.reconnects)
			}
		})
	}
}

// One of these servers is overloaded now and then, and complains.
func TestFastCGI(t *testing.T) {
	const begin, overloaded = 1, 2
	record := func(kind byte, content string) []byte {
		return append([]byte{1, kind, 0, 1, 0, byte(len(content)), 0, 0}, content...)
	}
	requests := 0
	sim := &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if len(b) < 8 || b[1] != begin {
			t.Errorf("%d bytes arrived", len(b))
		}
		if requests++; requests%10 == 0 {
			p.Reply(ms, record(3, string([]byte{0, 0, 0, 0, overloaded, 0, 0, 0})))
			return
		}
		p.Reply(ms, slices.Concat(record(7, "ouch\n"), record(6, "Status: 201 Created\n\nhello"),
			record(3, string(make([]byte, 8)))))
	}}
	r := simulate(t, simPlan(func(p *loadplan.Plan) {
		p.Target.FastCGI, p.Requested, p.Connections = true, 1000, 4
	}), sim)
	if r.Total.Completed != 900 || r.Total.Failed != 100 || r.Total.Status[201] != 900 {
		t.Errorf("%d completed, %d failed", r.Total.Completed, r.Total.Failed)
	}
	if f := r.Failures; len(f) != 1 || f[0].Phase != loadresult.Protocol || f[0].Kind != "overloaded" {
		t.Errorf("%+v", f)
	}
	if r.StderrBytes != 900*5 || !strings.HasPrefix(string(r.Stderr), "ouch\nouch\n") {
		t.Errorf("%d bytes of stderr: %.20q", r.StderrBytes, r.Stderr)
	}
	if r.Protocols[loadplan.FastCGI] != 4 || r.Opened != 4 { // what failed was the exchange
		t.Errorf("%v, %d opened", r.Protocols, r.Opened)
	}
}
