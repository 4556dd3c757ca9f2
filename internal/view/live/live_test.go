package live

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/scenario"
	"dyno/internal/observe/probe"
	"dyno/internal/result"

	"github.com/VictoriaMetrics/metricsql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// seconds are two intervals of an open load of 100/s and what was left after it, with 3 errors.
func seconds() (p loadplan.Plan, all []loadresult.Interval) {
	p = loadplan.DefaultPlan()
	p.Rate, p.Duration = loadplan.RatePerSecond(100), loadplan.Seconds(2*time.Second)
	p.Target.URL = "http://127.0.0.1:8080/"
	for i := range 3 {
		h := metric.NewHistogram(metric.Fine)
		n := []int64{97, 98, 2}[i]
		for range n {
			h.Record(int64(3 * time.Millisecond))
		}
		iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second,
			To: time.Duration(i+1) * time.Second, Sent: []int64{100, 100, 0}[i], Completed: n,
			Failed: int64(i), InFlight: 2 - int64(i), Received: 1000 * n, Written: 100 * n, Busy: 0.25,
			LagMax: 40 * time.Microsecond, Latency: h.ToSparse(),
			Status: map[uint16]int64{200: n, 503: 1}}
		if i > 0 {
			iv.Failures = []loadresult.Failure{{Phase: loadresult.Timeout, Kind: "timeout",
				Detail: "10s", Count: int64(i)}}
		}
		iv.Measure()
		all = append(all, iv)
	}
	return p, all
}

func read(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(answer.Status, err)
	}
	return string(text)
}

