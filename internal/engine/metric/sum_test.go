package metric

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A quarter of an hour of 100,000 requests a second, of which a server answers half, is
// 90 million latencies of 225 s on average: their sum is more than an int64 holds.
func TestSumsDoNotOverflow(t *testing.T) {
	const each, doublings = int64(225e9), 27
	h := NewHistogram(Fine)
	h.Record(each)
	for range doublings {
		b, err := json.Marshal(h.ToSparse())
		if err != nil {
			t.Fatal(err)
		}
		var s Sparse
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		h.MergeSparse(s)
	}
	both := NewHistogram(Fine)
	both.Merge(h)
	both.Merge(h)
	for what, got := range map[string]float64{"histogram": h.Mean(), "sum": both.Mean(),
		"sparse": both.ToSparse().Mean()} {
		if got != float64(each) {
			t.Errorf("the mean of a %s is %v, want %v", what, got, float64(each))
		}
	}
	if d := both.View().Stdev(); !(d < float64(each)/1000) {
		t.Errorf("the standard deviation of equal values is %v", d)
	}
	back, err := DecodeHDR(both.EncodeHDR())
	if err != nil {
		t.Fatal(err)
	}
	if m := back.Mean() / float64(each); m < 0.999 || m > 1.001 {
		t.Errorf("decoded, the mean is %v times as much", m)
	}
	if err := back.SetExactValues(each, each, float64(each)); err != nil || back.Sum != both.Sum {
		t.Errorf("exact: %v, sum %v, want %v", err, back.Sum, both.Sum)
	}
}

// A Sum is what arbitrary precision has, whatever the signs, also between processes.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	var s Sum
	truth := new(big.Int)
	for range 10_000 {
		v := int64(r.Uint64()) >> r.IntN(64)
		s.AddValue(v)
		truth.Add(truth, big.NewInt(v))
		if s.String() != truth.String() {
			t.Fatalf("%v, want %v", s, truth)
		}
		want, _ := new(big.Float).SetInt(truth).Float64()
		if got := s.Float64(); math.Abs(got-want) > math.Abs(want)/(1<<52) {
			t.Fatalf("%v is %v, want %v", truth, got, want)
		}
		b, err := json.Marshal(s)
		var back Sum
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != s || back.Plus(s) != s.Plus(back) || string(b) != truth.String() {
			t.Fatalf("%s came back as %v: %v", b, back, err)
		}
	}
	for _, bad := range []string{`1.5`, `"1"`, `1e3`, `-`, `170141183460469231731687303715884105728`} {
		if err := json.Unmarshal([]byte(bad), &s); err == nil {
			t.Errorf("%s was taken for %v", bad, s)
		}
	}
}

// Sums are made from means within what a float64 tells apart.
func TestSumOf(t *testing.T) {
	for _, f := range []float64{0, 1, -1, 1 << 53, -1 << 53, 1e18, -1e18, 1.5e19, -1.5e19, 1e30, -1e30} {
		if got := nearestSum(f).Float64(); got != f {
			t.Errorf("%v became %v", f, got)
		}
	}
}

// What a histogram cannot have counted is refused: a mean outside of its least and greatest.
func TestSparseJSONRefusesSums(t *testing.T) {
	for sum, ok := range map[string]bool{"1999": false, "2000": true, "2001": true, "2002": true,
		"2003": false, "-1": false, "18446744073709553617": false} {
		var s Sparse
		err := json.Unmarshal([]byte(`{"count":2,"sum":`+sum+`,"min":1000,"max":1001,"digits":3,`+
			`"buckets":"6AcBAQE="}`), &s)
		if (err == nil) != ok {
			t.Errorf("a sum of %s: %v", sum, err)
		}
	}
}
