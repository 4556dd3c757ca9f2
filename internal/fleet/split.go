package fleet

import (
	"fmt"
	"strings"

	"dyno/internal/engine/loadplan"
)

// splitPlan gives every member its part of the plan.
func (r *fleetRun) splitPlan() error {
	var weights []int
	for _, m := range r.members {
		weights = append(weights, m.splitWeight())
	}
	var none, few []string
	for i, part := range r.plan.SplitBy(scaleWeights(weights)) {
		part.CPUs = r.plan.CPUs // of each machine
		m := r.members[i]
		m.part = part
		switch {
		case part.Connections == 0:
			none = append(none, m.name)
		case r.plan.Requested > 0 && part.Requested < int64(part.Connections): // 0 would be no limit
			few = append(few, m.name)
		}
	}
	if len(none) > 0 {
		return loadplan.Flaw{Setting: "Connections", Problem: fmt.Sprintf("of %d none is left for %s; "+
			"give more, or use fewer agents", r.plan.Connections, strings.Join(none, ", "))}
	}
	if len(few) > 0 {
		return loadplan.Flaw{Setting: "Requested",
			Problem: fmt.Sprintf("of %d fewer than its connections "+
				"are left for %s; give more, or fewer {Connections}", r.plan.Requested,
				strings.Join(few, ", "))}
	}
	return nil
}

// scaleWeights scales weights down so that their sum fits a round of arrivals, loadplan.MaxWeight.
func scaleWeights(weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		if sum > loadplan.MaxWeight {
			weights[i] = max(weights[i]*(loadplan.MaxWeight/2)/sum, 1)
		}
	}
	return weights
}
