package screen

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/scenario"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// aSecond is number i of a run: about 20,000 answers whose latency swings, and whatever
// else a test wants to be in it.
func aSecond(i int, change func(*loadresult.Interval)) loadresult.Interval {
	h := metric.NewHistogram(metric.Fine)
	swing := 1 + math.Sin(float64(i)/6)/2
	n := int(20_000 / swing)
	for k := range n {
		h.Record(int64(80e3 * swing * (1 + float64(k*k)/float64(n*n)*10)))
	}
	iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second,
		To: time.Duration(i+1) * time.Second, Sent: int64(n), Completed: int64(n), InFlight: 100,
		Received: int64(n) * 141, Written: int64(n) * 64,
		Latency: h.ToSparse(), Status: map[uint16]int64{200: int64(n)},
		Busy: 0.254, LagMax: 53_200}
	iv.Measure()
	if change != nil {
		change(&iv)
	}
	return iv
}

// troubled has answers and failures of several kinds.
func troubled(iv *loadresult.Interval) {
	iv.Failed, iv.Busy = 33, 0.97
	iv.Status[503] = 12
	wrong := metric.NewHistogram(metric.Fine)
	for i := range int64(12) {
		wrong.Record((i + 1) * 10_000)
	}
	iv.ErrorLatency = wrong.ToSparse()
	iv.Failures = []loadresult.Failure{
		{Phase: loadresult.Expect, Kind: "status", Address: "127.0.0.1:8080", Detail: "503", Count: 12},
		{Phase: loadresult.Timeout, Kind: "timeout", Address: "127.0.0.1:8080", Detail: "no answer in time", Count: 12},
		{Phase: loadresult.Read, Kind: "reset", Address: "127.0.0.1:8080", Detail: "connection reset\x1b[2J", Count: 8},
		{Phase: loadresult.Connect, Kind: "refused", Address: "[::1]:8080", Detail: "connection refused", Count: 1},
	}
}

// shops has iterations of users, some of which failed a check.
func shops(iv *loadresult.Interval) {
	h := metric.NewHistogram(metric.Fine)
	for i := range int64(9_000) {
		h.Record(1e9 + 1e5*i)
	}
	iv.Iterations, iv.IterationsFailed, iv.IterationTime = 9_000, 20, h.ToSparse()
	iv.Checks = []metric.Outcomes{{Passed: 9_000, Failed: 20}, {Passed: 9_020}}
	iv.Failed, iv.Failures = 20, []loadresult.Failure{{Phase: loadresult.Check, Kind: "contains:ok",
		Detail: "has no ok", Address: "127.0.0.1:8080", Count: 20}}
}

// What is drawn of a series of intervals, in terminals of several sizes.
func TestScreen(t *testing.T) {
	p := reporttest.Plan("http://127.0.0.1:8080/")
	p.Duration = loadplan.Seconds(90 * time.Second)
	open := p
	open.Rate = loadplan.RatePerSecond(20_000)
	counted := p
	counted.Duration, counted.Requested = 0, 2_000_000
	warmed := p
	warmed.Warmup = loadplan.Seconds(2 * time.Second)
	checked := p
	checked.Scenario, checked.Checks = scenario.Program{}, []string{"contains:ok", "X-Id"}
	shopping := checked
	shopping.Steps = []string{"login", "buy"}
	for _, tc := range []struct {
		name          string
		plan          loadplan.Plan
		seconds       int
		change        func(*loadresult.Interval)
		at            time.Duration // after the last interval
		width, height int
		style         format.Style
	}{
		{"begin", warmed, 0, nil, 0, 80, 24, format.Style{}},
		{"usual", p, 20, nil, 300 * time.Millisecond, 80, 24, format.Style{}},
		{"long", open, 75, nil, 0, 80, 24, format.Style{}},
		{"narrow", p, 75, nil, 0, 40, 24, format.Style{}},
		{"low", p, 20, nil, 0, 80, 13, format.Style{}},
		{"users", shopping, 20, shops, 0, 80, 24, format.Style{}},
		{"checked", checked, 20, shops, 0, 80, 24, format.Style{}},
		{"tiny", p, 20, nil, 0, 20, 4, format.Style{}},
		{"large", p, 75, troubled, 0, 200, 50, format.Style{}},
		{"errors", counted, 30, troubled, 0, 80, 24, format.Style{Color: paint}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const warmup = 2 * time.Second
			s := New(tc.plan)
			at := warmup
			for i := range tc.seconds {
				iv := aSecond(i, tc.change)
				at = warmup + iv.To
				s.Add(iv, at)
			}
			got := s.Draw(at+tc.at, tc.width, tc.height, tc.style)
			golden(t, tc.name, format.Visible([]byte(got+"\n"), paint))
			lines := strings.Split(got, "\n")
			if len(lines) > tc.height {
				t.Errorf("%d lines in %d", len(lines), tc.height)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > tc.width && tc.style.Color == "" {
					t.Errorf("%d columns in %d: %q", n, tc.width, line)
				}
			}
		})
	}
}

