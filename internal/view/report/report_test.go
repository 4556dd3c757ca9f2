package report

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/fact"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// wrong is a run of which every answer was an error.
func wrong() *result.Result {
	r := reporttest.Closed()
	r.Requests = result.Requests{Sent: 320_000, Errors: 320_000}
	r.Rate = result.Rate{Sent: 32_000, ErrorAnswers: new(32_000.0)}
	r.Latency, r.Service, r.ErrorLatency = nil, nil, reporttest.Spread(320_000, 318)
	r.Status = map[string]int64{"500": 320_000}
	r.Errors = []result.Error{{Phase: "expect", Kind: "status", Address: "127.0.0.1:8080",
		Detail: "500", Count: 320_000}}
	r.Objectives = []result.Outcome{
		{Expr: "errors<1%", Unit: "percent", Value: new(100.0)}, {Expr: "p99<20ms", Unit: "us"}}
	reporttest.AddWarning(r, fact.ErrorAnswers{All: true, Of: []string{"500"}}, fact.Remedy{Setting: "expect", Value: fact.Some})
	for i := range r.Series {
		p := &r.Series[i]
		p.Completed, p.Errors, p.Mean, p.P50, p.P99, p.Max = 0, p.Sent, 0, 0, 0, 0
	}
	return r
}

func unix() *result.Result {
	r := reporttest.Closed()
	r.Plan = reporttest.Plan("https+unix:///run/app.sock:/a?b=1&c=2")
	r.Plan.Target.Unix, r.Plan.Target.TLS, r.Plan.TLS.Insecure = "/run/app.sock", true, true
	r.Plan.Reconnect, r.Plan.Connections = 1, 1
	r.Connections = result.Connections{Asked: 1, Opened: 5, Served: 1, Reconnects: 4,
		TLSFull: new(int64(5)), TLSResumed: new(int64(0)),
		Protocols: map[string]int64{loadplan.HTTP11: 2, loadplan.HTTP2: 3}}
	r.Ended, r.Window.WarmupS, r.Window.DrainedS = "requests", 0, 0
	r.Requests = result.Requests{Sent: 5, Completed: 5}
	r.Window.MeasuredS, r.Rate = 0.0123, result.Rate{Sent: 406.504, Completed: 406.504}
	r.Bytes, r.Status = result.Bytes{Sent: 220, Received: 765}, map[string]int64{"204": 5}
	r.Latency, r.Phases.FirstByte = reporttest.Spread(5, 170), nil
	r.Phases.Connect, r.Phases.TLS = reporttest.Spread(5, 20), reporttest.Spread(5, 1500)
	r.Generator.Verdict, r.Generator.Reasons = result.Suspect, []string{
		"only 5 exchanges completed: too few for percentiles; give a longer -d or a larger -n"}
	return r
}

func interrupted() *result.Result {
	r := reporttest.Closed()
	r.Ended, r.Window.MeasuredS, r.Window.DrainedS = "interrupted", 3.2, 2
	r.Requests = result.Requests{Sent: 101, Completed: 1, Unfinished: 100}
	r.Latency, r.Phases = reporttest.Spread(1, 1_200_000), result.Phases{}
	r.Rate = result.Rate{Sent: 31.563, Completed: 0.313}
	r.Status = map[string]int64{"200": 1}
	r.Generator.Verdict, r.Generator.Reasons = result.Suspect, []string{
		"interrupted after 3.2s: this is a part of the run that was planned"}
	return r
}

// dark is a run of a server of which nothing can be told, and that was idle.
func dark() *result.Result {
	r := reporttest.Closed()
	na := probe.Value(math.NaN())
	r.Server = &result.Server{Processes: []result.Usage{
		{CPU: na, User: na, System: na, Wait: na, Percent: na, Memory: na, Threads: na, FDs: na},
		{Name: "app", PID: 7}},
		Host: probe.HostUse{CPUs: 4, WallS: 10, Busy: na, SoftIRQ: na, IRQ: na, Steal: na,
			Foreign: na},
		Sampler:     probe.Cost{Share: na},
		Unavailable: []string{"host.cpu: no such file"}}
	r.Profile = &result.Profile{Kind: profile.CPU, DurationS: 1, Top: []profile.Line{}}
	return r
}

