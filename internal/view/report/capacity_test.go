package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

func probed(purpose capacity.Purpose, rate, p99 float64, o capacity.Outcome, why string) capacity.Probe {
	j := capacity.Judged{Verdict: o, Low: new(p99 * 0.95), High: new(p99 * 1.08), Seconds: 10,
		Outcome: result.Outcome{Expr: "p99<10ms", Value: new(p99), Unit: "us", Met: p99 < 10_000}}
	errs := capacity.Judged{Outcome: result.Outcome{Expr: "errors<0.1%", Value: new(0.0), Unit: "percent", Met: true},
		Verdict: capacity.Passed}
	return capacity.Probe{Purpose: purpose, Rate: rate, Sent: rate, Completed: rate * 0.99, Measured: 10,
		Judged: []capacity.Judged{j, errs}, Outcome: o, Why: why, Verdict: result.OK}
}

func found() *capacity.Search {
	p := reporttest.Plan("http://127.0.0.1:8080/")
	p.Arrival = loadplan.Poisson
	aborted := probed(capacity.Trial, 1600, 812_000, capacity.Failed, "given up after 3 s, when more than a "+
		"second of arrivals waited: all 50 connections were busy")
	aborted.Measured = 3
	return &capacity.Search{Format: capacity.Format, Plan: p, Objectives: []string{"p99<10ms", "errors<0.1%"},
		Certified: new(727.8), Low: new(727.8), High: new(766.1), Closed: new(987.6), End: capacity.Found,
		Reason: "met at 727.8/s, and not at 766.1/s", Probes: []capacity.Probe{
			probed(capacity.Trial, 200, 2800, capacity.Passed, ""), probed(capacity.Trial, 400, 3640, capacity.Passed, ""),
			probed(capacity.Trial, 800, 9800, capacity.Undecided, ""), probed(capacity.Longer, 800, 12_300, capacity.Failed, ""),
			aborted, probed(capacity.Confirm, 727.8, 8640, capacity.Passed, "")}}
}

// short is of probes that were too short, and the generator's limit.
func short() *capacity.Search {
	s := found()
	s.End, s.Reason, s.Closed = capacity.ClientBound, "at 1600/s the generator is the limit\x1b[31m", nil
	for i := range s.Probes {
		s.Probes[i].Judged[0].Seconds = 0
	}
	s.Probes[4].Outcome, s.Probes[4].Why = capacity.OurLimit, "the generator was busy 99 % of the time"
	s.Probes[1].Judged[0].High = nil
	s.Warnings = []string{"every response was a redirect"}
	return s
}

func swept() *capacity.Curve {
	law := capacity.Law{Gamma: 1000, Sigma: 0.05, Kappa: 0.002}
	c := &capacity.Curve{Plan: reporttest.Plan("http://127.0.0.1:8080/"), Axis: capacity.Connections, Rounds: 2, Levels: []float64{1, 2, 4, 8, 16, 32, 64}}
	var n, x []float64
	for round := range 2 {
		for i := range c.Levels {
			level := c.Levels[len(c.Levels)-1-i]
			p := capacity.Point{Round: round + 1, Level: level, N: level, X: law.At(level) * (1 + 0.01*float64(round)),
				P50: 900 * level, P99: 2000 * level, Verdict: result.OK}
			c.Points = append(c.Points, p)
			n, x = append(n, p.N), append(x, p.X)
		}
	}
	c.Fit, _ = capacity.FitLaw(n, x)
	return c
}

// searches are such as ended in different ways, by the name of their goldens.
func searches() map[string]*capacity.Search {
	all := map[string]*capacity.Search{"found": found(), "short": short()}
	for _, end := range []capacity.End{capacity.Found, capacity.Missed, capacity.ClientBound, capacity.Inconclusive,
		capacity.Unreachable, capacity.Interrupted} {
		all["end "+string(end)] = &capacity.Search{End: end, Objectives: []string{"p99<1s"}, Plan: found().Plan}
	}
	all["end found"].Certified = new(1.0)
	return all
}

