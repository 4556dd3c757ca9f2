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

func (t table) writeTable(w io.Writer, markdown bool) {
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

func formatPercent(count, of int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(count)/float64(max(of, 1)))
}

// sixServers is the experiment of six identical servers: five are compared with the first, by
// four measures.
func sixServers(rounds int) design {
	return design{rounds: rounds, variants: 5, measures: 4, noise: 0.05}
}

func allTables(n int, seed uint64) []table {
	return []table{falseClaimTable(n, seed), powerTable(n, seed), marginTable(n, seed),
		identicalServersTable(n, seed), tailTable(n, seed)}
}

var roundsTried = []int{6, 7, 10}

// falseClaimTable shows how often a difference is claimed where there is none.
func falseClaimTable(n int, seed uint64) table {
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
			c := simulateCell(s, sixServers(rounds), n, seed)
			row = append(row, formatPercent(c.falseClaims[maxT], c.n))
			missed = append(missed, formatPercent(c.n-c.allIntervalsHold, c.n))
			switch rounds {
			case 7:
				row[1] = formatPercent(c.falseClaims[alone], c.n)
			case 10:
				row[2] = formatPercent(c.falseClaims[holm], c.n)
			}
		}
		t.rows = append(t.rows, append(row, missed...))
	}
	return t
}

// slowerThird makes a third of the variants, rounded up, 25 % slower.
func slowerThird(variant int) float64 {
	if variant%3 == 0 {
		return math.Log(1.25)
	}
	return 0
}

// powerTable shows how often true differences are found.
func powerTable(n int, seed uint64) table {
	t := table{title: "A third of the variants differs by 25 %, noise of a trial 5 %. Share of true " +
		"differences found; share of experiments with an error among the rest, and with an interval " +
		"that misses; mean half width of intervals",
		rows: [][]string{{"noise", "rounds", "comparisons", "found, alone", "found, Holm", "found, maxT",
			"error, maxT", "intervals miss", "half width"}}}
	for _, s := range []scene{scenes[0], scenes[1], everyDisturbance} {
		for _, rounds := range []int{6, 8, 10, 16} {
			for _, variants := range []int{1, 7} {
				if rounds > 10 && variants > 1 {
					continue // takes long, and shows nothing new
				}
				d := design{rounds: rounds, variants: variants, measures: 3, noise: 0.05, differ: slowerThird}
				c := simulateCell(s, d, n, seed)
				t.rows = append(t.rows, []string{s.name, fmt.Sprint(rounds), fmt.Sprint(3 * variants),
					formatPercent(c.differencesFound[alone], c.trueDifferences),
					formatPercent(c.differencesFound[holm], c.trueDifferences),
					formatPercent(c.differencesFound[maxT], c.trueDifferences), falseClaimsAmongRest(c),
					formatPercent(c.n-c.allIntervalsHold, c.n),
					fmt.Sprintf("%.1f %%", 100*math.Expm1(c.width/float64(c.compared)))})
			}
		}
	}
	return t
}

// falseClaimsAmongRest formats how often a difference is claimed of what does not differ; "–"
// where everything differs.
func falseClaimsAmongRest(c cellCounts) string {
	if c.trueDifferences == c.compared {
		return "–"
	}
	return formatPercent(c.falseClaims[maxT], c.n)
}

// marginTable shows the verdicts for a margin of 2 %, if the true difference is that or zero.
func marginTable(n int, seed uint64) table {
	t := table{title: "A margin of 2 %, 20 comparisons, noise of a trial 0.5 %. All differ by " +
		"exactly the margin: share of experiments that call any equivalent, or of which any interval " +
		"lies beyond the margin. Nothing differs: share of comparisons called equivalent",
		rows: [][]string{{"noise", "rounds", "any equivalent", "any beyond", "equivalent, of none"}}}
	for _, s := range []scene{scenes[0], scenes[1], scenes[9], everyDisturbance} {
		for _, rounds := range roundsTried {
			d := sixServers(rounds)
			d.noise, d.margin = 0.005, 0.02
			same := simulateCell(s, d, n, seed)
			d.differ = func(int) float64 { return math.Log1p(0.02) }
			c := simulateCell(s, d, n, seed)
			t.rows = append(t.rows, []string{s.name, fmt.Sprint(rounds),
				formatPercent(c.equivalentAtMargin, c.n),
				formatPercent(c.beyondMargin, c.n), formatPercent(same.equal, same.compared)})
		}
	}
	return t
}

// identicalServersTable shows the experiment that once failed, with the noise floor of its A/A
// arm.
func identicalServersTable(n int, seed uint64) table {
	t := table{title: "Six identical servers, four measures of each trial, 7 rounds, a margin of " +
		"2 %, with and without the floor of A/A: share of experiments with any of 20 " +
		"comparisons called different, and with seven or more",
		rows: [][]string{{"noise", "A/A", "alone: any", "alone: 7 or more", "maxT: any",
			"maxT: 7 or more"}}}
	for _, s := range []scene{scenes[0], scenes[9], everyDisturbance} {
		for _, floor := range []bool{true, false} {
			d := sixServers(7)
			d.margin, d.floor = 0.02, floor
			c := simulateCell(s, d, n, seed)
			t.rows = append(t.rows, []string{s.name, map[bool]string{true: "on", false: "off"}[floor],
				formatPercent(c.falseClaims[alone], c.n), formatPercent(c.sevenFalseClaims[alone], c.n),
				formatPercent(c.falseClaims[maxT], c.n),
				formatPercent(c.sevenFalseClaims[maxT], c.n)})
		}
	}
	return t
}
