package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"dyno/internal/stats"
)

// A tailScene is what makes requests slow, in both servers alike. Times are in ms.
type tailScene struct {
	name  string
	trial float64                     // standard deviation of a trial's logarithm
	slow  func(*rand.Rand, []float64) // adds to the times of a trial; nil: nothing
}

// stall delays a request, and those that come every 20 ms behind it.
func stall(times []float64, at int, length float64) {
	for ; at < len(times) && length > 0; at++ {
		times[at] += length
		length -= 20
	}
}

// stalls has each request stalled with a probability.
func stalls(share, length float64) func(*rand.Rand, []float64) {
	return func(random *rand.Rand, times []float64) {
		for i := range times {
			if random.Float64() < share {
				stall(times, i, length)
			}
		}
	}
}

// tailScenes are the rows of the table.
var tailScenes = []tailScene{
	{name: "requests alike"},
	{name: "trials vary by 20 %", trial: 0.2},
	{name: "1 % of requests stall for 40 ms", trial: 0.05, slow: stalls(0.01, 40)},
	{name: "a third of the trials stalls for 300 ms", trial: 0.05,
		slow: func(random *rand.Rand, times []float64) {
			if random.IntN(3) == 0 {
				stall(times, random.IntN(len(times)), 300)
			}
		}},
	{name: "a tenth of the trials is 5 times as slow", trial: 0.1,
		slow: func(random *rand.Rand, times []float64) {
			if random.IntN(10) == 0 {
				for i := range times {
					times[i] *= 5
				}
			}
		}},
}

// drawTrial returns the times of the requests of a trial.
func (s tailScene) drawTrial(random *rand.Rand, n int, lock bool) []float64 {
	times, level := make([]float64, n), s.trial*random.NormFloat64()
	for i := range times {
		times[i] = math.Exp(level + 0.3*random.NormFloat64())
	}
	if s.slow != nil {
		s.slow(random, times)
	}
	if lock {
		stalls(0.01, 40)(random, times)
	}
	slices.Sort(times)
	return times
}

// A tailOutcome is what an experiment says of the CPU time, which does not differ, of p50 and p99.
type tailOutcome struct{ any, tail, misses bool }

// judgeTail simulates an experiment of dyno vs: CPU time, p50, and p99 of all trials together.
func (s tailScene) judgeTail(random *rand.Rand, rounds, n int, lock bool,
	truth float64) tailOutcome {
	rows := make([][]float64, 3)
	var base, variant [][]stats.Counted
	for range rounds {
		x, y := s.drawTrial(random, n, false), s.drawTrial(random, n, lock)
		rows[0] = append(rows[0], 0.03*(random.NormFloat64()-random.NormFloat64()))
		rows[1] = append(rows[1], math.Log(y[n/2]/x[n/2]))
		base, variant = append(base, countedLogs(x)), append(variant, countedLogs(y))
	}
	pool := stats.NewPooled(0.99, base, variant)
	rows[2] = pool.Row(0)
	var o tailOutcome
	margins := slices.Repeat([]stats.Margin{{Practical: 0.02}}, len(rows))
	for k, j := range stats.JudgePooled(rows, []*stats.Pooled{nil, nil, pool}, margins, 1) {
		differs := j.Verdict == stats.Different
		o.any = o.any || differs
		if k == 2 {
			o.tail = differs && j.Ratio.Estimate > 1
			o.misses = truth < math.Log(j.Ratio.Low)-1e-8 || truth > math.Log(j.Ratio.High)+1e-8
		}
	}
	return o
}

func countedLogs(times []float64) (all []stats.Counted) {
	for _, t := range times {
		all = append(all, stats.Counted{Value: math.Log(t), N: 1})
	}
	return all
}

// trueTail is by how much the logarithm of the p99 of a server with the lock is larger.
func (s tailScene) trueTail(seed uint64, n int) float64 {
	random := rand.New(rand.NewPCG(seed, 1))
	var p99 [2]float64
	for i := range p99 {
		var all []float64
		for range 400_000 / n {
			all = append(all, s.drawTrial(random, n, i == 1)...)
		}
		slices.Sort(all)
		p99[i] = math.Log(all[len(all)*99/100])
	}
	return p99[1] - p99[0]
}

// tailCounts are of so many experiments in which nothing differs, and in which a lock does.
type tailCounts struct{ wrong, misses, found, missesOfLock int }

func (s tailScene) simulateTail(rounds, requests, n int, seed uint64) (c tailCounts) {
	truth := s.trueTail(seed, requests)
	count := func(is bool) int { return map[bool]int{true: 1}[is] }
	for i := range n {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		same := s.judgeTail(random, rounds, requests, false, 0)
		lock := s.judgeTail(random, rounds, requests, true, truth)
		c.wrong += count(same.any)
		c.misses += count(same.misses)
		c.found += count(lock.tail)
		c.missesOfLock += count(lock.misses)
	}
	return c
}

// tailTable shows what is said of a p99 of which a trial has too few requests.
func tailTable(n int, seed uint64) table {
	t := table{title: "CPU time, p50, and p99 of all trials together, as of dyno vs -R 50. Nothing " +
		"differs: share of experiments in which any is called different, and in which the interval of " +
		"p99 misses. 1 % of the variant's requests hold a lock for 40 ms: share in which its p99 is " +
		"called worse, and in which the interval misses",
		rows: [][]string{{"requests", "rounds", "of a trial", "any different", "interval misses",
			"lock found", "interval misses"}}}
	for _, s := range tailScenes {
		for _, rounds := range []int{6, 10} {
			for _, requests := range []int{75, 250} {
				c := s.simulateTail(rounds, requests, n, seed)
				t.rows = append(t.rows, []string{s.name, fmt.Sprint(rounds), fmt.Sprint(requests),
					formatPercent(c.wrong, n), formatPercent(c.misses, n), formatPercent(c.found, n),
					formatPercent(c.missesOfLock, n)})
			}
		}
	}
	return t
}
