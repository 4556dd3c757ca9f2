package load

import (
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/ring"
)

// The first byte is that of the final response: not of one that says to wait, nor of the one before.
func TestFirstByteIsOfTheFinalResponse(t *testing.T) {
	const early = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
	for name, pieces := range map[string][]string{
		"103 alone":             {early, string(hello)},
		"100 and the beginning": {"HTTP/1.1 100 Continue\r\n\r\n", string(hello[:20]), string(hello[20:])},
		"two, one cut":          {early + early[:30], early[30:] + string(hello)},
		"none":                  {"", string(hello)},
	} {
		r := simulate(t, simPlan(func(p *loadplan.Plan) {
			p.Connections, p.Requested, p.Duration = 1, 20, 0
		}), &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
			for i, piece := range pieces {
				if piece != "" {
					p.Reply(int64(i+1)*10*ms, []byte(piece))
				}
			}
		}})
		for _, q := range []float64{0, 0.5, 1} {
			if got := quantile(r.FirstByte, q); !near(got, 20*ms) {
				t.Errorf("%s: %d ns at the quantile %g, want 20 ms", name, got, q)
			}
		}
	}
}
