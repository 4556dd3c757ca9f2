package design

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab/experiment"
	"dyno/internal/say"
)

func everything(t *testing.T) *experiment.Experiment {
	t.Helper()
	text, err := os.ReadFile("../experiment/testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return mustRead(t, string(text))
}

func mustRead(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Read("x.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const smallest = "version: 1\nname: x\nvariants: {a: {url: http://127.0.0.1:1/}}\n"

func TestCells(t *testing.T) {
	e := everything(t)
	variants := experiment.Expand(e)
	e.Design.AA = true
	var arms []string
	for _, a := range Arms(e, variants[:3]) {
		arms = append(arms, fmt.Sprint(a.Name, a.AA))
	}
	want := []string{"runningfalse", "app gomaxprocs=1 dump=truefalse",
		"app gomaxprocs=1 dump=true (A/A)true", "app gomaxprocs=1 dump=falsefalse"}
	if !slices.Equal(arms, want) {
		t.Errorf("%q", arms)
	}
	if n := len(Cells(e, variants[:3])); n != 4*13 {
		t.Errorf("%d cells", n)
	}
	// running and four of again, against app; four of app are their own baselines; two factors of both
	// and their interaction. Nine of twelve levels have a rate, and so no throughput; one searches
	if n := Comparisons(e, variants); n != (5+6)*(12*5-9+1) {
		t.Errorf("%d comparisons", n)
	}
}

func TestTime(t *testing.T) {
	e := mustRead(t, smallest+"design: {warmup: {min: 3s, max: 6s}, measure: 15s, cooldown: 1s}\n")
	drain := func(experiment.Level) time.Duration { return 2 * time.Second }
	x := Time(e, make([]Cell, 48), 3*time.Second, drain) // twelve variants, four levels
	if want := (Estimate{480, 480 * 22 * time.Second, 480 * 27 * time.Second}); x != want {
		t.Errorf("%+v", x)
	}
	e.Gate = &experiment.Gate{Confirm: true} // a regression is measured again
	if again := Time(e, make([]Cell, 48), 3*time.Second, drain); again.Least != x.Least || again.Most != 2*x.Most {
		t.Errorf("with a gate %+v", again)
	}
	e.Gate = nil
	e.Design.Precision, e.Design.MaxRounds = 0.02, 30
	if x := Time(e, make([]Cell, 2), time.Second, drain); x.Most != 60*25*time.Second || x.Least != 20*20*time.Second {
		t.Errorf("with precision: %+v", x)
	}
	e.Gate = &experiment.Gate{Confirm: true} // with as many rounds as the first batch had, 30 at most
	if x := Time(e, make([]Cell, 2), time.Second, drain); x.Most != 2*60*25*time.Second {
		t.Errorf("with precision and a gate: %+v", x)
	}
	e.Gate, e.Design.Budget = nil, experiment.Duration(time.Minute)
	if x := Time(e, make([]Cell, 2), time.Second, drain); x.Most != time.Minute+50*time.Second || x.Least != x.Most {
		t.Errorf("with a budget: %+v", x)
	}
	e.Design.Budget, e.Profile = 0, &experiment.Profile{CPU: experiment.Duration(10 * time.Second)}
	if x := Time(e, make([]Cell, 2), time.Second, drain); x.Least != (20*20+2*14)*time.Second {
		t.Errorf("with profiles: %+v", x)
	}
}

func TestWarnings(t *testing.T) {
	two := "version: 1\nname: x\nvariants: {a: {url: http://127.0.0.1:1/}, b: {url: http://127.0.0.1:2/}}\n"
	for design, want := range map[string]string{
		"":                                    "",
		"{rounds: 5}":                         "design.rounds: 5 rounds cannot show a difference: the least possible p is 6.25 %, and it must be below 5 %; a verdict takes 6 rounds",
		"{rounds: 6}":                         "",
		"{rounds: 8}":                         "",
		"{rounds: 6, metrics: [cpu]}":         "",
		"{rounds: 6, precision: 1%}":          "",
		"{order: sequential}":                 "design.order: in sequential order",
		"{aa: false}":                         "design.aa: ",
		"{isolation: none}":                   "design.isolation: ",
		"{cpus: {generator: 0-1, server: 1}}": "design.cpus: ",
		"{cpus: {generator: 1, server: 0}}":   "",
		"{budget: 1m}":                        "design.budget: 1m0s is not enough for 10 rounds, which take 7m30s",
	} {
		text := two
		if design != "" {
			text += "design: " + design
		}
		e := mustRead(t, text)
		var got []string
		for _, w := range Warnings(e, experiment.Expand(e)) {
			got = append(got, w.About+": "+say.Plain(w.Args))
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, want) || (want == "") != (all == "") ||
			len(got) > 1 {
			t.Errorf("%s: %q, want %q", design, all, want)
		}
	}
	one := mustRead(t, smallest)
	if w := Warnings(one, experiment.Expand(one)); len(w) != 1 || w[0].About != "variants" {
		t.Errorf("%v", w)
	}
}

// 2/2ⁿ is at most 5 % first at n = LeastRounds.
func TestLeastRounds(t *testing.T) {
	least := func(n int) float64 { return 2 / float64(int(1)<<n) }
	if least(experiment.LeastRounds) > 0.05 || least(experiment.LeastRounds-1) <= 0.05 {
		t.Errorf("%d rounds", experiment.LeastRounds)
	}
}

func TestQuick(t *testing.T) {
	e := everything(t)
	q := Quick(e)
	if q.Design.Rounds != 8 || q.Design.Precision != 0 || q.Design.MaxRounds != 0 ||
		q.Design.Measure != experiment.Duration(2*time.Second) || q.Design.Cooldown != experiment.Duration(100*time.Millisecond) ||
		len(q.Levels) != 2 || q.Levels[1].Name != "ab" || q.Profile.CPU != experiment.Duration(2*time.Second) {
		t.Errorf("%+v", q)
	}
	if e.Levels[2].Requests == 0 || e.Profile.CPU != experiment.Duration(3*time.Second) || e.Design.Rounds != 12 {
		t.Error("Quick changed what it was given")
	}
	if q.Levels[1].Requests != 0 {
		t.Errorf("%+v", q.Levels)
	}
	for _, v := range experiment.Expand(q) {
		left := slices.Contains(experiment.Missing(v), "a quick run leaves it out")
		if left != (v.Of == "again") {
			t.Errorf("%s: left out %v", v.Name, left)
		}
	}
	smoke := mustRead(t, smallest+"design: {rounds: 1, measure: 100ms}\n")
	if q := Quick(smoke); q.Design.Rounds != 1 || q.Design.Measure != experiment.Duration(100*time.Millisecond) {
		t.Errorf("longer than asked for: %+v", q.Design)
	}
	usual := Quick(mustRead(t, smallest+"levels: [{connections: 1}, {connections: 2}, {connections: 3}]\n"))
	if d := usual.Design; d.Rounds != experiment.LeastRounds || d.Measure != experiment.Duration(time.Second) ||
		len(usual.Levels) != 2 || usual.Levels[0].Name != "c1" {
		t.Errorf("%+v, %+v", d, usual.Levels)
	}
}

// What ships takes as long with --quick as one waits.
func TestQuickOfShipped(t *testing.T) {
	for _, name := range experiment.ShippedNames() {
		e, err := experiment.OpenShipped(name)
		if err != nil {
			t.Fatal(err)
		}
		q, patience, least := Quick(e), 10*time.Minute, 2*time.Second
		switch name {
		case "hello", "dump-request":
			patience = 2 * time.Minute
		case "nginx-settings": // it has fifteen arms
			least = time.Second
		}
		soon := func(experiment.Level) time.Duration { return 0 }
		if x := Time(q, Cells(q, experiment.Expand(q)), time.Second, soon); x.Most > patience {
			t.Errorf("%s: --quick takes up to %v", name, x.Most)
		}
		if q.Design.Measure < experiment.Duration(least) || q.Design.Rounds < 6 {
			t.Errorf("%s: --quick has %d rounds of %v", name, q.Design.Rounds, q.Design.Measure)
		}
	}
}

// A level with a rate has no throughput, unless nothing else shows that a variant cannot keep up.
func TestMetricsAt(t *testing.T) {
	open, closed := experiment.Level{Rate: 100}, experiment.Level{Connections: 1}
	for _, c := range []struct {
		level   experiment.Level
		metrics string
		want    string
	}{
		{closed, "throughput cpu p99", "throughput cpu p99"},
		{closed, "capacity cpu", "cpu"},
		{open, "throughput cpu p99", "cpu p99"},
		{open, "throughput mean", "mean"},
		{open, "throughput cpu", "throughput cpu"},
		{experiment.Level{Share: 0.5}, "throughput max", "max"},
		{experiment.Level{Find: "p99<1ms"}, "throughput p99", "capacity"},
		{experiment.Level{Find: "p99<1ms", Axis: "rate"}, "throughput p99", "capacity"},
		{experiment.Level{Find: "p99<1ms", Axis: "users"}, "throughput capacity", "capacity_users"},
		{closed, "capacity_connections cpu", "cpu"},
	} {
		var given, all []experiment.Metric
		for _, m := range strings.Fields(c.metrics) {
			given = append(given, experiment.Metric(m))
		}
		for _, m := range strings.Fields(c.want) {
			all = append(all, experiment.Metric(m))
		}
		if got := MetricsAt(given, c.level); !slices.Equal(got, all) {
			t.Errorf("%s at %+v: %s", c.metrics, c.level, got)
		}
	}
}
