package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// A table is one of docs/judging.md.
type table struct {
	title string
	rows  [][]string // the first is the head
}

func (t table) write(w io.Writer, markdown bool) {
	if markdown {
		fmt.Fprintf(w, "**%s**\n\n", t.title)
		for i, row := range t.rows {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintf(w, "|---%s|\n", strings.Repeat("|--:", len(row)-1))
			}
		}
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintf(w, "%s\n", t.title)
	for _, row := range t.rows {
		fmt.Fprintf(w, "  %-48s", row[0])
		for _, cell := range row[1:] {
			fmt.Fprintf(w, "  %16s", cell)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func percent(count, of int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(count)/float64(max(of, 1)))
}

// six is the experiment of six identical servers: five against the first, by four measures.
func six(rounds int) design {
	return design{rounds: rounds, variants: 5, measures: 4, noise: 0.05}
}

func tables(n int, seed uint64) []table {
	return []table{errors(n, seed), power(n, seed), margins(n, seed), identical(n, seed)}
}

var roundsTried = []int{6, 7, 10}

// errors is how often something is said where nothing differs.
func errors(n int, seed uint64) table {
	t := table{title: "Nothing differs: five variants and a baseline, four measures, 20 " +
		"comparisons. Share of experiments in which any is called different, and in which any " +
		"interval misses",
		rows: [][]string{{"noise", "alone, 7 rounds", "Holm, 10 rounds"}}}
	for _, rounds := range roundsTried {
		t.rows[0] = append(t.rows[0], fmt.Sprintf("maxT, %d rounds", rounds))
	}
	for _, rounds := range roundsTried {
		t.rows[0] = append(t.rows[0], fmt.Sprintf("intervals, %d", rounds))
	}
	for _, s := range scenes {
		row, missed := []string{s.name, "", ""}, []string{}
		for _, rounds := range roundsTried {
			c := simulate(s, six(rounds), n, seed)
			row = append(row, percent(c.found[maxT], c.n))
			missed = append(missed, percent(c.n-c.held, c.n))
			switch rounds {
			case 7:
				row[1] = percent(c.found[alone], c.n)
			case 10:
				row[2] = percent(c.found[holm], c.n)
			}
		}
		t.rows = append(t.rows, append(row, missed...))
	}
	return t
}

// third of the variants, rounded up, is 25 % slower.
func third(variant int) float64 {
	if variant%3 == 0 {
		return math.Log(1.25)
	}
	return 0
}

// power is how often differences are found that there are.
func power(n int, seed uint64) table {
	t := table{title: "A third of the variants differs by 25 %, noise of a trial 5 %. Share of true " +
		"differences found; share of experiments with an error among the rest, and with an interval " +
		"that misses; mean half width of intervals",
		rows: [][]string{{"noise", "rounds", "comparisons", "found, alone", "found, Holm", "found, maxT",
			"error, maxT", "intervals miss", "half width"}}}
	for _, s := range []scene{scenes[0], scenes[1], everything} {
		for _, rounds := range []int{6, 8, 10, 16} {
			for _, variants := range []int{1, 7} {
				if rounds > 10 && variants > 1 {
					continue // takes long, and shows nothing new
				}
				d := design{rounds: rounds, variants: variants, measures: 3, noise: 0.05, differ: third}
				c := simulate(s, d, n, seed)
				t.rows = append(t.rows, []string{s.name, fmt.Sprint(rounds), fmt.Sprint(3 * variants),
					percent(c.shown[alone], c.real), percent(c.shown[holm], c.real),
					percent(c.shown[maxT], c.real), amongRest(c),
					percent(c.n-c.held, c.n),
					fmt.Sprintf("%.1f %%", 100*math.Expm1(c.width/float64(c.compared)))})
			}
		}
	}
	return t
}

// amongRest is how often something is said of what does not differ; "–" where all differs.
func amongRest(c tally) string {
	if c.real == c.compared {
		return "–"
	}
	return percent(c.found[maxT], c.n)
}

// margins is what is said about a margin of 2 % where the truth is on it, and at zero.
func margins(n int, seed uint64) table {
	t := table{title: "A margin of 2 %, 20 comparisons, noise of a trial 0.5 %. All differ by " +
		"exactly the margin: share of experiments that call any equivalent, or of which any interval " +
		"lies beyond the margin. Nothing differs: share of comparisons called equivalent",
		rows: [][]string{{"noise", "rounds", "any equivalent", "any beyond", "equivalent, of none"}}}
	for _, s := range []scene{scenes[0], scenes[1], scenes[9], everything} {
		for _, rounds := range roundsTried {
			d := six(rounds)
			d.noise, d.margin = 0.005, 0.02
			same := simulate(s, d, n, seed)
			d.differ = func(int) float64 { return math.Log1p(0.02) }
			c := simulate(s, d, n, seed)
			t.rows = append(t.rows, []string{s.name, fmt.Sprint(rounds), percent(c.alike, c.n),
				percent(c.beyond, c.n), percent(same.equal, same.compared)})
		}
	}
	return t
}

// identical is the experiment that was seen to fail, with the noise floor of its A/A arm.
func identical(n int, seed uint64) table {
	t := table{title: "Six identical servers, four measures of each trial, 7 rounds, a margin of " +
		"2 %, with and without the floor of A/A: share of experiments with any of 20 " +
		"comparisons called different, and with seven or more",
		rows: [][]string{{"noise", "A/A", "alone: any", "alone: 7 or more", "maxT: any",
			"maxT: 7 or more"}}}
	for _, s := range []scene{scenes[0], scenes[9], everything} {
		for _, floor := range []bool{true, false} {
			d := six(7)
			d.margin, d.floor = 0.02, floor
			c := simulate(s, d, n, seed)
			t.rows = append(t.rows, []string{s.name, map[bool]string{true: "on", false: "off"}[floor],
				percent(c.found[alone], c.n), percent(c.much[alone], c.n), percent(c.found[maxT], c.n),
				percent(c.much[maxT], c.n)})
		}
	}
	return t
}
