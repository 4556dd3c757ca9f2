package report

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/proto"
	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

func set[T any](v T) *T { return &v }

// spread is a distribution around a median of us µs.
func spread(n int64, us float64) *result.Distribution {
	return &result.Distribution{Count: n, Min: us / 4, Mean: us * 1.1, Stdev: us / 5, P50: us,
		P75: us * 1.2, P90: us * 1.3, P95: us * 1.4, P99: us * 1.6, P999: us * 4, P9999: us * 13,
		Max: us * 21, HDR: "HISTFAAA"}
}

func plan(url string) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Threads, p.Connections = 2, 100
	p.Target = loadplan.Target{URL: url, Host: "127.0.0.1", Port: 8080}
	p.Requests = []loadplan.Request{{Name: "GET /", Weight: 1,
		Request: proto.Request{Method: "GET", Authority: "127.0.0.1:8080", Path: "/"}}}
	return p
}

func closed() *result.Result {
	r := &result.Result{Format: result.Format, ID: "20260102-150405-4f2a", Dyno: "0.1.0",
		Plan: plan("http://127.0.0.1:8080/"), Model: result.ClosedLoop, Ended: "duration",
		Host: result.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPU: "Some CPU", CPUs: 4,
			Go: "go1.26.0"},
		Window: result.Window{Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), WarmupS: 1,
			MeasuredS: 10, DrainedS: 0.00123},
		Requests: result.Requests{Sent: 3_320_140, Completed: 3_320_140, Retried: 2},
		Rate:     result.Rate{Sent: 332_014, Completed: 332_014},
		Latency:  spread(3_320_140, 289),
		Service:  spread(3_320_140, 289),
		Phases:   result.Phases{FirstByte: spread(3_320_140, 287), Connect: spread(100, 45)},
		Traffic: result.Traffic{Status: map[string]int64{"200": 3_320_140},
			Errors:      []result.Error{},
			Bytes:       result.Bytes{Sent: 146_086_160, Received: 507_981_420},
			Connections: result.Connections{Asked: 100, Opened: 102, Served: 100, Reconnects: 2}},
		Generator: result.Generator{CPUPerRequest: 2.93, CPUPercent: 97.3, BusyPercent: 48.9,
			GCPauseMax: 61.2, Ring: "epoll", Threads: 2, Little: set(1.001), Verdict: result.OK,
			Reasons: []string{}},
	}
	for i := range 3 {
		r.Series = append(r.Series, result.Point{T: float64(i + 1), Sent: 332_014,
			Completed: 332_014, Mean: 318.5, P50: 289, P99: 462.4, Max: 6069, InFlight: 100,
			Received: 50_798_142, Written: 14_608_616})
	}
	r.Series = append(r.Series, result.Point{T: 3.00123})
	return r
}

func late() *result.Result {
	r := closed()
	r.Model, r.Plan.Rate = result.OpenLoop, loadplan.RatePerSecond(20_000)
	r.Requests = result.Requests{Sent: 200_000, Completed: 200_000, Waiting: set(int64(0)),
		Late: set(int64(37)), LateMax: set(4100.0)}
	r.Rate = result.Rate{Offered: set(20_000.0), Sent: 20_000, Completed: 20_000}
	r.Status = map[string]int64{"200": 200_000}
	r.Latency, r.Service = spread(200_000, 120), spread(200_000, 92)
	r.Phases = result.Phases{FirstByte: spread(200_000, 91)}
	g := &r.Generator
	g.Little, g.SendLagP99, g.SendLagMax = nil, set(1150.0), set(4080.0)
	g.Verdict, g.Reasons = result.Suspect, []string{"the generator sent late by its own fault, " +
		"1 % by more than 1.15ms, and latency (mean 132µs) includes that: give it CPUs of its " +
		"own, or lower -R"}
	return r
}

