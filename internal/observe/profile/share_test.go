package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	pprof "github.com/google/pprof/profile"
)

// stacks is a CPU profile of lines "outer;inner;leaf SAMPLES", of 10 ms each.
func stacks(t *testing.T, lines ...string) *Profile {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		path, count, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			t.Fatal(err)
		}
		names := strings.Split(path, ";")
		for range n {
			b.WriteString("srv 1/1 10000000 cpu-clock:\n")
			for i := len(names) - 1; i >= 0; i-- {
				fmt.Fprintf(&b, "\t%x %s (/bin/srv)\n", names[i], names[i])
			}
			b.WriteString("\n")
		}
	}
	p, err := parseScript(strings.NewReader(b.String()), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-7 }

func TestShare(t *testing.T) {
	p := stacks(t, "m;handle;dump;copy 6", "m;handle;dump 3", "m;handle;dump;dump 1",
		"m;handle;write 90")
	s, ok := Share(p, "dump")
	if !ok || s.Total != 1e9 || s.Samples != 100 || s.Type != "cpu" || s.Unit != "nanoseconds" {
		t.Fatalf("%+v, %v", s, ok)
	}
	if s.Cumulative.Samples != 10 || s.Cumulative.Share != 0.1 || s.Cumulative.Value != 1e8 {
		t.Errorf("cumulative %+v", s.Cumulative)
	}
	if s.Flat.Samples != 4 || s.Flat.Share != 0.04 {
		t.Errorf("flat %+v", s.Flat)
	}
	// R 4: prop.test(10, 100, correct = FALSE)$conf.int, and of 4 and 0.
	if i := s.Cumulative.Interval; !near(i.Low, 0.055229137) || !near(i.High, 0.174365662) {
		t.Errorf("interval of 10 of 100: %+v", i)
	}
	if i := s.Flat.Interval; !near(i.Low, 0.015663304) || !near(i.High, 0.098370714) {
		t.Errorf("interval of 4 of 100: %+v", i)
	}
	none, ok := Share(p, "absent")
	if i := none.Cumulative.Interval; !ok || none.Cumulative.Share != 0 || i.Low != 0 ||
		!near(i.High, 0.036993498) {
		t.Errorf("none of 100: %+v", none)
	}
}

func TestFewSamplesDoNotLookExact(t *testing.T) {
	few, _ := Share(stacks(t, "m;f 1", "m;g 1"), "f")
	many, _ := Share(stacks(t, "m;f 500", "m;g 500"), "f")
	f, m := few.Cumulative.Interval, many.Cumulative.Interval
	if f.High-f.Low < 0.8 || m.High-m.Low > 0.07 {
		t.Errorf("1 of 2: %+v; 500 of 1000: %+v", f, m)
	}
	// One sample that weighs as much as all others says as little as one does.
	p := stacks(t, "m;f 1", "m;g 100")
	for _, s := range p.Sample {
		if s.Location[0].Line[0].Function.Name == "f" {
			s.Value[1] = 1e9
		}
	}
	one, _ := Share(p, "f")
	if i := one.Cumulative.Interval; one.Cumulative.Share != 0.5 || i.High-i.Low < 0.5 {
		t.Errorf("one heavy sample: %+v", one.Cumulative)
	}
}

func TestWithoutSamples(t *testing.T) {
	empty, full := stacks(t), stacks(t, "m;f 3")
	if s, ok := Share(empty, "f"); ok {
		t.Errorf("share %+v of nothing", s)
	}
	if top := Top(empty, 5); top != nil {
		t.Errorf("top %v of nothing", top)
	}
	if n := Tree(empty); n.Total != 0 || n.Children != nil {
		t.Errorf("tree %+v", n)
	}
	for _, pair := range [][2]*Profile{{empty, full}, {full, empty}} {
		if _, err := Diff(pair[0], pair[1]); !errors.Is(err, ErrNoSamples) {
			t.Errorf("Diff: %v", err)
		}
		if _, err := DiffTree(pair[0], pair[1]); !errors.Is(err, ErrNoSamples) {
			t.Errorf("DiffTree: %v", err)
		}
	}
	var b bytes.Buffer
	if err := Speedscope(&b, empty); err != nil || strings.Contains(b.String(), "null") {
		t.Errorf("%v: %s", err, &b)
	}
}

