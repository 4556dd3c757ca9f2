// Command correction simulates experiments and judges them as the laboratory does, by the same
// functions of package stats, to count how often a verdict is wrong, how often a true difference
// is found, and how often all intervals hold. The truth of a simulated experiment is known; that
// of a server is not.
//
// It prints the tables of docs/judging.md. The same seed gives the same tables.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	n := flag.Int("n", 2000, "experiments in each cell")
	seed := flag.Uint64("seed", 1, "of all that is drawn")
	markdown := flag.Bool("md", false, "write Markdown")
	flag.Parse()
	if *n < 1 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "correction: -n must be at least 1, and there are no arguments")
		os.Exit(2)
	}
	for _, t := range tables(*n, *seed) {
		t.write(os.Stdout, *markdown)
	}
}

// A tally is what came of a cell's experiments.
type tally struct {
	n        int
	found    [rules]int // experiments with a claim that is not so, by rule
	much     [rules]int // experiments with seven such claims or more
	held     int        // experiments in which all intervals hold
	alike    int        // experiments in which what differs by the margin is called equivalent
	beyond   int        // experiments in which it is said to differ by more than the margin
	real     int        // true differences
	shown    [rules]int // of these, shown
	equal    int        // comparisons called equivalent
	compared int
	width    float64 // sum of half widths of the intervals, as logarithms
}

func (t *tally) add(o outcome) {
	t.n++
	for r := range rules {
		if o.wrong[r] > 0 {
			t.found[r]++
		}
		if o.wrong[r] >= 7 {
			t.much[r]++
		}
		t.shown[r] += o.shown[r]
	}
	t.held += o.held
	t.alike += o.alike
	t.beyond += o.beyond
	t.real += o.real
	t.equal += o.equal
	t.compared += o.compared
	t.width += o.width
}

// simulate judges n experiments. Each has a random source of its own, so that a cell's first
// experiments are the same however many there are.
func simulate(s scene, d design, n int, seed uint64) (all tally) {
	for i := range n {
		all.add(s.experiment(d, seed, uint64(i)))
	}
	return all
}
