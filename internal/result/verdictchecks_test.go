package result

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/result/streamed"
)

// sound is a closed run with nothing to say against it.
func sound() *Result {
	little, us := 1.0, 1000.0
	return &Result{Model: ClosedLoop, Ended: "duration", Host: Host{CPUs: 2},
		Plan:     loadplan.Plan{Connections: 10, Pipeline: 1},
		Window:   Window{MeasuredS: 10},
		Requests: Requests{Sent: 100_000, Completed: 100_000},
		Latency:  &Distribution{Mean: us, P99: 2 * us, Max: 10 * us},
		Traffic: Traffic{Connections: Connections{Asked: 10, Opened: 10, Served: 10},
			Status: map[string]int64{"200": 100_000}},
		Generator: Generator{BusyPercent: 79, Threads: 1, Little: &little}}
}

func set[T any](v T) *T { return &v }

// silentFor has the server answer nothing for the last seconds of the window of 10 s.
func silentFor(seconds float64, change func(*Result)) func(*Result) {
	return func(r *Result) {
		r.Generator.Little = set(1 - seconds/10)
		r.Window.UnavailableS, r.Window.UnavailableFromS = seconds, set(9.99-seconds)
		r.Requests.Sent, r.Requests.Unfinished = r.Requests.Sent+10, 10
		change(r)
	}
}

