package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"dyno/internal/view/format"
)

// linear is an axis from 0 to somewhat above high, of values in a unit: see Amount.
func linear(high float64, label, unit string) Axis {
	return linearBetween(0, high*1.05, label, unit)
}

// linearBetween is an axis with up to about six round ticks.
func linearBetween(low, high float64, label, unit string) Axis {
	if !(high > low) {
		high = low + 1
	}
	step := math.Pow(10, math.Floor(math.Log10((high-low)/6)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*factor) <= 7 {
			step *= factor
			break
		}
	}
	var ticks []float64
	for k := math.Ceil(low / step); k*step <= high*(1+1e-9); k++ {
		ticks = append(ticks, k*step)
	}
	return Axis{Low: low, High: high, Label: label, Unit: unit, Ticks: ticksIn(unit, ticks)}
}

// ticksIn are ticks at some values, in the unit of an axis.
func ticksIn(unit string, at []float64) []Tick {
	all := make([]Tick, len(at))
	for i, v := range at {
		all[i] = Tick{v, tickText(unit, v)}
	}
	return all
}

// logarithmic is an axis over the values that are above 0, wider by a factor.
func logarithmic(values []float64, wider float64, most int, label, unit string) Axis {
	low, high, found := extent(values, true)
	if !found {
		low, high = 1, 10
	}
	low, high = low/wider, high*wider
	return Axis{Low: low, High: high, Log: true, Label: label, Unit: unit,
		Ticks: ticksIn(unit, logTicks(low, high, most))}
}

// timeAxis is a logarithmic axis of µs.
func timeAxis(values []float64, label string) Axis {
	return logarithmic(values, 1.15, 7, label, "µs")
}

// or is an axis by that name, in whose place readers of the page can have another.
func (a Axis) or(name string, other Axis, called string) Axis {
	a.Name, other.Name, a.Other = name, called, &other
	return a
}

// orLinear is a logarithmic axis that readers of the page can have from 0 in its place.
func (a Axis) orLinear(label string) Axis {
	return a.or("logarithmic", linear(a.High/1.15, label, a.Unit), "linear")
}

// logTicks are round values from low to high on a logarithmic axis, at most so many.
func logTicks(low, high float64, most int) []float64 {
	apart := 0.8 * math.Log(high/low) / float64(most)
	for _, c := range []struct {
		steps string
		every int
	}{{"123456789", 1}, {"125", 1}, {"13", 1}, {"1", 1}, {"1", 2}, {"1", 3}} {
		ticks := ticksOf(low, high, c.steps, c.every)
		if len(ticks) > 0 && len(ticks) <= most && areApart(ticks, apart) {
			return ticks
		}
	}
	return []float64{low, high}
}

// ticksOf are steps of each decade that is a multiple of every.
func ticksOf(low, high float64, steps string, every int) (all []float64) {
	for e := int(math.Floor(math.Log10(low))); e <= int(math.Ceil(math.Log10(high))); e++ {
		if e%every != 0 {
			continue
		}
		for _, s := range steps {
			v, err := strconv.ParseFloat(fmt.Sprintf("%ce%d", s, e), 64)
			if err == nil && v >= low*0.999 && v <= high*1.001 {
				all = append(all, v)
			}
		}
	}
	return all
}

func areApart(ticks []float64, apart float64) bool {
	for i, v := range ticks {
		if i > 0 && math.Log(v/ticks[i-1]) < apart {
			return false
		}
	}
	return true
}

// percentileAxis is the axis of a spectrum, up to the quantile most; a quantile is at 1/(1−q).
func percentileAxis(most float64) Axis {
	high := max(percentileX(most), 2)
	a := Axis{Low: 1, High: high * 1.05, Log: true, Label: "percentile", Unit: "percentile"}
	for _, v := range []float64{1, 2, 4, 10, 20, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9} {
		if v <= high*1.001 {
			a.Ticks = append(a.Ticks, Tick{v, format.Percentile(1 - 1/v)[1:]})
		}
	}
	return a
}

func percentileX(q float64) float64 { return 1 / (1 - q) }

// ratioAxis is a logarithmic axis of ratios around 1.
func ratioAxis(low, high float64, most int, label, unit string) Axis {
	return Axis{Low: low, High: high, Log: true, Label: label, Unit: unit,
		Ticks: ticksIn(unit, ratioTicks(low, high, most))}
}

// ratioTicks are round factors from low to high, with 1 among them.
func ratioTicks(low, high float64, most int) (ticks []float64) {
	if high/low < 10 {
		for _, step := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1} {
			ticks = nil
			for k := math.Ceil((low - 1) / step); k <= math.Floor((high-1)/step); k++ {
				if 1+k*step > 0 {
					ticks = append(ticks, math.Round(1e4*(1+k*step))/1e4)
				}
			}
			if len(ticks) <= most {
				return ticks
			}
		}
	}
	for _, base := range []float64{2, 4, 10, 100, 1000} {
		ticks = nil
		first := math.Ceil(math.Log(low) / math.Log(base))
		for k := first; math.Pow(base, k) <= high; k++ {
			ticks = append(ticks, math.Pow(base, k))
		}
		if len(ticks) <= most {
			return ticks
		}
	}
	return []float64{low, 1, high}
}

// changeText is a ratio as a change.
func changeText(v float64) string {
	switch percent := 100 * (v - 1); {
	case v >= 10:
		return "×" + format.Amount("ratio", v)
	case math.Abs(percent) < 1e-9:
		return "0"
	case percent > 0:
		return "+" + format.SignificantDigits(percent, 3) + " %"
	default:
		return "−" + format.SignificantDigits(-percent, 3) + " %"
	}
}

// tickText is a value in the unit of an axis: one of format.Tick, "change" of a ratio as a change,
// or "percentile" of 1/(1−q).
func tickText(unit string, v float64) string {
	switch unit {
	case "change":
		return changeText(v)
	case "percentile":
		return format.Percentile(1 - 1/v)
	}
	return format.Tick(unit, v)
}

// median is that of some values, of which there is at least one.
func median(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
