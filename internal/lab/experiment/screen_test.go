package experiment

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// In every screening each factor has both values equally often, together with each value of each
// other factor equally often, and its effect is free of all interactions of two others. These are
// the properties of resolution IV.
func TestScreeningHasResolutionIV(t *testing.T) {
	for k := fewestScreened; k <= maxFactors; k++ {
		runs := screeningRuns(k)
		if want := map[bool]int{true: 8, false: 16}[k == 4]; k <= 8 && len(runs) != want {
			t.Errorf("%d runs for %d factors, want %d", len(runs), k, want)
		}
		sum := func(factors ...int) (s int) {
			for _, run := range runs {
				sign := 1
				for _, j := range factors {
					sign *= 2*run[j] - 1
				}
				s += sign
			}
			return s
		}
		for a := range k {
			if sum(a) != 0 {
				t.Errorf("k=%d: factor %d has one value more often", k, a)
			}
			for b := range a {
				if sum(a, b) != 0 {
					t.Errorf("k=%d: factors %d and %d are mixed", k, a, b)
				}
				for c := range b {
					if sum(a, b, c) != 0 {
						t.Errorf("k=%d: factor %d is mixed with an interaction of %d and %d", k, a, b, c)
					}
					for d := range c {
						same := aliasOf(a, b) == aliasOf(c, d)
						if s := sum(a, b, c, d); same != (s == len(runs)) || !same && s != 0 {
							t.Errorf("k=%d: %d×%d and %d×%d: %d", k, a, b, c, d, s)
						}
					}
				}
			}
		}
	}
}

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
		for _, v := range Expand(e) {
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

func TestScreenFaults(t *testing.T) {
	four := screened(4)
	for _, test := range []struct{ text, want string }{
		{screened(3), "is for 4 factors or more"},
		{strings.Replace(four, "f1: [a, b]", "f1: [a, b, c]", 1), "compares two values of each factor; here are 3"},
		{strings.Replace(four, "f1: [a, b]", "f1: [a]", 1), "here are 1"},
	} {
		_, err := Read("x.yaml", strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v; want %s", err, test.want)
		}
	}
	names := map[string]bool{}
	for _, v := range Expand(mustRead(t, screened(16))) {
		names[v.Name] = true
	}
	if len(names) != 32 {
		t.Errorf("%d variants of 16 factors", len(names))
	}
	if v := Expand(mustRead(t, four)); !slices.Equal(v[0].values(), []string{"a", "a", "a", "a"}) {
		t.Errorf("the first run is %v: it is not that of the first values", v[0].values())
	}
}