// curves are sweeps by the name of their goldens.
func curves() map[string]*capacity.Curve {
	noPeak := swept()
	noPeak.Points = noPeak.Points[:3]
	noPeak.Fit, noPeak.NoFit, noPeak.Left = nil, "too few", 11
	intervals := swept()
	intervals.Fit.PeakNInterval = &capacity.Range{Low: 20}
	intervals.Fit.PeakXInterval = &capacity.Range{Low: 6000, High: new(7000.0)}
	failing := swept()
	failing.Points = failing.Points[:3]
	failing.Points[0].Errors = 1200
	failing.Points[1] = capacity.Point{Round: 1, Level: failing.Points[1].Level, Errors: 4000, Verdict: result.OK}
	failing.Fit, failing.NoFit = nil, "too few"
	empty := swept()
	empty.Points = []capacity.Point{failing.Points[1]}
	empty.Fit, empty.NoFit = nil, "too few"
	return map[string]*capacity.Curve{"swept": swept(), "empty": empty, "nopeak": noPeak, "intervals": intervals, "failing": failing}
}

func TestGoldenCapacity(t *testing.T) {
	calibration := &capacity.Calibration{Dyno: "1", Host: result.Host{OS: "linux", Arch: "amd64", CPUs: 2},
		Made: time.Unix(1e9, 0), Threads: 1, Apart: true,
		Closed: []capacity.Ceiling{
			{Connections: 1, Ring: "epoll", Rate: 12_188, CPU: 36.5, Busy: 17.6, P50: 47.3, P99: 746},
			{Connections: 100, Ring: "uring", Rate: 28_001, CPU: 4.02, Busy: 93.1, P50: 3_020, P99: 9_010},
			{Connections: 1000, Ring: "epoll", Rate: 25_594, CPU: 6.47, Busy: 95.5, P50: 14_000, P99: 69_100}},
		Rings: []capacity.Ceiling{{Connections: 1, Ring: "epoll", CPU: 36.5, Disturbed: true},
			{Connections: 100, Ring: "epoll", CPU: 3.02, Disturbed: true},
			{Connections: 100, Ring: "uring", CPU: 4.02},
			{Connections: 1000, Ring: "epoll", CPU: 4.86}, {Connections: 1000, Ring: "uring", CPU: 6.09}},
		Open: []capacity.Pace{{Rate: 3557, Sent: 3556.2, LagP99: 31.3, LagMax: 429, Verdict: result.OK}}}
	book := reporttest.Phrasebook{}
	var b bytes.Buffer
	for name, s := range searches() {
		b.Reset()
		style := format.Style{}
		if name == "short" {
			style.Color = paint
		}
		if err := Search(&b, s, style); err != nil {
			t.Error(name, err)
		}
		phrases := phrasesOf(SearchSentences(s))
		book.Collect(name, phrases)
		if len(s.Probes) > 0 {
			golden(t, name+".find", reporttest.LayoutOf(format.Visible(b.Bytes(), paint), phrases))
		}
	}
	for name, c := range curves() {
		b.Reset()
		if err := Curve(&b, c, format.Style{}); err != nil {
			t.Error(name, err)
		}
		phrases := phrasesOf(CurveSentences(c))
		book.Collect(name, phrases)
		golden(t, name+".curve", reporttest.LayoutOf(b.Bytes(), phrases))
	}
	golden(t, "capacity.sentences", book.Text())
	b.Reset()
	if err := Calibration(&b, calibration); err != nil {
		t.Error(err)
	}
	golden(t, "calibration", b.Bytes())
}

