package run

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/result"
)

// No load of an experiment has another's random values: warm-ups, trials of one round, ceilings and
// what was resumed. Arms of a round have the same arrivals. With the same seed, all is the same.
func TestValuesDiffer(t *testing.T) {
	text := strings.Replace(three, "measure: 1s", "measure: 1s, rounds: 3", 1)
	text = strings.Replace(text, "rounds: 8, seed: 7, warmup: {min: 0, max: 0}", "seed: 7, warmup: {min: 1s, max: 1s}", 1)
	text = strings.Replace(text, "levels:", "workload: {request: {headers: {Idempotency-Key: \"{{uuid}}\"}}}\nlevels:", 1)
	loads := func(stopped int) (values []uint64, seeds map[uint64]int) {
		b, dir := newTestBench(t), filepath.Join(t.TempDir(), "out")
		b.rates, b.coin = map[string]float64{"base": 100, "same": 100, "slow": 90}, rand.New(rand.NewPCG(1, 2))
		seeds = map[uint64]int{}
		lab := func() *Lab {
			l := b.lab(dir, text)
			l.Load = func(ctx context.Context, p loadplan.Plan, each func(loadresult.Interval)) (*result.Result, error) {
				if p.Scenario != nil {
					values = append(values, p.Values)
				}
				seeds[p.Seed]++
				return b.load(ctx, p, each)
			}
			return l
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b.after, b.stop = stopped, stop
		b.run(ctx, lab())
		if stopped > 0 {
			l := lab()
			l.Resume = true
			b.run(t.Context(), l)
		}
		return values, seeds
	}
	first, seeds := loads(0)
	again, _ := loads(0)
	resumed, _ := loads(9)
	if len(first) < 3*4*2*2 || !slices.Equal(first, again) {
		t.Errorf("%d loads, and then %d, with the same seed have other values", len(first), len(again))
	}
	for _, all := range [][]uint64{first, resumed} {
		one := slices.Clone(all)
		slices.Sort(one)
		if one[0] == 0 || len(slices.Compact(one)) != len(all) {
			t.Errorf("of %d loads only %d have values of their own", len(all), len(slices.Compact(one)))
		}
	}
	if len(seeds) >= len(first)/2 {
		t.Errorf("%d loads have %d different arrivals", len(first), len(seeds))
	}
}
