package main

import (
	"fmt"
	"os"
	"strings"
)

// screeningFile is a template of the screening, with the rounds, the window, the server's program,
// its base and what its switches cost.
const screeningFile = `
version: 1
name: screening
description: eight switches, of which two and a pair cost something, by construction
design:
  screen: true
  rounds: %d
  warmup: {min: 0.5s, max: 0.5s}
  measure: %s
  cooldown: 0.1s
  metrics: [cpu]
levels: [{name: c4, connections: 4, threads: 1}]
factors:
  a: ["off", "on"]
  b: ["off", "on"]
  c: ["off", "on"]
  d: ["off", "on"]
  e: ["off", "on"]
  f: ["off", "on"]
  g: ["off", "on"]
  h: ["off", "on"]
variants:
  server:
    processes:
    - cmd: "%s -spin %d -costs %s -listen 127.0.0.1:{{port}}
        a={{a}} b={{b}} c={{c}} d={{d}} e={{e}} f={{f}} g={{g}} h={{h}}"
    url: "http://127.0.0.1:{{port}}/"
`

// known effects of the screening, as shares of a request's cost: of two switches, and of a pair.
// The pair has its first switch in common with one of them, and the second does nothing by itself.
const (
	costOfA, costOfB, costOfAC = 0.10, 0.04, 0.06
)

// runScreenings runs the screening several times, and counts how often it finds what is there and
// how often it calls a switch different that does nothing.
func runScreenings(times, rounds int, measure, dyno, dir, spinner string, cost float64) error {
	file := dir + "/screening.yaml"
	ns := func(share float64) int { return int(1000 * share * cost) }
	costs := fmt.Sprintf("a=%d,b=%d,ac=%d", ns(costOfA), ns(costOfB), ns(costOfAC))
	text := fmt.Sprintf(screeningFile, rounds, measure, spinner, base, costs)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	found, wrong := 0, 0
	for i := range times {
		out := fmt.Sprintf("%s/screening-%d", dir, i)
		if err := runExperiment(dyno, file, out); err != nil {
			return err
		}
		rows, err := readVerdicts(out)
		if err != nil {
			return err
		}
		shown := map[string]bool{}
		for _, r := range rows {
			shown[r.Variant] = r.Verdict == "different"
			fmt.Printf("%-18s %.4f [%.4f, %.4f] %s\n", r.Variant, r.Ratio, r.Low, r.High, r.Verdict)
		}
		if shown["a=on"] && shown["b=on"] && shown["a=on and c=on"] {
			found++
		}
		for _, idle := range strings.Split("defgh", "") { // c has half of the pair's effect
			if shown[idle+"=on"] {
				wrong++
			}
		}
	}
	fmt.Printf("of %d screenings %d found both switches and the pair; of %d idle switches %d were "+
		"called different\n", times, found, 5*times, wrong)
	return nil
}