// accompanied has a light load beside the main one.
func accompanied() *result.Result {
	r := reporttest.Closed()
	r.Plan.Probe = loadplan.RatePerSecond(100)
	r.Probe = &result.Probe{Connections: result.Connections{Asked: 100, Opened: 100, Served: 98},
		Requests: result.Requests{Sent: 1013, Completed: 1012, Errors: 1, Late: new(int64(3))},
		Rate:     result.Rate{Offered: new(100.0), Sent: 101.3, Completed: 101.2},
		Latency:  reporttest.Spread(1012, 410), Service: reporttest.Spread(1012, 390),
		Status: map[string]int64{"200": 1012}, SendLagP99: new(61.0), SendLagMax: new(140.0)}
	return r
}

// aborted was ended by one of its objectives.
func aborted() *result.Result {
	r := reporttest.Late()
	r.Ended, r.Window.MeasuredS = "aborted", 7.0001
	r.Requests.Unfinished, r.Requests.Completed = 12, 199_988
	r.Objectives = []result.Outcome{{Expr: "errors<0.1%", Unit: "percent", Value: new(0.0), Met: true},
		{Expr: "p99<100µs", Unit: "us", Value: new(192.0), Aborted: new(7.0)}}
	return r
}

// fixtures are results of each kind, by the name of their goldens.
func fixtures(t *testing.T) map[string]*result.Result {
	return map[string]*result.Result{"closed": reporttest.Closed(), "open": reporttest.Late(), "errors": reporttest.Failing(),
		"wrong": wrong(), "unix": unix(), "interrupted": interrupted(),
		"unreachable": reporttest.Unreachable(), "watched": reporttest.Watched(), "dark": dark(), "beside": accompanied(),
		"aborted": aborted(), "tls": negotiated(), "detail": stalled(t), "fleet": distributed(),
		"drifting": drifting(), "again": repeatable(), "shopping": reporttest.Shopping()}
}

// explained are those of fixtures whose methods are looked at: they differ in nothing else.
var explained = map[string]bool{"closed": true, "open": true, "fleet": true, "watched": true, "shopping": true}

// What is said of results.
func TestSentences(t *testing.T) {
	book := reporttest.Phrasebook{}
	for name, r := range fixtures(t) {
		all := RunSentences(r)
		if !explained[name] {
			all.Methods = nil
		}
		book.Collect(name, phrasesOf(all))
	}
	book.Collect("poisson", reporttest.Phrases("rate", rateText(poisson(true))))
	book.Collect("even", reporttest.Phrases("rate", rateText(poisson(false))))
	for name, p := range planned() {
		book.Collect(name, reporttest.Phrases("planned", PlanText(p)))
	}
	golden(t, "run.sentences", book.Text())
}

// full writes what -v writes, but for its plots.
func full(w io.Writer, r *result.Result) error {
	style := format.Style{Detail: true}
	return runDocument(r, style, nil).WriteText(w, style)
}

// briefly are the reports of a terminal that is as wide.
func briefly(t *testing.T, r *result.Result, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, r, format.Style{Width: width}); err != nil {
		t.Fatal(err)
	}
	return string(format.Visible(b.Bytes(), ""))
}

// The report on terminals of 80, 100 and 160 columns.
func TestBriefGoldens(t *testing.T) {
	for _, name := range []string{"closed", "open", "errors", "wrong", "interrupted", "unreachable", "watched", "aborted",
		"fleet", "shopping"} {
		r, all := fixtures(t)[name], ""
		for _, width := range []int{80, 100, 160} {
			all += strings.Repeat("-", width) + "\n" + briefly(t, r, width)
		}
		golden(t, name+".text", []byte(all))
	}
}

