package load

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// MaxParts is into how many parts a load can be cut.
const MaxParts = 256

// Split cuts a load into n parts, for as many generators that load at once. What
// they send together is what p alone would: constant arrivals each once, Poisson
// ones at its rate, exactly as many requests, on as many connections. Threads
// and CPUs are shared out as far as they go; every part has one at least. A part
// that has no connection is one that Check refuses.
func (p Plan) Split(n int) []Plan {
	if n < 2 {
		return []Plan{p}
	}
	if p.Arrival == Poisson && p.Seed == 0 {
		p.Seed = drawSeed() // one for all: of one seed are the streams independent
	}
	all := make([]Plan, n)
	for i := range all {
		part := p
		part.Part, part.Parts = i, n
		part.Connections = int(share(int64(p.Connections), i, n))
		part.Threads = max(int(share(int64(p.Threads), i, n)), 1)
		if p.Requested > 0 {
			part.Requested = quota(&p, i, n)
		}
		part.CPUs = cpusOf(p.CPUs, i, n)
		if i > 0 {
			part.Probe = 0
		}
		all[i] = part
	}
	return all
}

// cpusOf are those of part i of n: every n-th or, where there are fewer, one that
// it shares.
func cpusOf(cpus []int, i, n int) (mine []int) {
	if len(cpus) == 0 {
		return nil
	}
	if len(cpus) < n {
		return []int{cpus[i%len(cpus)]}
	}
	for ; i < len(cpus); i += n {
		mine = append(mine, cpus[i])
	}
	return mine
}

// Join is the whole load of which all are the parts, in any order, each once.
func Join(all []Plan) (Plan, error) {
	if len(all) == 0 {
		return Plan{}, fmt.Errorf("no part of a load is given")
	}
	whole, seen := all[0], make([]bool, len(all))
	whole.Connections, whole.Threads, whole.Requested, whole.CPUs = 0, 0, 0, nil
	for _, p := range all {
		if max(p.Parts, 1) != len(all) || p.Part < 0 || p.Part >= len(all) || seen[p.Part] {
			return Plan{}, fmt.Errorf("part %d of %d is not one of these %d, each once",
				p.Part+1, max(p.Parts, 1), len(all))
		}
		seen[p.Part] = true
		whole.Probe = max(whole.Probe, p.Probe)
		whole.Connections += p.Connections
		whole.Threads += p.Threads
		whole.Requested += p.Requested
		whole.CPUs = append(whole.CPUs, p.CPUs...)
	}
	slices.Sort(whole.CPUs)
	whole.CPUs = slices.Compact(whole.CPUs)
	whole.Part, whole.Parts = 0, 0
	return whole, nil
}

// place is where worker i of n stands among those of all parts. Each part's are
// spread evenly, however many threads the others have.
func (p *Plan) place(i, n int) (int, int) {
	parts := max(p.Parts, 1)
	return p.Part + parts*i, parts * n
}

// checkPart is Check of what makes a part.
func (p *Plan) checkPart(flaw func(bool, string, string, ...any)) {
	flaw(p.Parts < 0 || p.Parts > MaxParts, "parts", "%d is not within 0 to %d", p.Parts, MaxParts)
	flaw(p.Part < 0 || p.Part >= max(p.Parts, 1), "part", "%d is not one of %d", p.Part, p.Parts)
}

// drawSeed is a seed that JSON can carry.
func drawSeed() uint64 { return rand.Uint64()>>11 | 1 }

// Add makes of iv, an interval of one part, that of both. Percentiles cannot be
// had of what both completed, and are 0.
func (iv *Interval) Add(part Interval) {
	switch {
	case iv.Completed == 0:
		iv.P50, iv.P99 = part.P50, part.P99
	case part.Completed > 0:
		iv.P50, iv.P99 = 0, 0
	}
	if n := iv.Completed + part.Completed; n > 0 {
		mean := float64(iv.Mean)*float64(iv.Completed) + float64(part.Mean)*float64(part.Completed)
		iv.Mean = time.Duration(mean / float64(n))
	}
	iv.From, iv.To, iv.Max = min(iv.From, part.From), max(iv.To, part.To), max(iv.Max, part.Max)
	iv.Sent += part.Sent
	iv.Completed += part.Completed
	iv.Failed += part.Failed
	iv.InFlight += part.InFlight
	iv.Received += part.Received
	iv.Written += part.Written
	iv.Heat = iv.Heat.Plus(part.Heat)
	for code, n := range part.Status {
		if iv.Status == nil {
			iv.Status = map[uint16]int64{}
		}
		iv.Status[code] += n
	}
	iv.Failures = addFailures(iv.Failures, part.Failures)
	iv.Busy, iv.LagMax = max(iv.Busy, part.Busy), max(iv.LagMax, part.LagMax)
}
