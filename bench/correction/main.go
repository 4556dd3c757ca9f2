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
	for _, t := range allTables(*n, *seed) {
		t.writeTable(os.Stdout, *markdown)
	}
}

// A cellCounts sums up the experiments of a cell.
type cellCounts struct {
	n                  int
	falseClaims        [rules]int // experiments with a false claim, by rule
	sevenFalseClaims   [rules]int // experiments with seven false claims or more
	allIntervalsHold   int        // experiments in which all intervals hold
	equivalentAtMargin int        // experiments that call a difference of the margin equivalent
	beyondMargin       int        // experiments that call such a difference larger
	trueDifferences    int        // comparisons that truly differ
	differencesFound   [rules]int // of these, found
	equal              int        // comparisons called equivalent
	compared           int
	width              float64 // sum of half widths of the intervals, as logarithms
}

func (t *cellCounts) addOutcome(o outcome) {
	t.n++
	for r := range rules {
		if o.falseClaims[r] > 0 {
			t.falseClaims[r]++
		}
		if o.falseClaims[r] >= 7 {
			t.sevenFalseClaims[r]++
		}
		t.differencesFound[r] += o.differencesFound[r]
	}
	t.allIntervalsHold += o.allIntervalsHold
	t.equivalentAtMargin += o.equivalentAtMargin
	t.beyondMargin += o.beyondMargin
	t.trueDifferences += o.trueDifferences
	t.equal += o.equal
	t.compared += o.compared
	t.width += o.width
}

// simulateCell judges n experiments. Each has a random source of its own, so that a cell's first
// experiments are the same however many there are.
func simulateCell(s scene, d design, n int, seed uint64) (all cellCounts) {
	for i := range n {
		all.addOutcome(s.simulateExperiment(d, seed, uint64(i)))
	}
	return all
}
