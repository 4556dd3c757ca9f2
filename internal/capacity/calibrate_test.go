package capacity

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/ring"
	"dyno/internal/result"
	"dyno/internal/say"
)

func TestCalibrate(t *testing.T) {
	p := loadplan.DefaultPlan()
	p.Target.Host, p.Threads = "server", 2
	var steps []string
	c, err := Calibrate(t.Context(), lawful(Law{Gamma: 100, Sigma: 0.001}, 0, nil), p,
		func(s string) { steps = append(steps, s) })
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != 2+3*2*max(1, len(ring.Kinds)-1)+4 || len(c.Closed) != 4 || len(c.Open) != 4 || c.Closed[1].Connections != 10 ||
		math.Abs(c.Closed[1].Rate-991) > 1 || math.Abs(c.Open[2].Rate/c.Closed[2].Rate-0.5) > 0.001 {
		t.Errorf("%q: %+v", steps, c)
	}
	dir := t.TempDir()
	path, err := c.Save(dir)
	if info, err := os.Stat(path); err != nil || info.Size() > calibrationMost {
		t.Errorf("%+v %v", info, err)
	}
	if err != nil || !strings.Contains(path, "calibration-") {
		t.Fatal(path, err)
	}
	if _, err := c.Save(dir); err != nil {
		t.Error(err)
	}
	back, err := OpenCalibration(dir, result.ThisHost(), loadplan.Version)
	if err != nil || back.Closed[3] != c.Closed[3] || !back.Made.Equal(c.Made) {
		t.Errorf("%+v, %v", back, err)
	}
	if other, err := OpenCalibration(dir, result.ThisHost(), "another"); other != nil || err != nil {
		t.Errorf("another version's is %v, %v", other, err)
	}
	for _, damaged := range []string{"{", "{}"} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCalibration(dir, result.ThisHost(), loadplan.Version); err == nil {
			t.Errorf("%s is a calibration", damaged)
		}
	}
}

func TestCalibrateFails(t *testing.T) {
	silent := func(_ context.Context, p loadplan.Plan, _ func(loadresult.Interval)) (*result.Result, error) {
		return result.From(&loadresult.Result{Plan: p, Ended: loadresult.Unreachable, Cause: "refused"}, "test")
	}
	_, err := Calibrate(t.Context(), silent, loadplan.DefaultPlan(), func(string) {})
	if !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Calibrate(ctx, lawful(Law{Gamma: 100}, 0, nil), loadplan.DefaultPlan(), func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWarning(t *testing.T) {
	host := result.Host{OS: "linux", CPU: "a", CPUs: 2}
	c := Calibration{Dyno: "1", Host: host, Threads: 2, Closed: []Ceiling{{Connections: 1, Rate: 100},
		{Connections: 10, Rate: 1000}, {Connections: 100, Rate: 2000}, {Connections: 1000, Rate: 3000},
		{Connections: 10_000, Rate: 4000}},
		Rings: []Ceiling{{Connections: 100, Ring: epoll, Disturbed: true}, {Connections: 100, Ring: uring},
			{Connections: 1000, Ring: epoll, Disturbed: true}, {Connections: 1000, Ring: uring, Disturbed: true}}}
	for name, r := range map[string]struct {
		change      func(*result.Result)
		connections int
		rate        float64
		want        string
	}{
		"disturbed":         {nil, 1000, 2900, ""},
		"next to disturbed": {nil, 400, 2400, ""},
		"partly disturbed":  {nil, 100, 1900, "95 %"},
		"exactly":           {nil, 10, 1000, "100 %"},
		"exceeded":          {nil, 10, 1210, ""},
		"words":             {nil, 1, 90, "with 1 connection and 1 thread (dyno calibrate, "},
		"far":               {nil, 10, 700, ""},
		"near":              {nil, 10, 810, "81 % of the 1,000 requests/s that dyno itself reaches on this machine with 10"},
		"between":           {nil, 32, 1400, "93 %"},
		"fewer than any":    {nil, 1, 90, "90 %"},
		"more than any":     {nil, 50_000, 3800, "95 %"},
		"another machine":   {func(r *result.Result) { r.Host.CPU = "b" }, 10, 990, ""},
		"another version":   {func(r *result.Result) { r.Dyno = "2" }, 10, 990, ""},
		"more threads":      {func(r *result.Result) { r.Generator.Threads = 3 }, 10, 990, ""},
		"fewer threads":     {func(r *result.Result) { r.Generator.Threads = 1 }, 10, 450, "90 %"},
		"too short":         {func(r *result.Result) { r.Requests.Completed = 99 }, 10, 990, ""},
		"several at a time": {func(r *result.Result) { r.Plan.Pipeline = 2 }, 10, 990, ""},
	} {
		res := &result.Result{Dyno: "1", Host: host, Plan: loadplan.Plan{Connections: r.connections, Pipeline: 1},
			Rate:      result.Rate{Completed: r.rate},
			Generator: result.Generator{Threads: min(2, r.connections)}}
		if r.change != nil {
			r.change(res)
		}
		got := ""
		if f := c.Warning(res); f != nil {
			got = say.Sentence(*f)
		}
		if !strings.Contains(got, r.want) || (r.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, r.want)
		}
	}
}