// Whatever happened, a report has at most 20 lines, as wide as the terminal, and each thing once.
func TestBriefReportIsBrief(t *testing.T) {
	worst := reporttest.Failing()
	worst.Scenario, worst.Server, worst.Fleet = reporttest.Shopping().Scenario, reporttest.Watched().Server, distributed().Fleet
	worst.Probe, worst.Plan.Target.URL = accompanied().Probe, "http://x/"+strings.Repeat("y", 3000)
	for i := range 9 {
		worst.Objectives = append(worst.Objectives, result.Outcome{Expr: strings.Repeat("p99<", 90), Met: i < 5})
		worst.Warnings = append(worst.Warnings, strings.Repeat("a long warning ", 90))
		worst.Generator.Reasons = append(worst.Generator.Reasons, strings.Repeat("a long reason ", 90))
		worst.Errors = append(worst.Errors, result.Error{Phase: "read", Kind: "x", Detail: strings.Repeat("z", 500), Count: 1})
	}
	all := fixtures(t)
	all["worst"] = worst
	for name, r := range all {
		for _, width := range []int{80, 100, 160} {
			text := briefly(t, r, width)
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			if len(lines) > mostLines {
				t.Errorf("%s has %d lines in %d columns:\n%s", name, len(lines), width, text)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > min(width, 100) {
					t.Errorf("%s has a line of %d characters in %d columns: %s", name, n, width, line)
				}
			}
			for _, o := range r.Objectives {
				if name != "worst" && strings.Count(text, o.Expr) != 1 {
					t.Errorf("%s has %s %d times:\n%s", name, o.Expr, strings.Count(text, o.Expr), text)
				}
			}
		}
	}
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"closed", "open", "errors", "wrong", "unix", "interrupted",
		"unreachable", "watched", "dark", "beside", "aborted", "fleet", "drifting", "shopping"} {
		r := fixtures(t)[name]
		var b bytes.Buffer
		for head, render := range map[string]func() error{
			"full":  func() error { return full(&b, r) },
			"quiet": func() error { return Quiet(&b, r) },
			"md":    func() error { return Markdown(&b, r) },
		} {
			b.Reset()
			if err := render(); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+head, reporttest.LayoutOf(b.Bytes(), phrasesOf(RunSentences(r))))
		}
	}
	var b bytes.Buffer
	for name, write := range map[string]func() error{
		"closed.csv":   func() error { return CSV(&b, reporttest.Closed()) },
		"shopping.csv": func() error { return CSV(&b, reporttest.Shopping()) },
		"closed.json":  func() error { return JSON(&b, reporttest.Closed()) },
		"color.text":   func() error { return Text(&b, reporttest.Failing(), format.Style{Color: paint}) },
	} {
		b.Reset()
		if err := write(); err != nil {
			t.Fatal(err)
		}
		golden(t, name, reporttest.LayoutOf(format.Visible(b.Bytes(), paint), phrasesOf(RunSentences(reporttest.Failing()))))
	}
}

// A stored file may say anything, and what it says is not for the terminal.
func TestNothingReachesTheTerminalUnseen(t *testing.T) {
	r := reporttest.Hostile()
	var b bytes.Buffer
	err := errors.Join(Text(&b, r, format.Style{}), Quiet(&b, r), Markdown(&b, r))
	if err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexAny(b.Bytes(), "\x1b\r\x00"); at >= 0 {
		t.Errorf("%q", b.Bytes()[max(0, at-60):at+5])
	}
}

