package capacity

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// sweptBy is a sweep of a law, with noise that differs by round.
func sweptBy(law Law, rounds int) *Curve {
	c := &Curve{Format: SweepFormat, Axis: Connections, Rounds: rounds, Seed: 5, Levels: []float64{1, 2, 4, 8, 16, 32, 64}}
	for round := range rounds {
		for i, n := range c.Levels {
			off := 1 + 0.03*math.Sin(float64(7*round+3*i))
			c.Points = append(c.Points, Point{Round: round + 1, Level: n, N: n, X: off * law.At(n), Verdict: "ok", Reasons: []string{}})
		}
	}
	c.fitLaw()
	return c
}

func TestDecode(t *testing.T) {
	s := &Search{Format: Format, Plan: loadplan.DefaultPlan(), Objectives: []string{"p99<1s"}, Probes: []Probe{}, End: Missed}
	s.Plan.Requests = []loadplan.Request{}
	c := sweptBy(Law{1000, 0.05, 0.002}, 2)
	c.Plan = s.Plan
	for _, want := range []any{s, c} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		search, curve, known, err := Decode(b)
		var have any = search
		if search == nil {
			have = curve
		}
		if err != nil || !known || (search == nil) == (curve == nil) || !reflect.DeepEqual(have, want) {
			t.Errorf("%T came back as %+v, %v, %v", want, have, known, err)
		}
	}
	for _, other := range []string{"", "[]", `{"format":"dyno.result/1"}`, `{"format":"dyno.find/2"}`} {
		if _, _, known, err := Decode([]byte(other)); known || err != nil {
			t.Errorf("%q: %v, %v", other, known, err)
		}
	}
	if _, _, known, err := Decode([]byte(`{"format":"dyno.find/1","probes":3}`)); !known || err == nil ||
		!strings.HasPrefix(err.Error(), "damaged, of format dyno.find/1: ") {
		t.Errorf("a damaged one: %v, %v", known, err)
	}
}

// The band is of the law, and around it; the law that the points came from lies in it.
func TestBand(t *testing.T) {
	law := Law{1000, 0.05, 0.002}
	band := sweptBy(law, 12).Band()
	outside := 0
	for _, b := range band {
		if b.Low == nil || b.High == nil || *b.Low > b.X || *b.High < b.X {
			t.Fatalf("at %v: %v is not within its band", b.N, b.X)
		}
		if x := law.At(b.N); x < 0.99*(*b.Low) || x > 1.01*(*b.High) {
			outside++
		}
	}
	if len(band) != bandPoints || band[0].N != 1 || band[bandPoints-1].N != 64 || outside > 0 {
		t.Errorf("%d points, %d of them without the true law", len(band), outside)
	}
	for _, b := range sweptBy(law, 7).Band() {
		if b.Low != nil || b.High != nil {
			t.Fatal("7 rounds have no intervals")
		}
	}
	if band := (&Curve{}).Band(); band != nil {
		t.Error("a band without a law")
	}
}
