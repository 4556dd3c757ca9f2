package main

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dyno/internal/stats"
)

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		tools []string
		count int
		want  [][]string
	}{
		{[]string{"a", "b"}, 3, [][]string{{"a", "b"}, {"b", "a"}, {"a", "b"}}},
		{[]string{"a", "b", "c"}, 2, [][]string{{"a", "b", "c"}, {"c", "b", "a"}}},
		{[]string{"a"}, 1, [][]string{{"a"}}},
		{[]string{"a"}, 0, [][]string{}},
	} {
		if got := trialOrder(c.tools, c.count); !reflect.DeepEqual(got, c.want) {
			t.Errorf("rounds(%v, %d): got %v, want %v", c.tools, c.count, got, c.want)
		}
	}
}

func TestReachedBy(t *testing.T) {
	for _, c := range []struct {
		op        operator
		low, high float64
		want      bool
	}{
		{atLeast, 8, 9.9, false}, {atLeast, 8, 10, true}, {atLeast, 11, 12, true},
		{atMost, 10.1, 12, false}, {atMost, 10, 12, true}, {atMost, 8, 9, true},
		{within, 5, 8.9, false}, {within, 5, 9, true}, {within, 9.5, 10.5, true},
		{within, 11, 15, true}, {within, 11.1, 15, false}, {within, 0, 99, true},
		{exactly, 10, 10, true}, {exactly, 9, 10, false}, {exactly, 10, 11, false},
		{atLeast, math.NaN(), math.NaN(), false}, {atMost, math.NaN(), math.NaN(), false},
	} {
		b := bar{op: c.op, value: 10, tolerance: 1}
		if got := b.isReachedBy(c.low, c.high); got != c.want {
			t.Errorf("10 %v by [%v, %v]: got %t, want %t", c.op, c.low, c.high, got, c.want)
		}
	}
}

// trials makes the trials of one tool, a value a round; 0 is a trial that failed.
func trials(tool string, m metric, values ...float64) []trial {
	var out []trial
	for round, v := range values {
		t := trial{Tool: tool, Round: round, Values: reading{m: v}}
		if v == 0 {
			t.Values, t.Error = nil, "failed"
		}
		out = append(out, t)
	}
	return out
}

func TestPairsAreOfOneRound(t *testing.T) {
	o := rowOutcome{row: row{pairs: 4}}
	o.Trials = slices.Concat(trials("dyno", rate, 10, 0, 30, 40), trials("wrk", rate, 1, 2, 3))
	slices.Reverse(o.Trials)
	a, b := o.pairedValues("dyno", "wrk", rate)
	if want := []float64{10, 30}; !slices.Equal(a, want) {
		t.Errorf("of dyno: got %v, want %v", a, want)
	}
	if want := []float64{1, 3}; !slices.Equal(b, want) {
		t.Errorf("of wrk: got %v, want %v", b, want)
	}
}