func failing() *result.Result {
	r := closed()
	r.Requests = result.Requests{Sent: 9000, Completed: 7000, Errors: 1990, Unfinished: 10}
	r.Rate = result.Rate{Sent: 900, Completed: 700, ErrorAnswers: set(100.0)}
	r.Status = map[string]int64{"200": 7000, "404": 1, "503": 999}
	r.Latency, r.ErrorLatency = spread(7000, 2890), spread(1000, 410)
	r.Phases = result.Phases{}
	r.Plan.Requests = append(r.Plan.Requests, r.Plan.Requests[0])
	r.Plan.Requests[1].Name = "POST /buy|now"
	r.Errors = []result.Error{
		{Phase: "expect", Kind: "status", Address: "127.0.0.1:8080", Detail: "503", Count: 999},
		{Phase: "expect", Kind: "status", Address: "127.0.0.1:8080", Detail: "404", Count: 1},
		{Phase: "read", Kind: "reset", Address: "127.0.0.1:8080", Detail: "connection reset", Count: 980},
		{Phase: "protocol", Kind: "garbage", Address: "[::1]:8080",
			Detail: "a status line \x1b[2J\"HTTP/9\"", Count: 10},
		{Phase: "connect", Kind: "refused", Address: "127.0.0.1:8080", Detail: "connection refused",
			Count: 1234}}
	r.Routes = []result.Route{
		{Name: "GET /", Completed: 7000, Errors: 1989, Mean: 3000, P50: 2890, P90: 3500, P99: 4624,
			Max: 60690},
		{Name: "POST /buy|now", Errors: 1}}
	r.Warnings = []string{"1000 answers (12.50 %) were errors (404, 503): their latencies are in " +
		"error latency, and not in latency; --expect says which statuses are right, --expect any " +
		"that all are",
		"11.0 % of the requests failed: latency is that of the others"}
	r.Generator.Verdict, r.Generator.Reasons = result.ClientBound, []string{
		"the generator had something to do 98 % of the time: this is its limit, not (only) the " +
			"server's", "no file descriptor was left for a connection, 4 times"}
	r.Generator.Doubts = []result.Doubt{{Cause: result.Busy, Kind: result.Limit, Verdict: result.ClientBound},
		{Cause: result.Files, Kind: result.Resource, Verdict: result.Suspect}}
	return r
}

// wrong is a run of which every answer was an error.
func wrong() *result.Result {
	r := closed()
	r.Requests = result.Requests{Sent: 320_000, Errors: 320_000}
	r.Rate = result.Rate{Sent: 32_000, ErrorAnswers: set(32_000.0)}
	r.Latency, r.Service, r.ErrorLatency = nil, nil, spread(320_000, 318)
	r.Status = map[string]int64{"500": 320_000}
	r.Errors = []result.Error{{Phase: "expect", Kind: "status", Address: "127.0.0.1:8080",
		Detail: "500", Count: 320_000}}
	r.Objectives = []result.Outcome{
		{Expr: "errors<1%", Unit: "percent", Value: set(100.0)}, {Expr: "p99<20ms", Unit: "us"}}
	r.Warnings = []string{"EVERY answer was an error (500): error latency is how fast the server " +
		"fails; --expect says which statuses are right, --expect any that all are"}
	for i := range r.Series {
		p := &r.Series[i]
		p.Completed, p.Errors, p.Mean, p.P50, p.P99, p.Max = 0, p.Sent, 0, 0, 0, 0
	}
	return r
}

func unix() *result.Result {
	r := closed()
	r.Plan = plan("https+unix:///run/app.sock:/a?b=1&c=2")
	r.Plan.Target.Unix, r.Plan.Target.TLS, r.Plan.TLS.Insecure = "/run/app.sock", true, true
	r.Plan.Reconnect, r.Plan.Connections = 1, 1
	r.Connections = result.Connections{Asked: 1, Opened: 5, Served: 1, Reconnects: 4,
		TLSFull: set(int64(5)), TLSResumed: set(int64(0)),
		Protocols: map[string]int64{loadplan.HTTP11: 2, loadplan.HTTP2: 3}}
	r.Ended, r.Window.WarmupS, r.Window.DrainedS = "requests", 0, 0
	r.Requests = result.Requests{Sent: 5, Completed: 5}
	r.Window.MeasuredS, r.Rate = 0.0123, result.Rate{Sent: 406.504, Completed: 406.504}
	r.Bytes, r.Status = result.Bytes{Sent: 220, Received: 765}, map[string]int64{"204": 5}
	r.Latency, r.Phases.FirstByte = spread(5, 170), nil
	r.Phases.Connect, r.Phases.TLS = spread(5, 20), spread(5, 1500)
	r.Generator.Verdict, r.Generator.Reasons = result.Suspect, []string{
		"only 5 exchanges completed: too few for percentiles; give a longer -d or a larger -n"}
	return r
}