// Every end has its sentence.
func TestEndsOfSearches(t *testing.T) {
	for _, end := range []capacity.End{capacity.Found, capacity.Missed, capacity.ClientBound, capacity.Inconclusive,
		capacity.Unreachable, capacity.Interrupted} {
		s := &capacity.Search{End: end, Objectives: []string{"p99<1s"}}
		if end == capacity.Found {
			s.Certified = new(1.0)
		}
		if end == capacity.Interrupted {
			s.Low, s.High = new(12_000.0), new(16_000.0)
			if got := CertifiedText(s); got != "INTERRUPTED: at least 12,000 requests/s meet p99<1s, not confirmed" {
				t.Error(got)
			}
		}
		if CertifiedText(s) == "" {
			t.Errorf("%s: nothing is said", end)
		}
		var b bytes.Buffer
		if err := Search(&b, s, format.Style{}); err != nil {
			t.Error(err)
		}
	}
}

func TestCapacityWriteErrors(t *testing.T) {
	for _, err := range []error{Search(reporttest.Full{}, found(), format.Style{}), Curve(reporttest.Full{}, swept(), format.Style{}),
		Calibration(reporttest.Full{}, &capacity.Calibration{})} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v", err)
		}
	}
}

// Reasons that differ in an error, a percentile or whether there are several are not of one kind; those that differ in how
// many there were are. Those of an older dyno are texts.
func TestKindsOfReasons(t *testing.T) {
	errs := func(all ...fact.ErrorCount) fact.Args { return fact.OnlyErrors{Of: all} }
	n := func(what string, count int64) fact.ErrorCount { return fact.ErrorCount{What: what, Count: count} }
	few := func(requests int64, of string) fact.Args {
		return fact.TooFewToBound{Requests: requests, Objective: of}
	}
	s := found()
	s.Probes = nil
	for _, why := range []fact.Args{errs(n("503", 120)), errs(n("429", 7)), errs(n("503", 94)), errs(n("503", 94), n("429", 1)),
		few(90, "p99<10ms"), few(1080, "p99<10ms"), few(90, "p50<10ms")} {
		p := probed(capacity.Trial, 100, 2800, capacity.Failed, "in words")
		p.Facts = []fact.Fact{{Args: why}}
		s.Probes = append(s.Probes, p)
	}
	notes := probeNotes(s.Probes)
	if got := fmt.Sprint(notes.of); got != "[[1] [2] [1] [3] [4] [4] [5]]" || notes.texts[0] != "every answer was an error: status 503 (94 to 120)" ||
		notes.texts[3] != "90 to 1,080 requests are too few to decide p99<10ms" {
		t.Errorf("%s: %q", got, notes.texts)
	}
	for i := range s.Probes {
		s.Probes[i].Facts, s.Probes[i].Why = nil, []string{"5 ms late", "6 ms late"}[i%2]
	}
	if notes := probeNotes(s.Probes); fmt.Sprint(notes.of) != "[[1] [2] [1] [2] [1] [2] [1]]" || len(notes.texts) != 2 {
		t.Errorf("%+v", notes)
	}
}

// What several probes have in common is said once, by a note that all of them name.
func TestFootnotesOfSearchesAreToldOnce(t *testing.T) {
	s := found()
	s.Probes = nil
	for i := range 8 {
		p := probed(capacity.Trial, 100, 9000, capacity.Failed, "in words")
		p.Facts = []fact.Fact{{Args: fact.GivenUp{AfterS: float64(i + 2), Shortage: fact.Shortage{Connections: 10}}}}
		if i > 3 {
			p.Outcome, p.Verdict = capacity.OurLimit, result.ClientBound
			p.Facts = []fact.Fact{{Args: fact.SendLag{P99US: float64(1000 * i)}}, {Args: fact.NoFile{Times: 1}}}[:i%2+1]
		}
		s.Probes = append(s.Probes, p)
	}
	words := reporttest.Text(t, func(b *strings.Builder) error { return Search(b, s, format.Style{}) })
	words = strings.Join(strings.Fields(words), " ")
	for note, times := range map[string]int{"stopped the probe after 2 to 5 s, because": 1, "more than 4 to 7 ms late": 1, "no file descriptor": 1,
		" [1]": 5, " [2]": 5, "[2] [3]": 2, "in words": 0} {
		if got := strings.Count(words, note); got != times {
			t.Errorf("%q is there %d times, want %d:\n%s", note, got, times, words)
		}
	}
	var names []string
	for _, f := range SearchSentences(s).Facts {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, "; "); got != "probe 1, 2, 3, 4; probe 5, 6, 7, 8; probe 6, 8" {
		t.Errorf("on the page: %s", got)
	}
}

