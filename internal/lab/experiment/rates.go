package experiment

import (
	"cmp"
	"fmt"
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/objective"
)

// Rates are the rates of several levels that differ in nothing else: a list, or auto.
type Rates []Rate

// autoRate, as the only one of Rates, stands for autoShares.
const autoRate Rate = -1

// autoShares are the rates of rates: auto, as shares of the smallest capacity of all variants: from
// nearly idle to a load at which no server queues for want of CPU.
var autoShares = []Share{0.05, 0.2, 0.4, 0.6, 0.8}

// UnmarshalText reads auto, or one rate.
func (r *Rates) UnmarshalText(b []byte) error {
	if *r = (Rates{autoRate}); string(b) == "auto" {
		return nil
	}
	if err := (*r)[0].UnmarshalText(b); err != nil {
		return fmt.Errorf("%q is not auto, and not a list of rates such as [1k, 5k]", b)
	}
	return nil
}

// separateRates makes a level of each rate of a level. Its name is that of the level with the rate,
// or with the share in percent. It returns the place of each level in the file's list.
func (e *Experiment) separateRates() (entries []int) {
	var all []Level
	for i, l := range e.Levels {
		several := []Level{l}
		if l.Rates != nil {
			several = l.oneOfEach()
			e.Design.Quick.Levels = replaceName(e.Design.Quick.Levels, l.Name, several)
		}
		for range several {
			entries = append(entries, i)
		}
		all = append(all, several...)
	}
	e.Levels = all
	return entries
}

func (l Level) oneOfEach() (all []Level) {
	rates, name := *l.Rates, l.Name
	l.Rates = nil
	if len(rates) == 1 && rates[0] == autoRate {
		for _, s := range autoShares {
			l.Share, l.Name = s, shareName(cmp.Or(name, "load"), s)
			all = append(all, l)
		}
		return all
	}
	for _, r := range rates {
		l.Rate, l.Name = r, ""
		if name != "" {
			l.Name = name + "-" + r.String()
		}
		all = append(all, l)
	}
	return all
}

// shareName is the name of a level with a rate of that share of the smallest capacity: load-05.
func shareName(prefix string, s Share) string { return fmt.Sprintf("%s-%02.f", prefix, 100*s) }

// replaceName replaces a level's name in a list by those of the levels that it stands for.
func replaceName(list []string, name string, by []Level) []string {
	i := slices.Index(list, name)
	if i < 0 || name == "" {
		return list
	}
	var names []string
	for _, l := range by {
		names = append(names, l.Name)
	}
	return slices.Replace(slices.Clone(list), i, i+1, names...)
}

// Objectives are what a search has to meet.
func (l Level) Objectives() []objective.Objective {
	all, err := objective.ParseList(string(l.Find))
	if err != nil {
		return nil // the file's faults name it
	}
	return all
}

// checkLoad checks what decides how much a level loads.
func (c *checker) checkLoad(at string, l Level) {
	given := 0
	for _, key := range []string{"rate", "rates", "share", "find"} {
		if c.isGiven(at + "." + key) {
			given++
			c.addFaultIf(given > 1, at+"."+key, "decides the rate, and so does another key; give one "+
				"of rate, rates, share and find")
		}
	}
	c.addFaultIf(c.isGiven(at+".share") && l.Share == 0, at+".share", "0%% of a capacity is no load")
	c.addFaultIf(l.Arrival != "" && !l.IsOpen() && !l.IsSearch(), at+".arrival",
		"there are arrivals only at a rate; give rate")
	c.addFaultIf(c.isGiven(at+".axis") && !l.IsSearch(), at+".axis",
		"it is what a search varies; give find, the objectives that must be met")
	c.addFaultIf(l.SearchesCount() && l.Arrival != "", at+".arrival",
		"%s are searched in a closed workload, which has no arrivals; leave axis or this out", l.Axis)
	c.addFaultIf(l.IsSearch() && l.Requests > 0, at+".requests",
		"a search (find) decides how many requests there are; leave it out")
	c.addFaultIf(l.IsSearch() && c.Workload.Order() == Once, at+".find",
		"the rows of workload.data are each sent once (data_order: once), and a search sends more")
	for _, o := range l.Objectives() {
		c.addFaultIf(!o.HarderWithLoad(), at+".find", "%s is easier to meet with more load; a search "+
			"needs what is harder, such as p99<20ms or good>95%%", o.Expr)
	}
	c.checkMeasured(at+".find", l.Objectives())
}

// checkObjectives checks the objectives of trials.
func (c *checker) checkObjectives() {
	for i := 0; ; i++ {
		at := fmt.Sprintf("objectives[%d]", i)
		if !c.isGiven(at) {
			return
		}
		all, _ := objective.ParseList(c.values[at].Value) // one text may have several
		c.checkMeasured(at, all)
	}
}

// checkMeasured checks that a trial measures what objectives are about.
func (c *checker) checkMeasured(at string, all []objective.Objective) {
	var p loadplan.Plan
	err := c.Workload.SetPlan(&p) // its keys have faults of their own
	for _, o := range all {
		if lacks := o.Lacks(&p); err == nil && lacks != nil {
			c.addFaultIf(true, at, "%s", inFile(*lacks))
		}
	}
}
