package result

import (
	"math"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/observe/probe"
)

func TestJudgeMachine(t *testing.T) {
	machine := func(change func(*probe.HostUse)) func(*Result) {
		return func(r *Result) {
			r.Latency.P999, r.Generator.LocalPorts, r.Plan.Reconnect = 250e3, 28_232, 1
			r.Generator.Machine = &probe.HostUse{}
			change(r.Generator.Machine)
		}
	}
	arrivals := func(a Arrivals) func(*Result) {
		return func(r *Result) { r.Model, r.Generator.Little, r.Generator.Arrivals = OpenLoop, nil, &a }
	}
	quota := func(ns, times probe.Value, also func(*Result)) func(*Result) {
		return func(r *Result) {
			r.Generator.Machine = &probe.HostUse{Throttled: ns, Throttlings: times, Quota: 0.5}
			if also != nil {
				also(r)
			}
		}
	}
	unknown := probe.Value(math.NaN())
	for _, test := range []struct {
		what    string
		change  func(*Result)
		verdict string
		reason  string // a part of the only one
	}{
		{"unknown", machine(func(m *probe.HostUse) {
			m.Steal, m.ListenOverflow, m.Retransmits, m.TimeWait = unknown, unknown, unknown, unknown
			m.Throttled, m.Throttlings = unknown, unknown
		}), OK, ""},
		{"some steal", machine(func(m *probe.HostUse) { m.Steal = 1 }), OK, ""},
		{"steal", machine(func(m *probe.HostUse) { m.Steal = 1.1 }), Suspect, "1.1 % of the CPUs"},
		{"no queue", func(r *Result) { r.Generator.Unscheduled, r.Generator.CPUWait = 5, 90 }, OK, ""},
		{"short waits", func(r *Result) { r.Generator.Unscheduled, r.Generator.CPUWait = 17, 7 }, OK, ""},
		{"queue", func(r *Result) { r.Generator.Unscheduled, r.Generator.CPUWait = 5.6, 21 }, Suspect, "for a CPU 6 % of"},
		{"long queue", func(r *Result) { r.Generator.Unscheduled, r.Generator.CPUWait = 30, 90 }, ClientBound, "for a CPU 30 %"},
		{"a quota once", quota(21e6, 1, nil), Suspect, "quota of 0.5 CPUs and was stopped once, for 21 ms in"},
		{"a short stop of a quota", quota(0.9e6, 1, nil), OK, ""},
		{"no quota used up", quota(0, 0, func(r *Result) {
			r.Generator.Unscheduled, r.Generator.CPUWait = 30, 90
		}), ClientBound, "for a CPU 30 %"},
		{"a quota, no other program", quota(2.9e9, 60, func(r *Result) {
			r.Generator.Unscheduled, r.Generator.CPUWait = 29, 900
		}), ClientBound, "in 60 periods, for 2.9 s in"},
		{"a standstill by a quota", quota(60e6, 1, func(r *Result) {
			since := 1.0
			r.Generator.Standstill = Standstill{0.06, 60e3, &since, 50}
		}), Suspect, "once, for 60 ms"},
		{"a standstill, and little by a quota", quota(0.9e6, 1, func(r *Result) {
			since := 1.0
			r.Generator.Standstill = Standstill{0.06, 60e3, &since, 50}
		}), Suspect, "stood still for 60 ms"},
		{"goroutines wait", func(r *Result) { r.Generator.SchedulingP99 = 5000 }, OK, ""},
		{"goroutines of HTTP/3 wait", func(r *Result) {
			r.Generator.Ring, r.Generator.SchedulingP99 = loadplan.HTTP3Ring, 1100
		}, Suspect, "1 % of these waits took 1.1 ms or longer"},
		{"and it is little", func(r *Result) {
			r.Generator.Ring, r.Generator.SchedulingP99, r.Latency.Mean = loadplan.HTTP3Ring, 1100, 12_000
		}, OK, ""},
		{"overflow", machine(func(m *probe.HostUse) { m.ListenOverflow = 3 }), Suspect, "full 3 times"},
		{"another's overflow", func(r *Result) { r.Generator.Machine = &probe.HostUse{ListenOverflow: 3} }, OK, ""},
		{"sent again", machine(func(m *probe.HostUse) { m.Retransmits = 101 }), Suspect, "101 TCP segments"},
		{"a few", machine(func(m *probe.HostUse) { m.Retransmits = 100 }), OK, ""},
		{"another's", func(r *Result) { r.Generator.Machine = &probe.HostUse{Retransmits: 1e5} }, OK, ""},
		{"few ports", machine(func(m *probe.HostUse) { m.TimeWait = 25_000 }), Suspect, "25,000 sockets"},
		{"enough ports", machine(func(m *probe.HostUse) { m.TimeWait = 20_000 }), OK, ""},
		{"all that is TCP's, with HTTP/3", func(r *Result) {
			machine(func(m *probe.HostUse) {
				m.ListenOverflow, m.Retransmits, m.TimeWait = 3, 101, 25_000
			})(r)
			r.Generator.Ring = loadplan.HTTP3Ring
		}, OK, ""},
		{"ports of servers", func(r *Result) {
			r.Generator.LocalPorts, r.Generator.Machine = 28_232, &probe.HostUse{TimeWait: 90_000}
		}, OK, ""},
		{"stop", func(r *Result) { r.Generator.StopMax = 1500 }, Suspect, "for up to 1.5 ms"},
		{"a stop small in latency", func(r *Result) {
			r.Generator.StopMax, r.Latency.P99 = 1500, 20_000
		}, OK, ""},
		{"a stop that GC has said", func(r *Result) {
			r.Generator.StopMax, r.Generator.GCPauseMax = 1500, 1400
		}, Suspect, "garbage collection"},
		{"poisson", arrivals(Arrivals{Spans: 10_000, A2: set(5.9)}), OK, ""},
		{"poisson, nearly", arrivals(Arrivals{Spans: 10_000, A2: set(95.0)}), OK, ""},
		{"poisson, by chance", arrivals(Arrivals{Spans: 100, A2: set(3.0)}), OK, ""},
		{"not poisson", arrivals(Arrivals{Spans: 2000, A2: set(69.5)}), Suspect, "A² (Anderson-Darling) of the 2,000 gaps between them is 69.5"},
		{"even", arrivals(Arrivals{Spans: 2000, OffP95: set(11.2)}), OK, ""},
		{"uneven", arrivals(Arrivals{Spans: 2000, OffP95: set(72.5)}), Suspect, "off by 72 % or"},
		{"probe", func(r *Result) {
			r.Probe = &Probe{SendLagP99: set(1100.0), Latency: &Distribution{Mean: 2000}}
		}, Suspect, "1 % of the probe's requests"},
		{"probe in time", func(r *Result) {
			r.Probe = &Probe{SendLagP99: set(1100.0), Latency: &Distribution{Mean: 12_000}}
		}, OK, ""},
	} {
		r := sound()
		test.change(r)
		r.judgeGenerator()
		verdict, reasons := r.Generator.Verdict, r.Generator.Reasons
		if all := strings.Join(reasons, "\n"); verdict != test.verdict || len(reasons) > 1 ||
			(test.reason == "") != (all == "") || !strings.Contains(all, test.reason) {
			t.Errorf("%s: %s, want %s because of %q: %q", test.what, verdict, test.verdict, test.reason, reasons)
		}
	}
}

// What a recording says of the window is in the result, and judged.
func TestObserved(t *testing.T) {
	s, err := probe.Start(probe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for time.Since(began) < 50*time.Millisecond { // CPU time, for the machine to tell of
	}
	run := closedRun()
	run.Started, run.Warmed, run.Measured = began, 0, 50*time.Millisecond
	r := from(t, run)
	r.Generator.Verdict, r.Generator.Reasons = "", nil
	r.AddObserved(s.Stop())
	m := r.Generator.Machine
	if m == nil || m.CPUs < 1 || m.WallS < 0.049 || m.WallS > 0.051 || r.Generator.Verdict == "" {
		t.Errorf("%+v, judged %q", m, r.Generator.Verdict)
	}
}
