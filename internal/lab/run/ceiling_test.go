package run

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// The null server knows no PROXY protocol, so the generator's ceiling is measured without it, and
// the servers with it.
func TestCeilingIsNotProxied(t *testing.T) {
	text := strings.Replace(three, "connections: 1}", "connections: 1, proxy_protocol: v2}", 1)
	text = strings.Replace(text, "rounds: 8", "rounds: 1", 1)
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100, "same": 100, "slow": 90, "null": 1000}
	l, proxied := b.lab(filepath.Join(t.TempDir(), "out"), text), map[bool]int{}
	start := l.Start
	l.Start = func(ctx context.Context, s Setting) (Stand, error) {
		if s.Level.Name == "low" {
			aside := s.Aside && strings.HasPrefix(s.Trial, "ceiling")
			if aside == (s.Level.ProxyProtocol != "") {
				t.Errorf("%s: the header %q", s.Trial, s.Level.ProxyProtocol)
			}
			proxied[aside]++
		}
		return start(ctx, s)
	}
	r := b.run(t.Context(), l)
	if len(r.Ceilings) != 2 || proxied[true] != 1 || proxied[false] < 3 {
		t.Errorf("ceilings %v, starts %v", r.Ceilings, proxied)
	}
}
