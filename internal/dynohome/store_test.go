package dynohome

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// measured is what a run measured.
func measured(t *testing.T) *result.Result {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "https://host/a", TLS: true, Host: "host", Port: 443}
	p.Requests = []loadplan.Request{{Name: "a", Weight: 1, Request: proto.Request{Method: "GET", Authority: "host",
		Path: "/a", Header: []proto.Field{{Name: "Cookie", Value: "4"}}}}}
	total := metric.NewCounters()
	for i := range time.Duration(1000) {
		total.Latency.Record(int64((i + 1) * time.Microsecond))
	}
	total.ErrorLatency.Record(int64(40 * time.Microsecond))
	total.Sent, total.Completed, total.Failed = 1003, 1000, 2
	total.Status[200], total.Status[404] = 1000, 1
	r, err := result.From(&loadresult.Result{Plan: p, Ring: "epoll", Ended: loadresult.ByDuration, Total: total,
		Started: time.Date(2026, 1, 2, 15, 4, 5, 999, time.FixedZone("", 3600)), Measured: 2 * time.Second,
		Intervals: []loadresult.Interval{{To: time.Second, Sent: 600, Completed: 600, Heat: metric.Heat{{5, 550}, {6, 50}}}},
		Totals: loadresult.Totals{Unfinished: 1, Failures: []loadresult.Failure{
			{Phase: loadresult.Expect, Kind: "status", Address: "1.2.3.4:443", Detail: "404", Count: 1}}},
		Notices: []fact.Fact{fact.Noticed(fact.PortableRing{Procs: 1, Threads: 2})},
	}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSaveAndOpen(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not", "there")
	r := measured(t)
	path, err := Save(home, r)
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != "20260102-140405-0000" {
		t.Errorf("ID %s", r.ID)
	}
	for _, name := range []string{r.ID, "2026", "last", path} {
		back, err := Open(home, name)
		if err != nil {
			t.Fatal(err)
		}
		r.Plan.Requests, back.Plan.Requests = nil, nil // package loadplan tests these
		if !reflect.DeepEqual(back, r) {
			t.Errorf("%s: came back as\n%+v\nwas\n%+v", name, back, r)
		}
	}
	if runtime.GOOS == "windows" {
		return // has no such permissions
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestRunsOfOneInstantAreStoredApart(t *testing.T) {
	home, n := t.TempDir(), 20
	var all sync.WaitGroup
	for range n {
		r := &result.Result{Format: result.Format, Window: result.Window{Started: time.Unix(1, 0)}}
		all.Go(func() {
			if _, err := Save(home, r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := List(home)
	if err != nil || len(list) != n {
		t.Fatalf("%d stored, %v", len(list), err)
	}
	for _, s := range list {
		if r, err := Open(home, s.ID); err != nil || r.ID != s.ID {
			t.Errorf("%s: %v", s.ID, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(home, "results", ".*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestIDsSortByTime(t *testing.T) {
	last := ""
	for start := time.Unix(0, 0); start.Before(time.Unix(2, 0)); start = start.Add(tick + 1) {
		id := idOf(start)
		if id <= last {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	home := t.TempDir()
	check := func(name, want string) {
		t.Helper()
		if _, err := Open(home, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	check("last", "none is stored in "+home)
	for range 2 {
		if _, err := Save(home, &result.Result{Format: result.Format}); err != nil {
			t.Fatal(err)
		}
	}
	check("2026", `no stored one has an ID that begins so; the last is 00010101-000000-0001`)
	check("0001", "2 stored ones have an ID that begins so, such as 00010101-000000-0001 and")
	check("no/where", "no such file")
	check("no.json", "no.json: ")
	for content, want := range map[string]string{
		`{"format":"dyno.result/2"}`:          "written by a newer dyno",
		`{"format":"dyno.result/0"}`:          "not a result of dyno: its format is",
		`{"format":"dyno.lab/9"}`:             "not a result of dyno: its format is",
		`{"format":"dyno.result/x"}`:          "not a result of dyno: its format is",
		`{}`:                                  `its format is ""`,
		``:                                    "not a result of dyno: it is empty",
		" \n":                                 "not a result of dyno: it begins with blanks only",
		`{"format":"dyno.result/1"`:           "not a result of dyno: unexpected end",
		`{"format":"dyno.result/1","plan":7}`: "a damaged result: its plan is of another type: number",
		`[1, 2]`:                              "not a result of dyno: it is JSON, but no object: array",
		`{"format":1}`:                        "not a result of dyno: its format is of another type: number",
		`{"format":"dyno.result/1"} and some more`: "not a result of dyno: invalid character",
	} {
		path := filepath.Join(home, "x")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		check(path, path+": ")
		check(path, want)
	}
}

func TestListReportsWhatItCannotRead(t *testing.T) {
	home := t.TempDir()
	if list, err := List(home); len(list) != 0 || err != nil {
		t.Errorf("an empty home: %v, %v", list, err)
	}
	r := measured(t)
	if _, err := Save(home, r); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(home, "results", "19700101-000000-0000.json")
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := List(home)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if s := list[0]; s.ID != r.ID || s.Err != nil || s.Completed != 500 || s.Verdict != r.Generator.Verdict ||
		s.URL != "https://host/a" || s.P99 != r.Latency.P99 {
		t.Errorf("%+v", s)
	}
	if s := list[1]; s.Path != broken || s.Err == nil {
		t.Errorf("%+v", s)
	}
}

func TestHome(t *testing.T) {
	data, user := t.TempDir(), t.TempDir()
	for _, test := range []struct{ dyno, xdg, want string }{
		{"here", data, "here"},
		{"", data, filepath.Join(data, "dyno")},
		{"", "relative", filepath.Join(user, ".local", "share", "dyno")},
		{"", "", filepath.Join(user, ".local", "share", "dyno")},
	} {
		t.Setenv("DYNO_HOME", test.dyno)
		t.Setenv("XDG_DATA_HOME", test.xdg)
		t.Setenv("HOME", user)
		t.Setenv("USERPROFILE", user)
		t.Setenv("LocalAppData", "")
		if got, err := Dir(); got != test.want || err != nil {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
	}
}

// A file that no result can be is refused before it is in memory.
func TestOpenTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	if err := errors.Join(os.WriteFile(path, []byte("{"), 0o600), os.Truncate(path, 1<<30+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("", path); err == nil || !strings.Contains(err.Error(), "has more than 1073741824 bytes") {
		t.Error(err)
	}
}

// takenProfile is a profile that is not saved yet.
func takenProfile() *result.Profile {
	f := &pprof.Function{ID: 1, Name: "main.hot"}
	at := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: f}}}
	return result.NewProfile(profile.CPU, &pprof.Profile{DurationNanos: 2e9,
		SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"},
			{Type: "cpu", Unit: "nanoseconds"}},
		Sample:   []*pprof.Sample{{Location: []*pprof.Location{at}, Value: []int64{3, 3e7}}},
		Location: []*pprof.Location{at}, Function: []*pprof.Function{f}})
}

func TestProfileIsStoredBesideTheResult(t *testing.T) {
	home := t.TempDir()
	r := &result.Result{Format: result.Format, Observed: result.Observed{Profile: takenProfile()}}
	path, err := Save(home, r)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSuffix(path, ".json") + ".cpu.pb.gz"; r.Profile.File != want {
		t.Errorf("%s, want %s", r.Profile.File, want)
	}
	if p, err := profile.Load(r.Profile.File); err != nil || len(p.Sample) != 1 {
		t.Errorf("%v, %v", p, err)
	}
	again, err := Open(home, "last")
	if err != nil || again.Profile.File != r.Profile.File || again.Profile.Taken != nil {
		t.Errorf("%+v, %v", again, err)
	}
	r.SaveProfile(filepath.Join(home, "other"))
	if all, err := filepath.Glob(filepath.Join(home, "other*")); len(all) > 0 || err != nil {
		t.Errorf("saved again: %v, %v", all, err)
	}
	r = &result.Result{Format: result.Format, Observed: result.Observed{Profile: takenProfile()}}
	r.SaveProfile(filepath.Join(home, "no", "such"))
	if r.Profile.File != "" || len(r.Warnings) != 1 {
		t.Errorf("%q, %q", r.Profile.File, r.Warnings)
	}
}
