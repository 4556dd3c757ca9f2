package loadplan

import (
	"strings"
	"testing"
)

// What TLS cannot be offered is said once, however many servers have TLS.
func TestALPNOfOrigins(t *testing.T) {
	for _, tls := range []bool{false, true} {
		p := DefaultPlan()
		p.Target = Target{URL: "//shop.test", Host: "shop.test", TLS: tls}
		p.Follow, p.TLS.ALPN = 1, "h3"
		for _, host := range []string{"a.test", "b.test"} {
			p.FollowTo = append(p.FollowTo, Target{Host: host, TLS: true})
		}
		if err := p.Check(); err == nil || strings.Count(err.Error(), `ALPN: "h3" is not`) != 1 {
			t.Errorf("TLS %v: %v", tls, err)
		}
	}
}