func interrupted() *result.Result {
	r := closed()
	r.Ended, r.Window.MeasuredS, r.Window.DrainedS = "interrupted", 3.2, 2
	r.Requests = result.Requests{Sent: 101, Completed: 1, Unfinished: 100}
	r.Latency, r.Phases = spread(1, 1_200_000), result.Phases{}
	r.Rate = result.Rate{Sent: 31.563, Completed: 0.313}
	r.Status = map[string]int64{"200": 1}
	r.Generator.Verdict, r.Generator.Reasons = result.Suspect, []string{
		"interrupted after 3.2s: this is a part of the run that was planned"}
	return r
}

func unreachable() *result.Result {
	r := closed()
	r.ID, r.Ended, r.Cause = "", "unreachable", "connect 127.0.0.1:8080: connection refused"
	r.Window.WarmupS, r.Window.MeasuredS, r.Window.DrainedS = 0, 0, 0
	r.Requests, r.Rate, r.Bytes = result.Requests{}, result.Rate{}, result.Bytes{}
	r.Latency, r.Service, r.Phases, r.Series = nil, nil, result.Phases{}, []result.Point{}
	r.Status = map[string]int64{}
	r.Errors = []result.Error{{Phase: "connect", Kind: "refused", Address: "127.0.0.1:8080",
		Detail: "connection refused", Count: 100}}
	r.Connections = result.Connections{Asked: 100}
	r.Generator = result.Generator{Ring: "epoll", Threads: 2, Verdict: result.Suspect,
		Reasons: []string{"nothing was measured: no connection could be opened (" + r.Cause + ")"}}
	return r
}

// watched is a run whose server has several processes, of which not all is told.
func watched() *result.Result {
	r := closed()
	part := func(name string, pid int, share probe.Value) result.Usage {
		return result.Usage{Name: name, PID: pid, CPU: 6 * share, User: 2 * share, System: 4 * share,
			Wait: 1.5 * share, Percent: 190 * share, Memory: 50e6 * share, RSS: 80e6 * share,
			Count: 1, Threads: 4 * share, FDs: probe.Value(math.NaN()), Voluntary: 9000 * share,
			Involuntary: 400 * share}
	}
	r.Server = &result.Server{
		Processes: []result.Usage{part("", 0, 1), part("nginx", 10, 1),
			part("nginx: nginx master process", 10, 0), part("nginx: nginx worker process", 11, 0.5),
			part("nginx: nginx worker process", 12, 0.5)},
		Host: probe.HostUse{CPUs: 4, WallS: 10, Busy: 30e9, SoftIRQ: 5, Steal: 1.25,
			Foreign: 3e9},
		Sampler:     probe.Cost{Share: 0.31, Samples: 50},
		Unavailable: []string{"fds of nginx: permission denied; run as its user"}}
	share := func(of float64) profile.Part { return profile.Part{Share: of, Samples: 900} }
	r.Profile = &result.Profile{Kind: profile.CPU, DurationS: 10.01, Samples: 1900,
		File: "/home/me/.local/share/dyno/results/20260102-150405-4f2a.cpu.pb.gz",
		Top: []profile.Line{{Function: "syscall.Syscall6", Flat: share(0.47), Cumulative: share(0.47)},
			{Function: "net/http.(*conn).serve", Flat: share(0.004), Cumulative: share(0.93)}}}
	return r
}

// dark is a run of a server of which nothing can be told, and that was idle.
func dark() *result.Result {
	r := closed()
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
	r := closed()
	r.Plan.Probe = loadplan.RatePerSecond(100)
	r.Probe = &result.Probe{Connections: result.Connections{Asked: 100, Opened: 100, Served: 98},
		Requests: result.Requests{Sent: 1013, Completed: 1012, Errors: 1, Late: set(int64(3))},
		Rate:     result.Rate{Offered: set(100.0), Sent: 101.3, Completed: 101.2},
		Latency:  spread(1012, 410), Service: spread(1012, 390),
		Status: map[string]int64{"200": 1012}, SendLagP99: set(61.0), SendLagMax: set(140.0)}
	return r
}

// aborted was ended by one of its objectives.
func aborted() *result.Result {
	r := late()
	r.Ended, r.Window.MeasuredS = "aborted", 7.0001
	r.Requests.Unfinished, r.Requests.Completed = 12, 199_988
	r.Objectives = []result.Outcome{{Expr: "errors<0.1%", Unit: "percent", Value: set(0.0), Met: true},
		{Expr: "p99<100µs", Unit: "us", Value: set(192.0), Aborted: set(7.0)}}
	return r
}