// What a reader finds is the sum of the intervals, and the last one's state.
func TestMetrics(t *testing.T) {
	p, all := seconds()
	e, err := Listen("127.0.0.1:0", NewMetrics(p, "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if text := read(t, e.URL()); !strings.Contains(text, "dyno_requests_sent_total 0\n") {
		t.Errorf("before the first interval:\n%s", text)
	}
	for _, iv := range all {
		e.Add(iv)
	}
	text := read(t, e.URL())
	for _, line := range []string{
		`dyno_run_info{target="http://127.0.0.1:8080/",version="1.2.3",workload="open"} 1`,
		"dyno_window_seconds 3", "dyno_offered_rate 0", "dyno_requests_sent_total 200",
		"dyno_requests_completed_total 197", "dyno_requests_failed_total 3",
		"dyno_requests_in_flight 0", `dyno_responses_total{code="200"} 197`,
		`dyno_responses_total{code="503"} 3`, `dyno_failures_total{kind="timeout",phase="timeout"} 3`,
		"dyno_received_bytes_total 197000", "dyno_sent_bytes_total 19700",
		`dyno_latency_seconds_bucket{le="0.002"} 0`, `dyno_latency_seconds_bucket{le="0.005"} 197`,
		`dyno_latency_seconds_bucket{le="+Inf"} 197`, "dyno_latency_seconds_count 197",
		"dyno_service_time_seconds_count 197", "dyno_generator_busy_ratio 0.25",
		"dyno_generator_send_lag_max_seconds 4e-05",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	for _, absent := range []string{"dyno_users", "dyno_iteration", "dyno_checks", "dyno_events", "dyno_requests_good"} {
		if strings.Contains(text, absent) {
			t.Errorf("%s of a load without them", absent)
		}
	}
}

// A run of which every answer is an error has their latency, and what the watched server uses;
// what is not known of it is absent.
func TestErrorsAndServer(t *testing.T) {
	p, _ := seconds()
	h := metric.NewHistogram(metric.Fine)
	for range 50 {
		h.Record(int64(3 * time.Millisecond))
	}
	iv := loadresult.Interval{To: time.Second, Sent: 50, Failed: 50, Status: map[uint16]int64{503: 50}}
	iv.ErrorLatency = h.ToSparse()
	iv.Measure()
	m := NewMetrics(p, "")
	e, err := Listen("127.0.0.1:0", m)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if text := read(t, e.URL()); strings.Contains(text, "dyno_server") {
		t.Errorf("a server that is not watched:\n%s", text)
	}
	e.Add(iv)
	n := probe.Value(math.NaN())
	e.Watch(func() []probe.Reading {
		return []probe.Reading{{Name: "a\xff", CPU: 1.5e9, Memory: 4096}, {Name: "b", CPU: n, Memory: n}}
	})
	text := read(t, e.URL())
	for _, line := range []string{
		"dyno_latency_seconds_count 0", "dyno_requests_failed_total 50", "dyno_error_latency_seconds_count 50",
		"dyno_error_latency_seconds_sum 0.15", `dyno_error_latency_seconds_bucket{le="0.002"} 0`,
		`dyno_error_latency_seconds_bucket{le="0.005"} 50`,
		"dyno_server_cpu_seconds_total{process=\"a\uFFFD\"} 1.5", "dyno_server_memory_bytes{process=\"a\uFFFD\"} 4096",
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, `process="b"`) {
		t.Errorf("what is not known:\n%s", text)
	}
	var b bytes.Buffer
	NewStream(&b, p).Add(iv)
	if !strings.Contains(b.String(), `"error_latency":{"mean_us":3000,"p50_us":3`) || strings.Contains(b.String(), `"p99_us":0`) {
		t.Error(b.String())
	}
	if v, err := jsonschema.UnmarshalJSON(&b); err != nil || compileSchema(t).Validate(v) != nil {
		t.Errorf("it is not what the schema says: %v", err)
	}
}

// The end of a run waits until the final totals are read, if anybody reads at all.
func TestFinish(t *testing.T) {
	p, _ := seconds()
	unread, err := Listen("127.0.0.1:0", NewMetrics(p, ""))
	if err != nil {
		t.Fatal(err)
	}
	if unread.Finish() {
		t.Error("nobody reads, and it waits")
	}
	if err := unread.Close(); err != nil {
		t.Error(err)
	}
	e, err := Listen("127.0.0.1:0", NewMetrics(p, ""))
	if err != nil {
		t.Fatal(err)
	}
	read(t, e.URL())
	if !e.Finish() {
		t.Error("somebody reads, and it does not wait")
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	e.Wait(stopped) // or this would take LastRead
	read(t, e.URL())
	select {
	case <-e.finalRead:
	case <-time.After(time.Minute):
		t.Error("the final read was not noted")
	}
	e.Wait(context.Background())
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestListen(t *testing.T) {
	p, _ := seconds()
	for _, address := range []string{"", "9090", ":9090", "127.0.0.1", "127.0.0.1:x"} {
		if e, err := Listen(address, NewMetrics(p, "")); err == nil {
			e.Close()
			t.Errorf("%q was taken", address)
		}
	}
}

// Prometheus' own check finds nothing wrong with any metric.
func TestCollector(t *testing.T) {
	p, all := seconds()
	p.Rate = 0
	p.UserStages = []loadplan.UserStage{{Duration: loadplan.Seconds(time.Second), Users: 3}}
	p.Steps = []string{"a", "b"}
	m := NewMetrics(p, "")
	m.Add(all[1])
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		names = append(names, f.GetName())
	}
	for _, want := range []string{"dyno_users", "dyno_iterations_completed_total", "dyno_iteration_seconds"} {
		if !slices.Contains(names, want) {
			t.Errorf("no %s in %v", want, names)
		}
	}
}

// scenarioSeconds is a load of a scenario with three checks, two of which have one name, and one of
// dyno's own that did not fail: two intervals of it.
func scenarioSeconds() (p loadplan.Plan, all []loadresult.Interval) {
	p = loadplan.DefaultPlan()
	p.Target.URL, p.Steps = "http://127.0.0.1:8080/", []string{"login", "cart"}
	p.Checks = []string{"contains:x", "status", "status", scenario.BodyWithin + "9 bytes"}
	for i, failed := range []int64{1, 0} {
		h := metric.NewHistogram(metric.Fine)
		for range 20 {
			h.Record(int64(30 * time.Millisecond))
		}
		iv := loadresult.Interval{Index: i, From: time.Duration(i) * time.Second,
			To: time.Duration(i+1) * time.Second, Sent: 40, Completed: 40, Iterations: 20,
			IterationsFailed: failed, IterationTime: h.ToSparse(), Checks: []metric.Outcomes{
				{Passed: 20 - failed, Failed: failed}, {Passed: 30}, {Passed: 10}, {}}}
		if failed > 0 {
			iv.Failures = []loadresult.Failure{{Phase: loadresult.Check, Kind: p.Checks[0],
				Detail: "it is y", Count: failed}}
		}
		all = append(all, iv)
	}
	return p, all
}

// Metrics and stream have the events of streams, and the good requests.
func TestStreamsOfEvents(t *testing.T) {
	p, _ := seconds()
	p.Stream.Format, p.Goodput = "sse", "gap.max<1s"
	m := NewMetrics(p, "")
	e, err := Listen("127.0.0.1:0", m)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if before := read(t, e.URL()); !strings.Contains(before, "dyno_first_event_seconds_count 0\n") {
		t.Error(before)
	}
	var b bytes.Buffer
	s := NewStream(&b, p)
	for i := range 2 {
		c := metric.NewStreams()
		c.First.Record(30e6)
		c.Gap.RecordMany(3e6, 4)
		c.Counted, c.Arrivals, c.Eventful, c.Received, c.ReceivedTokens, c.Stalled, c.Cut = 5, 5, 1, 7, 9, 1, int64(i)
		iv := loadresult.Interval{Index: i, To: time.Second, Failures: []loadresult.Failure{{Phase: loadresult.Stream,
			Kind: "stalled", Detail: "silent", Count: 1}}}
		iv.Stream, iv.Good, iv.Events = c.ToSparse(), 3, 7
		iv.Measure()
		e.Add(iv)
		s.Add(iv)
	}
	text := read(t, e.URL())
	for _, line := range []string{`dyno_first_event_seconds_bucket{le="0.02"} 0`, `dyno_first_event_seconds_bucket{le="0.05"} 2`,
		"dyno_first_event_seconds_count 2", "dyno_event_gap_seconds_count 8", "dyno_events_total 14", "dyno_tokens_total 18",
		"dyno_streams_stalled_total 2", "dyno_streams_cut_total 1", "dyno_requests_good_total 6",
		`dyno_failures_total{kind="stalled",phase="stream"} 2`} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	line, _, _ := strings.Cut(b.String(), "\n")
	if v, err := jsonschema.UnmarshalJSON(strings.NewReader(line)); err != nil || compileSchema(t).Validate(v) != nil {
		t.Errorf("%s is not what the schema says: %v, %v", line, err, compileSchema(t).Validate(v))
	}
	for _, want := range []string{`"events":7`, `"first_event_p50_us":30`, `"gap_p99_us":3`, `"tokens":9`} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
}

// What a script calls its checks does not make them dyno's own.
func TestNamesOfScriptChecks(t *testing.T) {
	names := []string{"redirects within budget", "body within 9 bytes"}
	counted := []metric.Outcomes{{Failed: 3}, {Passed: 3}}
	of := func(script *loadplan.Script) string {
		return fmt.Sprint(checkCounts(&loadplan.Plan{Checks: names, Script: script}, counted))
	}
	if got, want := of(&loadplan.Script{}), "[{redirects within budget 0 3} {body within 9 bytes 3 0}]"; got != want {
		t.Errorf("of a script: %s, want %s", got, want)
	}
	if got, want := of(nil), "[{redirects within budget 0 3}]"; got != want {
		t.Errorf("of others: %s, want %s", got, want)
	}
}

// Metrics and stream have the time of iterations and the outcomes of checks.
func TestIterationsAndChecks(t *testing.T) {
	p, all := scenarioSeconds()
	m := NewMetrics(p, "")
	e, err := Listen("127.0.0.1:0", m)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	before := read(t, e.URL())
	var stream bytes.Buffer
	s := NewStream(&stream, p)
	for _, iv := range all {
		e.Add(iv)
		s.Add(iv)
	}
	after := read(t, e.URL())
	for line, text := range map[string]string{
		`dyno_checks_total{check="status",outcome="passed"} 0`:      before,
		`dyno_checks_total{check="status",outcome="passed"} 80`:     after,
		`dyno_checks_total{check="status",outcome="failed"} 0`:      after,
		`dyno_checks_total{check="contains:x",outcome="failed"} 1`:  after,
		`dyno_checks_total{check="contains:x",outcome="passed"} 39`: after,
		"dyno_iteration_seconds_count 40":                           after,
		`dyno_iteration_seconds_bucket{le="0.02"} 0`:                after,
		`dyno_iteration_seconds_bucket{le="0.05"} 40`:               after,
		`dyno_failures_total{kind="contains:x",phase="check"} 1`:    after,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
	if err := s.End(&result.Result{Format: result.Format}); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(stream.String(), "\n")
	for i, want := range []string{
		`"iteration_time":{"mean_us":30000,"p50_us":30`,
		`"checks":[{"name":"contains:x","passed":19,"failed":1},{"name":"status","passed":40,"failed":0}]`,
	} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("%d: no %s in %s", i, want, lines[0])
		}
	}
	if v, err := jsonschema.UnmarshalJSON(strings.NewReader(lines[0])); err != nil || compileSchema(t).Validate(v) != nil {
		t.Errorf("%s is not what the schema says: %v", lines[0], err)
	}
	if all := before + after + stream.String(); strings.Contains(all, "body within") {
		t.Errorf("a check that nobody wrote:\n%s", all)
	}
}

// Each line of a stream is what the schema says, and the last one is the result.
func TestStream(t *testing.T) {
	p, all := seconds()
	var b bytes.Buffer
	s := NewStream(&b, p)
	for _, iv := range all {
		s.Add(iv)
	}
	if err := s.End(&result.Result{Format: result.Format}); err != nil {
		t.Fatal(err)
	}
	schema := compileSchema(t)
	var lines []map[string]any
	for scan := bufio.NewScanner(&b); scan.Scan(); {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(scan.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, v.(map[string]any))
		if len(lines) <= len(all) {
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s: %v", scan.Text(), err)
			}
		}
	}
	if len(lines) != 4 || lines[3]["format"] != result.Format {
		t.Fatalf("%d lines, the last of format %v", len(lines), lines[len(lines)-1]["format"])
	}
	if lines[0]["sent"] != json.Number("100") || lines[1]["offered"] != json.Number("100") ||
		lines[2]["offered"] != json.Number("0") {
		t.Errorf("%v", lines)
	}
}

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(IntervalSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("interval.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("interval.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// The schema has exactly the keys of the type but for those that a stream leaves out.
func TestSchema(t *testing.T) {
	var schema struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(IntervalSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	var keys, always []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Interval]()) {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "" || key == "heat" || key == "completed_by_part" {
			continue
		}
		if keys = append(keys, key); options == "" {
			always = append(always, key)
		}
	}
	slices.Sort(keys)
	slices.Sort(always)
	slices.Sort(schema.Required)
	if said := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(said, keys) {
		t.Errorf("the schema has %v, the type %v", said, keys)
	}
	if !slices.Equal(schema.Required, always) {
		t.Errorf("the schema requires %v, always there are %v", schema.Required, always)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestStreamEnds(t *testing.T) {
	p, all := seconds()
	s := NewStream(failing{}, p)
	s.Add(all[0])
	s.Add(all[1])
	if err := s.End(nil); err == nil || err.Error() != "full" {
		t.Error(err)
	}
}

// dashboard is docs/grafana/dyno.json, which Grafana imports.
const dashboard = "../../../docs/grafana/dyno.json"

// Every expression of the dashboard is one that Prometheus understands, of metrics that a run has.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(dashboard)
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Query, Definition string }
		}
	}
	if err := json.Unmarshal(text, &of); err != nil {
		t.Fatal(err)
	}
	known, used := seriesNames(), map[string]bool{}
	check := func(where, expr string) {
		names, err := metricNames(expr)
		if err != nil {
			t.Errorf("%s: %s: %v", where, expr, err)
		}
		for _, name := range names {
			if used[name] = true; !slices.Contains(known, name) {
				t.Errorf("%s: %s: dyno has no %s", where, expr, name)
			}
		}
	}
	canBeNaN := regexp.MustCompile(`histogram_quantile| / `)
	expressions := 0
	for _, panel := range of.Panels {
		if len(panel.Targets) == 0 {
			t.Errorf("%q shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			expressions++
			check(panel.Title, target.Expr)
			if canBeNaN.MatchString(target.Expr) && !strings.HasSuffix(target.Expr, " >= 0") {
				t.Errorf("%s: %s is NaN where nothing was counted", panel.Title, target.Expr)
			}
		}
	}
	for _, variable := range of.Templating.List {
		if inner, is := strings.CutPrefix(variable.Query, "label_values("); is {
			metric, _, _ := strings.Cut(inner, ",")
			check(variable.Name, metric)
		}
	}
	if expressions < 10 {
		t.Errorf("%d expressions were found", expressions)
	}
	for _, m := range All() {
		if !slices.ContainsFunc(seriesOf(m), func(name string) bool { return used[name] }) {
			t.Errorf("the dashboard does not show %s", m.Name)
		}
	}
	if names, err := metricNames("sum(rate(dyno_nothing_total[1m])) by (x"); err == nil {
		t.Errorf("a broken expression passes: %v", names)
	}
}

// metricNames are the metrics that an expression selects. Grafana's variables stand for text.
func metricNames(expr string) (names []string, err error) {
	expr = strings.NewReplacer("$__rate_interval", "15s", "$__range", "1h", "$instance", "i",
		"$job", "j").Replace(expr)
	parsed, err := metricsql.Parse(expr)
	if err != nil {
		return nil, err
	}
	metricsql.VisitAll(parsed, func(e metricsql.Expr) {
		if m, is := e.(*metricsql.MetricExpr); is {
			for _, filters := range m.LabelFilterss {
				for _, f := range filters {
					if f.Label == "__name__" {
						names = append(names, f.Value)
					}
				}
			}
		}
	})
	return names, nil
}

// seriesOf are the names of the series of a metric.
func seriesOf(m Metric) []string {
	if m.Kind == 0 {
		return []string{m.Name + "_bucket", m.Name + "_sum", m.Name + "_count"}
	}
	return []string{m.Name}
}

func seriesNames() (names []string) {
	for _, m := range All() {
		names = append(names, seriesOf(m)...)
	}
	return names
}

var update = flag.Bool("update", false, "write the table of metrics in docs/live.md anew")

// The table of metrics is what /metrics says of them, and the page names no others.
func TestPageHasEveryMetric(t *testing.T) {
	const page, head = "../../../docs/live.md", "| metric | meaning |\n|---|---|\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, table, _ := strings.Cut(string(text), head)
	_, after, _ := strings.Cut(table, "\n\n")
	made := before + head
	for _, m := range All() {
		labels := ""
		if m.Kind == 0 {
			labels = "; a histogram"
		}
		if len(m.Labels) > 0 {
			labels = "; labels `" + strings.Join(m.Labels, "`, `") + "`"
		}
		made += "| `" + m.Name + "` | " + strings.TrimSuffix(m.Help, ".") + labels + " |\n"
	}
	if made += "\n" + after; *update {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if made != string(text) {
		t.Error("the table of docs/live.md is not that of the metrics; write it with -update")
	}
	known := seriesNames()
	for _, m := range All() {
		known = append(known, m.Name)
	}
	for _, name := range regexp.MustCompile(`\bdyno_\w+`).FindAllString(made, -1) {
		if !slices.Contains(known, name) {
			t.Errorf("docs/live.md has %s, which is none", name)
		}
	}
}
