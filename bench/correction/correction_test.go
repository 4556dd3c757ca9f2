package main

import (
	"bytes"
	"math"
	"testing"
)

// few is how many experiments a cell has here, and most how many of them may be wrong: 5 %, and
// three standard errors. The seed is fixed, so the counts never vary.
const (
	few  = 200
	most = 19
)

// A small version of the tables: the errors stay within what the level allows.
func TestErrorsWithinTheLevel(t *testing.T) {
	for _, s := range scenes {
		if s.draw != nil && s.unequal != nil && s.name != everything.name {
			continue // not symmetric, which is what is assumed
		}
		for _, rounds := range []int{6, 7} {
			c := simulate(s, six(rounds), few, 3)
			if c.found[maxT] > most || c.n-c.held > most {
				t.Errorf("%s, %d rounds: %d of %d wrong, intervals miss in %d", s.name, rounds,
					c.found[maxT], c.n, c.n-c.held)
			}
			if s.grid == 0 && s.missing == 0 && c.found[alone] < few/5 {
				t.Errorf("%s: without a correction only %d of %d are wrong; nothing is tested",
					s.name, c.found[alone], c.n)
			}
		}
	}
}

// Six rounds find what Holm's correction cannot.
func TestPowerOfSixRounds(t *testing.T) {
	d := design{rounds: 6, variants: 7, measures: 3, noise: 0.05, differ: third}
	c := simulate(scenes[0], d, few, 3)
	if c.shown[holm] != 0 || float64(c.shown[maxT]) < 0.7*float64(c.real) {
		t.Errorf("of %d: %d by Holm's correction, %d by maxT", c.real, c.shown[holm], c.shown[maxT])
	}
	if c.found[maxT] > most || c.n-c.held > most {
		t.Errorf("%d wrong among the rest, intervals miss in %d", c.found[maxT], c.n-c.held)
	}
}

// What differs by the margin is not called equivalent, nor said to be beyond it.
func TestMarginsHold(t *testing.T) {
	for _, rounds := range []int{6, 7} {
		d := six(rounds)
		d.noise, d.margin = 0.005, 0.02
		d.differ = func(int) float64 { return math.Log1p(0.02) }
		c := simulate(scenes[0], d, few, 3)
		if c.alike > most || c.beyond > most {
			t.Errorf("%d rounds: %d called equivalent, %d beyond", rounds, c.alike, c.beyond)
		}
	}
}

// The same seed gives the same counts, on however many processors.
func TestSameSeedSameTables(t *testing.T) {
	one, two := simulate(everything, six(7), 50, 9), simulate(everything, six(7), 50, 9)
	if one.found != two.found || one.held != two.held || one.shown != two.shown {
		t.Errorf("%+v and %+v", one, two)
	}
	var b bytes.Buffer
	table{"t", [][]string{{"a", "b"}, {"c", "d"}}}.write(&b, true)
	if b.String() != "**t**\n\n| a | b |\n|---|--:|\n| c | d |\n\n" {
		t.Errorf("%q", b.String())
	}
}
