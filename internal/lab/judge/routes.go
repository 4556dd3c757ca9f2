package judge

import (
	"dyno/internal/lab"
	"dyno/internal/stats"
)

// A RouteCell is the median of a measure of streams or of goodput (lab.RouteMeasures) that a route
// has in the runs of a sample.
type RouteCell struct {
	Route string
	lab.Cell
}

// RouteCells are those of all samples, route by route in the order of the results.
func (u *Unpaired) RouteCells() (all []RouteCell) {
	var routes []string
	seen := map[string]bool{}
	for _, g := range u.Groups {
		for _, r := range g.Results() {
			for _, x := range r.Routes {
				if !seen[x.Name] {
					seen[x.Name], routes = true, append(routes, x.Name)
				}
			}
		}
	}
	for _, route := range routes {
		for _, m := range lab.RouteMeasures {
			for _, g := range u.Groups {
				for _, s := range g.Samples {
					all = s.addRouteCell(all, route, m)
				}
			}
		}
	}
	return all
}

// addRouteCell adds the median of a measure of a route, if a run has it.
func (s *Sample) addRouteCell(all []RouteCell, route string, m lab.RouteMeasure) []RouteCell {
	value := func(t *lab.Trial) (float64, bool) {
		if t.Result == nil {
			return 0, false
		}
		return m.Value(t.Result, route)
	}
	var values []float64
	for _, t := range s.Trials {
		if v, ok := value(t); ok {
			values = append(values, v)
		}
	}
	median, err := stats.MedianInterval(values, 0.95)
	if err != nil {
		return all // of no value
	}
	over := isMedianHigher(s.Trials, value, func(t *lab.Trial) bool {
		return m.IsOver(t.Result, route)
	})
	return append(all, RouteCell{route, lab.Cell{Arm: s.Name, Level: s.Level, Metric: m.Name,
		Unit: m.Unit, Median: median, Trials: len(values), Over: over}})
}
