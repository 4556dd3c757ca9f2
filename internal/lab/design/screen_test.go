package design

import (
	"fmt"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

// screened is an experiment with so many factors of two values.
func screened(k int) string {
	var factors, uses []string
	for j := range k {
		factors = append(factors, fmt.Sprintf("f%d: [a, b]", j))
		uses = append(uses, fmt.Sprintf("{{f%d}}", j))
	}
	return "version: 1\nname: s\ndesign: {screen: true}\nfactors: {" + strings.Join(factors, ", ") +
		"}\nvariants:\n  n: {url: \"http://127.0.0.1:8080/" + strings.Join(uses, "/") + "\"}\n"
}

// Effects that are put into every run come out of its contrasts exactly, and an interaction in its
// own contrast alone.
func TestScreenedContrasts(t *testing.T) {
	for _, k := range []int{4, 5, 8, 11, 16} {
		e := mustRead(t, screened(k))
		value := map[string]float64{}
		var loaded []string
		for _, v := range experiment.Expand(e) {
			x := 0.0
			for j, s := range v.Factors {
				if s.Value == "b" {
					x += float64(int(1) << j)
				}
			}
			if v.Factors[0].Value == "b" && v.Factors[1].Value == "b" {
				x += 0.5
			}
			loaded, value[v.Name] = append(loaded, v.Name), x
		}
		all := Contrasts(e, loaded)
		named := 0
		for i, c := range all {
			got, n := 0.0, 0
			for _, p := range c.Pairs {
				if d := value[p.Variant] - value[p.Baseline]; p.Inverse {
					got -= d
				} else {
					got += d
					n++
				}
			}
			got /= float64(n)
			want := 0.0
			switch {
			case i < 2:
				want = float64(int(1)<<i) + 0.25 // half of the time the other has its second value, too
			case i < k:
				want = float64(int(1) << i)
			case c.Name == "f0=b and f1=b":
				want = 0.5
			}
			if got != want {
				t.Errorf("%d factors: %s against %s is %v, want %v", k, c.Name, c.Baseline, got, want)
			}
			if i >= k {
				named += 1 + len(c.Aliases)
			}
		}
		if named != k*(k-1)/2 {
			t.Errorf("%d factors: %d interactions are named, want %d", k, named, k*(k-1)/2)
		}
		if len(Contrasts(e, loaded[1:])) != 0 {
			t.Errorf("%d factors: contrasts without one of the runs", k)
		}
	}
}