// What came after the window is no second of it, and the last minute is all that
// is drawn, however long the run.
func TestScreenForgets(t *testing.T) {
	p := reporttest.Plan("http://127.0.0.1:8080/")
	p.Duration = loadplan.Seconds(time.Hour)
	s := New(p)
	for i := range 3600 {
		iv := loadresult.Interval{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second,
			Completed: 7, Status: map[uint16]int64{204: 7}}
		s.Add(iv, iv.To)
	}
	s.Add(loadresult.Interval{From: time.Hour, To: time.Hour + time.Second, Completed: 5}, time.Hour)
	if len(s.minute) != minute || s.errors.Completed != 3600*7+5 || s.status[204] != 3600*7 {
		t.Errorf("%d seconds, %d completed, %v", len(s.minute), s.errors.Completed, s.status)
	}
	if got := s.Draw(2*time.Hour, 80, 24, format.Style{}); !strings.Contains(got, "1h0m0s of 1h0m0s") ||
		!strings.Contains(got, "100 %") {
		t.Error(got)
	}
	s.Stop()
	if got := s.Draw(2*time.Hour, 80, 24, format.Style{}); !strings.Contains(got, "stopping") {
		t.Error(got)
	}
}

// A column is as high as its value, whichever the number of lines; what is not 0 can
// be seen.
func TestBlock(t *testing.T) {
	for _, tc := range []struct {
		v     float64
		lines int
		want  string // from the bottom
	}{
		{0, 2, "  "}, {100, 2, "██"}, {50, 2, "█ "}, {75, 2, "█▄"}, {0.001, 2, "▁ "},
		{100, 1, "█"}, {50, 1, "▄"}, {99.9, 4, "████"}, {30, 4, "█▂  "},
	} {
		got := ""
		for up := range tc.lines {
			got += string(blockAt(tc.v, 100, up, tc.lines))
		}
		if got != tc.want {
			t.Errorf("%v of 100 in %d lines: %q, want %q", tc.v, tc.lines, got, tc.want)
		}
	}
}

func BenchmarkScreen(b *testing.B) {
	s := New(reporttest.Plan("http://127.0.0.1:8080/"))
	for i := range minute {
		s.Add(aSecond(i, troubled), time.Duration(i)*time.Second)
	}
	for b.Loop() {
		s.Draw(time.Minute, 80, 24, format.Style{Color: paint})
	}
}

// Progress is by requests or, of several steps, by iterations.
func TestScreenCountsRequests(t *testing.T) {
	for _, test := range []struct {
		steps []string
		want  string
	}{{nil, "50 of 100 requests"}, {[]string{"one"}, "50 of 100 requests"}, {[]string{"one", "two"}, "24 of 100 iterations"}} {
		p := reporttest.Plan("http://127.0.0.1:8080/")
		p.Duration, p.Requested, p.Steps = 0, 100, test.steps
		s := New(p)
		s.Add(loadresult.Interval{To: time.Second, Sent: 50, Completed: 50, Iterations: 23, IterationsFailed: 1}, time.Second)
		if text := s.Draw(time.Second, 80, 24, format.Style{}); !strings.Contains(text, test.want) {
			t.Errorf("of %d steps:\n%s", len(test.steps), text)
		}
	}
}
