package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/lab"
	"dyno/internal/redact"
	"dyno/internal/result"
)

var began = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// measured is a result of a run that began so many minutes after the first.
func measured(minute int, rate float64) *result.Result {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:8080/a", Host: "127.0.0.1", Port: 8080}
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Path: "/a"}, Weight: 1}}
	return &result.Result{Format: result.Format, Dyno: "0.1.0", Plan: p, Model: result.ClosedLoop,
		Host:     result.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.2-cloud", CPU: "Some CPU", CPUs: 4},
		Window:   result.Window{Started: began.Add(time.Duration(minute) * time.Minute), MeasuredS: 10},
		Requests: result.Requests{Sent: 5000, Completed: 5000}, Rate: result.Rate{Completed: rate},
		Latency: &result.Distribution{Count: 5000, Mean: 90, P50: 80, P75: 90, P90: 100, P95: 110, P99: 1e9 / rate,
			P999: 1e9 / rate, P9999: 1e9 / rate, Max: 2e9 / rate},
		Traffic: result.Traffic{Status: map[string]int64{"200": 5000}, Errors: []result.Error{}},
		Series:  []result.Point{}, Generator: result.Generator{Verdict: result.OK, Reasons: []string{}}}
}

// save stores results and returns their IDs.
func save(t *testing.T, home string, all ...*result.Result) (ids []string) {
	t.Helper()
	for _, r := range all {
		if _, err := dynohome.Save(home, r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	return ids
}

func opened(t *testing.T, home string) *Store {
	t.Helper()
	s, err := Open(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// dump is all that an index says of the files, but for when they were changed.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	for _, table := range []string{"SELECT path, size, problem FROM files", "SELECT * FROM results",
		"SELECT * FROM measures", "SELECT * FROM fleets", "SELECT * FROM partials", "SELECT * FROM notes", "SELECT * FROM tags",
		"SELECT * FROM experiments", "SELECT * FROM changes"} {
		err := s.eachRow(table+" ORDER BY 1, 2", nil, func(rows *sql.Rows) error {
			columns, err := rows.Columns()
			row := make([]any, len(columns))
			for i := range row {
				row[i] = new(any)
			}
			err = joined(err, rows.Scan(row...))
			for _, v := range row {
				fmt.Fprintf(&b, "%v|", *v.(*any))
			}
			b.WriteString("\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func joined(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// anew is what an index would say that were made from the files alone.
func anew(t *testing.T, home string) string {
	t.Helper()
	s, err := openInMemory(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return dump(t, s)
}

func agrees(t *testing.T, s *Store) {
	t.Helper()
	if s.Problem != nil {
		t.Errorf("in memory: %v", s.Problem)
	}
	if got, want := dump(t, s), anew(t, s.home); got != want {
		t.Errorf("the index says\n%s\nand the files\n%s", got, want)
	}
}

func TestAnEmptyStoreIsNotMade(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not", "there")
	h, err := opened(t, home).History(Query{Metric: lab.CPU})
	if err != nil || len(h.Entries)+len(h.Series)+len(h.Experiments) != 0 {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("looking into it made it")
	}
}

func TestEntries(t *testing.T) {
	home := t.TempDir()
	a, b := measured(0, 1000), measured(1, 2000)
	b.Model, b.Rate.Offered = result.OpenLoop, new(float64)
	*b.Rate.Offered = 2000
	b.Plan.Target.URL = "http://[::1]:8080/b"
	b.Latency, b.Host.CPUs = nil, 8
	ids := save(t, home, a, b)
	s := opened(t, home)
	if err := s.Note(ids[0], " after the upgrade\n#Nightly, #v1.2: fine (#1)! a#b "); err != nil {
		t.Fatal(err)
	}
	all, err := s.Entries()
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	want := Entry{ID: ids[1], Path: filepath.Join(home, "results", ids[1]+".json"),
		Started: b.Window.Started, URL: b.Plan.Target.URL, Model: "open", Connections: 50, Offered: 2000,
		Verdict: "ok", Generator: "ok", Plan: PlanOf(b.Plan), Machine: MachineOf(b.Host), Host: b.Host, Dyno: "0.1.0",
		Values: map[string]float64{"throughput": 2000}}
	info, err := os.Stat(want.Path)
	if err != nil {
		t.Fatal(err)
	}
	want.Size = info.Size()
	if !reflect.DeepEqual(all[0], want) {
		t.Errorf("%+v\nwant\n%+v", all[0], want)
	}
	if e := all[1]; e.Values["p99"] != 1e6 || e.Note != "after the upgrade\n#Nightly, #v1.2: fine (#1)! a#b" {
		t.Errorf("%+v", e)
	}
	if tags := Tags(all[1].Note); !slices.Equal(tags, []string{"nightly", "v1.2"}) {
		t.Errorf("%q", tags)
	}
	for url, n := range map[string]int{"": 2, "*": 2, "http://127.0.0.1:8080/?": 1, "http://[::1]:*": 1,
		"*/a": 1, "/a": 0, "HTTP*": 0} {
		if h, err := s.History(Query{URL: url, Metric: lab.CPU}); err != nil || len(h.Entries) != n {
			t.Errorf("%q finds %d, %v; want %d", url, len(h.Entries), err, n)
		}
	}
	h, err := s.History(Query{Machine: MachineOf(a.Host), Metric: lab.CPU, Limit: 1})
	if err != nil || len(h.Entries) != 1 || h.Elsewhere != 1 || h.Entries[0].ID != ids[0] {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err = s.History(Query{Limit: 1, Metric: lab.CPU}); err != nil || h.Older != 1 || len(h.Series) != 2 {
		t.Errorf("%+v, %v", h, err)
	}
	agrees(t, s)
}

// A result that holds only the first requests is of the same series as one that holds all.
func TestFingerprintsOfManyRequests(t *testing.T) {
	r := measured(0, 1000)
	for i := range 1000 {
		r.Plan.Requests = append(r.Plan.Requests, loadplan.Request{Weight: 1,
			Request: proto.Request{Method: "GET", Path: fmt.Sprint("/", i)}})
	}
	of := func(p loadplan.Plan) string {
		b, err := json.Marshal(p)
		if err := joined(err, json.Unmarshal(b, &p)); err != nil {
			t.Fatal(err)
		}
		return PlanOf(p)
	}
	whole := PlanOf(r.Plan) // of a result that an older dyno has stored
	if of(r.Plan) != whole {
		t.Error("with the first of its requests and their SHA256 it is another plan")
	}
	r.Plan.Requests[900].Path = "/other"
	if of(r.Plan) == whole {
		t.Error("another request, and the same plan")
	}
}

// Results whose requests differ only in a header of which a mark is kept share the lines of their
// requests, and are other series, unless that is a credential.
func TestFingerprintsOfMarkedHeaders(t *testing.T) {
	marks := dynohome.Marks(t.TempDir())
	of := func(name, value string) loadplan.Plan {
		p := measured(0, 1000).Plan
		for i := range 30 {
			p.Requests = append(p.Requests, loadplan.Request{Weight: 1,
				Request: proto.Request{Method: "GET", Path: fmt.Sprint("/", i)}})
		}
		p.Requests[25].Header = []proto.Field{{Name: name, Value: marks(name, value)}} // not among the first
		b, err := json.Marshal(p)
		if err := joined(err, json.Unmarshal(b, &p)); err != nil {
			t.Fatal(err)
		}
		return p
	}
	for name, same := range map[string]bool{"X-Variant": false, "Authorization": true} {
		a, b := of(name, "a"), of(name, "b")
		if a.Data.SHA256 != b.Data.SHA256 {
			t.Errorf("%s: the lines differ", name)
		}
		if got := PlanOf(a) == PlanOf(b); got != same || PlanOf(a) != PlanOf(of(name, "a")) {
			t.Errorf("%s: with another value it is the same series: %v", name, got)
		}
	}
}

func TestFingerprints(t *testing.T) {
	base := measured(0, 1)
	for name, change := range map[string]func(r *result.Result){
		"longer":      func(r *result.Result) { r.Plan.Duration *= 2 },
		"seed":        func(r *result.Result) { r.Plan.Seed = 9 },
		"patience":    func(r *result.Result) { r.Plan.Timeout, r.Plan.Drain = 1, 1 },
		"patch level": func(r *result.Result) { r.Host.Kernel = "6.1.99-other" },
		"Go":          func(r *result.Result) { r.Host.Go = "go9" },
	} {
		r := measured(1, 2)
		if change(r); PlanOf(r.Plan) != PlanOf(base.Plan) || MachineOf(r.Host) != MachineOf(base.Host) {
			t.Errorf("%s makes another series", name)
		}
	}
	for name, change := range map[string]func(r *result.Result){
		"connections": func(r *result.Result) { r.Plan.Connections++ },
		"rate":        func(r *result.Result) { r.Plan.Rate = 1 },
		"path":        func(r *result.Result) { r.Plan.Requests[0].Path = "/b" },
		"body":        func(r *result.Result) { r.Plan.Requests[0].Body = []byte("x") },
		"URL":         func(r *result.Result) { r.Plan.Target.URL = "x" },
		"kernel":      func(r *result.Result) { r.Host.Kernel = "6.2.2" },
		"CPUs":        func(r *result.Result) { r.Host.CPUs = 2 },
		"CPU":         func(r *result.Result) { r.Host.CPU = "Another" },
	} {
		r := measured(1, 2)
		if change(r); PlanOf(r.Plan) == PlanOf(base.Plan) && MachineOf(r.Host) == MachineOf(base.Host) {
			t.Errorf("another %s makes no other series", name)
		}
	}
	header := func(name, value string) string {
		r := measured(1, 2)
		r.Plan.Requests[0].Header = []proto.Field{{Name: name, Value: value}}
		return PlanOf(r.Plan)
	}
	marks := dynohome.Marks(t.TempDir())
	for name, same := range map[string]bool{"Authorization": true, "X-Variant": false} {
		a, b := header(name, marks("", "a")), header(name, marks("", "b"))
		if (a == b) != same || a != header(name, marks("", "a")) {
			t.Errorf("another %s: %s and %s", name, a, b)
		}
	}
	if header("X-Token", "clear") != header("X-Token", redact.Plain) {
		t.Error("a token that an earlier version kept makes another series")
	}
	r := measured(0, 1) // as it comes back from a file
	r.Plan.Requests[0].Body = bytes.Repeat([]byte{0xff}, 1<<20)
	ids := save(t, t.TempDir(), r)
	b, err := json.Marshal(r)
	back, err2 := result.Decode(b)
	if err != nil || err2 != nil || PlanOf(back.Plan) != PlanOf(r.Plan) {
		t.Errorf("%s: a stored plan has another fingerprint: %v, %v", ids[0], err, err2)
	}
}

// Whatever happens to the files, the index says what they say.
func TestIndexIsAFunctionOfTheFiles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	home := t.TempDir()
	var ids []string
	minute := 0
	some := func() string { return ids[random.IntN(len(ids))] }
	for step := range 20 {
		for range random.IntN(8) {
			act(t, home, random.IntN(9), func() string {
				minute++
				id := save(t, home, measured(minute, 1000+random.Float64()*100))[0]
				ids = append(ids, id)
				return id
			}, some, len(ids) > 0)
		}
		s, err := Open(home)
		if err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
		if random.IntN(3) == 0 {
			if _, err := s.History(Query{Metric: lab.Measures[0]}); err != nil {
				t.Fatal(err)
			}
			if err := s.Refresh(); err != nil {
				t.Fatal(err)
			}
		}
		agrees(t, s)
		s.Close()
		if t.Failed() {
			t.Fatalf("at step %d", step)
		}
	}
}

// act does something to the files.
func act(t *testing.T, home string, what int, add, some func() string, any bool) {
	write := func(name, content string) {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case !any || what < 3:
		add()
	case what == 3:
		write("results/"+some()+".note", "#"+some()+" is "+fmt.Sprint(time.Now()))
	case what == 4:
		os.Remove(filepath.Join(home, "results", some()+[]string{".json", ".note"}[len(some())%2]))
	case what == 5:
		write("results/"+some()+".json", `{"format":"dyno.result/1","plan":7}`)
	case what == 6:
		write("experiments/"+some()+"/experiment.json", `{"format":"dyno.experiment/1","name":"`+some()+
			`","verdicts":[{"verdict":"different"},{"verdict":"different","control":true}]}`)
	case what == 7:
		os.RemoveAll(filepath.Join(home, "experiments", some()))
	case what == 8:
		write("changes/"+some()+"-p99.json", `{"format":"dyno.change/1","id":"`+some()+
			`-p99","before":[{}],"after":[{}]}`)
	}
}

// Whatever happens to the index, it is made again.
func TestADamagedIndexIsMadeAgain(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"removed":   os.Remove,
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"cut":       func(path string) error { return os.Truncate(path, 5000) },
		"not one":   func(path string) error { return os.WriteFile(path, []byte("hello, world"), 0o600) },
		"scribbled": scribble,
		"without its tables": func(path string) error {
			return statements(path, "DROP TABLE measures")
		},
		"with other tables": func(path string) error {
			return statements(path, "DROP TABLE files; CREATE TABLE files (x)")
		},
		"without its version": func(path string) error {
			return statements(path, "PRAGMA user_version = 0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for i := range 12 {
				save(t, home, measured(i, 1000))
			}
			s := opened(t, home)
			want := dump(t, s)
			s.Close()
			if err := damage(filepath.Join(home, indexFile)); err != nil {
				t.Fatal(err)
			}
			s = opened(t, home)
			if got := dump(t, s); got != want {
				t.Errorf("%s\nwant\n%s", got, want)
			}
			agrees(t, s)
		})
	}
}

// scribble writes over all of the file but its head.
func scribble(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i := 4096; i < len(b); i++ {
		b[i] ^= 0x5a
	}
	return os.WriteFile(path, b, 0o600)
}

func statements(path, script string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(script)
	return err
}

func TestAnIndexThatCannotBeWrittenIsInMemory(t *testing.T) {
	home := t.TempDir()
	ids := save(t, home, measured(0, 1000))
	if err := os.Mkdir(filepath.Join(home, indexFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, indexFile, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, home)
	all, err := s.Entries()
	if s.Problem == nil || err != nil || len(all) != 1 || all[0].ID != ids[0] {
		t.Errorf("%v, %+v, %v", s.Problem, all, err)
	}
}

func TestTheIndexIsNobodyElses(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no such permissions
	}
	home := t.TempDir()
	save(t, home, measured(0, 1000))
	opened(t, home)
	for _, end := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(filepath.Join(home, indexFile+end))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", end, info, err)
		}
	}
}

func TestUnreadableFilesAreListed(t *testing.T) {
	home := t.TempDir()
	save(t, home, measured(0, 1000))
	for name, content := range map[string]string{
		"results/20260101-000000-0000.json": "{", "results/20260102-150405-0000.note": "\xff",
		"changes/x.json": "{}", "experiments/e/experiment.json": `{"format":"dyno.experiment/2"}`,
		"results/.20260101-000000-0001.json.tmp": "{", "experiments/f": "", "results/README": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := opened(t, home).History(Query{Metric: lab.CPU})
	if err != nil || len(h.Unreadable) != 4 || len(h.Entries) != 1 {
		t.Fatalf("%+v, %v", h.Unreadable, err)
	}
	for i, want := range []string{"its format is", "its format is", "not a result", "not UTF-8"} {
		if u := h.Unreadable[i]; !strings.Contains(u.Problem, want) || !filepath.IsAbs(u.Path) {
			t.Errorf("%+v, want %s", u, want)
		}
	}
}

func TestNotes(t *testing.T) {
	home := t.TempDir()
	id := save(t, home, measured(0, 1000))[0]
	s := opened(t, home)
	for _, bad := range []struct{ id, text string }{
		{"20260102-150405-ffff", "x"}, {"../" + id, "x"}, {"", "x"}, {id, "\xff"},
		{id, strings.Repeat("x", longestNote+1)},
	} {
		if err := s.Note(bad.id, bad.text); err == nil {
			t.Errorf("%q takes a note", bad.id)
		}
	}
	for _, text := range []string{"one #a", "two #b", "", "", "three"} {
		if err := s.Note(id, text); err != nil {
			t.Fatal(err)
		}
		all, err := s.Entries()
		if err != nil || all[0].Note != text {
			t.Errorf("%+v, %v; want %q", all, err, text)
		}
		agrees(t, s)
	}
	left, err := fs.Glob(os.DirFS(home), "results/.*")
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// A value that no ratio can be made of is in no series.
func TestSeriesHaveOnlyValues(t *testing.T) {
	home := t.TempDir()
	nothing := measured(1, 0)
	nothing.Rate.Completed, nothing.Latency = 0, nil
	save(t, home, measured(0, 1000), nothing, measured(2, 1001))
	h, err := opened(t, home).History(Query{Metric: lab.Measures[0]})
	if err != nil || len(h.Series) != 1 || len(h.Series[0].Runs) != 2 || math.IsNaN(h.Series[0].Runs[0].Value) {
		t.Errorf("%+v, %v", h, err)
	}
}

// A file that is changed again within the clock's resolution is read again.
func TestAFileThatLooksAsItWas(t *testing.T) {
	home := t.TempDir()
	id := save(t, home, measured(0, 1000))[0]
	path, now := filepath.Join(home, "results", id+".note"), time.Now()
	for _, text := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now); err != nil {
			t.Fatal(err)
		}
		s := opened(t, home)
		if all, err := s.Entries(); err != nil || all[0].Note != text {
			t.Errorf("%+v, %v", all, err)
		}
		s.Close()
	}
}
