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
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

func histogramOf(digits int, values ...time.Duration) *metric.Histogram {
	h := metric.NewHistogram(digits)
	for _, v := range values {
		h.Record(int64(v))
	}
	return h
}

// measured is what a run measured.
func measured(t *testing.T) *result.Result {
	t.Helper()
	plan := loadplan.Plan{
		Target: loadplan.Target{URL: "https://host/a", TLS: true, Host: "host", Port: 443},
		HTTP:   "1.1", Pipeline: 1, Connections: 2, Threads: 1, Ring: "auto",
		Duration: loadplan.Seconds(2 * time.Second), Warmup: loadplan.Seconds(time.Second),
		Timeout: loadplan.Seconds(10 * time.Second), Connecting: loadplan.Seconds(5 * time.Second),
		Expect: []loadplan.Statuses{{From: 200, To: 299}}, CPUs: []int{0},
		TLS: loadplan.TLS{Insecure: true},
		Requests: []loadplan.Request{{Name: "a", Weight: 1, Request: proto.Request{
			Method: "GET", Authority: "host", Path: "/a?token=1", Header: []proto.Field{
				{Name: "authorization", Value: "Basic 1"}, {Name: "Accept", Value: "*/*"},
				{Name: "X-My-Secret", Value: "2"}, {Name: "Proxy-Authorization", Value: "3"},
				{Name: "Cookie", Value: "4"}, {Name: "X-API-Key", Value: "5"},
				{Name: "Csrf-Token", Value: "6"}, {Name: "db_password", Value: "7"},
			}}}, {Name: "b", Weight: 2, Request: proto.Request{Method: "POST", Path: "/b",
			Authority: "host", Body: []byte{0xff}}}},
	}
	total := metric.NewCounters()
	for i := range time.Duration(1000) {
		total.Latency.Record(int64((i + 1) * time.Microsecond))
	}
	total.ErrorLatency.Record(int64(40 * time.Microsecond))
	total.Sent, total.Completed, total.Failed = 1003, 1000, 2
	total.Received, total.Written, total.Status[200], total.Status[404] = 5000, 4000, 1000, 1
	r, err := result.From(&loadresult.Result{Plan: plan, Ring: "epoll", Ended: loadresult.ByDuration, Total: total,
		Started: time.Date(2026, 1, 2, 15, 4, 5, 999, time.FixedZone("", 3600)),
		Warmed:  time.Second, Measured: 2 * time.Second, Drained: time.Millisecond, DNS: 3 * time.Millisecond,
		Intervals: []loadresult.Interval{
			{Index: 0, From: 0, To: time.Second, Sent: 600, Completed: 600, InFlight: 2,
				Received: 3000, Written: 2400, Mean: 9, P50: 5000, P99: 6000, Max: 7000,
				Heat: metric.Heat{{5, 550}, {6, 50}}, Status: map[uint16]int64{200: 599, 404: 1}},
			{Index: 1, From: time.Second, To: 2 * time.Second, Sent: 403, Completed: 400, Failed: 2},
		},
		Totals: loadresult.Totals{
			ConnectionTotals: loadresult.ConnectionTotals{Opened: 3, Reconnects: 1, Served: 2,
				Connect: histogramOf(metric.Coarse, time.Microsecond, 3*time.Microsecond)},
			TLSTotals: loadresult.TLSTotals{TLSFull: 2, TLSResumed: 1,
				FullTLS: metric.NewHistogram(metric.Coarse), ResumedTLS: metric.NewHistogram(metric.Coarse)},
			OutageTotals: loadresult.OutageTotals{Outage: 5e8},
			Retried:      1, Warmup: 500, WarmupLost: 3, Unfinished: 1,
			FirstByte: histogramOf(metric.Coarse, time.Millisecond),
			Failures: []loadresult.Failure{
				{Phase: loadresult.Expect, Kind: "status", Address: "1.2.3.4:443", Detail: "404", Count: 1},
				{Phase: loadresult.Read, Kind: "reset", Address: "1.2.3.4:443", Detail: "reset", Count: 9},
			}},
		Routes: []loadresult.Route{
			{Name: "a", Completed: 999, Failed: 2, Latency: histogramOf(metric.Fine, time.Second)},
			{Name: "b", Latency: metric.NewHistogram(metric.Fine)},
		},
		CPU: 500 * time.Millisecond, Busy: 0.25, GCPauseMax: 70 * time.Microsecond,
		Notices: []string{"the ring is portable"},
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
