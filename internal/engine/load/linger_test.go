package load

import (
	"testing"

	"dyno/internal/engine/batching"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// A turning ring counts the turns, of which one that finds nothing takes 1 µs.
type turning struct {
	*ring.Sim
	turns *int64
}

func (r turning) Wait(deadline int64) error {
	*r.turns++
	return r.Sim.Wait(deadline + us)
}

// A server of one worker that takes 10 µs a request need not wake the generator for each of many
// answers in flight. How long they take is all but the same: they gather for 2 % of the median, so
// they wait 1 %. In the first slice of time the median is not known, and a turn has one answer.
func TestLinger(t *testing.T) {
	const service, duration = 10 * us, 200 * ms
	for name, tc := range map[string]struct {
		change   func(p *loadplan.Plan)
		allowed  uint32 // streams, by the server
		answers  int64  // in a turn, at least; 0: fewer than 5
		lingered int64  // ns, on average, at most; 0: not at all
	}{
		"a thousand streams":   {func(*loadplan.Plan) {}, 100, 6, 100 * us},
		"few":                  {func(p *loadplan.Plan) { p.Connections, p.Streams = 1, 20 }, 100, 0, 0},
		"one on each of many":  {func(p *loadplan.Plan) { p.Connections, p.Streams = 1000, 1 }, 100, 6, 100 * us},
		"no more are allowed":  {func(p *loadplan.Plan) { p.Connections = 1000 }, 1, 6, 100 * us},
		"spinning":             {func(p *loadplan.Plan) { p.Spin = true }, 100, 0, 0},
		"an open loop of many": {func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(75_000) }, 100, 0, 0},
		"off":                  {func(p *loadplan.Plan) { p.Linger = loadplan.NoLinger }, 100, 0, 0},
		"as long as is said":   {func(p *loadplan.Plan) { p.Linger = "500us" }, 100, 45, 250 * us},
	} {
		free, turns := int64(0), int64(0)
		server := &h2Server{settings: append([]byte{0, 3}, word(tc.allowed)...)}
		server.answer = func(c *h2Peer) {
			free = max(free, c.Now()) + service
			c.reply(free-c.Now(), ok(c.id))
		}
		p := h2Plan(func(p *loadplan.Plan) {
			p.Connections, p.Streams = 10, 100
			p.Requested, p.Duration = 0, loadplan.Seconds(duration)
			tc.change(p)
		})
		r := simulate(t, p, turning{server.sim(), &turns})
		each := r.Total.Completed / turns
		if each < tc.answers || tc.answers == 0 && each >= 5 {
			t.Errorf("%s: %d answers a turn, want %d", name, each, tc.answers)
		}
		waited := r.Lingered / r.Total.Completed
		if waited > tc.lingered || tc.lingered > 0 && waited < tc.lingered/2 {
			t.Errorf("%s: answers waited %d ns, want %d at most", name, waited, tc.lingered)
		}
		if p.Rate != 0 {
			continue
		}
		at := min(int64(p.Connections*min(p.Streams, int(tc.allowed))), duration/service)
		most := int64(float64(at*service)*(1+batching.Share)) + batching.Most
		if r.Total.Latency.Max > most || r.Total.Completed < duration/service*99/100 {
			t.Errorf("%s: %d completed, the slowest took %d ns, want %d at most", name,
				r.Total.Completed, r.Total.Latency.Max, most)
		}
	}
}
