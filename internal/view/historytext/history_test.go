package historytext

import (
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/lab"
	"dyno/internal/store"
	"dyno/internal/view/format"
)

// What is next is about the newest result, and about the one before of its URL.
func TestHistorySaysWhatIsNext(t *testing.T) {
	all := []store.Entry{{ID: "c", URL: "http://x/"}, {ID: "b", URL: "http://y/"}, {ID: "a", URL: "http://x/"}}
	for n, want := range []string{"", "read the newest: dyno report c -v", "read the newest: dyno report c -v",
		"read the newest: dyno report c -v\ncompare it with the one before: dyno compare a c"} {
		var said []string
		for _, row := range nextRows(all[:n]) {
			said = append(said, row.Text+": "+row.Command)
		}
		if got := strings.Join(said, "\n"); got != want {
			t.Errorf("of %d results: %q, want %q", n, got, want)
		}
	}
}

// Series of one URL and load are told apart by the least that does it.
func TestSeriesLoad(t *testing.T) {
	plan := func(change func(p *loadplan.Plan)) *loadplan.Plan {
		p := loadplan.DefaultPlan()
		p.Requests = []loadplan.Request{{Weight: 1, Request: proto.Request{Method: "GET", Path: "/"}}}
		change(&p)
		return &p
	}
	header := func(values ...string) func(p *loadplan.Plan) {
		return func(p *loadplan.Plan) {
			for _, v := range values {
				p.Requests[0].Header = append(p.Requests[0].Header, proto.Field{Name: "X", Value: v})
			}
		}
	}
	plain := plan(func(*loadplan.Plan) {})
	longer := plan(func(p *loadplan.Plan) { p.Duration, p.Seed, p.Timeout = 7e9, 5, 1e9 })
	x, xy := plan(header("1")), plan(header("1", "2"))
	x10 := plan(func(p *loadplan.Plan) { header("1")(p); p.HTTP = "1.0" })
	body := plan(func(p *loadplan.Plan) { header("1")(p); p.Requests[0].Method, p.Requests[0].Body = "POST", []byte("b") })
	alike := strings.Repeat("a", noteWidest)
	long, other := plan(header(alike+"1")), plan(header(alike+"2"))
	for _, test := range []struct {
		asked  *loadplan.Plan
		others []*loadplan.Plan
		want   string
	}{
		{nil, nil, ""},
		{plain, nil, ""},
		{plain, []*loadplan.Plan{x}, ""},
		{x, []*loadplan.Plan{plain}, ", -H 'X: 1'"},
		{xy, []*loadplan.Plan{x}, ", -H 'X: 2'"},
		{xy, []*loadplan.Plan{x, plain}, ", -H 'X: 2'"},
		{x, []*loadplan.Plan{xy, plain}, ", -H 'X: 1'"},
		{x10, []*loadplan.Plan{plain, xy}, ", --http 1.0"},
		{body, []*loadplan.Plan{plain, x}, ", -b b"},
		{long, []*loadplan.Plan{other}, ", plan abcdef"},      // they differ in what is not shown
		{longer, []*loadplan.Plan{x, plain}, ", plan abcdef"}, // files, or a body that is not kept
	} {
		series := store.Series{Plan: "abcdef", Asked: test.asked, Others: test.others,
			Newest: store.Entry{Model: "open", Connections: 2, Offered: 100}}
		if got, want := SeriesLoad(series), "open, 100/s, 2 connections"+test.want; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	of := store.Series{Newest: store.Entry{Model: "closed", Connections: 1, Fleet: "a, b"}}
	if got := SeriesLoad(of); got != "closed, 1 connection, fleet of a, b" {
		t.Error(got)
	}
}

// A run that is a part of one is marked, and nothing that was stored is obeyed by a terminal.
func TestHistoryMarksParts(t *testing.T) {
	var b strings.Builder
	h := store.History{Entries: []store.Entry{
		{ID: "1", Verdict: "suspect", Generator: "suspect", Partial: "LOST agent b\x1b[2J", Fleet: "a, b", Note: "\x1b[31mred"},
		{ID: "2", Verdict: "suspect", Generator: "suspect", Partial: "interrupted"},
		{ID: "3", Generator: "ok", Verdict: "ok"}, {ID: "4", Generator: "ok", Verdict: "failing", Values: map[string]float64{store.Errors: 20}}}}
	if err := Write(&b, h, format.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"suspect    LOST agent b·[2J ", "suspect    interrupted              0 B\n", " ok                                  0 B\n",
		" ok         failing, 20.0 % errors   0 B\n", " ·[31mred", "dyno compare 2 1\n\n  ID "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") || strings.Contains(b.String(), "ok, ") {
		t.Errorf("%q", b.String())
	}
}

// What is only known to be higher is said to be.
func TestHistoryOfBounds(t *testing.T) {
	m, _ := lab.MeasureNamed("p99")
	runs := []store.Run{{ID: "1", Value: 1e4}, {ID: "2", Value: 2e6, Over: true}}
	h := store.History{
		Entries: []store.Entry{{ID: "2", Values: map[string]float64{"p99": 2e6}, Over: []string{"p99"}},
			{ID: "1", Values: map[string]float64{"p99": 1e4}}},
		Series: []store.Series{{Name: "ABCD", Metric: m, Runs: runs, Changes: []store.Change{{Verdict: store.Worse,
			Ratio: 200, Low: 190, High: 210, Bound: lab.AtLeast, Before: runs[:1], After: runs[1:]}}}}}
	var b strings.Builder
	if err := Write(&b, h, format.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"over 2.00 s", " 10.0 ms", "last over 2.00 s,",
		"worse: ×200 or higher [×190, ∞), of 1 run before"} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), strings.TrimSpace(want)) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// A run of streams has the time to the first event and the rate of events. Without such a run there
// are no such columns.
func TestHistoryOfStreams(t *testing.T) {
	plain := store.Entry{ID: "1", Values: map[string]float64{"throughput": 8, "p99": 3e6}}
	few := store.Entry{ID: "2", Values: map[string]float64{"throughput": 8, "first_event_p50": 147e3}}
	many := store.Entry{ID: "3", Values: map[string]float64{"throughput": 8, "p99": 3e6, "first_event_p50": 147e3, "first_event_p99": 2e6, "events": 63.96},
		Over: []string{"first_event_p99"}}
	column := func(head string, all ...store.Entry) (cells []string) {
		rows, _ := withoutEmpty(resultList(store.History{Entries: all}), listSides)
		for _, row := range rows {
			if at := slices.Index(rows[0], head); at >= 0 {
				cells = append(cells, row[at])
			}
		}
		return cells
	}
	for _, want := range [][]string{{"first event p50", "", "147 ms", "147 ms"}, {"first event p99", "", "", "over 2.00 s"},
		{"events/s", "", "", "64.0"}, {"p99", "3.00 s", "–", "3.00 s"}} {
		if got := column(want[0], plain, few, many); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if got := column(want[0], plain); want[1] == "" && got != nil {
			t.Errorf("without streams: %q", got)
		}
	}
}
