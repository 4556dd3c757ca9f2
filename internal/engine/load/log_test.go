package load

import (
	"fmt"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/reqlog"
	"dyno/internal/engine/ring"
)

// Each request of the window is in the log once, with what became of it.
func TestLog(t *testing.T) {
	log := reqlog.New(1)
	p := simPlan(func(p *loadplan.Plan) {
		p.Requested, p.Duration, p.Connections, p.Log = 40, 0, 2, log.Ring
		p.Timeout = loadplan.Seconds(50 * ms)
	})
	n := 0
	r := simulate(t, p, &ring.Sim{Server: func(p *ring.Peer, _ []byte) {
		switch n++; {
		case n == 7: // no answer
		case n%2 == 0:
			p.Reply(10*ms, answer(500, fmt.Sprint("error ", n)))
		default:
			p.Reply(10*ms, hello)
		}
	}})
	got := map[string]int64{}
	lost := log.Drain(func(l reqlog.Line) {
		got[fmt.Sprint(l.Failed, l.Status)]++
		if took := l.Ended - l.Due; l.Sent != l.Due || l.Failed == "" && (took != 10*ms || l.Bytes <= 0) || l.Failed != "" && l.Bytes != -1 {
			t.Errorf("%+v", l)
		}
	})
	if lost != 0 || got["200"] != r.Total.Completed || got["500"] != r.Total.Failed-1 || got["timeout0"] != 1 {
		t.Errorf("%v, %d lost, of %d completed and %d failed", got, lost, r.Total.Completed, r.Total.Failed)
	}
}

// A log costs no allocation, also when nobody reads it.
func TestLogAllocatesNothing(t *testing.T) {
	log := reqlog.New(1)
	p := simPlan(func(p *loadplan.Plan) { p.Connections, p.Duration, p.Log = 4, loadplan.Seconds(1000*s), log.Ring })
	w := loopWorker(t, &p, &loop{reply: hello}, func(*metric.Counters) {})
	checkAllocations(t, w, func() int64 { return w.counters.Completed })
	n := int64(0)
	if lost := log.Drain(func(reqlog.Line) { n++ }); n == 0 || n+lost < w.counters.Completed {
		t.Errorf("%d lines and %d lost", n, lost)
	}
}