func TestTop(t *testing.T) {
	p := stacks(t, "m;a;b 5", "m;a 2", "m;c 5", "m;a;b;a 1")
	want := "b 5 6, c 5 5, a 3 8, m 0 13"
	if got := lines(Top(p, 0)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := lines(Top(p, 2)); got != "b 5 6, c 5 5" {
		t.Errorf("the first two: %s", got)
	}
}

func lines(top []Line) string {
	var all []string
	for _, l := range top {
		all = append(all, fmt.Sprint(l.Function, " ", l.Flat.Samples, " ", l.Cumulative.Samples))
	}
	return strings.Join(all, ", ")
}

func TestDiff(t *testing.T) {
	base := stacks(t, "m;h;write 80", "m;h;parse 20")
	other := stacks(t, "m;h;write 120", "m;h;parse 40", "m;h;dump;copy 40")
	all, err := Diff(base, other)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range all {
		got = append(got, fmt.Sprintf("%s %+.2f %+.2f", d.Function, d.Change, d.FlatChange))
	}
	want := "copy +0.20 +0.20, dump +0.20 +0.00, write -0.20 -0.20, h +0.00 +0.00, " +
		"m +0.00 +0.00, parse +0.00 +0.00"
	// Which of +0.20 and -0.20 is larger, floating point decides: names are looked up.
	if len(got) != 6 || got[5] != "parse +0.00 +0.00" {
		t.Errorf("got %s, want about %s", strings.Join(got, ", "), want)
	}
	for _, d := range all {
		switch d.Function {
		case "copy", "dump":
			// Newcombe's method 10 on 40/200 − 0/100, from what prop.test has for each:
			// [0.150452009, 0.260855187] and [0, 0.036993498].
			if i := d.Interval; !near(d.Change, 0.2) || !near(i.Low, 0.138165363) ||
				!near(i.High, 0.260855187) {
				t.Errorf("%s: %+v %+v", d.Function, d, i)
			}
		case "write":
			if !near(d.Change, -0.2) || d.Interval.High >= 0 {
				t.Errorf("write: %+v", d)
			}
		case "parse":
			if d.Change != 0 || d.Interval.Low >= 0 || d.Interval.High <= 0 {
				t.Errorf("parse: %+v %+v", d, d.Interval)
			}
		}
	}
}

func TestDiffOfDifferentKinds(t *testing.T) {
	heap := &Profile{SampleType: []*pprof.ValueType{{Type: "inuse_space", Unit: "bytes"}}}
	_, err := Diff(stacks(t, "m 1"), heap)
	if err == nil || !strings.Contains(err.Error(), "one is of cpu in nanoseconds, the other "+
		"of inuse_space in bytes") {
		t.Error(err)
	}
}

func TestTree(t *testing.T) {
	p := stacks(t, "m;b 2", "m;a;c 3", "m;a 1")
	root := Tree(p)
	checkTree(t, root)
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"name":"all","self":0,"total":60000000,"children":[` +
		`{"name":"srv","self":0,"total":60000000,"children":[` +
		`{"name":"m","self":0,"total":60000000,"children":[` +
		`{"name":"a","self":10000000,"total":40000000,"children":[` +
		`{"name":"c","self":30000000,"total":30000000}]},` +
		`{"name":"b","self":20000000,"total":20000000}]}]}]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

func TestDiffTree(t *testing.T) {
	root, err := DiffTree(stacks(t, "m;a 1", "m;b 3"), stacks(t, "m;b 2", "m;c 6"))
	if err != nil {
		t.Fatal(err)
	}
	m := root.Children[0].Children[0]
	var got []string
	for _, n := range m.Children {
		got = append(got, fmt.Sprint(n.Name, " ", n.Base, " ", n.Other))
	}
	if s := strings.Join(got, ", "); s != "a 0.25 0, b 0.75 0.25, c 0 0.75" {
		t.Error(s)
	}
	if root.Base != 1 || root.Other != 1 || m.Name != "m" {
		t.Errorf("%+v %+v", root, m)
	}
}

func TestMergeSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.pb.gz")
	sum, err := Merge(stacks(t, "m;f 1", "m;g 1"), stacks(t, "m;f 2"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second replaces the first
		if err := Save(path, sum); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := Share(p, "f"); !ok || s.Cumulative.Share != 0.75 || s.Samples != 4 {
		t.Errorf("%+v", s)
	}
	if folded(p) != folded(sum) {
		t.Errorf("read back: %s, written: %s", folded(p), folded(sum))
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	heap := &Profile{PeriodType: &pprof.ValueType{Type: "space", Unit: "bytes"},
		SampleType: []*pprof.ValueType{{Type: "inuse_space", Unit: "bytes"}}}
	if _, err := Merge(sum, heap); err == nil {
		t.Error("a heap profile was added to a CPU profile")
	}
	if _, err := Merge(); err == nil {
		t.Error("nothing was merged")
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"empty": "", "text": "flat  flat%", "gzip": "\x1f\x8b but no more",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	broken := stacks(t, "m 1")
	broken.Sample[0].Value = nil
	path := filepath.Join(dir, "broken")
	if err := Save(path, broken); err == nil {
		t.Error("a broken profile was stored")
	}
	if err := Save(filepath.Join(dir, "no", "such"), stacks(t, "m 1")); err == nil {
		t.Error("stored where there is no directory")
	}
}

func TestSpeedscope(t *testing.T) {
	var b bytes.Buffer
	if err := Speedscope(&b, stacks(t, "m;f 2", "m 1")); err != nil {
		t.Fatal(err)
	}
	want := `{"$schema":"https://www.speedscope.app/file-format-schema.json",` +
		`"exporter":"dyno","shared":{"frames":[{"name":"srv"},{"name":"m"},{"name":"f"}]},` +
		`"activeProfileIndex":1,"profiles":[` +
		`{"type":"sampled","name":"samples","unit":"none","startValue":0,"endValue":3,` +
		`"samples":[[0,1,2],[0,1]],"weights":[2,1]},` +
		`{"type":"sampled","name":"cpu","unit":"nanoseconds","startValue":0,` +
		`"endValue":30000000,"samples":[[0,1,2],[0,1]],"weights":[20000000,10000000]}]}` + "\n"
	if b.String() != want {
		t.Errorf("got  %s\nwant %s", &b, want)
	}
}
