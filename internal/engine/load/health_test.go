package load

import (
	"errors"
	"reflect"
	"syscall"
	"testing"
	"time"

	"dyno/internal/engine/failure"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/engine/ring"
)

// A worker goes on counting in a map of its own, whether or not it gave one away: what
// others add to what it told is not its own.
func TestHealthIsGivenAway(t *testing.T) {
	a := &account{errors: failure.Counts{}}
	failed := failure.Counts{}
	failed.CountFailure(loadresult.Timeout, ring.Addr{Unix: "a"}, failure.ErrTimeout)
	for range 2 { // without failures, then with some
		h := a.takeHealth(ms, 0)
		h.Add(failure.Health{Failures: failed})
		if len(a.errors) != 0 {
			t.Fatalf("another's failures are its own: %v", a.errors)
		}
		a.errors.CountFailure(loadresult.Read, ring.Addr{Unix: "a"}, syscall.ECONNRESET)
	}
}

// What workers tell of an interval adds up, as do the parts of several generators; the
// whole run has what all intervals had, and what came after them.
func TestHealthAddsUp(t *testing.T) {
	addr := ring.Addr{Unix: "a"}
	failed := func(n int) failure.Counts {
		f := failure.Counts{}
		for range n {
			f.CountFailure(loadresult.Read, addr, syscall.ECONNRESET)
		}
		f.CountFailure(loadresult.Timeout, addr, failure.ErrTimeout)
		f.CountAnswer(failure.OfStatus(500), 500, addr, nil)
		return f
	}
	r := &run{result: &loadresult.Result{}, failures: failure.Counts{}}
	second := &workerReport{Counters: metric.NewCounters(), health: failure.Health{Busy: 0.2, Lag: 7}}
	second.health.Add(failure.Health{Failures: failed(3), Busy: 0.9, Lag: 5})
	second.health.Add(failure.Health{Failures: failed(1), Busy: 0.1})
	second.To, second.Sent, second.Status[200], second.Status[500] = s, 9, 8, 2
	r.publishInterval(second)
	iv := r.result.Intervals[0]
	if iv.Busy != 0.9 || iv.LagMax != 7 || !reflect.DeepEqual(iv.Status, map[uint16]int64{200: 8, 500: 2}) {
		t.Errorf("%+v", iv)
	}
	counts := func(all []loadresult.Failure) (n []int64) {
		for _, f := range all {
			n = append(n, f.Count)
		}
		return n
	}
	if got := counts(iv.Failures); !reflect.DeepEqual(got, []int64{4, 2, 2}) || iv.Failures[0].Kind != "reset" {
		t.Errorf("%+v", iv.Failures)
	}
	iv.Add(loadresult.Interval{Busy: 0.95, LagMax: time.Second, Status: map[uint16]int64{500: 1, 404: 1},
		Failures: []loadresult.Failure{{Phase: loadresult.Timeout, Kind: "timeout", Address: "a", Count: 9}}})
	if iv.Busy != 0.95 || iv.LagMax != time.Second || iv.Status[500] != 3 || iv.Status[404] != 1 {
		t.Errorf("%+v", iv)
	}
	if got := counts(iv.Failures); !reflect.DeepEqual(got, []int64{11, 4, 2}) {
		t.Errorf("%+v", iv.Failures)
	}
	late := failure.Counts{}
	late.CountFailure(loadresult.Connect, addr, errors.New("late"))
	all := r.sumFailures([]*worker{{account: account{errors: late}}})
	if got := counts(all); !reflect.DeepEqual(got, []int64{4, 2, 2, 1}) {
		t.Errorf("%+v", all)
	}
}
