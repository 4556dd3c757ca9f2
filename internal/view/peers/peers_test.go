package peers

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/result"
)

// make goldens sets it.
var update = flag.Bool("update", false, "write the golden files")

// measured is a result of 1000 requests in a second.
func measured() *result.Result {
	spread := func(from, to int64) *result.Distribution {
		h := metric.NewHistogram(3)
		for i := range int64(1000) {
			h.Record(from + (to-from)*i*i/1e6) // more short ones than long ones
		}
		v := h.View()
		us := func(q float64) float64 { return float64(v.Quantile(q)) / 1e3 }
		return &result.Distribution{Count: h.Count, Min: float64(h.Min) / 1e3, Mean: h.Mean() / 1e3,
			Stdev: v.Stdev() / 1e3, P50: us(0.5), P75: us(0.75), P90: us(0.9), P95: us(0.95), P99: us(0.99),
			P999: us(0.999), P9999: us(0.9999), Max: float64(h.Max) / 1e3, HDR: h.EncodeHDR()}
	}
	r := &result.Result{Dyno: "1.2.3", Model: result.ClosedLoop, Plan: loadplan.Plan{Threads: 2, Connections: 10}}
	r.Window.MeasuredS, r.Rate.Completed = 1, 1000
	r.Requests.Sent, r.Requests.Completed = 1000, 1000
	r.Latency, r.Service = spread(30e3, 3e6), spread(30e3, 3e6)
	r.Phases.Connect, r.Phases.FirstByte, r.Phases.DNS = spread(10e3, 20e3), spread(20e3, 2e6), spread(1e3, 2e3)
	r.Status = map[string]int64{"200": 1000}
	r.Bytes = result.Bytes{Sent: 50_000, Received: 140_000, Bodies: 100_000}
	r.Connections.Asked, r.Connections.Served = 10, 10
	r.Series = []result.Point{{T: 1, Sent: 1000, Completed: 1000, LatencyTimes: loadresult.LatencyTimes{Mean: 1020}, Received: 140_000, Written: 50_000}}
	r.Generator.Verdict = result.OK
	return r
}

var runs = []Run{
	{Tool: "wrk", Threads: 2, Connections: 10, Duration: time.Second, Detail: true},
	{Tool: "wrk2", Threads: 2, Connections: 10, Duration: 12 * time.Second, Detail: true},
	{Tool: "ab", Connections: 10, Requested: 1000, Document: Document{Server: "dyno1"}},
	{Tool: "hey", Connections: 10, Requested: 1000},
	{Tool: "oha", Connections: 10, Requested: 1000},
	{Tool: "go-meter", Threads: 2, Connections: 4, Duration: 3 * time.Second, Detail: true, Method: "GET", Limit: 300},
}

// Each report is as it was, and has the form of what the tool itself writes: testdata/TOOL.real is
// the output of wrk 4.1, wrk2 of 2019, ab 2.3, hey 0.1, oha 1.16 and go-meter of 2013, without ab's lines of copyright.
func TestReports(t *testing.T) {
	for _, run := range runs {
		run.URL = "http://127.0.0.1:18096/"
		var b strings.Builder
		if err := Write(&b, run, measured()); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", run.Tool+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || b.String() != string(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", run.Tool, err, b.String(), want)
		}
		real, err := os.ReadFile(filepath.Join("testdata", run.Tool+".real"))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := form(b.String()), form(string(real)); got != want {
			t.Errorf("%s: the form is\n%s\nwant\n%s", run.Tool, got, want)
		}
	}
}

var (
	numbers = regexp.MustCompile(`-?\b(NaN|[0-9]+(\.[0-9]+)?)((us|µs|ms|s|k|K|M|G)?(B|Bit)?\b)?`)
	blanks  = regexp.MustCompile(`[ \t]+`)
)

// form is a report without its numbers, bars and the widths between. Rows of a table are one line.
func form(text string) string {
	text = strings.NewReplacer("■", "", "<$Revision$>", "(dyno)").Replace(text)
	text = regexp.MustCompile(`[KMG]iB`).ReplaceAllString(text, "B")
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "Thread calibration:") {
			continue // wrk2's first 10 s
		}
		line = blanks.ReplaceAllString(numbers.ReplaceAllString(strings.TrimRight(line, " \n"), "N"), " ")
		line = regexp.MustCompile(`\(dyno[^)]*\)`).ReplaceAllString(line, "(dyno)")
		if strings.HasPrefix(line, " Total data:") && !strings.Contains(text, "Success rate") ||
			strings.HasPrefix(line, " Size/request:") && !strings.Contains(text, "Success rate") {
			continue // hey leaves them out where bodies are empty
		}
		lines = append(lines, strings.Replace(line, "N - N", "N", 1)) // go-meter's classes of latency
	}
	return strings.Join(slices.Compact(lines), "\n")
}

// wrk2 -U has latency from when requests were due and from when they were sent.
func TestUncorrected(t *testing.T) {
	r := measured()
	r.Service.Mean = 500
	var b strings.Builder
	if err := Write(&b, Run{Tool: "wrk2", Detail: true, Uncorrected: true}, r); err != nil {
		t.Fatal(err)
	}
	corrected, uncorrected, both := strings.Cut(b.String(), "Uncorrected Latency")
	if !both || !strings.Contains(corrected, "#[Mean    =        1.019,") || !strings.Contains(uncorrected, "#[Mean    =        0.500,") ||
		strings.Count(b.String(), "requests in") != 1 {
		t.Error(b.String())
	}
}