func TestJudge(t *testing.T) {
	lag := func(us, mean float64) func(*Result) {
		return func(r *Result) {
			r.Model, r.Generator.SendLagP99, r.Latency.Mean = OpenLoop, &us, mean
			r.Generator.Little = nil
		}
	}
	unread := func(us, gap, first float64) func(*Result) {
		return func(r *Result) {
			r.Generator.ReadLagP99, r.Stream = &us, &streamed.Stream{First: &Distribution{P50: first}}
			if gap > 0 {
				r.Stream.Gap = &Distribution{P50: gap}
			}
		}
	}
	for _, test := range []struct {
		what    string
		change  func(*Result)
		verdict string
		reason  string // a part of the only one
	}{
		{"sound", func(*Result) {}, OK, ""},
		{"busy", func(r *Result) { r.Generator.BusyPercent = 80 }, Suspect, "80 %"},
		{"saturated", func(r *Result) { r.Generator.BusyPercent = 98.4 }, ClientBound,
			"98 % of the time: it was at its limit, and the server may do more"},
		{"saturated, with a scenario", func(r *Result) {
			r.Generator.BusyPercent, r.Generator.ScenarioPercent = 98.4, set(49.0)
		}, ClientBound, "98 % of the time: it was at its limit"},
		{"saturated by the scenario", func(r *Result) {
			r.Generator.BusyPercent, r.Generator.ScenarioPercent = 98.4, set(71.2)
			r.Plan.Steps = []string{"a", "b"}
		}, ClientBound, "a thread was busy 98 % of the time, 71 % with the scenario itself: " +
			"this is the scenario's limit, and the server may do more"},
		{"busy with the scenario", func(r *Result) {
			r.Generator.BusyPercent, r.Generator.ScenarioPercent = 80, set(41.0)
			r.Plan.Steps = []string{"a", "b"}
		}, Suspect, "a thread was busy 80 % of the time, 41 % with the scenario itself: " +
			"some of the latency is the scenario's"},
		{"saturated by holes and checks", func(r *Result) {
			r.Generator.BusyPercent, r.Generator.ScenarioPercent = 98.4, set(71.2)
		}, ClientBound, "a thread was busy 98 % of the time, 71 % with filling requests and checking answers: " +
			"this is the generator's limit, and the server may do more"},
		{"not busy with the scenario", func(r *Result) { r.Generator.ScenarioPercent = set(78.0) }, OK, ""},
		{"events lay unread", unread(2100, 20_000, 900_000), Suspect, "2.1 ms or longer until the generator read them: the wait is in the gaps between events, whose median is 20 ms"},
		{"events hardly lay unread", unread(1900, 20_000, 100), OK, ""},
		{"single events lay unread", unread(2100, 0, 20_000), Suspect, "2.1 ms or longer until the generator read them: the wait is in the times to the first event, whose median is 20 ms"},
		{"single events hardly lay unread", unread(1900, 0, 20_000), OK, ""},
		{"lag of timers", lag(999, 10), OK, ""},
		{"lag", lag(1100, 1000), Suspect, "1.1 ms late: the latency (mean 1 ms) contains this delay"},
		{"lag small in latency", lag(1100, 20_000), OK, ""},
		{"lag not small in latency", lag(2100, 20_000), Suspect, "2.1 ms"},
		{"great lag", lag(11_000, 1000), ClientBound, "11 ms"},
		{"great lag small in latency", lag(11_000, 50_000), Suspect, "11 ms"},
		{"ports", func(r *Result) { r.Errors = []Error{{Kind: "no-port", Count: 3}} }, Suspect,
			"3 times: widen net.ipv4.ip_local_port_range"},
		{"files", func(r *Result) {
			r.Errors = []Error{{Kind: "no-file", Count: 3}, {Kind: "no-file", Count: 1}}
		}, Suspect, "for a connection, 4 times"},
		{"unserved", func(r *Result) { r.Connections.Served = 7 }, Suspect,
			"3 of 10 connections never completed a request"},
		{"fewer requests than connections", func(r *Result) {
			r.Connections.Asked, r.Connections.Served, r.Requests = 200, 150, Requests{Sent: 150, Completed: 150}
		}, OK, ""},
		{"few requests, and several at once", func(r *Result) {
			r.Connections.Asked, r.Connections.Served, r.Plan.Pipeline = 50, 3, 100
			r.Requests = Requests{Sent: 201, Completed: 201}
		}, OK, ""},
		{"few requests, and several streams", func(r *Result) {
			r.Connections.Asked, r.Connections.Served, r.Connections.Streams = 50, 2, set(100)
			r.Requests = Requests{Sent: 201, Completed: 201}
		}, Suspect, "1 of 50 connections never completed a request"},
		{"unserved in an open loop", func(r *Result) { r.Model, r.Connections.Served = OpenLoop, 7 },
			OK, ""},
		{"unopened in an open loop", func(r *Result) {
			r.Model, r.Connections = OpenLoop, Connections{Asked: 10, Opened: 12, Served: 8, Reconnects: 4}
		}, Suspect, "2 of 10 connections could not be opened"},
		{"Little, idle", func(r *Result) { r.Generator.Little = set(0.95) }, Suspect, "95 % of"},
		{"Little, tolerated", func(r *Result) { r.Generator.Little = set(0.971) }, OK, ""},
		{"Little, very idle", func(r *Result) { r.Generator.Little = set(0.8) }, ClientBound, "80 %"},
		{"Little, impossible", func(r *Result) { r.Generator.Little = set(1.05) }, Suspect,
			"fault of dyno"},
		{"Little, one latency over", func(r *Result) {
			r.Generator.Little, r.Latency.Max = set(1.05), 300_000
		}, OK, ""},
		{"Little, reconnecting", func(r *Result) {
			r.Generator.Little, r.Connections.Reconnects = set(0.5), 1
		}, OK, ""},
		{"Little, errors", func(r *Result) {
			r.Generator.Little, r.Requests.Errors = set(0.5), 1
		}, OK, ""},
		{"Little, few turns", func(r *Result) {
			r.Generator.Little, r.Requests.Completed = set(0.5), 999
		}, OK, ""},
		{"Little, unanswered", func(r *Result) {
			r.Generator.Little, r.Requests.Unfinished = set(0.8), 1
		}, Suspect, "80 % of the time, as rate × mean latency shows (Little's law): the rest of the time they waited for answers that never came, were"},
		{"Little, one unanswered explains a tenth", func(r *Result) {
			r.Generator.Little, r.Requests.Unfinished = set(0.5), 1
		}, ClientBound, "50 % of the time, as rate × mean latency shows (Little's law): the rest of the time they waited for answers that never came, were"},
		{"silent", silentFor(4.3, func(*Result) {}), Suspect, "all 10 connections were still waiting for an answer when the run ended, and had been from 5.69 s into the window on"},
		{"silent for some", silentFor(1.72, func(r *Result) { r.Requests.Unfinished, r.Window.UnavailableFromS = 4, set(5.69) }), Suspect,
			"4 of 10 connections were still waiting for an answer when the run ended, and had been from 5.69 s into the window on"},
		{"held", func(r *Result) {
			r.Window.UnavailableS, r.Window.UnavailableFromS, r.Requests.Held = 3, set(0.0), 3
			r.Errors = []Error{{Phase: "read", Kind: "reset", Detail: "connection reset by peer", Count: 1}}
		}, Suspect, "3 of 10 connections got no answer in the whole window"},
		{"silent, and the generator was idle", silentFor(4.3, func(r *Result) { r.Window.UnavailableS = 0.09 }),
			Suspect, "connections had a request in flight only 58 % of the time"},
		{"silent, with wrong answers", silentFor(4.3, func(r *Result) { wrong(r, 100, "503") }), Suspect,
			"all 10 connections were still waiting for an answer when the run ended"},
		{"silent, and one was lost", silentFor(4.3, func(r *Result) {
			r.Errors = []Error{{Phase: "read", Kind: "reset", Detail: "connection reset by peer", Count: 1}}
		}), Suspect, "all 10 connections were still waiting for an answer when the run ended"},
		{"silent, and all timed out", silentFor(4.3, func(r *Result) {
			r.Errors = []Error{{Phase: "timeout", Kind: "timeout", Detail: "no answer in time", Count: 10}}
		}), Suspect, "on average over the window, 4.3 of the 10 connections had no service from the server (no answer in time), from 5.69 s into the window on"},
		{"GC", func(r *Result) { r.Generator.GCPauseMax = 1234.5 }, Suspect, "1.23 ms"},
		{"GC small in latency", func(r *Result) {
			r.Generator.GCPauseMax, r.Latency.P99 = 1234, 20_000
		}, OK, ""},
		{"outage", func(r *Result) { r.Model, r.Window.OutageS = OpenLoop, 1.95 }, Suspect,
			"no connection could be opened for 1.95 s of the window: requests that were due then were sent late"},
		{"no server", func(r *Result) {
			r.Window.OutageS, r.Window.UnavailableS, r.Window.UnavailableFromS = 3.5, 3.52, set(4.01)
			r.Errors = []Error{{Phase: "connect", Kind: "refused", Detail: "connection refused", Count: 9}}
		}, Suspect, "no connection could be opened for 3.5 s of the window's 10 s (connection refused); the longest outage was from 4.01 s into the window on"},
		{"no server for some", func(r *Result) {
			r.Window.UnavailableS, r.Window.UnavailableFromS = 0.11, set(0.0)
		}, Suspect, "on average over the window, 0.11 of the 10 connections had no service from the server; the longest outage of a single connection was from the start on"},
		{"no server for a moment", func(r *Result) {
			r.Window.UnavailableS, r.Window.UnavailableFromS = 0.1, set(1.0)
		}, OK, ""},
		{"never sent", func(r *Result) { n := int64(500); r.Requests.Waiting = &n }, Suspect, "never sent"},
		{"a few never sent", func(r *Result) { n := int64(50); r.Requests.Waiting = &n }, OK, ""},
		{"few", func(r *Result) { r.Requests = Requests{Sent: 99, Completed: 99} }, Suspect,
			"only 99 answers in 10 s: too few for percentiles, which take at least 100"},
		{"few, and most latencies of them late", func(r *Result) {
			r.Requests = Requests{Sent: 99, Completed: 99}
			r.Model, r.Generator.SendLagP99, r.Generator.GCPauseMax = OpenLoop, set(1e6), 5000
		}, Suspect, "only 99 answers in 10 s"},
		{"few and short", func(r *Result) {
			r.Requests, r.Window.MeasuredS = Requests{Sent: 99, Completed: 99}, 0.0501
		}, OK, "too short to judge: 99 answers in 50.1 ms; a verdict takes at least 100 answers and a window of at " +
			"least 1 s"},
		{"few, and not all", func(r *Result) { r.Requests = Requests{Sent: 100, Completed: 98, Errors: 1, Unfinished: 1} },
			Suspect, "98 answers and 2 failures in 10 s"},
		{"one", func(r *Result) {
			r.Requests, r.Plan.Connections = Requests{Sent: 1, Completed: 1}, 1
			r.Connections = Connections{Asked: 1, Opened: 1, Served: 1}
		}, Suspect, "only 1 answer in 10 s: "},
		{"short", func(r *Result) { r.Window.MeasuredS = 0.0501 }, OK,
			"too short to judge: 100,000 answers in 50.1 ms"},
		{"short, and it shows much", func(r *Result) {
			r.Window.MeasuredS, r.Generator.BusyPercent, r.Generator.Little = 0.004, 99, set(0.5)
			r.Generator.Unscheduled, r.Generator.CPUWait, r.Generator.GCPauseMax = 100, 4000, 5000
			r.Model, r.Generator.SendLagP99 = OpenLoop, set(1e6)
		}, OK, "too short to judge: 100,000 answers in 4 ms"},
		{"interrupted", func(r *Result) { r.Ended = "interrupted" }, Suspect, "interrupted after 10 s"},
		{"gone", func(r *Result) { r.Ended, r.Cause = "gone", "connection refused" }, Suspect,
			"(connection refused)"},
		{"unreachable", func(r *Result) {
			r.Ended, r.Latency, r.Generator.Little = "unreachable", nil, nil
			r.Requests, r.Connections.Served = Requests{}, 0
		}, Suspect, "nothing was measured: no connection"},
		{"silent", func(r *Result) {
			r.Latency, r.Generator.Little, r.Requests.Completed = nil, nil, 0
			r.Connections.Served = 0
		}, Suspect, "no request completed"},
	} {
		r := sound()
		test.change(r)
		r.judgeGenerator()
		verdict, reasons := r.Generator.Verdict, r.Generator.Reasons
		if verdict != test.verdict {
			t.Errorf("%s: %s, want %s: %q", test.what, verdict, test.verdict, reasons)
		}
		if want := min(1, len(test.reason)); len(reasons) != want {
			t.Errorf("%s: %d reasons, want %d: %q", test.what, len(reasons), want, reasons)
		}
		if all := strings.Join(reasons, "\n"); !strings.Contains(all, test.reason) {
			t.Errorf("%s: %q does not say %q", test.what, all, test.reason)
		}
	}
}

