package metric

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// Each value is in the bucket that the definition gives it, at its edges too: those
// of the histogram are exact at the powers of ten.
func TestHeat(t *testing.T) {
	for _, test := range []struct {
		values []time.Duration
		want   Heat
	}{
		{nil, nil},
		{[]time.Duration{-5, 0, 1, 99, 100, 133}, Heat{{HeatLowest, 6}}},
		{[]time.Duration{134}, Heat{{-7, 1}}}, // 10^(-7/8) µs is 133.4 ns
		{[]time.Duration{999, 1000, 1333}, Heat{{-1, 1}, {0, 2}}},
		{[]time.Duration{1334}, Heat{{1, 1}}},
		{[]time.Duration{9_999, 10_000}, Heat{{7, 1}, {8, 1}}},
		{[]time.Duration{999_000, time.Millisecond, 1001 * time.Microsecond, time.Second},
			Heat{{23, 1}, {24, 2}, {48, 1}}},
		{[]time.Duration{Longest * 4}, Heat{{77, 1}}},
	} {
		h := NewHistogram(Fine)
		for _, v := range test.values {
			h.Record(int64(v))
		}
		if got := h.ToSparse().ToHeat(); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v: %v, want %v", test.values, got, test.want)
		}
	}
}

// The heat of a sum is the sum of the heats, and adding changes neither.
func TestHeatPlus(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	both := NewHistogram(Fine)
	var heats [2]Heat
	for i := range heats {
		h := NewHistogram(Fine)
		for _, v := range drawn(r, 1000) {
			h.Record(v)
		}
		both.Merge(h)
		heats[i] = h.ToSparse().ToHeat()
	}
	before := append(Heat(nil), heats[0]...)
	if got, want := heats[0].Plus(heats[1]), both.ToSparse().ToHeat(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !reflect.DeepEqual(heats[0], before) {
		t.Errorf("%v became %v", before, heats[0])
	}
	if got := Heat(nil).Plus(heats[1]); !reflect.DeepEqual(got, heats[1]) {
		t.Errorf("nothing and %v are %v", heats[1], got)
	}
}