// fixtures are results of each kind, by the name of their goldens.
func fixtures(t *testing.T) map[string]*result.Result {
	return map[string]*result.Result{"closed": closed(), "open": late(), "errors": failing(),
		"wrong": wrong(), "unix": unix(), "interrupted": interrupted(),
		"unreachable": unreachable(), "watched": watched(), "dark": dark(), "beside": accompanied(),
		"aborted": aborted(), "tls": negotiated(), "detail": stalled(t), "fleet": distributed(),
		"drifting": drifting(), "again": repeatable()}
}

// explained are those of fixtures whose methods are looked at: they differ in nothing else.
var explained = map[string]bool{"closed": true, "open": true, "fleet": true, "watched": true}

// What is said of results.
func TestSentences(t *testing.T) {
	book := phrasebook{}
	for name, r := range fixtures(t) {
		all := RunSentences(r)
		if !explained[name] {
			all.Methods = nil
		}
		book.collect(name, phrasesOf(all))
	}
	book.collect("poisson", phrases("rate", rateText(poisson(true))))
	book.collect("even", phrases("rate", rateText(poisson(false))))
	for name, p := range planned() {
		book.collect(name, phrases("planned", PlanText(p)))
	}
	book.golden(t, "run")
}

func TestGolden(t *testing.T) {
	for _, name := range []string{"closed", "open", "errors", "wrong", "unix", "interrupted",
		"unreachable", "watched", "dark", "beside", "aborted", "fleet", "drifting"} {
		r := fixtures(t)[name]
		var b bytes.Buffer
		for head, render := range map[string]func() error{
			"text":  func() error { return Text(&b, r, Style{}) },
			"quiet": func() error { return Quiet(&b, r) },
			"md":    func() error { return Markdown(&b, r) },
		} {
			b.Reset()
			if err := render(); err != nil {
				t.Fatal(err)
			}
			golden(t, name+"."+head, layoutOf(b.Bytes(), phrasesOf(RunSentences(r))))
		}
	}
	var b bytes.Buffer
	for name, write := range map[string]func() error{
		"closed.csv":  func() error { return CSV(&b, closed()) },
		"closed.json": func() error { return JSON(&b, closed()) },
		"color.text":  func() error { return Text(&b, failing(), Style{Color: paint}) },
	} {
		b.Reset()
		if err := write(); err != nil {
			t.Fatal(err)
		}
		golden(t, name, layoutOf(Visible(b.Bytes(), paint), phrasesOf(RunSentences(failing()))))
	}
}

func TestCompareGolden(t *testing.T) {
	other := closed()
	other.ID, other.Plan.Target.URL = "20260102-160405-0001", "http://127.0.0.1:8081/"
	other.Plan.Target.Port, other.Rate.Completed = 8081, 300_000
	other.Latency = spread(3_000_000, 301)
	book := phrasebook{}
	for name, rs := range map[string][]*result.Result{
		"like":   {closed(), other},
		"unlike": {closed(), late(), failing(), unreachable()},
	} {
		var text, page bytes.Buffer
		if err := errors.Join(Compare(&text, rs), CompareMarkdown(&page, rs)); err != nil {
			t.Fatal(err)
		}
		_, cautions, _, err := comparedParts(rs)
		if err != nil {
			t.Fatal(err)
		}
		phrases := phrases("caution", cautions...)
		book.collect(name, phrases)
		golden(t, name+".compare", layoutOf(text.Bytes(), phrases))
		golden(t, name+".compare.md", layoutOf(page.Bytes(), phrases))
	}
	for name, u := range unpaired(t) {
		book.collect(name, unpairedPhrases(t, u))
	}
	book.golden(t, "comparison")
}