func TestTheWorstVerdictStands(t *testing.T) {
	r := sound()
	r.Generator.BusyPercent, r.Ended = 99, "interrupted"
	r.judgeGenerator()
	if v, reasons := r.Generator.Verdict, r.Generator.Reasons; v != ClientBound || len(reasons) != 2 {
		t.Errorf("%s: %q", v, reasons)
	}
}

// wrong has n of the answers be errors of these statuses.
func wrong(r *Result, n int64, statuses ...string) {
	r.Requests.Errors, r.ErrorLatency = n, &Distribution{Count: n}
	for _, s := range statuses {
		r.Errors = append(r.Errors, Error{Phase: "expect", Kind: "status", Detail: s, Count: n})
	}
}

func TestWarnings(t *testing.T) {
	for _, test := range []struct {
		what   string
		change func(*Result)
		want   string // a part of the only one; "" for none
	}{
		{"sound", func(*Result) {}, ""},
		{"all 5xx", func(r *Result) { wrong(r, 8, "503", "500"); r.Requests.Completed = 0 },
			"EVERY answer was an error (status 500, 503)"},
		{"some 4xx", func(r *Result) { wrong(r, 300_000, "404") },
			"300,000 answers (75 %) were errors, which the latency leaves out: status 404"},
		{"few 4xx", func(r *Result) { wrong(r, 1000, "404") }, ""},
		{"all of what is expected are none", func(r *Result) {
			r.Plan.Expect = []loadplan.Statuses{{From: 200, To: 299}}
			r.Requests.Completed = 0
			wrong(r, 8, "404")
		}, "EVERY answer was an error (status 404)"},
		{"expected", func(r *Result) {
			r.Status = map[string]int64{"404": 1}
			r.Plan.Expect = []loadplan.Statuses{{From: 404, To: 404}}
		}, ""},
		{"failures", func(r *Result) { r.Requests.Errors = 2000 }, "2.0 % of the requests failed"},
		{"few failures", func(r *Result) { r.Requests.Errors = 1000 }, ""},
		{"unfinished", func(r *Result) { r.Requests.Unfinished = 5000 }, "5.0 % of the requests were"},
		{"waiting", func(r *Result) { r.Requests.Waiting = set(int64(5)) }, "5 requests were due"},
		{"the server was gone", func(r *Result) {
			r.Model, r.Window.OutageS, r.Requests.Waiting = OpenLoop, 5, set(r.Requests.Sent)
		}, "100,000 requests were due but never sent: for 5 s no connection could be opened, so the offered " +
			"rate was not reached"},
		{"the server was gone for a moment", func(r *Result) {
			r.Model, r.Window.OutageS, r.Requests.Waiting = OpenLoop, 0.1, set(r.Requests.Sent)
		}, "all 10 connections were busy, so the offered rate was not reached; raise -c, or lower -R"},
		{"a replay", func(r *Result) {
			r.Model, r.Plan.Replay, r.Requests.Waiting = OpenLoop, 1e9, set(r.Requests.Sent)
		}, "all 10 connections were busy, so the offered rate was not reached; raise -c, or lower the speed of the " +
			"replay (dyno from access-log --replay)"},
		{"the server of a scenario was gone", func(r *Result) {
			r.Model, r.Window.OutageS, r.Plan.Steps, r.Plan.Users = OpenLoop, 5, []string{"a", "b"}, 3
			r.Iterations = &Iterations{Users: 3, Started: 100, Waiting: set(int64(100))}
		}, "100 iterations were due but never begun: for 5 s no connection could be opened, so the offered " +
			"rate was not reached"},
		{"users were busy", func(r *Result) {
			r.Model, r.Plan.Steps, r.Plan.Users = OpenLoop, []string{"a", "b"}, 3
			r.Iterations = &Iterations{Users: 3, Started: 100, Waiting: set(int64(100))}
		}, ": all 3 users were busy, so the offered rate was not reached; raise --users, or lower -R"},
		{"users or connections were busy", func(r *Result) {
			r.Model, r.Plan.Steps, r.Plan.Users = OpenLoop, []string{"a", "b"}, 30
			r.Iterations = &Iterations{Users: 30, Started: 100, Waiting: set(int64(100))}
		}, "all 30 users or all 10 connections were busy, so the offered rate was not reached; raise --users, " +
			"or raise -c, or lower -R"},
		{"a backlog", func(r *Result) { r.Requests.SentAfter = set(int64(1234567)) },
			"1,234,567 requests were sent only after the window: all 10 connections were busy"},
		{"the last request", func(r *Result) { r.Requests.SentAfter = set(int64(1)) }, ""},
		{"none waiting", func(r *Result) { r.Requests.Waiting = set(int64(0)) }, ""},
	} {
		r := sound()
		test.change(r)
		got := warnings(r)
		if test.want == "" && len(got) != 0 || test.want != "" && len(got) != 1 ||
			!strings.Contains(strings.Join(got, "\n"), test.want) {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}
