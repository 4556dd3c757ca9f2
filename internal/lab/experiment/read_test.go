package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"dyno/internal/lab/experiment/source"
	"dyno/internal/lab/experiment/starter"
	"dyno/internal/setting"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each bad file has beside it exactly what is said of it.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Read(filepath.Base(path), bytes.NewReader(text))
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("no faults, but %v", err)
			}
			within(t, text, faults)
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			got := faults.Error() + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// An experiment that an earlier version began may have names that differ in capitals alone.
func TestCapitalsOfABegunExperiment(t *testing.T) {
	text, err := os.ReadFile("testdata/bad/capitals.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := ReadBegun("x.yaml", bytes.NewReader(text))
	if err != nil || len(e.Variants) != 3 {
		t.Errorf("%v, %+v", err, e)
	}
	if _, err := ReadBegun("x.yaml", strings.NewReader("version: 1\nname: x\n")); err == nil {
		t.Error("other faults are none")
	}
}

// within checks that each fault is at a character of text, or at its end.
func within(t *testing.T, text []byte, faults Faults) {
	t.Helper()
	s := source.New(text)
	for _, f := range faults {
		if f.Problem == "" || f.Line < 1 || f.Line > s.At(len(strings.TrimPrefix(string(text), "\ufeff"))).Line || f.Column < 1 {
			t.Fatalf("nowhere: %v", f)
		}
		if line := []rune(s.Lines(f.Line, f.Line+1)); f.Column > len(line)+1 {
			t.Fatalf("past the end of its line: %v", f)
		}
	}
}

func mustRead(t *testing.T, text string) *Experiment {
	t.Helper()
	e, err := Read("x.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const smallest = "version: 1\nname: x\nvariants: {a: {url: http://127.0.0.1:1/}}\n"

func TestSize(t *testing.T) {
	if _, err := Read("x", strings.NewReader(smallest+"#"+strings.Repeat("x", source.MaxSize-len(smallest)-1))); err != nil {
		t.Error(err)
	}
	_, err := Read("x", strings.NewReader(smallest+"#"+strings.Repeat("x", source.MaxSize)))
	if err == nil || !strings.HasPrefix(err.Error(), "x:1:1: the file is larger") {
		t.Error(err)
	}
}

// A file of any make is refused in a time that one waits for.
func TestLargeFiles(t *testing.T) {
	var variants, factors, files strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&variants, "  v%d: {url: 'http://127.0.0.1:{{port}}/'}\n", i)
		fmt.Fprintf(&factors, "  f%d: [{{}}]\n", i)
		fmt.Fprintf(&files, "      f%d: '{{f0}}{{x}}'\n", i)
	}
	head := "version: 1\nname: x\n"
	for name, text := range map[string]string{
		"variants":  head + "variants:\n" + variants.String(),
		"factors":   head + "factors:\n" + factors.String() + "variants: {a: {url: http://127.0.0.1:1/}}\n",
		"files":     head + "variants:\n  a:\n    url: http://127.0.0.1:1/\n    files:\n" + files.String(),
		"open":      strings.Repeat("[", source.MaxSize),
		"questions": strings.Repeat("? ", source.MaxSize/2),
		"comments":  strings.Repeat("#\n", source.MaxSize/2),
		"template": head + "variants: {a: {processes: [{cmd: '" + strings.Repeat("{{x}} ", source.MaxSize/8) +
			"'}], url: http://127.0.0.1:1/}}\n",
	} {
		begun := time.Now()
		_, err := Read("x", strings.NewReader(text))
		var faults Faults
		if !errors.As(err, &faults) {
			t.Errorf("%s: %v", name, err)
		}
		t.Logf("%s: %d bytes, %v, %d faults, first %.100v", name, len(text), time.Since(begun), len(faults), err)
	}
}

func TestDefaults(t *testing.T) {
	e := mustRead(t, smallest)
	seconds := func(s float64) Duration { return Duration(s * float64(time.Second)) }
	design := Design{Order: Interleaved, Rounds: 10, Baseline: "a", AA: true, Isolation: PerProcess,
		Warmup: Warmup{seconds(3), seconds(30), 0.02}, Measure: seconds(10), Cooldown: seconds(1),
		Margin: 0.02, Metrics: []Metric{"throughput", "cpu", "p50", "p99"}, Clients: Clients{1, NoNamespace},
		Quick: Short{6, seconds(1), []string{"c50"}, nil}}
	level := Level{Name: "c50", Connections: 50, HTTP: HTTPAuto, Pipeline: 1, Timeout: seconds(10)}
	for _, x := range []struct{ got, want any }{
		{e.Design, design},
		{e.Levels, []Level{level}},
		{e.Fairness, Fairness{Strict, "a", []string{"server", "date"}}},
		{e.Workload, Workload{Expect: Expect{Status: Statuses{{From: 200, To: 299}}}}},
		{e.Gate == nil && e.Profile == nil && e.Published == nil, true},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("got %+v, want %+v", x.got, x.want)
		}
	}
	e = mustRead(t, smallest+"design: {precision: 1%, aa: false, margin: 0%, cooldown: 0}\ngate: {}\n"+
		"profile: {}\nlevels: [{rate: 5k}, {connections: 7, reconnect: always}]\n")
	for _, x := range []struct{ got, want any }{
		{e.Design.MaxRounds, 30}, {e.Design.AA, false}, {e.Design.Margin, Share(0)},
		{e.Design.Cooldown, Duration(0)},
		{*e.Gate, Gate{"a", []Metric{"cpu", "p99"}, 0.03, true}},
		{*e.Profile, Profile{seconds(10), []string{"cpu"}, PerfAuto, nil}},
		{e.Levels[0].Name + " " + e.Levels[0].Arrival, "r5000 constant"},
		{e.Levels[1].Name, "c7"}, {e.Levels[1].Reconnect, Reconnect(1)},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("got %+v, want %+v", x.got, x.want)
		}
	}
}

// What an experiment's types read is not judged again by the parsers of flags.
func TestSettingsOfFiles(t *testing.T) {
	text := smallest + "design: {cpus: {generator: auto, server: '1,0-2'}}\n" +
		"workload: {users: +3, expect: {status: [200, 3xx]}}\n" +
		"levels: [{threads: +4, follow: +2, pipeline: +1, connections: 1k, requests: 2k, rate: 5k/s}]\n"
	for name, read := range map[string]func(string, io.Reader) (*Experiment, error){
		"new": Read, "begun": ReadBegun,
	} {
		e, err := read("x.yaml", strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		l := e.Levels[0]
		got := []any{e.Design.CPUs, e.Workload.Users, l.Threads, l.Follow, l.Connections, l.Rate}
		want := []any{CPUs{Server: CPUList{0, 1, 2}}, 3, 4, 2, Count(1000), Rate(5000)}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A row with a range may be of a type that is no integer, whose own parser limits it.
func TestRangeOfText(t *testing.T) {
	var d decoder
	d.checkSetting(&yaml.Node{Value: "x"}, "level.x", reflect.ValueOf("x"), &setting.Setting{Most: 3})
	if len(d.faults) > 0 {
		t.Error(d.faults)
	}
}

// good are files with every key of the format in some.
func good(t *testing.T) map[string][]byte {
	all := map[string][]byte{"starter": starter.Plain(), "starter, all of it": uncommented()}
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no good files", err)
	}
	more, err := filepath.Glob("shipped/*/experiment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(files, more...) {
		if all[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// What was read can be stored, as JSON and as YAML, and read again as the same.
func TestRoundTrip(t *testing.T) {
	for name, text := range good(t) {
		e, err := Read("x", bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, form := range []func(*Experiment) ([]byte, error){
			(*Experiment).Marshal, func(e *Experiment) ([]byte, error) { return json.Marshal(e) },
		} {
			stored, err := form(e)
			if err != nil {
				t.Fatal(err)
			}
			readsAs(t, name, stored, *e)
		}
	}
}

// readsAs checks that a text is read as e.
func readsAs(t *testing.T, name string, text []byte, e Experiment) {
	t.Helper()
	again, err := Read("x", bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s: %v in %s", name, err, text)
		return
	}
	e.Source, again.Source = nil, nil
	if !reflect.DeepEqual(&e, again) {
		t.Errorf("%s: read again it is\n%+v, not\n%+v: %s", name, again, e, text)
	}
}

// What a file says is written, and nothing that is so without it, but what people look for.
func TestMarshal(t *testing.T) {
	e := Default[Experiment]()
	e.Version, e.Name = 1, "x"
	p := Default[Process]()
	p.Cmd, p.Stop.Grace = Command{"./a b", "{{port}}", "1"}, 0
	p.Env = Mapping[Template]{{Name: "<<", Value: "null"}, {Name: "N", Value: "1\n2"}}
	e.Variants = Mapping[Definition]{{Name: "a", Value: Definition{Processes: []Process{p}, URL: "http://127.0.0.1:{{port}}/"}}}
	got, err := e.Marshal()
	const want = `version: 1
name: x
design:
  rounds: 10
  warmup: {min: 3s, max: 30s}
  measure: 10s
  cooldown: 1s
  metrics: [throughput, cpu, p50, p99]
variants:
  a:
    processes:
      - cmd: [./a b, '{{port}}', "1"]
        env:
          "<<": "null"
          "N": |-
            1
            2
        stop:
          grace: 0s
    url: http://127.0.0.1:{{port}}/
fairness:
  allow: [server, date]
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestFilesBeside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.yaml")
	text := strings.Replace(smallest, "variants", "workload: {urls: urls.txt}\nvariants", 1)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(path)
	if err == nil || !strings.HasPrefix(err.Error(), path+":3:18: workload.urls: urls.txt cannot be read") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "urls.txt"), []byte("/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := ReadFile(path)
	if err != nil || e.Here != dir || string(e.Source) != text {
		t.Error(e, err)
	}
	if _, err := ReadFile(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Whatever a file holds, it is read, or refused with faults that are in it.
func FuzzRead(f *testing.F) {
	for _, glob := range []string{"testdata/bad/*.yaml", "testdata/good/*.yaml", "shipped/*/experiment.yaml"} {
		files, _ := filepath.Glob(glob)
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add(starter.Plain())
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := Read("x", bytes.NewReader(text))
		var faults Faults
		switch {
		case err == nil:
			rendered(t, e)
		case !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxFaults:
			t.Fatalf("%d faults: %v", len(faults), err)
		default:
			within(t, text, faults)
		}
	})
}

// rendered checks that what Read accepts can be used.
func rendered(t *testing.T, e *Experiment) {
	t.Helper()
	variants := Expand(e)
	if len(variants) < len(e.Variants) {
		t.Fatalf("%d variants of %d", len(variants), len(e.Variants))
	}
	for _, v := range variants[:min(len(variants), 8)] {
		if _, err := Render(v, values(t.TempDir())); err != nil && !strings.Contains(err.Error(), "is not set") &&
			!strings.Contains(err.Error(), "is compared with") {
			t.Fatal(err)
		}
	}
	if _, err := json.Marshal(e); err != nil {
		t.Fatal(err)
	}
	text, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < source.MaxSize {
		readsAs(t, "", text, *e)
	}
}
