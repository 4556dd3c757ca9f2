package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCells(t *testing.T) {
	e := everything(t)
	variants := Expand(e)
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
	if n := len(Cells(e, variants[:3])); n != 4*4 {
		t.Errorf("%d cells", n)
	}
	// running and four of again, against app; four of app are their own baselines; two factors of both
	// and their interaction
	if n := Comparisons(e, variants); n != (5+6)*4*5 {
		t.Errorf("%d comparisons", n)
	}
}

func TestTime(t *testing.T) {
	e := mustRead(t, smallest+"design: {warmup: {min: 3s, max: 6s}, measure: 15s, cooldown: 1s}\n")
	x := e.Time(make([]Cell, 48), 3*time.Second) // twelve variants, four levels
	if want := (Estimate{480, 480 * 22 * time.Second, 480 * 25 * time.Second}); x != want {
		t.Errorf("%+v", x)
	}
	e.Design.Precision, e.Design.MaxRounds = 0.02, 30
	if x := e.Time(make([]Cell, 2), time.Second); x.Most != 60*23*time.Second || x.Least != 20*20*time.Second {
		t.Errorf("with precision: %+v", x)
	}
	e.Design.Budget = Duration(time.Minute)
	if x := e.Time(make([]Cell, 2), time.Second); x.Most != time.Minute+46*time.Second || x.Least != x.Most {
		t.Errorf("with a budget: %+v", x)
	}
	e.Design.Budget, e.Profile = 0, &Profile{CPU: Duration(10 * time.Second)}
	if x := e.Time(make([]Cell, 2), time.Second); x.Least != (20*20+2*14)*time.Second {
		t.Errorf("with profiles: %+v", x)
	}
}

func TestWarnings(t *testing.T) {
	two := "version: 1\nname: x\nvariants: {a: {url: http://127.0.0.1:1/}, b: {url: http://127.0.0.1:2/}}\n"
	for design, want := range map[string]string{
		"":                                    "",
		"{rounds: 5}":                         "design.rounds: with 5 of them the least p is 6.25 %, which is above 5 %: whatever differs, no verdict can say so; it takes 6",
		"{rounds: 6}":                         "",
		"{rounds: 8}":                         "",
		"{rounds: 6, metrics: [cpu]}":         "",
		"{rounds: 6, precision: 1%}":          "",
		"{order: sequential}":                 "design.order: sequential",
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
		for _, w := range Warnings(e, Expand(e)) {
			got = append(got, w.About+": "+w.Message)
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, want) || (want == "") != (all == "") ||
			len(got) > 1 {
			t.Errorf("%s: %q, want %q", design, all, want)
		}
	}
	one := mustRead(t, smallest)
	if w := Warnings(one, Expand(one)); len(w) != 1 || w[0].About != "variants" {
		t.Errorf("%v", w)
	}
}

// 2/2ⁿ is at most 5 % first at n = LeastRounds.
func TestLeastRounds(t *testing.T) {
	least := func(n int) float64 { return 2 / float64(int(1)<<n) }
	if least(LeastRounds) > 0.05 || least(LeastRounds-1) <= 0.05 {
		t.Errorf("%d rounds", LeastRounds)
	}
}

func TestQuick(t *testing.T) {
	e := everything(t)
	q := Quick(e)
	if q.Design.Rounds != 8 || q.Design.Precision != 0 || q.Design.MaxRounds != 0 ||
		q.Design.Measure != Duration(2*time.Second) || q.Design.Cooldown != Duration(100*time.Millisecond) ||
		len(q.Levels) != 2 || q.Levels[1].Name != "ab" || q.Profile.CPU != Duration(2*time.Second) {
		t.Errorf("%+v", q)
	}
	if e.Levels[2].Requests == 0 || e.Profile.CPU != Duration(3*time.Second) || e.Design.Rounds != 12 {
		t.Error("Quick changed what it was given")
	}
	if q.Levels[1].Requests != 0 {
		t.Errorf("%+v", q.Levels)
	}
	for _, v := range Expand(q) {
		left := slices.Contains(Missing(v), "--quick leaves it out")
		if left != (v.Of == "again") {
			t.Errorf("%s: left out %v", v.Name, left)
		}
	}
	smoke := mustRead(t, smallest+"design: {rounds: 1, measure: 100ms}\n")
	if q := Quick(smoke); q.Design.Rounds != 1 || q.Design.Measure != Duration(100*time.Millisecond) {
		t.Errorf("longer than asked for: %+v", q.Design)
	}
	usual := Quick(mustRead(t, smallest+"levels: [{connections: 1}, {connections: 2}, {connections: 3}]\n"))
	if d := usual.Design; d.Rounds != LeastRounds || d.Measure != Duration(time.Second) ||
		len(usual.Levels) != 2 || usual.Levels[0].Name != "c1" {
		t.Errorf("%+v, %+v", d, usual.Levels)
	}
}

