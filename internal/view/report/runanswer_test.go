package report

import (
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/result/streamed"
	"dyno/internal/view/answer"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// waited is an open load that waited behind a stall of the server.
func waited() *result.Result {
	r := reporttest.Late()
	r.Generator.Verdict, r.Generator.Reasons = result.OK, []string{}
	r.Generator.SendLagP99, r.Generator.SendLagMax = new(20.0), new(100.0)
	r.Requests.Late, r.Requests.LateMax = new(int64(2829)), new(1e6)
	r.Latency.P99 = 905e3
	return r
}

// fewUsers is one whose users waited, and not for connections.
func fewUsers() *result.Result {
	r := waited()
	r.Plan.Users, r.Plan.Connections = 20, 400
	return r
}

// judged is a closed load with an objective of each outcome.
func judged() *result.Result {
	r := reporttest.Closed()
	r.Objectives = []result.Outcome{{Expr: "p99<1ms", Value: new(462.0), Unit: "us", Met: true},
		{Expr: "rps>1M", Value: new(332_014.0), Unit: "per_s"}, {Expr: "errors<1%", Value: new(0.0), Unit: "percent", Met: true},
		{Expr: "p99.99<1s", Value: new(500.0), Unit: "us", Needs: 100_000}}
	return r
}

// slower is an open load of which less was completed than offered, because an agent was lost.
func slower() *result.Result {
	r := waited()
	r.Requests.Late, r.Requests.LateMax = nil, nil
	r.Latency.P99, r.Rate.Completed, r.Ended = 300, 16_000, "lost"
	return r
}

// The sentence is about the server first, and the generator second.
func TestRunSentence(t *testing.T) {
	for want, r := range map[string]*result.Result{
		"332,014 requests/s on 100 connections, p99 462 µs":                                                    reporttest.Closed(),
		"20,000 requests/s held, but p99 is 905 ms: 2,829 requests waited for a free connection, up to 1.00 s": waited(),
		"20,000 requests/s held, but p99 is 905 ms: 2,829 iterations waited for a free user, up to 1.00 s":     fewUsers(),
		"332,014 requests/s on 100 connections, p99 462 µs; missed: rps>1M (332,014/s); " +
			"met: p99<1ms (462 µs), errors<1% (0 %)": judged(),
		"22 % of the requests failed: status 503 (999 times); the others: p99 4.62 ms; " +
			"the generator was the limit, the server may do more": reporttest.Failing(),
		"20,000 requests/s were offered and 16,000 completed, p99 300 µs; only a part of what was planned: LOST an agent": slower(),
		"Nothing was answered: connect 127.0.0.1:8080: connection refused":                                                reporttest.Unreachable(),
	} {
		if got := RunAnswer(r).Sentence; got != want {
			t.Errorf("%q\nnot\n%q", got, want)
		}
	}
}

// What speaks against a run counts for the box, and is said once.
func TestRunBox(t *testing.T) {
	for name, c := range map[string]struct {
		r     *result.Result
		box   answer.Severity
		kinds string
	}{
		"closed":      {reporttest.Closed(), answer.Note, "one-run"},
		"late":        {reporttest.Late(), answer.Doubt, "self-verdict one-run"},
		"failing":     {reporttest.Failing(), answer.Bad, "failing generator self-verdict one-run"},
		"unreachable": {reporttest.Unreachable(), answer.Bad, "unanswered"},
		"shopping":    {reporttest.Shopping(), answer.Bad, "objective failing self-verdict failing one-run"},
	} {
		a := RunAnswer(c.r)
		var kinds []string
		for _, one := range a.Cautions {
			kinds = append(kinds, one.Kind)
		}
		if a.Box != c.box || strings.Join(kinds, " ") != c.kinds {
			t.Errorf("%s: the box is %s, of %q", name, a.Box, kinds)
		}
		if a.Next.Says == "" || a.Next.Command == "" {
			t.Errorf("%s: the next step is %+v", name, a.Next)
		}
	}
}

// A doubt's remedy is the next step, and is not said again. A box without a doubt says that nothing
// else speaks against the run.
func TestRunRemedyIsSaidOnce(t *testing.T) {
	r := reporttest.Closed()
	r.Generator.Verdict = result.Suspect
	reporttest.AddDoubt(r, result.SendLag, result.HeldUp, fact.Fact{Severity: fact.Warning, Args: fact.SendLag{},
		Remedies: []fact.Remedy{{Setting: "cpus", Value: fact.Some}}})
	a := RunAnswer(r)
	if a.Next.Says != "repeat it: give the generator CPUs of its own (--cpus)" || a.Cautions[0].Remedy != "" {
		t.Errorf("%q; %+v", a.Next.Says, a.Cautions[0])
	}
	if !strings.HasSuffix(a.Sentence, "the generator was delayed, so latency may be too high") {
		t.Error(a.Sentence)
	}
	a = RunAnswer(reporttest.Closed())
	if a.Box != answer.Note || a.BoxText != a.Cautions[0].Says || !strings.Contains(a.BoxText, notTheLimit) {
		t.Errorf("%s: %s", a.Box, a.BoxText)
	}
}

// What can be done about a generator that was the limit is what its facts say: more threads take no
// more of a quota, nor of --cpus. Most failures may be redirects to another origin.
func TestNextStepIsTheFactsRemedy(t *testing.T) {
	cpus := fact.Remedy{Setting: "cpus", Value: fact.Higher}
	for want, f := range map[string]fact.Fact{
		"give the generator all CPUs":                                                                {Args: fact.Busy{Percent: 99}, Remedies: []fact.Remedy{{Setting: "threads", Value: fact.Higher}}},
		"give the generator more CPUs (--cpus), then repeat the run":                                 {Args: fact.Busy{Percent: 99}, Remedies: []fact.Remedy{cpus}},
		"raise the CPU quota of the generator's cgroup, or use another machine, then repeat the run": {Args: fact.Busy{Percent: 99, AtQuota: true}},
	} {
		r := reporttest.Closed()
		r.Generator.Verdict, r.Generator.Threads, r.Host.CPUs = result.ClientBound, 1, 4
		if f.Severity = fact.Error; f.Args.(fact.Busy).AtQuota {
			r.Generator.Threads = 4
		}
		reporttest.AddDoubt(r, result.Busy, result.Limit, f)
		if got := RunAnswer(r).Next; got.Says != want || (got.Command != "") != (want == "give the generator all CPUs") {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	r := reporttest.Failing()
	r.Facts = append(r.Facts, fact.Fact{Args: fact.RedirectsAway{Count: r.Requests.Errors}})
	none := RunAnswer(r).Next.Says
	r.Facts[len(r.Facts)-1].Remedies = []fact.Remedy{{Setting: "follow-to", Value: "ORIGIN"}}
	if got := RunAnswer(r).Next.Says; got != "give --follow-to ORIGIN" || !strings.Contains(none, "--save-errors") {
		t.Errorf("%q; without a remedy %q", got, none)
	}
}

// Whatever texts a result has, its answer has one.
func TestRunAnswerOfAnything(t *testing.T) {
	for name, r := range map[string]*result.Result{"hostile": reporttest.Hostile(), "watched": reporttest.Watched(),
		"zero": {}} {
		if a := RunAnswer(r); a.Sentence == "" || strings.ContainsAny(a.Sentence+a.BoxText, "\x1b\n") {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// The summary of a run has its numbers in a table; one of which nothing was answered has none.
func TestRunSummary(t *testing.T) {
	got := RunAnswer(reporttest.Closed()).Markdown("dyno run x", answer.Limits{})
	for _, want := range []string{"| requests/s | p50 | p90 | p99 | p99.9 | max | errors |", "| 332,014 | 289 µs |", "dyno run x"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not have %q:\n%s", want, got)
		}
	}
	if got := RunAnswer(reporttest.Unreachable()).Markdown("", answer.Limits{}); strings.Contains(got, "|") {
		t.Errorf("a table of nothing:\n%s", got)
	}
}

// few is a run of so many answers.
func few(n int64) *result.Result {
	r := reporttest.Closed()
	r.Requests = result.Requests{Sent: n, Completed: n}
	r.Latency.Count, r.Latency.Max = n, 25.2e6
	return r
}

// No sentence has a p99 that the table does not have.
func TestNoP99OfFew(t *testing.T) {
	for n, want := range map[int64]string{2: "max 25.2 s", 99: "max 25.2 s", 100: "p99 462 µs"} {
		if got := RunAnswer(few(n)).Sentence; !strings.HasSuffix(got, want) {
			t.Errorf("of %d: %q", n, got)
		}
	}
}

// A box that praises a run has no other caution, and a report's verdict has the colour of the box.
func TestBoxOfDoubtfulRuns(t *testing.T) {
	short := few(2)
	short.Generator.Reasons = []string{"too short to judge: 2 answers in 3ms"}
	short.Generator.Doubts = []result.Doubt{{Verdict: result.OK, Kind: result.Short, Cause: result.TooShort}}
	warned := reporttest.Closed()
	warned.Warnings = []string{"answers differ in size"}
	some := few(1_010_000)
	some.Requests.Errors = 10_000
	failing := few(1000)
	failing.Requests = result.Requests{Sent: 1000, Errors: 1000}
	failing.Rate.ErrorAnswers, failing.Latency, failing.ErrorLatency = new(100.0), nil, reporttest.Spread(1000, 90)
	failing.Status, failing.Errors = map[string]int64{"503": 1000}, []result.Error{{Phase: "expect", Kind: "status", Detail: "503", Count: 1000}}
	iterations := reporttest.Closed()
	iterations.Iterations = &result.Iterations{Started: 100, Completed: 95, Failed: 5}
	stopped := few(1000)
	stopped.Requests.Errors, stopped.Ended = 800, "interrupted"
	for name, c := range map[string]struct {
		r     *result.Result
		box   answer.Severity
		text  string
		color string
	}{
		"short":      {short, answer.Doubt, "Too short to judge", "yellow"},
		"warned":     {warned, answer.Doubt, "Answers differ in size", "yellow"},
		"some":       {some, answer.Note, "10,000 of 1,010,000 requests failed", "green"},
		"failing":    {failing, answer.Bad, "Every answer was an error", "red"},
		"iterations": {iterations, answer.Bad, "5 % of the iterations failed", "red"},
		"stopped":    {stopped, answer.Bad, "80 % of the requests failed", "red"},
	} {
		a := RunAnswer(c.r)
		if a.Box != c.box || !strings.Contains(a.BoxText, c.text) {
			t.Errorf("%s: %s: %s", name, a.Box, a.BoxText)
		}
		colors := map[format.Color]string{format.Green: "green", format.Yellow: "yellow", format.Red: "red"}
		if got := colors[boxColor(c.r, a)]; got != c.color {
			t.Errorf("%s: the verdict is %s", name, got)
		}
	}
	if got := serverVerdict(iterations); !strings.Contains(got, "; 5 % of them failed") {
		t.Error(got)
	}
}

// A p99 is due to waits only if enough requests waited, and for long enough.
func TestWaitsThatMakeAP99(t *testing.T) {
	late := func(n int64, worst, p99 float64) *result.Result {
		r := waited()
		r.Requests.Late, r.Requests.LateMax, r.Latency.P99 = &n, &worst, p99
		return r
	}
	for name, c := range map[string]struct {
		r     *result.Result
		waits bool
	}{
		"one request":  {late(1, 1e4, 900e3), false},
		"short waits":  {late(20_000, 1e4, 900e3), false},
		"long waits":   {late(20_000, 900e3, 900e3), true},
		"few of those": {late(100, 900e3, 900e3), false},
	} {
		if got := RunAnswer(c.r).Sentence; strings.Contains(got, "waited") != c.waits {
			t.Errorf("%s: %s", name, got)
		}
	}
	r := late(20_000, 900e3, 900e3)
	r.Latency, r.ErrorLatency = nil, r.Latency
	if got := generatorRow(r, format.Style{}).Text; !strings.Contains(got, "waits for a connection not counted") {
		t.Errorf("every answer is wrong: %s", got)
	}
}

// A rate is held if what was due was completed; only drawn arrivals have room for chance.
func TestRateIsHeld(t *testing.T) {
	open := func(due *int64, completed int64, law string) *result.Result {
		r := waited()
		r.Plan.Arrival, r.Requests.Due, r.Requests.Completed = law, due, completed
		r.Requests.Sent, r.Requests.SentAfter, r.Window.MeasuredS = completed, new(int64(0)), 1
		r.Rate = result.Rate{Offered: new(100.0), Completed: float64(completed)}
		return r
	}
	counted, replayed := open(new(int64(100)), 100, loadplan.Even), open(new(int64(100)), 100, loadplan.Even)
	counted.Plan.Requested, counted.Rate.Completed, counted.Window.MeasuredS = 100, 25, 4
	replayed.Plan.Replay, replayed.Rate.Completed, replayed.Window.MeasuredS = loadplan.Seconds(time.Second), 25, 4
	for name, c := range map[string]struct {
		r    *result.Result
		held bool
	}{
		"a number, in more time": {counted, false},
		"a replay, in more time": {replayed, false},
		"constant":               {open(new(int64(100)), 71, loadplan.Even), false},
		"all":                    {open(new(int64(100)), 100, loadplan.Even), true},
		"drawn fewer":            {open(new(int64(80)), 80, loadplan.Poisson), true},
		"drawn, not kept":        {open(new(int64(110)), 90, loadplan.Poisson), false},
		"due is not known":       {open(nil, 71, loadplan.Even), false},
		"drawn, not known":       {open(nil, 80, loadplan.Poisson), true},
	} {
		if got := isHeld(c.r, *c.r.Rate.Offered, c.r.Rate.Completed); got != c.held {
			t.Errorf("%s: held: %v", name, got)
		}
	}
}

// The next step's command sends the same load, and is one that the program takes.
func TestStepCommands(t *testing.T) {
	post := reporttest.Closed()
	post.Plan.Requests[0].Method = "POST"
	post.Objectives = []result.Outcome{{Expr: "p99<1ms"}, {Expr: "rps>1000"}}
	met := reporttest.Closed()
	met.Objectives = []result.Outcome{{Expr: "p99<90ms", Met: true}, {Expr: "rps>1", Met: true}}
	fast := reporttest.Closed() // what it was asked for says nothing of a limit
	fast.Objectives = []result.Outcome{{Expr: "rps>1M", Value: new(4863.0), Unit: "per_s"}}
	fleet := reporttest.Failing()
	fleet.Fleet = &result.Fleet{Agents: []result.Agent{{Name: "a"}}}
	dead := func(url string, change func(*loadplan.Target)) *result.Result {
		r := reporttest.Unreachable()
		r.Plan.Target.URL = url
		change(&r.Plan.Target)
		return r
	}
	for name, c := range map[string]struct {
		r     *result.Result
		has   []string
		lacks string
	}{
		"objective":              {post, []string{"dyno find --slo 'p99<1ms'", "-X POST", "-c 100"}, "rps"},
		"objective that was met": {met, []string{"dyno find --slo 'p99<90ms' "}, "rps"},
		"objective of a rate":    {fast, []string{"dyno find --slo 'p99<"}, "rps"},
		"fleet":                  {fleet, []string{"curl -v"}, "--save-errors"},
		"h2c":                    {dead("h2c://x:1/", func(*loadplan.Target) {}), []string{"--http2-prior-knowledge http://x:1/"}, "h2c:"},
		"tls": {func() *result.Result {
			r := dead("https://x:1/", func(*loadplan.Target) {})
			r.Plan.TLS = loadplan.TLS{Insecure: true, CAFile: "a b.pem"}
			return r
		}(), []string{"curl -v --cacert 'a b.pem' --insecure https://x:1/"}, "dyno"},
		"fcgi": {dead("fcgi://x:1/a.php", func(t *loadplan.Target) { t.FastCGI = true }),
			[]string{"dyno run -n 1 -c 1 -v fcgi://x:1/a.php"}, "curl"},
	} {
		got := RunAnswer(c.r).Next.Command
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q has no %q", name, got, want)
			}
		}
		if strings.Contains(got, c.lacks) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A load that the server or the generator did not take is repeated with less, and the sentence says
// how much of it was served.
func TestTooMuchIsRepeatedWithLess(t *testing.T) {
	crowded := reporttest.Closed()
	crowded.Plan.Connections, crowded.Connections.Asked, crowded.Connections.Served = 5000, 5000, 2710
	crowded.Generator.Verdict = result.Suspect
	crowded.Generator.Reasons = []string{"2,290 of 5,000 connections never completed a request"}
	crowded.Generator.Doubts = []result.Doubt{{Cause: result.Unserved, Kind: result.OtherLoad, Verdict: result.Suspect}}
	fast := reporttest.Late()
	fast.Plan.Rate, fast.Rate.Completed = loadplan.RatePerSecond(60_000), 13_215
	fast.Generator.Doubts = []result.Doubt{{Cause: result.NeverSent, Kind: result.OtherLoad, Verdict: result.Suspect}}
	for _, c := range []struct {
		r                     *result.Result
		sentence, says, flags string
	}{
		{crowded, "requests/s on only 2,710 of 5,000 connections", "lower -c, or give --warmup", "-c 2710 "},
		{fast, "were offered and 13,215 completed", "lower the rate below the 13,215/s that were completed", "-R 11000 "},
	} {
		a := RunAnswer(c.r)
		if !strings.Contains(a.Sentence, c.sentence) || !strings.Contains(a.Next.Says, c.says) ||
			!strings.Contains(a.Next.Command, c.flags) {
			t.Errorf("%q, next %+v", a.Sentence, a.Next)
		}
	}
}

// A verdict is led by the cause: one header that was too long, and not the 90 requests behind it.
func TestVerdictBeginsWithTheCause(t *testing.T) {
	r := reporttest.Unreachable()
	r.Ended, r.Cause = string(loadresult.ByRequests), ""
	r.Errors = []result.Error{{Phase: "read", Kind: loadresult.Behind, Count: 90,
		Detail: "the connection was lost at an earlier request"},
		{Phase: "protocol", Kind: "oversized", Detail: "the response header is longer than 256 KiB", Count: 10}}
	want := "no request was answered: protocol: the response header is longer than 256 KiB (10 times)"
	if got := deadVerdict(r); got != want {
		t.Errorf("%q", got)
	}
	if got := firstError(r, r.Voice()); !strings.HasPrefix(got, ": the response header") {
		t.Errorf("%q", got)
	}
	r.Errors = r.Errors[:1]
	if got := firstError(r, r.Voice()); !strings.HasPrefix(got, ": the connection was lost") {
		t.Errorf("%q", got)
	}
}

// A rate of which half of the window had no server was not held, and answers that came after the
// window are in no rate.
func TestVerdictOfOutage(t *testing.T) {
	for name, c := range map[string]struct {
		out, rate  float64
		want, lack string
	}{
		"half of the window": {5, 200, "200 requests/s were offered and 200 completed, ", " held"},
		"a moment":           {0.05, 200, "200 requests/s held, p99 ", "no connection"},
		"answered later":     {0, 150, "200 requests/s held, of which 150/s had an answer in the window, p99 ", "offered"},
	} {
		r := reporttest.Closed()
		offered, due, none := 200.0, int64(2000), int64(0)
		r.Model, r.Plan.Rate = result.OpenLoop, loadplan.RatePerSecond(200)
		r.Window.MeasuredS, r.Window.OutageS = 10, c.out
		r.Rate = result.Rate{Completed: c.rate, Sent: 200, Offered: &offered}
		r.Requests = result.Requests{Due: &due, Waiting: &none, Late: &none, Sent: due, Completed: due}
		for _, said := range []string{serverVerdict(r), serverSentence(r, r.Voice())} {
			gone := strings.HasSuffix(said, "; for 5.00 s of 10.0 s no connection could be opened")
			if !strings.HasPrefix(said, c.want) || strings.Contains(said, c.lack) || gone != (c.out == 5) {
				t.Errorf("%s: %q", name, said)
			}
		}
	}
}

// What an agent that was lost did not send was not held, and no quieter machine brings it back.
func TestLostAgentHoldsNoRate(t *testing.T) {
	r := distributed()
	offered, due := 600.0, int64(3860)
	r.Model, r.Plan.Rate = result.OpenLoop, loadplan.RatePerSecond(600)
	r.Rate = result.Rate{Completed: 386, Offered: &offered}
	r.Requests = result.Requests{Due: &due, Sent: due, Completed: due}
	r.SetFleet(r.Fleet)
	a := RunAnswer(r)
	if want := "600 requests/s were offered and 386 completed, "; !strings.HasPrefix(a.Sentence, want) ||
		!strings.Contains(a.Sentence, "LOST agent web2") {
		t.Errorf("%q", a.Sentence)
	}
	if want := "look why agent web2 was lost"; !strings.HasPrefix(a.Next.Says, want) {
		t.Errorf("%+v", a.Next)
	}
	if f := r.Facts[0]; f.Args.(fact.AgentLost).AfterS != 7.5 || f.Scope.Agent != "web2" {
		t.Errorf("%+v", r.Facts)
	}
}

// A server that is only slower than the load waits is not said to be missing.
func TestAdviceForSlowServers(t *testing.T) {
	slow := func(errors ...result.Error) *result.Result {
		r := reporttest.Closed()
		r.Latency, r.Status, r.Errors = nil, nil, errors
		r.Requests = result.Requests{Sent: 2, Unfinished: 2, Errors: int64(len(errors))}
		r.Plan.Duration, r.Plan.Timeout = loadplan.Seconds(2*time.Second), loadplan.Seconds(3*time.Second)
		return r
	}
	stalled := slow(result.Error{Phase: "stream", Kind: "stalled", Count: 2})
	stalled.Plan.Stream.Format, stalled.Plan.Stream.Stall = "sse", loadplan.Seconds(2*time.Second)
	for name, c := range map[string]struct {
		r         *result.Result
		says, has string
	}{
		"silent": {slow(), "see how long an answer takes (curl -v http://127.0.0.1:8080/) and, if the server is only slow, measure for longer", " -d 20s"},
		"timeouts": {slow(result.Error{Phase: "timeout", Kind: "timeout", Count: 2}),
			"see how long an answer takes (curl -v http://127.0.0.1:8080/) and, if the server is only slow, give a longer --timeout", "--timeout 30s"},
		"stalled": {stalled, "see how long an answer takes (curl -v http://127.0.0.1:8080/) and, if the server is only slow, give a longer --stall",
			"--stall 20s"},
		"refused": {slow(result.Error{Phase: "connect", Kind: "refused", Count: 2}), "check that the server runs", "curl -v"},
	} {
		next := RunAnswer(c.r).Next
		if !strings.HasPrefix(next.Says, c.says) || !strings.Contains(next.Command, c.has) {
			t.Errorf("%s: %+v", name, next)
		}
	}
}

// After a closed load of streams the next step searches by their first events, not by how long they took.
func TestNextAfterStreams(t *testing.T) {
	r := reporttest.Closed()
	r.Stream = &streamed.Stream{First: &result.Distribution{Count: 1000, P50: 147e3, P99: 700e3}}
	next := RunAnswer(r).Next
	if !strings.HasPrefix(next.Says, "find the highest rate at which streams begin soon,") ||
		!strings.HasPrefix(next.Command, "dyno find --slo 'first_event.p99<2000ms' ") {
		t.Errorf("%+v", next)
	}
}
