package fleet

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fleet/policy"
)

// Who owns an agent's machine reads what is loaded, and not what somebody calls it: the host, the
// port, and the addresses that the name led to and that were judged.
func TestLogNamesAddresses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := new(listener)
	w.startAgent("a", 1, func(a *Agent) {
		a.Log = said.addLine
		a.Lookup = func(context.Context, string, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")}, nil
		}
	})
	p := w.newPlan(100, time.Second, 2)
	p.Target.Host, p.Target.URL = "name.invalid", "http://harmless.example/\x1b]0;title\a"
	w.mustRun(w.newController("a"), p)
	want := `loads host "name.invalid", port ` + strings.Split(w.target.Addr().String(), ":")[1] +
		", at 127.0.0.1, 127.0.0.2: 2 connections, up to 100/s"
	if !said.hasLine(want) || said.hasLine("harmless") || said.hasLine("\x1b") {
		t.Errorf("%s\nhas not %s", said, want)
	}
}

// Where the policy of an agent has a rate, its load has it as a ceiling; and nobody who runs the
// fleet can set another.
func TestPolicyIsTheCeiling(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 700} {
		w := newWorld(t)
		ceilings := make(chan loadplan.Rate, 10)
		w.startAgent("a", 1, func(a *Agent) {
			a.Policy = policy.Default()
			a.Policy.MaxRate = rate
			a.ChooseRing = func(p loadplan.Plan) string {
				ceilings <- p.OwnerLimit
				return p.Ring
			}
		})
		p := w.newPlan(500, time.Second, 2)
		p.OwnerLimit = loadplan.RatePerSecond(1e6)
		r := w.mustRun(w.newController("a"), p)
		if got := <-ceilings; got != loadplan.RatePerSecond(rate) || r.Requests.Sent != 500 {
			t.Errorf("the ceiling is %v, want %v; %+v", got, rate, r.Requests)
		}
	}
}

// An agent whose bus is not on its own machine does not load what listens there for itself alone.
func TestFarBus(t *testing.T) {
	a := &Agent{Policy: policy.Default()}
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Target.Port = "127.0.0.1", 80
	for bus, want := range map[string]string{"10.0.0.5:3967": "is not in what its policy allows", "127.0.0.1:3967": ""} {
		_, err := a.Policy.WithLocalBus(bus).Authorize(t.Context(), p, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("with the bus at %s: %v", bus, err)
		}
	}
	w := newWorld(t)
	s := &agentService{Agent: &Agent{Conn: w.connect(), Policy: policy.Default()}}
	if words := s.policyText(); !strings.Contains(words, "127.0.0.0/8") {
		t.Error("with the bus on this machine its own addresses are not allowed: " + words)
	}
}
