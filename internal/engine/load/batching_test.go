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

// A server of one worker that takes 5 µs a request: with many streams it need not wake the
// generator for each answer, and how long they take is all but the same.
func TestRest(t *testing.T) {
	const service, duration = 5 * us, 200 * ms
	for name, tc := range map[string]struct {
		change  func(p *loadplan.Plan)
		allowed uint32 // streams, by the server
		rests   bool
	}{
		"a thousand streams":   {func(*loadplan.Plan) {}, 100, true},
		"few":                  {func(p *loadplan.Plan) { p.Connections, p.Streams = 1, 20 }, 100, false},
		"one on each of many":  {func(p *loadplan.Plan) { p.Connections, p.Streams = 1000, 1 }, 100, false},
		"no more are allowed":  {func(p *loadplan.Plan) { p.Connections = 1000 }, 1, false},
		"spinning":             {func(p *loadplan.Plan) { p.Spin = true }, 100, false},
		"an open loop of many": {func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(150_000) }, 100, false},
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
		if rests := each >= 5; rests != tc.rests {
			t.Errorf("%s: %d answers a turn", name, each)
		}
		if p.Rate != 0 {
			continue
		}
		at := min(int64(p.Connections*min(p.Streams, int(tc.allowed))), duration/service)
		most := at*service*(batching.Share+1)/batching.Share + batching.Most
		if r.Total.Latency.Max > most || r.Total.Completed < duration/service*99/100 {
			t.Errorf("%s: %d completed, the slowest took %d ns, want %d at most", name,
				r.Total.Completed, r.Total.Latency.Max, most)
		}
	}
}