func TestVerdicts(t *testing.T) {
	ten := func(v float64) []float64 { return slices.Repeat([]float64{v}, 10) }
	spread := func(from, step float64) []float64 {
		out := make([]float64, 10)
		for i := range out {
			out[i] = from + step*float64(i)
		}
		return out
	}
	faster := bar{metric: rate, ratio: true, op: atLeast, value: 1.35}
	for _, c := range []struct {
		name     string
		bar      bar
		dyno     []float64
		rival    []float64
		found    float64 // 0: not judged
		reached  bool
		barely   bool
		says, in string // the bar, and why it is not judged
	}{
		{"reached", faster, ten(140), ten(100), 1.4, true, false, "req/s ≥ 1.35 × wrk", ""},
		{"missed", faster, ten(130), ten(100), 1.3, false, false, "", ""},
		{"by the interval", faster, spread(120, 3), ten(100), 1.333, true, true, "", ""},
		{"no rival", faster, ten(1), nil, 0, false, false, "× the baseline", "not installed"},
		{"no dyno", faster, nil, ten(1), 0, false, false, "", "no values"},
		{
			"own value", bar{metric: rate, op: within, value: 50, tolerance: 3},
			ten(52), nil, 52, true, false, "req/s 50 ± 3", "",
		},
		{"all as asked", bar{metric: sent, op: exactly}, ten(600), nil, 600, true, false,
			"sent = 600", ""},
		{"one not as asked", bar{metric: sent, op: exactly}, append(ten(600), 599), nil, 600,
			false, false, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := rowOutcome{Tools: []string{"dyno", "wrk"}}
			o.row = row{pairs: 11, baseline: wrkOnly, bars: []bar{c.bar},
				load: load{rate: 200, seconds: 3}}
			o.Trials = append(trials("dyno", c.bar.metric, c.dyno...),
				trials("wrk", c.bar.metric, c.rival...)...)
			o.judgeRow()
			v := o.Verdicts[0]
			if v.Reached != c.reached || v.Barely != c.barely {
				t.Errorf("got %+v, want reached %t, barely %t", v, c.reached, c.barely)
			}
			if !strings.Contains(v.Bar, c.says) || !strings.Contains(v.Why, c.in) {
				t.Errorf("got %q because %q, want %q because %q", v.Bar, v.Why, c.says, c.in)
			}
			if (v.Found == nil) != (c.found == 0) {
				t.Fatalf("found %v, want %v", v.Found, c.found)
			}
			if v.Found != nil && math.Abs(v.Found.Estimate-c.found) > 0.002 {
				t.Errorf("found %v, want %v", v.Found.Estimate, c.found)
			}
		})
	}
}

func TestBaselineIsTheFastest(t *testing.T) {
	var o rowOutcome
	o.Trials = slices.Concat(trials("dyno", rate, 9), trials("wrk", rate, 2, 3, 4),
		trials("ab", rate, 1, 5, 6), trials("wrk", cpu, 4, 5), trials("ab", cpu, 5, 6))
	if got := o.bestTool([]string{"wrk", "ab"}, cpu); got != "wrk" {
		t.Errorf("the cheapest is %q", got)
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"wrk", "ab"}, "ab"}, {[]string{"wrk"}, "wrk"}, {[]string{"oha"}, ""}, {nil, ""},
	} {
		if got := o.bestTool(c.names, rate); got != c.want {
			t.Errorf("best of %v: got %q, want %q", c.names, got, c.want)
		}
	}
}

// Another dyno is the baseline where no other is, and never that of a bar.
func TestOtherDynoIsTheLastBaseline(t *testing.T) {
	other := trials("dyno-other", rate, 4, 4, 4, 4, 4, 4)
	for _, c := range []struct {
		rivals []trial
		want   string
	}{
		{slices.Concat(other, trials("wrk", rate, 2, 2, 2, 2, 2, 2)), "wrk"}, {other, "dyno-other"},
	} {
		o := rowOutcome{Tools: []string{"dyno", "dyno-other"}, row: row{pairs: 6, baseline: wrkOnly,
			columns: []column{{metric: rate, ratio: true}},
			bars:    []bar{{metric: rate, ratio: true, op: atLeast, value: 1.1}}}}
		o.Trials = slices.Concat(trials("dyno", rate, 4, 4, 4, 4, 4, 4), c.rivals)
		o.judgeRow()
		if o.Baseline != c.want {
			t.Errorf("the baseline is %q, want %q", o.Baseline, c.want)
		}
		if v := o.Verdicts[0]; v.Reached != (c.want == "wrk") || (v.Why == "") != v.Reached {
			t.Errorf("the bar is held against %q: %+v", c.want, v)
		}
	}
}

// Another dyno takes part in every row of throughput, but where requests differ: older ones cannot
// send these.
func TestOtherDynoTakesPart(t *testing.T) {
	b := bench{tools: []tool{tools[0], {name: "dyno-other", command: dynoCommand}}}
	var without []string
	for _, r := range slices.Concat(rows, limitRows) {
		if r.load.rate == 0 && !r.memory && !r.idle && r.server != nodeServer &&
			r.server != handlerServer && r.load.content == sameContent && len(b.toolsForRow(r)) < 2 {
			without = append(without, r.name)
		}
	}
	if len(without) > 0 {
		t.Errorf("without dyno-other: %v", without)
	}
}

