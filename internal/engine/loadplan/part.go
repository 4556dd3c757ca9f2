package loadplan

import (
	"cmp"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"

	"dyno/internal/engine/sequence"
)

// Limits of the parts of a load: how many there are, and the sum of their weights.
const (
	MaxParts  = 1 << 12
	MaxWeight = 1 << 16
)

// Split cuts a load into n equal parts: see SplitBy.
func (p Plan) Split(n int) []Plan {
	if n < 2 {
		return []Plan{p}
	}
	all := p.SplitBy(slices.Repeat([]int{1}, n))
	for i := range all {
		all[i].Weights = nil
	}
	return all
}

// SplitBy cuts a load into a part for each weight, for as many generators that load
// at once. What they send together is what p alone would: constant arrivals each
// once, Poisson ones at its rate, exactly as many requests, on as many connections.
// Example: with the weights 2, 1 and 1 the first part has two of every four arrivals,
// spread over the four. So parts interleave without talking to each other.
// Threads and CPUs are shared out as far as they go; every part has one at least. A
// part that has no connection, or no user of a scenario, is one that Check refuses.
func (p Plan) SplitBy(weights []int) []Plan {
	if p.IsRandom() && p.Seed == 0 {
		p.Seed = DrawSeed() // one for all parts: the streams of one seed are independent
	}
	if p.Scenario != nil && !p.Ramps() {
		p.Users = p.UserCount()
	}
	n := len(weights)
	weights = reducedWeights(weights)
	connections := apportionByWeight(int64(p.Connections), weights)
	threads := apportionByWeight(int64(p.Threads), weights)
	all := make([]Plan, n)
	for i := range all {
		part := p
		part.Part, part.Parts, part.Weights = i, n, weights
		part.Connections, part.Threads = connections[i], max(threads[i], 1)
		part.CPUs = cpusOf(p.CPUs, i, n)
		if i > 0 {
			part.Probe = 0
		}
		all[i] = part
	}
	requests, users := p.apportion(p.Requested, all), p.apportion(int64(p.Users), all)
	for i, before, usersBefore := 0, int64(0), int64(0); i < n; i++ {
		all[i].Requested, all[i].Before = requests[i], before
		if all[i].UsersBefore = usersBefore; p.Ramps() {
			users[i] = int64(all[i].UserCount())
		} else {
			all[i].Users = int(users[i])
		}
		before, usersBefore = before+requests[i], usersBefore+users[i]
	}
	return all
}

// apportion cuts a number of requests, or of users, into those of the parts of p.
func (p *Plan) apportion(total int64, parts []Plan) []int64 {
	all, connections := make([]int64, len(parts)), make([]int, len(parts))
	for i := range parts {
		connections[i] = parts[i].Connections
	}
	each := total / max(int64(p.Connections), 1)
	extra := apportionByWeight(total%max(int64(p.Connections), 1), connections)
	for i := range parts {
		if p.Open() { // what of the first so many arrivals is the part's
			all[i] = parts[i].arrivalsAmong(total)
		} else { // every connection has as many, or some would go on alone
			all[i] = each*int64(connections[i]) + int64(extra[i])
		}
	}
	return all
}

// reducedWeights divides the weights by their greatest common divisor.
func reducedWeights(weights []int) []int {
	common := 0
	for _, w := range weights {
		common = sequence.GreatestDivisor(w, common)
	}
	weights = slices.Clone(weights)
	for i := range weights {
		weights[i] /= max(common, 1)
	}
	return weights
}

// apportionByWeight cuts total by weight into whole numbers. Each is rounded down first. What is
// left over goes, one each, to those that lost most by rounding; the first of equals wins.
func apportionByWeight(total int64, weights []int) []int {
	sum := uint64(0)
	for _, w := range weights {
		sum += uint64(w)
	}
	sum = max(sum, 1)
	part, lost, order := make([]int, len(weights)), make([]uint64, len(weights)), []int{}
	left := total
	for i, w := range weights {
		hi, lo := bits.Mul64(uint64(total), uint64(w))
		q, rest := bits.Div64(hi, lo, sum)
		part[i], lost[i], order = int(q), rest, append(order, i)
		left -= int64(q)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lost[b], lost[a]) })
	for _, i := range order[:min(int(left), len(order))] {
		part[i]++
	}
	return part
}

// cpusOf are the CPUs of part i of n: every n-th, or a shared one if there are fewer than n.
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

