package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// checkReferences checks names in one part of the file that refer to another part.
func (c *checker) checkReferences() {
	levels := make([]string, len(c.Levels))
	for i, l := range c.Levels {
		levels[i] = l.Name
	}
	named := func(path, name, what string, among []string) {
		c.addFaultIf(c.isGiven(path) && !slices.Contains(among, name), path, "there is no %s %q%s",
			what, name, orAllowed(name, among))
	}
	for i, name := range c.Design.Quick.Levels {
		named(fmt.Sprintf("design.quick.levels[%d]", i), name, "level", levels)
	}
	var variants []string
	for _, v := range Expand(c.Experiment) {
		for _, name := range []string{v.Of, v.Name} {
			if !slices.Contains(variants, name) {
				variants = append(variants, name)
			}
		}
	}
	if len(variants) == 0 {
		return
	}
	for i, name := range c.Design.Quick.Without {
		c.checkWithout(fmt.Sprintf("design.quick.without[%d]", i), name)
	}
	named("design.baseline", c.Design.Baseline, "variant", variants)
	named("fairness.reference", c.Fairness.Reference, "variant", variants)
	if c.Gate != nil {
		named("gate.baseline", c.Gate.Baseline, "variant", variants)
		c.addFaultIf(len(c.Gate.Metrics) == 0, "gate.metrics", "the list is empty; then nothing is gated")
		findRepeated(c, "gate.metrics", c.Gate.Metrics)
		for i, m := range c.Gate.Metrics {
			judged := c.hasFault("design.metrics") || slices.Contains(c.Design.Metrics, m) ||
				slices.ContainsFunc(c.Levels, func(l Level) bool {
					return l.IsSearch() && m == CapacityOf(l.Axis)
				})
			c.addFaultIf(!judged, fmt.Sprintf("gate.metrics[%d]", i),
				"%s is not one of design.metrics, %s", m,
				strings.Join(metricNames(c.Design.Metrics), ", "))
		}
	}
	if c.Published == nil {
		return
	}
	for i, f := range c.Published.Figures {
		at := fmt.Sprintf("published.figures[%d]", i)
		named(at+".variant", f.Variant, "variant", variants)
		named(at+".level", f.Level, "level", levels)
		c.checkFigure(at, f)
	}
}

// checkWithout checks a variant that --quick leaves out. It is given by its name in the file, and
// stands for all values of its factors.
func (c *checker) checkWithout(at, name string) {
	var variants []string
	for _, v := range c.Variants {
		variants = append(variants, v.Name)
	}
	c.addFaultIf(!slices.Contains(variants, name), at, "there is no variant %q%s",
		name, orAllowed(name, variants))
	needed := []string{c.Design.Baseline, c.Fairness.Reference}
	if c.Gate != nil {
		needed = append(needed, c.Gate.Baseline)
	}
	for _, v := range Expand(c.Experiment) {
		c.addFaultIf(v.Of == name && (slices.Contains(needed, v.Of) || slices.Contains(needed,
			v.Name)), at,
			"others are compared with %s; it cannot be left out", name)
	}
}

// checkFigure checks a published number.
func (c *checker) checkFigure(at string, f Figure) {
	function, isShare := strings.CutPrefix(f.Metric, "share:")
	switch {
	case !c.isGiven(at + ".metric"):
	case isShare:
		c.addFaultIf(c.Profile == nil || !slices.Contains(c.Profile.Functions, function), at+".metric",
			"%q is not one of profile.functions", function)
	case !slices.Contains(Metrics, Metric(f.Metric)):
		allowed := append(metricNames(Metrics), "share:FUNCTION")
		c.addFaultIf(true, at+".metric", "%v", unknownMetric(f.Metric, allowed...))
	}
	c.addFaultIf((f.Value == nil) == (f.Failed == ""), at,
		"give either the value that was published, or how it failed")
	c.addFaultIf(f.Value != nil && f.Unit == "", at, "unit is missing; a number alone says nothing")
}
