package load

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/ring"
	"dyno/internal/engine/scenario"
)

// The server of these tests answers an upload 1 ms after its head, and each send takes 10 ms. An
// upload of n KiB begins with a piece of 64 KiB, and the codec needs its body until the last piece
// is handed to the ring: of 200 KiB, 30 ms after the first.

// An act is what a user does in one iteration.
type act struct {
	upload int   // KiB; 0: it does not upload
	think  int64 // ms before the first step
	gets   int   // GETs after the upload, or alone
}

// earlyPlan is a plan in which user i does what the act with that number says. took, if not nil,
// has for each user when the scenario was asked for its next step.
func earlyPlan(acts []act, took [][]int64, now func() int64, change func(p *loadplan.Plan)) loadplan.Plan {
	does := scenario.Func(func(u *scenario.User, r *scenario.Response) scenario.Step {
		a := acts[u.Number]
		if r == nil {
			u.State = 0
		}
		if r != nil && took != nil {
			took[u.Number] = append(took[u.Number], now()/ms)
		}
		n := u.State.(int)
		u.State = n + 1
		s := scenario.Step{}
		if n == 0 {
			s.Think = time.Duration(a.think * ms)
		}
		if a.upload > 0 {
			n--
		}
		switch {
		case n < 0:
			s.Message = proto.Message{Request: 1, Fill: &proto.Fill{Body: make([]byte, a.upload<<10)}}
			s.Route = 1
		case n == a.gets:
			return scenario.End()
		}
		return s
	})
	m := scenario.Program{New: func(scenario.Share) (scenario.Scenario, error) { return does, nil }}
	return scenarioPlan(m, 2, func(p *loadplan.Plan) {
		p.Requests[1].Method, p.Requests[1].Body = "PUT", []byte{}
		p.Requests[1].Holes = []proto.Hole{{In: proto.InBody}}
		p.Users, p.Requested, p.Duration = len(acts), int64(len(acts)), 0
		change(p)
	})
}

// earlyRing answers an upload as its head arrives, and a GET after so many ms. A server that hangs
// up does so 5 ms after an upload has begun.
func earlyRing(get int64, hangup error) *slowSends {
	return &slowSends{takes: 10 * ms, Sim: &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		if bytes.HasPrefix(b, []byte("GET ")) {
			p.Reply(get*ms, hello)
		}
		if strings.Contains(string(b), "PUT ") {
			p.Reply(ms, hello)
			if hangup != nil {
				p.Hangup(5*ms, hangup)
			}
		}
	}}}
}

// The scenario is asked for a user's next step when the codec does not need the user's body any
// more, whatever else it sends.
func TestUsersOfLentSteps(t *testing.T) {
	for name, c := range map[string]struct {
		acts   []act
		change func(p *loadplan.Plan)
		hangup error
		want   [][]int64 // when each user's scenario was asked, in ms
	}{
		"a connection each": {[]act{{upload: 200}, {upload: 100}, {gets: 1}},
			func(p *loadplan.Plan) { p.Connections = 3 }, nil, [][]int64{{30}, {10}, {5}}},
		"the upload is pipelined behind another's request": {[]act{{gets: 1}, {upload: 200, think: 1}},
			func(p *loadplan.Plan) { p.Pipeline = 2 }, nil, [][]int64{{5}, {40}}},
		"one upload after the other": {[]act{{upload: 200}, {upload: 200}},
			func(p *loadplan.Plan) {}, nil, [][]int64{{30}, {70}}},
		"one upload after the other, in a pipeline": {[]act{{upload: 200}, {upload: 200}},
			func(p *loadplan.Plan) { p.Pipeline = 2 }, nil, [][]int64{{30}, {70}}},
		"a request after the upload": {[]act{{upload: 200}, {gets: 1}},
			func(p *loadplan.Plan) { p.Pipeline = 2 }, nil, [][]int64{{30}, {45}}},
		"another step over another connection": {[]act{{upload: 200, gets: 1}, {upload: 100, gets: 1}},
			func(p *loadplan.Plan) { p.Connections = 2 }, nil, [][]int64{{30, 35}, {10, 25}}},
		"the connection is lost": {[]act{{upload: 200}, {upload: 200}},
			func(p *loadplan.Plan) { p.Connections = 2 }, io.EOF, [][]int64{{5}, {5}}},
	} {
		t.Run(name, func(t *testing.T) {
			took := make([][]int64, len(c.acts))
			sim := earlyRing(5, c.hangup)
			r := simulate(t, earlyPlan(c.acts, took, sim.Now, c.change), sim)
			if !slices.EqualFunc(took, c.want, slices.Equal) || r.Total.Failed != 0 {
				t.Errorf("asked after %v ms, want %v; %d failed", took, c.want, r.Total.Failed)
			}
		})
	}
}

// A step whose message is lent is counted after others that were answered later. The measured time ends with
// the last answer.
func TestMeasuredWithLentStep(t *testing.T) {
	p := earlyPlan([]act{{upload: 200}, {gets: 1}}, nil, nil, func(p *loadplan.Plan) { p.Connections = 2 })
	r := simulate(t, p, earlyRing(20, nil))
	if r.Total.Completed != 2 || r.Measured != 20*time.Millisecond {
		t.Errorf("%d completed, measured %v", r.Total.Completed, r.Measured)
	}
}

// The time in which a message is lent is not the generator's own delay: neither of the next step, nor
// of the user's next iteration, though another connection had room.
func TestLagOfLentSteps(t *testing.T) {
	for name, c := range map[string]struct {
		acts []act
		rate float64 // iterations/s
		late int64   // how many ms after its due instant the latest request was sent
	}{
		"the next step":      {[]act{{upload: 200, gets: 1}, {gets: 1}}, 10, 29},
		"the next iteration": {[]act{{upload: 200}}, 100, 20},
	} {
		p := earlyPlan(c.acts, nil, nil, func(p *loadplan.Plan) {
			p.Connections, p.Requested, p.Rate = 2, 2, loadplan.RatePerSecond(c.rate)
		})
		r := simulate(t, p, earlyRing(5, nil))
		if r.Lag.Max != 0 || r.LateMax != c.late*ms || r.Total.Failed != 0 || r.Scenario.Completed != 2 {
			t.Errorf("%s: a lag of %d ns, late by %d ns; %+v", name, r.Lag.Max, r.LateMax, r.Scenario)
		}
	}
}
