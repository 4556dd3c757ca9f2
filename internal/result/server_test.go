package result

import (
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"dyno/internal/observe/probe"
	"dyno/internal/observe/profile"
)

// watchSelf is what this process uses, which is all that r waits for, while r is
// the result of a window of a few readings.
func watchSelf(t *testing.T, r *Result) *Server {
	t.Helper()
	s, err := probe.Start(probe.Config{Trees: func() []probe.Tree {
		return []probe.Tree{{Name: "self", PID: os.Getpid()}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	from, x := time.Now(), 0.0
	for n := 0; time.Since(from) < 2*probe.MinEvery || n < 1e6; n++ { // some CPU time, however long that takes
		x = math.Sin(x + 1)
	}
	took := time.Since(from)
	rec := s.Stop()
	r.Window = Window{Started: from, MeasuredS: took.Seconds()}
	return r.Watched(rec)
}

// profileOf is one with a function.
func profileOf(t *testing.T) *Profile {
	t.Helper()
	f := &pprof.Function{ID: 1, Name: "main.hot"}
	at := &pprof.Location{ID: 1, Line: []pprof.Line{{Function: f}}}
	p := NewProfile(profile.CPU, &pprof.Profile{DurationNanos: 2e9,
		SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"},
			{Type: "cpu", Unit: "nanoseconds"}},
		Sample:   []*pprof.Sample{{Location: []*pprof.Location{at}, Value: []int64{3, 3e7}}},
		Location: []*pprof.Location{at}, Function: []*pprof.Function{f}})
	if len(p.Top) != 1 || p.Top[0].Function != "main.hot" || p.DurationS != 2 || p.Samples != 3 {
		t.Fatalf("%+v", p)
	}
	return p
}

func TestWatched(t *testing.T) {
	r := &Result{Rate: Rate{Completed: 1000}}
	s := watchSelf(t, r)
	if len(s.Processes) != 2 || s.Processes[1].Name != "self" || s.Processes[1].PID != os.Getpid() {
		t.Fatalf("%+v", s.Processes)
	}
	all, self := s.Processes[0], s.Processes[1]
	self.Name, self.PID = "", 0
	sum, one := reflect.ValueOf(all), reflect.ValueOf(self)
	for i := range sum.NumField() {
		v, is := sum.Field(i).Interface().(probe.Value)
		if of := one.Field(i).Interface(); is && v.OK() && of != v {
			t.Errorf("value %d: all of one is %v, and it is %v", i, v, of)
		}
	}
	// A percent of a core is 10,000 µs a second, here for 1,000 requests.
	if got, want := float64(all.CPU), float64(all.Percent)*10; math.Abs(got-want) > want/1e6 || got == 0 {
		t.Errorf("%v µs a request and %v %% of a core", got, float64(all.Percent))
	}
	if sum := all.User + all.System; math.Abs(float64(sum-all.CPU)) > float64(all.CPU)/1e6 {
		t.Errorf("user and system are %v of %v µs", sum, all.CPU)
	}
	if !all.Memory.OK() || all.Memory <= 0 || s.Sampler.Samples == 0 || s.Host.WallS <= 0 {
		t.Errorf("%+v", s)
	}
}

// With nothing completed there is no such thing as a request's share.
func TestWatchedNothing(t *testing.T) {
	r := &Result{}
	s := watchSelf(t, r)
	if u := s.Processes[0]; u.CPU.OK() || u.User.OK() || u.Wait.OK() || !u.Percent.OK() {
		t.Errorf("%+v", u)
	}
	trees := []probe.Use{{Name: "a"}, {Name: "b", CPU: 5e9,
		Processes: []probe.Use{{Name: "b", Role: "root"}, {Name: "b", Role: "worker"}}}}
	r.Rate.Completed = 1e6 / r.Window.MeasuredS
	var names []string
	for _, u := range r.Used(trees, probe.HostUse{}, probe.Cost{}, nil).Processes {
		names = append(names, u.Name)
	}
	if got, want := strings.Join(names, ", "), ", a, b, b: b, b: b worker"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if cpu := r.Used(trees, probe.HostUse{}, probe.Cost{}, nil).Processes[0].CPU; math.Abs(float64(cpu)-5) > 1e-6 {
		t.Errorf("5 s for a million requests are %v µs each", cpu)
	}
	if got := r.Used(nil, probe.HostUse{}, probe.Cost{}, nil).Processes; got != nil {
		t.Errorf("%+v", got)
	}
}