// Join is the whole load that all are the parts of, in any order, each once.
func Join(all []Plan) (Plan, error) {
	if len(all) == 0 {
		return Plan{}, fmt.Errorf("no part of a load is given")
	}
	whole, seen := all[0], make([]bool, len(all))
	weights := whole.Weights
	whole.Connections, whole.Threads, whole.Requested, whole.CPUs = 0, 0, 0, nil
	if !whole.Ramps() {
		whole.Users = 0
	}
	for _, p := range all {
		if max(p.Parts, 1) != len(all) || p.Part < 0 || p.Part >= len(all) || seen[p.Part] {
			return Plan{}, fmt.Errorf("part %d of %d is not one of these %d, each once",
				p.Part+1, max(p.Parts, 1), len(all))
		}
		if !slices.Equal(p.Weights, weights) {
			return Plan{}, fmt.Errorf("part %d is of a load with weights %v, and another of one with %v",
				p.Part+1, p.Weights, weights)
		}
		seen[p.Part] = true
		whole.Probe = max(whole.Probe, p.Probe)
		whole.Connections += p.Connections
		whole.Threads += p.Threads
		whole.Requested += p.Requested
		if !whole.Ramps() {
			whole.Users += p.Users
		}
		whole.CPUs = append(whole.CPUs, p.CPUs...)
	}
	slices.Sort(whole.CPUs)
	whole.CPUs = slices.Compact(whole.CPUs)
	whole.Part, whole.Parts, whole.Weights, whole.Before = 0, 0, nil, 0
	whole.UsersBefore = 0
	return whole, nil
}

// streamIndex is the number of worker i of n among the workers of all parts. The workers of each
// part are spread evenly, however many threads the others have.
func (p *Plan) streamIndex(i, n int) (int, int) {
	parts := max(p.Parts, 1)
	return p.Part + parts*i, parts * n
}

// arrivalSlots divides arrivals into rounds as long as the sum of all weights. It returns which
// arrivals of a round are the part's, and the length of a round. They are spread as evenly as the
// weights allow.
func (p *Plan) arrivalSlots() (mine []int64, all int64) {
	if len(p.Weights) == 0 {
		return []int64{int64(p.Part)}, int64(max(p.Parts, 1))
	}
	weights := make([]int64, len(p.Weights))
	for i, w := range p.Weights {
		weights[i] = int64(w)
	}
	order := sequence.Spread(weights)
	for k, part := range order {
		if int(part) == p.Part {
			mine = append(mine, int64(k))
		}
	}
	return mine, int64(len(order))
}

// shareDivisor is the number of arrivals of which one is the part's, on average.
func (p *Plan) shareDivisor() float64 {
	if p.Part >= len(p.Weights) {
		return float64(max(p.Parts, 1))
	}
	all := 0
	for _, w := range p.Weights {
		all += w
	}
	return float64(all) / float64(max(p.Weights[p.Part], 1))
}

// arrivalsAmong is how many of the load's first n arrivals are the part's.
func (p *Plan) arrivalsAmong(n int64) int64 {
	mine, all := p.arrivalSlots()
	last, _ := slices.BinarySearch(mine, n%all)
	return n/all*int64(len(mine)) + int64(last)
}

// A slotCycle is which of the load's arrivals a worker sends: its own of each period, in ascending
// order.
type slotCycle struct {
	slots  []uint64
	period uint64
}

// workerSlots is the cycle of worker i of n: every n-th of the part's arrivals.
func (p *Plan) workerSlots(i, n int) slotCycle {
	mine, all := p.arrivalSlots()
	// A pattern repeats after so many rounds.
	rounds := int64(n) / sequence.GreatestDivisor(int64(n), int64(len(mine)))
	t := slotCycle{period: uint64(rounds * all)}
	for j := int64(i); j < rounds*int64(len(mine)); j += int64(n) {
		round, k := j/int64(len(mine)), j%int64(len(mine))
		t.slots = append(t.slots, uint64(round*all+mine[k]))
	}
	return t
}

// isSoundPart reports whether the settings of a part have no flaw.
func (p *Plan) isSoundPart() bool {
	var flaws []Flaw
	p.checkPart(findIn(&flaws))
	return len(flaws) == 0
}

// checkPart checks the settings of a part.
func (p *Plan) checkPart(flaw finder) {
	flaw(p.Before < 0 || p.Before > MaxRequested, "Before", "%d is not within 0 to %d",
		p.Before, MaxRequested)
	flaw(p.Parts < 0 || p.Parts > MaxParts, "Parts", "%d is not within 0 to %d", p.Parts, MaxParts)
	flaw(p.Part < 0 || p.Part >= max(p.Parts, 1), "Part", "%d is not one of %d", p.Part, p.Parts)
	if len(p.Weights) == 0 {
		return
	}
	flaw(len(p.Weights) != p.Parts, "Weights", "%d are given for %d parts", len(p.Weights), p.Parts)
	sum := 0
	for _, w := range p.Weights {
		flaw(w < 1 || w > MaxWeight, "Weights", "%d is not within 1 to %d", w, MaxWeight)
		sum += min(max(w, 0), MaxWeight)
	}
	flaw(sum > MaxWeight, "Weights", "they add up to %d; to %d at most", sum, MaxWeight)
}

// SeedOfValues is the seed of the random values of load n of several loads that must not repeat one
// another's, of which seed is that of all. Their arrivals may be the same: these have Plan.Seed.
func SeedOfValues(seed, n uint64) uint64 {
	return rand.New(rand.NewPCG(seed, n)).Uint64()>>11 | 1
}

// ValuesSeed is the seed of what users draw.
func (p *Plan) ValuesSeed() uint64 { return cmp.Or(p.Values, p.Seed) }

// DrawSeed draws a seed that JSON can represent exactly.
func DrawSeed() uint64 { return rand.Uint64()>>11 | 1 }