// A law is no bound of what was measured: its peak is said beside that.
func TestLawBelowWhatWasMeasured(t *testing.T) {
	c := &capacity.Curve{Axis: capacity.Connections, Rounds: 1, Levels: []float64{1, 2, 4, 8, 16}}
	n, x := c.Levels, []float64{6, 11, 18.2, 14, 9}
	for i := range n {
		c.Points = append(c.Points, capacity.Point{Round: 1, Level: n[i], N: n[i], X: x[i], Verdict: result.OK, Short: i == 0})
	}
	c.Fit, _ = capacity.FitLaw(n, x)
	if c.Fit.PeakX == nil || *c.Fit.PeakX >= 18.2 {
		t.Fatalf("the law is not below: %+v", c.Fit)
	}
	want := fmt.Sprintf("18.2 requests/s at most, at connections 4; the law's peak is lower: %s requests/s, with %s in flight",
		format.Digits3(*c.Fit.PeakX), format.Digits3(*c.Fit.PeakN))
	if got := PeakText(c); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	words := reporttest.Text(t, func(b *strings.Builder) error { return Curve(b, c, format.Style{}) })
	if strings.Count(words, "not judged") != 1 || !strings.HasSuffix(PointLine(c.Points[0], c.Axis), ", not judged") {
		t.Errorf("a point that is too short to judge:\n%s", words)
	}
}

// Where rates are of iterations, the report says so.
func TestRatesOfIterations(t *testing.T) {
	s := found()
	s.Plan.Steps = []string{"login", "buy"}
	var b strings.Builder
	if err := Search(&b, s, format.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"728 iterations/s meet", "iterations/s  completed", "988 iterations/s", "  iterations/s  "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "requests/s") {
		t.Errorf("requests/s in\n%s", b.String())
	}
	if line := CertifiedText(s); !strings.Contains(line, "iterations/s") {
		t.Error(line)
	}
	c := swept()
	c.Plan.Steps, c.Axis = s.Plan.Steps, capacity.Rates
	b.Reset()
	if err := Curve(&b, c, format.Style{}); err != nil || !strings.Contains(b.String(), "iterations/s  round") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// Where all connections were busy at each rate that failed, the limit may be theirs: the next search
// has twice as many. A rate that failed for something else shows that it is not.
func TestNextOfBusySearches(t *testing.T) {
	s := found()
	late := fact.Fact{Args: fact.SentInTime{Percent: 90, Shortage: fact.Shortage{Of: fact.OfConnections, Connections: 100}}}
	for i := range s.Probes {
		if s.Probes[i].Outcome == capacity.Failed {
			s.Probes[i].Facts = []fact.Fact{late}
		}
	}
	const want = "all 100 connections were busy at each rate that missed the objectives: with more of them the server may take more; search again with twice as many"
	if next := searchStep(s); len(next) != 1 || next[0].Text != want || !strings.Contains(next[0].Command, "dyno find") ||
		!strings.Contains(next[0].Command, " -c 200 ") || s.Plan.Connections != 100 {
		t.Errorf("%+v", next)
	}
	s.Probes[3].Facts = nil
	if next := searchStep(s); len(next) != 1 || next[0].Text != "hold it for a minute" {
		t.Errorf("%+v", next)
	}
}
