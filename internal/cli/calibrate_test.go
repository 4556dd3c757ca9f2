package cli

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"dyno/internal/capacity"
	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
)

// calibratedFor stores a calibration of this machine in which requests took so much CPU time on
// epoll and on io_uring.
func calibratedFor(t *testing.T, home, version string, epoll, uring float64) {
	t.Helper()
	c := capacity.Calibration{Format: capacity.CalibrationFormat, Dyno: version, Host: result.ThisHost(), Threads: 1}
	for _, n := range []int{10, 100} {
		c.Closed = append(c.Closed, capacity.Ceiling{Connections: n, Rate: 1e12})
		c.Rings = append(c.Rings, capacity.Ceiling{Connections: n, Ring: "epoll", CPU: epoll},
			capacity.Ceiling{Connections: n, Ring: "uring", CPU: uring})
	}
	if _, err := c.Save(home); err != nil {
		t.Fatal(err)
	}
}

// --ring auto is what was faster on this machine, of all that load from here, and the plan of
// the result is still that which was given.
func TestAutoIsWhatWasFaster(t *testing.T) {
	home := t.TempDir()
	t.Setenv("DYNO_HOME", home)
	server := httptest.NewServer(answer(new(atomic.Int64)))
	defer server.Close()
	run := func(more ...string) (r result.Result) {
		var out, errs bytes.Buffer
		args := append([]string{"run", "-n", "500", "-t", "1", "--no-save", "--json", "-"}, more...)
		if !slices.Contains(more, "-c") {
			args = append(args, "-c", "16")
		}
		if code := Main(append(args, server.URL), nil, &out, &errs); code != 0 {
			t.Fatalf("code %d: %s", code, errs.Bytes())
		}
		if err := json.Unmarshal(out.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if usual := run().Generator.Ring; usual != "uring" {
		t.Skipf("this system has no io_uring for dyno: auto is %s", usual)
	}
	for name, test := range map[string]struct {
		version      string
		epoll, uring float64
		flags        []string
		want         string
	}{
		"epoll was faster":    {loadplan.Version, 3, 4, nil, "epoll"},
		"io_uring was faster": {loadplan.Version, 4, 3, nil, "uring"},
		"hardly":              {loadplan.Version, 3.95, 4, nil, "uring"},
		"of another version":  {"another", 3, 4, nil, "uring"},
		"far more":            {loadplan.Version, 3, 4, []string{"-c", "400"}, "uring"},
		"it was said":         {loadplan.Version, 3, 4, []string{"--ring", "uring"}, "uring"},
	} {
		calibratedFor(t, home, loadplan.Version, 1, 1)
		calibratedFor(t, home, test.version, test.epoll, test.uring)
		plan := "auto"
		if test.flags != nil && test.flags[0] == "--ring" {
			plan = test.flags[1]
		}
		if r := run(test.flags...); r.Generator.Ring != test.want || r.Plan.Ring != plan || len(r.Warnings) > 0 {
			t.Errorf("%s: on %s, its plan %s, want %s; %q", name, r.Generator.Ring, r.Plan.Ring, test.want, r.Warnings)
		}
	}
}