func TestShipped(t *testing.T) {
	var listed []string
	for _, l := range Shipped() {
		listed = append(listed, l.Name)
		if l.Description == "" {
			t.Errorf("%s says nothing of itself", l.Name)
		}
	}
	if !slices.Equal(listed, shippedNames()) || !slices.Contains(listed, "hello") {
		t.Errorf("listed %q of %q", listed, shippedNames())
	}
	if _, err := OpenShipped("helo"); err == nil || !strings.Contains(err.Error(), "did you mean hello?") {
		t.Error(err)
	}
	e, err := OpenShipped("hello")
	if err != nil {
		t.Fatal(err)
	}
	variants := Expand(e)
	for _, v := range variants {
		if missing := Missing(v); len(missing) > 0 {
			t.Errorf("%s: %q", v.Name, missing)
		}
	}
	x := Quick(e).Time(Cells(e, variants), time.Second)
	if x.Trials != 21 || x.Most > 90*time.Second {
		t.Errorf("%+v", x)
	}
}

// What ships is complete: extracted, it is found right with all that lies beside
// it, every variant can be rendered, and --quick takes as long as one waits.
func TestShippedFiles(t *testing.T) {
	for _, name := range shippedNames() {
		dir := filepath.Join(t.TempDir(), name)
		if err := Extract(name, dir); err != nil {
			t.Fatal(err)
		}
		e, err := ReadFile(filepath.Join(dir, shippedFile))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name != name || e.Published == nil || len(e.Published.Figures) == 0 {
			t.Errorf("%s: its name is %s, and of others it says %+v", name, e.Name, e.Published)
		}
		variants := Expand(e)
		for _, v := range variants {
			x := values(t.TempDir())
			x.Here = ""
			if _, err := Render(v, x); err != nil && !strings.Contains(err.Error(), "is not set") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := RenderBuild(v, x); err != nil && !strings.Contains(err.Error(), "is not set") {
				t.Errorf("%s: %v", name, err)
			}
		}
		q, patience := Quick(e), 10*time.Minute
		if name == "hello" || name == "dump-request" {
			patience = 2 * time.Minute
		}
		if x := q.Time(Cells(q, Expand(q)), time.Second); x.Most > patience {
			t.Errorf("%s: --quick takes up to %v", name, x.Most)
		}
		if q.Design.Measure < Duration(2*time.Second) || q.Design.Rounds < 6 {
			t.Errorf("%s: --quick has %d rounds of %v", name, q.Design.Rounds, q.Design.Measure)
		}
		if err := Extract(name, dir); err == nil {
			t.Errorf("%s: extracted over what is there", name)
		}
		if err := Extracted(name, dir); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, shippedFile), []byte("version: 2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Extracted(name, dir); err != nil {
			t.Errorf("%s: with an experiment of its own: %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, shippedFile)); err != nil {
			t.Fatal(err)
		}
		if err := Extracted(name, dir); err == nil || !strings.Contains(err.Error(), shippedFile) {
			t.Errorf("%s: without its file: %v", name, err)
		}
	}
}

// What servers are started with, and load is made of, is the same to the end.
func TestExtractedIsChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	if err := Extract("dump-request", dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "body.txt"), []byte("longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Extracted("dump-request", dir); err == nil || !strings.Contains(err.Error(), "body.txt was changed") {
		t.Errorf("%v", err)
	}
}

func TestObjectives(t *testing.T) {
	e := mustRead(t, smallest+"objectives: [p99<20ms, errors<=0.1%, rps > 10k, cpu<50us, 'p50 < 2 ms, mean<3ms']\n")
	var all []string
	for _, o := range e.Objectives {
		all = append(all, string(o))
	}
	if want := []string{"p99<20ms", "errors<=0.1%", "rps>10k", "cpu<50us", "p50<2ms", "mean<3ms"}; !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
}