// A stored file may say anything, and what it says is not for the terminal.
func TestNothingReachesTheTerminalUnseen(t *testing.T) {
	const bad = "\x1b[2J\r\n\x00"
	r := failing()
	r.Plan.Target.URL, r.Plan.Requests[0].Method, r.ID = bad, bad, bad
	r.Plan.Target.Unix, r.Plan.HTTP, r.Cause, r.Warnings = bad, bad, bad, []string{bad}
	r.Generator.Ring, r.Generator.Verdict, r.Generator.Reasons = bad, bad, []string{bad}
	r.Routes[0].Name, r.Status[bad], r.Dyno, r.Host.CPU = bad, 1, bad, bad
	r.Errors[0] = result.Error{Phase: bad, Kind: bad, Address: bad, Detail: bad, Count: 1}
	r.Server, r.Profile = watched().Server, watched().Profile
	r.Server.Processes[1].Name, r.Server.Unavailable = bad, []string{bad}
	r.Profile.Kind, r.Profile.File, r.Profile.Top[0].Function = bad, bad, bad
	var b bytes.Buffer
	err := errors.Join(Text(&b, r, Style{}), Quiet(&b, r), Markdown(&b, r),
		Compare(&b, []*result.Result{r, closed()}))
	if err != nil {
		t.Fatal(err)
	}
	if at := bytes.IndexAny(b.Bytes(), "\x1b\r\x00"); at >= 0 {
		t.Errorf("%q", b.Bytes()[max(0, at-60):at+5])
	}
}

func TestCompareNeedsTwo(t *testing.T) {
	if err := Compare(&bytes.Buffer{}, []*result.Result{closed()}); err == nil {
		t.Error("one result was compared with nothing")
	}
}

func TestSecondsAndLive(t *testing.T) {
	full := loadresult.Interval{From: time.Second, To: 2 * time.Second, Completed: 332_014, Failed: 3,
		Received: 50_800_000, Written: 14_600_000, InFlight: 100, Mean: 318_500,
		P50: 289 * time.Microsecond, P99: 4620 * time.Microsecond}
	idle := loadresult.Interval{From: 10 * time.Second, To: 10*time.Second + 250*time.Millisecond}
	for _, test := range []struct{ got, want string }{
		{SecondHeader(),
			"Second         Total      Req/s       Avg       p50       p99      In/s     Out/s   Errors"},
		{SecondLine(full, 664_028),
			"2       664,028    332,014    318 µs    289 µs   4.62 ms   50.8 MB   14.6 MB        3"},
		{SecondLine(idle, 1),
			"10.3             1       0.00         –         –         –       0 B       0 B        0"},
		{SecondLine(loadresult.Interval{From: 2 * time.Second, To: 2*time.Second + 50, Completed: 20,
			Received: 400, Mean: 68_400, P50: 68_400, P99: 68_400}, 664_048),
			"2       664,048          –   68.4 µs   68.4 µs   68.4 µs         –         –        0"},
		{SecondLine(loadresult.Interval{From: 2 * time.Second, To: 2*time.Second + 20*time.Millisecond,
			Completed: 20}, 20),
			"2            20      1,000       0 s       0 s       0 s       0 B       0 B        0"},
	} {
		if got := strings.TrimLeft(test.got, " "); got != test.want {
			t.Errorf("%q\nwant %q", got, test.want)
		}
	}
	golden(t, "live", []byte(LiveLine(full)+"\n"+LiveLine(idle)+"\n"))
}

// Lines are as wide as the terminal, and at most as wide as can be read.
func TestTextWidth(t *testing.T) {
	longest := func(width int) (most int) {
		var b bytes.Buffer
		if err := Text(&b, late(), Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(b.String(), "\n\n") // tables are as wide as they are
		for _, line := range strings.Split(text, "\n")[1:] {
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
	few := plan("http://127.0.0.1:8080/")
	few.Connections, few.Requested, few.Rate, few.Duration = 1, 1, loadplan.RatePerSecond(10_000_000), 0
	warmed := plan("http://x/")
	warmed.Warmup = loadplan.Seconds(time.Second)
	return map[string]loadplan.Plan{"few": few, "warmed": warmed}
}

func TestPlannedURLIsBounded(t *testing.T) {
	p := plan("http://x/" + strings.Repeat("y", 5000))
	if url, _, _ := strings.Cut(PlanText(p), ", "); utf8.RuneCountInString(url) != 2000 {
		t.Errorf("%d characters", utf8.RuneCountInString(url))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestWriteErrorsAreReturned(t *testing.T) {
	r := closed()
	for name, err := range map[string]error{
		"text": Text(full{}, r, Style{}), "quiet": Quiet(full{}, r), "markdown": Markdown(full{}, r),
		"JSON": JSON(full{}, r), "CSV": CSV(full{}, r),
		"compare": Compare(full{}, []*result.Result{r, r}),
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