func TestSecondsAndLive(t *testing.T) {
	full := loadresult.Interval{From: time.Second, To: 2 * time.Second, Completed: 332_014, Failed: 3,
		Received: 50_800_000, Written: 14_600_000, InFlight: 100,
		LatencyTimes: loadresult.LatencyTimes{Mean: 318.5, P50: 289, P99: 4620}}
	idle := loadresult.Interval{From: 10 * time.Second, To: 10*time.Second + 250*time.Millisecond}
	times := metric.NewHistogram(metric.Fine)
	for range 3 {
		times.Record(2_500_000_000)
	}
	iterated := loadresult.Interval{From: 9 * time.Second, To: 10 * time.Second, Iterations: 3, IterationsFailed: 1,
		IterationTime: times.ToSparse(), InFlight: 4}
	one := metric.NewHistogram(metric.Fine)
	one.Record(2_500_000_000)
	once := loadresult.Interval{From: 9 * time.Second, To: 10 * time.Second, Iterations: 1, IterationTime: one.ToSparse()}
	for _, test := range []struct{ got, want string }{
		{SecondHeader(loadplan.Plan{}),
			"Second         Total      Req/s       Avg       p50       p99      In/s     Out/s   Errors"},
		{SecondLine(loadplan.Plan{}, full, 664_028),
			"2       664,028    332,014    318 µs    289 µs   4.62 ms   50.8 MB   14.6 MB        3"},
		{SecondLine(loadplan.Plan{}, idle, 1),
			"10.3             1       0.00         –         –         –       0 B       0 B        0"},
		{SecondHeader(loadplan.Plan{Steps: []string{"a", "b"}}), "Second         Total      Req/s       Avg       p50" +
			"       p99      In/s     Out/s   Errors    Iter/s  Iter p99"},
		{SecondLine(loadplan.Plan{Steps: []string{"a", "b"}}, iterated, 1),
			"10             1       0.00         –         –         –       0 B       0 B        0      3.00    2.50 s"},
		{SecondLine(loadplan.Plan{Steps: []string{"a", "b"}}, once, 1),
			"10             1       0.00         –         –         –       0 B       0 B        0      1.00    2.50 s"},
		{SecondLine(loadplan.Plan{}, loadresult.Interval{From: 2 * time.Second, To: 2*time.Second + 50, Completed: 20,
			Received: 400, LatencyTimes: loadresult.LatencyTimes{Mean: 68.4, P50: 68.4, P99: 68.4}}, 664_048),
			"2       664,048          –   68.4 µs   68.4 µs   68.4 µs         –         –        0"},
		{SecondLine(loadplan.Plan{}, loadresult.Interval{From: 2 * time.Second, To: 2*time.Second + 20*time.Millisecond,
			Completed: 20}, 20),
			"2            20      1,000       0 s       0 s       0 s       0 B       0 B        0"},
	} {
		if got := strings.TrimLeft(test.got, " "); got != test.want {
			t.Errorf("%q\nwant %q", got, test.want)
		}
	}
	golden(t, "live", []byte(LiveLine(full)+"\n"+LiveLine(idle)+"\n"+LiveLine(iterated)+"\n"))
}

// Lines are as wide as the terminal, and at most as wide as can be read.
func TestTextWidth(t *testing.T) {
	longest := func(width int) (most int) {
		var b bytes.Buffer
		if err := Text(&b, reporttest.Late(), format.Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(b.String(), "\n")[1:] {
			most = max(most, utf8.RuneCountInString(line))
		}
		return most
	}
	for width, limit := range map[int]int{60: 60, 100: 100, 300: 100, 0: 100, 3: 40} {
		if got := longest(width); got > limit || got < limit*3/4 {
			t.Errorf("in %d columns lines have up to %d characters", width, got)
		}
	}
}

// planned are plans that differ in what is said of them.
func planned() map[string]loadplan.Plan {
	few := reporttest.Plan("http://127.0.0.1:8080/")
	few.Connections, few.Requested, few.Rate, few.Duration = 1, 1, loadplan.RatePerSecond(10_000_000), 0
	warmed := reporttest.Plan("http://x/")
	warmed.Warmup = loadplan.Seconds(time.Second)
	return map[string]loadplan.Plan{"few": few, "warmed": warmed}
}

func TestPlannedURLIsBounded(t *testing.T) {
	p := reporttest.Plan("http://x/" + strings.Repeat("y", 5000))
	if url, _, _ := strings.Cut(PlanText(p), ", "); utf8.RuneCountInString(url) != 2000 {
		t.Errorf("%d characters", utf8.RuneCountInString(url))
	}
}

func TestWriteErrorsAreReturned(t *testing.T) {
	r := reporttest.Closed()
	for name, err := range map[string]error{
		"text": Text(reporttest.Full{}, r, format.Style{}), "quiet": Quiet(reporttest.Full{}, r), "markdown": Markdown(reporttest.Full{}, r),
		"JSON": JSON(reporttest.Full{}, r), "CSV": CSV(reporttest.Full{}, r),
	} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// poisson is of arrivals whose rate is only an average, if so: how many were drawn is told.
func poisson(drawn bool) *result.Result {
	offered, due := 2000.0, int64(19_620)
	r := &result.Result{Model: result.OpenLoop, Window: result.Window{MeasuredS: 10},
		Rate: result.Rate{Offered: &offered, Sent: 1962, Completed: 1962}, Requests: result.Requests{Due: &due}}
	if drawn {
		r.Plan.Arrival = loadplan.Poisson
	}
	return r
}

// What a script sends is not one request to its URL.
func TestScriptIsNamed(t *testing.T) {
	r := reporttest.Closed()
	r.Plan.Script = &loadplan.Script{File: "post.lua"}
	if got := MethodAndURL(r); got != "the script post.lua at "+r.Plan.Target.URL {
		t.Error(got)
	}
}