// The JSON of oha has its keys, and seconds. Its text has the unit of the slowest request, or the one asked for.
func TestOhaForms(t *testing.T) {
	write := func(run Run, r *result.Result) string {
		t.Helper()
		var b strings.Builder
		run.Tool = "oha"
		if err := Write(&b, run, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var got struct {
		Summary struct {
			SuccessRate, Total, Slowest, RequestsPerSec float64
			TotalData, SizePerRequest                   int64
		}
		Metrics struct {
			Latency map[string]float64 `json:"latency_ms"`
		}
		ResponseTimeHistogram  map[string]int64
		LatencyPercentiles     map[string]float64
		FirstBytePercentiles   map[string]float64
		RPS                    struct{ Mean, Min float64 }
		Details                map[string]struct{ Average, Fastest, Slowest float64 }
		StatusCodeDistribution map[string]int64
		ErrorDistribution      map[string]int64
	}
	if err := json.Unmarshal([]byte(write(Run{Form: "json"}, measured())), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Summary
	if s.SuccessRate != 1 || s.Total != 1 || s.RequestsPerSec != 1000 || s.TotalData != 100_000 || s.SizePerRequest != 100 ||
		s.Slowest < 0.0029 || s.Slowest > 0.003 || got.LatencyPercentiles["p99.9"] <= got.LatencyPercentiles["p10"] ||
		len(got.LatencyPercentiles) != 9 || len(got.FirstBytePercentiles) != 9 || len(got.ResponseTimeHistogram) != 11 ||
		got.Metrics.Latency["p50"] != 0.769535 || got.LatencyPercentiles["p50"] != 0.000769535 || got.RPS.Mean != 1000 || got.RPS.Min != 1000 ||
		got.Details["firstByte"].Slowest < 0.0019 || got.StatusCodeDistribution["200"] != 1000 || len(got.ErrorDistribution) != 0 {
		t.Errorf("%+v", got)
	}
	nothing := &result.Result{}
	nothing.Errors = []result.Error{{Phase: "connect", Detail: "refused", Count: 3}}
	nothing.Requests.Sent = 3
	if text := write(Run{Form: "json"}, nothing); !strings.Contains(text, `"slowest": null`) || !strings.Contains(text, `"connect: refused": 3`) {
		t.Error(text)
	}
	slow := measured()
	slow.Latency.Max = 11e6
	for _, test := range []struct {
		unit, want string
		r          *result.Result
	}{{"", "Total:\t1000.0000 ms\n", measured()}, {"us", "Total:\t1000000.0000 us\n", measured()},
		{"s", "Total:\t1.0000 sec\n", measured()}, {"", "Total:\t0.1000 10 sec\n", slow}} {
		if text := write(Run{Unit: test.unit}, test.r); !strings.Contains(text, test.want) {
			t.Errorf("no %q in\n%s", test.want, text)
		}
	}
	if text := write(Run{Form: "quiet"}, slow); text != "" {
		t.Error(text)
	}
}

// A line says where the tool would have lied, and only then.
func TestUntrue(t *testing.T) {
	for _, test := range []struct {
		tool, want string
		asked      []string
		change     func(*result.Result)
	}{
		{"wrk", "", nil, func(*result.Result) {}},
		{"ab", "", nil, func(*result.Result) {}},
		{"hey", "asked", []string{"asked", "more"}, func(*result.Result) {}},
		{"wrk", "3 of 10 connections never completed a request", nil, func(r *result.Result) { r.Connections.Served = 7 }},
		{"oha", "", nil, func(r *result.Result) { // a rate that needs no more of them
			r.Model, r.Connections.Served, r.Connections.Opened = result.OpenLoop, 4, 10
		}},
		{"hey", "50 % of the answers were errors by their status; hey counts them", nil, func(r *result.Result) {
			n := r.Answers() / 2
			r.Status = map[string]int64{"200": r.Answers() - n, "503": n}
		}},
		{"oha", "every answer was an error", nil, func(r *result.Result) { r.Status = map[string]int64{"503": 1000} }},
		{"wrk", "the generator was the limit", nil, func(r *result.Result) { r.Generator.Verdict = result.ClientBound }},
		{"hey", "p99 is 10.00ms from when requests were due; hey counts from when they were sent, which is 1.00ms", nil,
			func(r *result.Result) { r.Latency.P99, r.Service.P99 = 10_000, 1000 }},
		{"wrk2", "all of the run is measured", nil, func(*result.Result) {}},
		{"go-meter", "5 requests failed", nil, func(r *result.Result) { r.Requests.Errors = 5 }},
		{"wrk", "for 2.0 s nothing was answered", nil, func(r *result.Result) {
			r.Window.MeasuredS = 4
			r.Series = []result.Point{{T: 1, Completed: 1}, {T: 2}, {T: 3}, {T: 4, Completed: 1}}
		}},
	} {
		r := measured()
		test.change(r)
		got := Untrue(Run{Tool: test.tool, Duration: time.Second}, r, test.asked)
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.tool, got, test.want)
		}
	}
}

// What nothing was measured of can be written, too.
func TestNothingMeasured(t *testing.T) {
	for _, run := range runs {
		r := &result.Result{}
		r.Errors = []result.Error{{Phase: "connect", Kind: "refused", Detail: "connection refused", Count: 3}}
		var b strings.Builder
		if err := Write(&b, run, r); err != nil || strings.Contains(b.String(), "%!") {
			t.Errorf("%s: %v\n%s", run.Tool, err, b.String())
		}
		if run.Tool == "hey" && !strings.Contains(b.String(), "[3]\tconnect: connection refused") {
			t.Error(fmt.Sprintln("hey shows no error:", b.String()))
		}
	}
}
