package fact

// The kinds below are mistakes in what somebody wrote. Package say makes errors of them.

// Wanted says what should stand in the place of something else.
type Wanted struct {
	What Want   `json:"what"`
	Got  string `json:"got,omitempty"`  // what stands there; "": nothing of its kind
	More bool   `json:"more,omitempty"` // than all that there can be
}

// A Want is what is wanted.
type Want string

// What is wanted of an objective.
const (
	AnObjective  Want = "objective"
	ADuration    Want = "duration"
	ANumber      Want = "number"
	APercentage  Want = "percentage"
	EitherNumber Want = "number-or-percentage"
)

// Kind is the kind's name.
func (Wanted) Kind() Kind { return "wanted" }

// NotMeasured says that a run does not measure what an objective is of.
type NotMeasured struct {
	Lacks     Lack     `json:"lacks"`
	Name      string   `json:"name,omitempty"`      // of the check, or of the metric
	Statistic string   `json:"statistic,omitempty"` // of the histogram, if there is none such
	Meant     string   `json:"meant,omitempty"`     // a name there is that is nearly that
	Has       []string `json:"has,omitempty"`       // the names there are
}

// A Lack is what a run does not measure.
type Lack string

// What a run does not measure.
const (
	NoChecks    Lack = "checks"
	NoCheck     Lack = "check" // of the name
	NoMetrics   Lack = "metrics"
	NoMetric    Lack = "metric" // of the name
	NoStatistic Lack = "statistic"
	NotOne      Lack = "which" // of its statistics is meant
)

// Kind is the kind's name.
func (NotMeasured) Kind() Kind { return "not-measured" }
