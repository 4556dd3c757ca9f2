package result

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
)

func TestSaveAndOpen(t *testing.T) {
	home := filepath.Join(t.TempDir(), "not", "there")
	r := from(t, closedRun())
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
		r.Plan.Requests, back.Plan.Requests = nil, nil // load's test
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
		r := &Result{Format: Format, Window: Window{Started: time.Unix(1, 0)}}
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
		if _, err := Save(home, &Result{Format: Format}); err != nil {
			t.Fatal(err)
		}
	}
	check("2026", `no stored one has an ID that begins so; the last is 00010101-000000-0001`)
	check("0001", "2 stored ones have an ID that begins so, such as 00010101-000000-0001 and")
	check("no/where", "no such file")
	check("no.json", "reading a result: ")
	for content, want := range map[string]string{
		`{"format":"dyno.result/2"}`:          "written by a newer dyno",
		`{"format":"dyno.result/0"}`:          "not a result of dyno: its format is",
		`{"format":"dyno.lab/9"}`:             "not a result of dyno: its format is",
		`{"format":"dyno.result/x"}`:          "not a result of dyno: its format is",
		`{}`:                                  `its format is ""`,
		``:                                    "not a result of dyno: it is empty",
		" \n":                                 "not a result of dyno: it begins with blanks only",
		`{"format":"dyno.result/1"`:           "not a result of dyno: unexpected end",
		`{"format":"dyno.result/1","plan":7}`: "a damaged result",
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
	r := from(t, closedRun())
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
		if got, err := Home(); got != test.want || err != nil {
			t.Errorf("%+v: %s, %v", test, got, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":"dyno.result/1","status":{"200":1}}`))
	f.Add([]byte(`{"format":"dyno.result/2"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := Decode(b); (r == nil) != (err != nil) {
			t.Errorf("%v, %v", r, err)
		}
	})
}

// A file that no result can be is refused before it is in memory.
func TestOpenTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.json")
	if err := errors.Join(os.WriteFile(path, []byte("{"), 0o600), os.Truncate(path, longest+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("", path); err == nil || !strings.Contains(err.Error(), "has more than 1073741824 bytes") {
		t.Error(err)
	}
}
