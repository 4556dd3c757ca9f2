package runfacts

import (
	"testing"
	"time"

	"dyno/internal/engine/loadresult"
	"dyno/internal/fact"
)

func TestErrorsSince(t *testing.T) {
	type second struct {
		right, wrong int64
		status       uint16 // of the wrong ones
	}
	for _, c := range []struct {
		what    string
		seconds []second
		want    *fact.ErrorsSince
	}{
		{"a token that expired", []second{{100, 0, 0}, {90, 10, 401}, {0, 100, 401}, {0, 100, 401}},
			&fact.ErrorsSince{SinceS: 1.9, Status: 401, Percent: 100}},
		{"between two seconds", []second{{100, 0, 0}, {0, 100, 401}}, &fact.ErrorsSince{SinceS: 1, Status: 401, Percent: 100}},
		{"and some that were not answered", []second{{100, 0, 0}, {0, 100, 401}, {0, 198, 401}, {0, 2, 0}},
			&fact.ErrorsSince{SinceS: 1, Status: 401, Percent: 100 * 298. / 300}},
		{"no answers", []second{{100, 1, 0}, {50, 50, 0}, {1, 100, 0}}, &fact.ErrorsSince{SinceS: 1.5, Percent: 100 * 100. / 101}},
		{"from the start", []second{{0, 100, 401}, {0, 100, 401}}, nil},
		{"they end again", []second{{100, 0, 0}, {50, 50, 503}, {0, 100, 503}, {100, 0, 0}}, nil},
		{"half of all", []second{{100, 0, 0}, {50, 50, 503}, {50, 50, 503}}, nil},
		{"few", []second{{100, 0, 0}, {1, 9, 401}}, nil},
		{"none", []second{{100, 0, 0}, {100, 0, 0}}, nil},
	} {
		r := &loadresult.Result{}
		for i, s := range c.seconds {
			iv := loadresult.Interval{From: time.Duration(i) * time.Second, To: time.Duration(i+1) * time.Second,
				Status: map[uint16]int64{200: s.right}}
			iv.Completed, iv.Failed = s.right, s.wrong
			if s.status > 0 {
				iv.Status[s.status] = s.wrong
			}
			r.Intervals = append(r.Intervals, iv)
		}
		switch f := ErrorsSince(r); {
		case (f == nil) != (c.want == nil):
			t.Errorf("%s: %+v", c.what, f)
		case f != nil && f.Args != *c.want:
			t.Errorf("%s: %+v, want %+v", c.what, f.Args, *c.want)
		}
	}
}
