package loadplan

import (
	"runtime"
	"testing"
	"time"
)

func TestLingerFor(t *testing.T) {
	for linger, want := range map[string]time.Duration{"": 0, "off": 0, "1us": time.Microsecond,
		"100us": 100 * time.Microsecond, "10ms": 10 * time.Millisecond} {
		if d, err := (&Plan{Linger: linger}).LingerFor(); d != want || err != nil {
			t.Errorf("%q: %v, %v", linger, d, err)
		}
	}
	for _, linger := range []string{"11ms", "1ns", "100", "-1us", "on"} {
		if d, err := (&Plan{Linger: linger}).LingerFor(); d != 0 || err == nil {
			t.Errorf("%q: %v, %v", linger, d, err)
		}
	}
}

// Answers gather in a closed loop whose ring can let them. Off is allowed anywhere.
func TestLingerIsRefused(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no ring lets answers gather here")
	}
	for name, c := range map[string]struct {
		change func(p *Plan)
		bad    bool
	}{
		"closed":          {func(*Plan) {}, false},
		"open":            {func(p *Plan) { p.Rate = RatePerSecond(100) }, true},
		"streams":         {func(p *Plan) { p.Stream.Format = "sse" }, true},
		"spin":            {func(p *Plan) { p.Spin = true }, true},
		"HTTP/3":          {func(p *Plan) { p.HTTP = "3"; p.Target.TLS = true }, true},
		"a portable ring": {func(p *Plan) { p.Ring = "portable" }, true},
		"off":             {func(p *Plan) { p.Rate, p.Linger = RatePerSecond(100), NoLinger }, false},
	} {
		p := DefaultPlan()
		p.Linger = "100us"
		c.change(&p)
		found := false
		for _, f := range p.Flaws() {
			found = found || f.Setting == "Linger"
		}
		if found != c.bad {
			t.Errorf("%s: refused %v, want %v", name, found, c.bad)
		}
	}
}
