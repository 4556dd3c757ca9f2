package run

import (
	"dyno/internal/lab"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Noise is compared with that of the same experiment here, and with nothing else.
func TestNoise(t *testing.T) {
	home := t.TempDir()
	run := func(name, text string, noise float64, change func(*Lab)) *lab.Record {
		b := newTestBench(t)
		b.noise = noise
		b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 9_000}
		l := b.lab(filepath.Join(home, name), text)
		l.History = home
		change(l)
		return b.run(t.Context(), l)
	}
	as := func(*Lab) {}
	for i := range 3 {
		if r := run(fmt.Sprint("a", i), three, 0.01, as); r.Noise != nil {
			t.Errorf("after %d: %+v", i, r.Noise)
		}
	}
	run("b", strings.Replace(three, "rounds: 8", "rounds: 9", 1), 0.3, as)
	run("c", three, 0.3, func(l *Lab) { l.CPUs.Generator = []int{5} })
	alike, loud := run("d", three, 0.01, as), run("e", three, 0.2, as)
	if len(alike.Noise) != 4 || alike.Noise[0].Others != 3 || cautioned(alike, "than usual") != 0 {
		t.Errorf("%+v, %q", alike.Noise, alike.Cautions)
	}
	for _, n := range alike.Noise { // a pair's: √2 × 1 %
		if n.Usual < 0.007 || n.Usual > 0.03 {
			t.Errorf("%+v", n)
		}
	}
	if cautioned(loud, "is much noisier than usual") != 4 || loud.Noise[0].Others != 4 {
		t.Errorf("%+v, %q", loud.Noise, loud.Cautions)
	}
}

func cautioned(r *lab.Record, text string) (n int) {
	for _, c := range r.Cautions {
		if strings.Contains(c, text) {
			n++
		}
	}
	return n
}

// With five rounds the report says what their least p is, and how many rounds it takes.
func TestTooFewRoundsAreSaid(t *testing.T) {
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 10_000, "same": 10_000, "slow": 3_000}
	five := strings.Replace(three, "rounds: 8", "rounds: 5", 1)
	r := b.run(t.Context(), b.lab(filepath.Join(t.TempDir(), "out"), five))
	if cautioned(r, "5 rounds cannot show a difference: the least possible p is 6.25 %") != 1 ||
		cautioned(r, "a verdict takes 6 rounds") != 1 {
		t.Errorf("%q", r.Cautions)
	}
}
