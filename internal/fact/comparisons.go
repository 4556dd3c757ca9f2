package fact

// RunsInSequence says that every run of a group began before the first of another.
type RunsInSequence struct {
	First string `json:"first"` // group
	Then  string `json:"then"`
}

// Kind is the kind's name.
func (RunsInSequence) Kind() Kind { return "runs-in-sequence" }

// PairsIgnored says that two groups are of one experiment, and that their pairs do not count beside
// runs of others.
type PairsIgnored struct {
	First string `json:"first"` // group
	Other string `json:"other"`
}

// Kind is the kind's name.
func (PairsIgnored) Kind() Kind { return "pairs-ignored" }

// TooFewRuns says that nothing that is compared can be significant.
type TooFewRuns struct {
	Compared int     `json:"compared"`
	LeastP   float64 `json:"least_p"`
	Needs    int     `json:"needs"` // of each group
}

// Kind is the kind's name.
func (TooFewRuns) Kind() Kind { return "too-few-runs" }

// GeneratorDoubted says in how many runs of a group the generator was doubted, and the most
// frequent reason.
type GeneratorDoubted struct {
	Verdict string `json:"verdict"`           // the worst: one of result's
	Runs    int    `json:"runs"`              // that have it
	Suspect int    `json:"suspect,omitempty"` // others that have one less bad
	Of      int    `json:"of"`
	Why     string `json:"why"`
	WhyRuns int    `json:"why_runs"`             // that have this reason
	OfOne   bool   `json:"why_of_one,omitempty"` // Why has the amounts of one run, and no ranges
}

// Kind is the kind's name.
func (GeneratorDoubted) Kind() Kind { return "generator-doubted" }

// GroupIncomplete says that the experiment of a group did not run to its end.
type GroupIncomplete struct{}

// Kind is the kind's name.
func (GroupIncomplete) Kind() Kind { return "group-incomplete" }

// GroupQuick says that the experiment of a group was run with few rounds and short windows.
type GroupQuick struct{}

// Kind is the kind's name.
func (GroupQuick) Kind() Kind { return "group-quick" }

// NotInGroup says that a group has nothing to compare with a sample, which is the fact's scope.
type NotInGroup struct {
	Group string `json:"group"`
}

// Kind is the kind's name.
func (NotInGroup) Kind() Kind { return "not-in-group" }

// MetricLacking says that too few runs of a sample, which is the fact's scope, or of the one that
// it is compared with, have a metric.
type MetricLacking struct {
	Metric      string `json:"metric"`
	Runs        int    `json:"runs"`
	Against     Scope  `json:"against"`
	AgainstRuns int    `json:"against_runs"`
	InRounds    bool   `json:"in_rounds,omitempty"` // both have to have it in one round
	Needs       int64  `json:"needs,omitempty"`     // values of a percentile; some runs have fewer
}

// Kind is the kind's name.
func (MetricLacking) Kind() Kind { return "metric-lacking" }
