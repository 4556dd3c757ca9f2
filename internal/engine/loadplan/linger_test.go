package loadplan

import (
	"runtime"
	"testing"
	"time"
)

func TestLingerFor(t *testing.T) {
	for linger, want := range map[string]struct {
		d     time.Duration
		fixed bool
		bad   bool
	}{
		"": {}, "off": {fixed: true}, "100us": {d: 100 * time.Microsecond, fixed: true},
		"10ms": {d: 10 * time.Millisecond, fixed: true}, "11ms": {fixed: true, bad: true},
		"1ns": {fixed: true, bad: true}, "100": {fixed: true, bad: true}, "-1us": {fixed: true, bad: true},
	} {
		p := Plan{Linger: linger}
		if d, fixed, err := p.LingerFor(); d != want.d || fixed != want.fixed || (err != nil) != want.bad {
			t.Errorf("%q: %v, %v, %v", linger, d, fixed, err)
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
