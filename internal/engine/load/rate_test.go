package load

import (
	"bytes"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
)

// A tally is a simulated server that knows when it was asked and when its answers arrive.
type tally struct {
	*ring.Sim
	asked, answered []int64 // instants
}

// counting is a server whose answer to its nth request arrives after takes(n).
func counting(takes func(n int, p *ring.Peer) int64) *tally {
	t := &tally{}
	t.Sim = &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		after := takes(len(t.asked), p)
		t.asked = append(t.asked, p.Now())
		t.answered = append(t.answered, p.Now()+after)
		p.Reply(after, hello)
	}}
	return t
}

// within is how many of the instants lie in [from, to).
func within(all []int64, from, to int64) (n int64) {
	for _, at := range all {
		if from <= at && at < to {
			n++
		}
	}
	return n
}

// ended is how many answers rates count.
func ended(r *loadresult.Result) int64 { return r.Total.Completed + r.Total.Early - r.CompletedAfter }

// Rates count the answers that came in the window, as the server's own clock has them, whatever the
// requests' due times are.
func TestRateCountsWhatEndedInTheWindow(t *testing.T) {
	const slow = 900 * ms
	for name, c := range map[string]struct {
		change   func(*loadplan.Plan)
		takes    int64
		want     int64         // answers in the window
		measured time.Duration // 0: the plan's
	}{
		"closed": {func(p *loadplan.Plan) {
			p.Connections, p.Duration = 4, loadplan.Seconds(2*s)
		}, slow, 2 * 4, 0},
		"closed with a warm-up": {func(p *loadplan.Plan) { // 1.8, 2.7 and 3.6 s
			p.Connections, p.Warmup, p.Duration = 4, loadplan.Seconds(s), loadplan.Seconds(3*s)
		}, slow, 3 * 4, 0},
		"closed, nothing but the warm-up's": {func(p *loadplan.Plan) {
			p.Connections, p.Warmup, p.Duration = 4, loadplan.Seconds(s/2), loadplan.Seconds(s)
		}, slow, 4, 0},
		"requests": {func(p *loadplan.Plan) {
			p.Connections, p.Requested, p.Duration = 4, 12, 0
		}, slow, 12, 2700 * time.Millisecond},
		"requests after a warm-up": {func(p *loadplan.Plan) { // without the 4 of the warm-up, answered at 1.8
			p.Connections, p.Requested, p.Duration, p.Warmup = 4, 12, 0, loadplan.Seconds(s)
		}, slow, 12, 3500 * time.Millisecond},
		"open": {func(p *loadplan.Plan) { // due every 10 ms, answered 905 ms later
			p.Connections, p.Rate, p.Duration = 200, loadplan.RatePerSecond(100), loadplan.Seconds(2*s)
		}, slow + 5*ms, 110, 0},
		"open with a warm-up": {func(p *loadplan.Plan) {
			p.Connections, p.Rate, p.Duration = 200, loadplan.RatePerSecond(100), loadplan.Seconds(2*s)
			p.Warmup = loadplan.Seconds(s)
		}, slow + 5*ms, 200, 0},
		"overload": {func(p *loadplan.Plan) { // 10 connections carry 11 a second
			p.Connections, p.Rate, p.Duration = 10, loadplan.RatePerSecond(100), loadplan.Seconds(9*s)
			p.Warmup, p.Drain = loadplan.Seconds(s), loadplan.Seconds(5*s)
		}, slow, 10 * 10, 0},
		"stages": {func(p *loadplan.Plan) {
			p.Connections, p.Rate = 500, loadplan.RatePerSecond(10)
			p.Stages = []loadplan.Stage{{Duration: loadplan.Seconds(2 * s), Rate: loadplan.RatePerSecond(200)}}
			p.Duration, p.Warmup = loadplan.Seconds(2*s), loadplan.Seconds(s)
		}, slow + 7*ms, -1, 0},
	} {
		p, server := simPlan(c.change), counting(func(int, *ring.Peer) int64 { return c.takes })
		r := simulate(t, p, server)
		from := int64(p.Warmup)
		to := from + int64(r.Measured)
		if p.Duration == 0 { // the window ends with its last answer
			to++
		}
		counted := within(server.answered, from, to)
		if p.Duration == 0 {
			counted -= r.Total.Early
		}
		if c.want < 0 {
			c.want = counted
		}
		if want := c.want; counted != want || ended(r) != want || want == 0 {
			t.Errorf("%s: %d answers in the window, the server counted %d there, want %d", name, ended(r), counted, want)
		}
		if got := r.Measured; c.measured != 0 && got != c.measured || c.measured == 0 && got != time.Duration(p.Duration) {
			t.Errorf("%s: measured %v", name, got)
		}
		if due := r.Total.Completed + r.Unfinished; int64(len(server.asked)) != due+r.Warmup {
			t.Errorf("%s: %d requests of the window and %d of the warm-up; the server was asked for %d", name, due,
				r.Warmup, len(server.asked))
		}
	}
}