// The table of rows must mean something: names are known, bars are of what is measured.
func TestRows(t *testing.T) {
	known := map[string]tool{}
	for _, x := range tools {
		known[x.name] = x
	}
	seen := map[string]bool{}
	for _, r := range slices.Concat(rows, limitRows) {
		if seen[r.name] || strings.Contains(r.name, ",") {
			t.Errorf("row %q: the name is taken, or no name", r.name)
		}
		seen[r.name] = true
		for _, name := range slices.Concat(r.rivals, r.baseline) {
			x, ok := known[name]
			if !ok || len(x.command(r.load, "http://127.0.0.1:1/").args) == 0 {
				t.Errorf("row %s: %q cannot make the load", r.name, name)
			}
		}
		for _, b := range r.bars {
			i := slices.IndexFunc(r.columns, func(c column) bool { return c.metric == b.metric })
			if i < 0 || b.ratio && !r.columns[i].ratio {
				t.Errorf("row %s: no column shows the bar %q", r.name, b.describeBar(""))
			}
			if b.op == exactly && r.load.seconds > 0 && r.load.requestedCount(b.metric) == 0 {
				t.Errorf("row %s: asks for no %s", r.name, b.metric)
			}
		}
	}
}

func TestTables(t *testing.T) {
	o := rowOutcome{Name: "x", Title: "y", Seconds: 3, Tools: []string{"dyno", "wrk"}}
	o.row = row{pairs: 6, baseline: wrkOnly,
		columns: []column{{metric: rate, spread: true, ratio: true}, {metric: peak}},
		bars:    []bar{{metric: rate, ratio: true, op: atLeast, value: 2}}}
	o.Trials = slices.Concat(trials("dyno", rate, 2100, 2000, 2000, 2000, 2000, 2000),
		trials("wrk", rate, 1000, 1000, 1000, 1000, 1000, 0))
	o.Trials[0].Values[foreign] = 40
	o.judgeRow()
	all := outcome{Rows: []rowOutcome{o}}
	var b strings.Builder
	all.Rows[0].writeRow(&b, false)
	all.barSummary().writeTable(&b, true)
	want := `
x: y

tool  trials  req/s  lowest–highest  × wrk                 peak MiB
dyno  6       2,000  2,000–2,100     2.000 [2.000, 2.100]  –
wrk   5       1,000  1,000–1,000     1                     –

Ratios are of pairs of 3 s trials (interval: 93.8 %, 5 values); other values are medians.

Disturbed: in 1 of 12 trials other programs used more than 5 % of a CPU, at most 40 %. ` +
		`Run it again on a quiet machine.

Failed: round 6, wrk: failed

### Bars

| row | bar             | found                | interval         | verdict |
| --- | --- | --- | --- | --- |
| x   | req/s ≥ 2 × wrk | 2.000 [2.000, 2.100] | 93.8 %, 5 values | reached |

1 of 1 bars reached.
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestStatus(t *testing.T) {
	found := &stats.Interval{}
	missed := rowOutcome{Verdicts: []verdict{{Found: found}}}
	reached := rowOutcome{Verdicts: []verdict{{Found: found, Reached: true}}}
	broken := rowOutcome{Trials: []trial{{Tool: "wrk", Error: "no"}}}
	for _, c := range []struct {
		name string
		rows []rowOutcome
		gate bool
		want int
	}{
		{"reached", []rowOutcome{reached}, true, exitOK},
		{"missed", []rowOutcome{reached, missed}, false, exitOK},
		{"missed, gate", []rowOutcome{reached, missed}, true, exitMissed},
		{"failed", []rowOutcome{missed, broken}, true, exitFailed},
	} {
		o := outcome{Rows: c.rows}
		if got := o.exitStatus(t.Context(), c.gate); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		metric metric
		value  float64
		want   string
	}{
		{rate, 0, "0"}, {rate, 999.6, "1,000"}, {rate, 1234567, "1,234,567"},
		{perConn, -1234, "-1,234"}, {cpu, 3.14159, "3.142"}, {latencyMean, 50.126, "50.13"},
		{peak, 11.64, "11.6"}, {"", 1.35, "1.350"},
	} {
		if got := formatValue(c.metric, c.value); got != c.want {
			t.Errorf("%s %v: got %q, want %q", c.metric, c.value, got, c.want)
		}
	}
}