// With several requests in flight on a connection it is the same.
func TestRateOfPipelines(t *testing.T) {
	p := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Pipeline, p.Warmup = 2, 3, loadplan.Seconds(s)
		p.Duration = loadplan.Seconds(2 * s)
	})
	answers := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, b []byte) {
		for range bytes.Count(b, []byte("\r\n\r\n")) {
			if at := p.Now() + 900*ms; at >= s && at < 3*s {
				answers++
			}
			p.Reply(900*ms, hello)
		}
	}})
	if answers != 2*2*3 || ended(r) != int64(answers) || r.Total.Early != 2*3 {
		t.Errorf("%d answers in the window, %d of them early; the server counted %d", ended(r), r.Total.Early, answers)
	}
}

// A window that its last answer ends has only its own requests: with those of the warm-up that are
// answered in it, four connections to a server of 0.9 s would have up to 8 answers a second.
func TestRateOfRequestsHasNoEarlyAnswers(t *testing.T) {
	for _, warmup := range []int64{0, s, 1750 * ms, 1800 * ms} {
		for _, n := range []int64{4, 12, 40} {
			r := simulate(t, simPlan(func(p *loadplan.Plan) {
				p.Connections, p.Requested, p.Duration, p.Warmup = 4, n, 0, loadplan.Seconds(warmup)
			}), counting(func(int, *ring.Peer) int64 { return 900 * ms }))
			if rate := float64(ended(r)) / r.Measured.Seconds(); ended(r) != n || rate > 4/0.9+0.001 {
				t.Errorf("after %v, -n %d: %d answers in %v, %.2f a second", time.Duration(warmup), n, ended(r), r.Measured, rate)
			}
		}
	}
}

// The parts of a plan, each on a machine of its own, add up to the whole.
func TestRatesOfPartsAddUp(t *testing.T) {
	whole := simPlan(func(p *loadplan.Plan) {
		p.Connections, p.Rate, p.Warmup = 60, loadplan.RatePerSecond(60), loadplan.Seconds(s)
		p.Duration = loadplan.Seconds(2 * s)
	})
	for _, rate := range []loadplan.Rate{0, whole.Rate} {
		whole.Rate = rate
		takes := func(int, *ring.Peer) int64 { return 907 * ms }
		want := ended(simulate(t, whole, counting(takes)))
		var sum int64
		for _, part := range whole.SplitBy([]int{1, 2, 3}) {
			sum += ended(simulate(t, part, counting(takes)))
		}
		if sum != want || want != 120 {
			t.Errorf("at %v/s the parts have %d answers in the window, the whole has %d", rate, sum, want)
		}
	}
}

// Each second of a session has the requests and answers that the server counted in it, also those of
// iterations that began in the warm-up.
func TestStepsCountWhereTheyFall(t *testing.T) {
	for name, open := range map[string]bool{"closed": false, "open": true} {
		p := scenarioPlan(thinking(0, 300, 700, 450), 4, func(p *loadplan.Plan) {
			p.Connections, p.Users = 400, 90
			p.Warmup, p.Duration = loadplan.Seconds(2*s), loadplan.Seconds(5*s)
			if open {
				p.Users, p.Rate = 400, loadplan.RatePerSecond(70)
			}
		})
		server := counting(func(n int, _ *ring.Peer) int64 { return 13*ms + int64(n%7)*us })
		r := simulate(t, p, server)
		for i, iv := range r.Intervals[:5] {
			from := int64(p.Warmup) + int64(i)*s
			asked, answered := within(server.asked, from, from+s), within(server.answered, from, from+s)
			if iv.Sent != asked || iv.Answered() != answered || asked == 0 {
				t.Errorf("%s: second %d has %d requests and %d answers, the server %d and %d", name, i+1, iv.Sent,
					iv.Answered(), asked, answered)
			}
		}
		from, to := int64(p.Warmup), int64(p.Warmup)+int64(p.Duration)
		if r.Total.Sent != within(server.asked, from, to) || ended(r) != within(server.answered, from, to) {
			t.Errorf("%s: %d requests and %d answers, the server has %d and %d", name, r.Total.Sent, ended(r),
				within(server.asked, from, to), within(server.answered, from, to))
		}
		if all := r.Total.Sent + r.Warmup + r.Scenario.StepsAfter; all != int64(len(server.asked)) {
			t.Errorf("%s: %d requests in all, the server counts %d", name, all, len(server.asked))
		}
		x := r.Scenario
		if n := x.Completed + r.Total.EarlyIterations - x.CompletedAfter; n*4 < ended(r)*9/10 || n*4 > ended(r)*11/10 {
			t.Errorf("%s: %d iterations and %d answers in the window", name, n, ended(r))
		}
	}
}
