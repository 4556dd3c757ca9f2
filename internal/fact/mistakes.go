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

// InScenario says what is wrong with a Hurl file, or with the names of its values.
type InScenario struct {
	Of    ScenarioFault `json:"of"`
	Name  string        `json:"name,omitempty"`  // of the value, the header or the option; the method
	Value string        `json:"value,omitempty"` // that it has
	Other string        `json:"other,omitempty"` // than that, in the file or on the command line
	Line  int           `json:"line,omitempty"`  // of the other
	Most  int64         `json:"most,omitempty"`
	Has   []string      `json:"has,omitempty"`  // the names there are
	Hint  string        `json:"hint,omitempty"` // about these
}

// A ScenarioFault is what is wrong with a scenario.
type ScenarioFault string

// What is wrong with a scenario.
const (
	NameOfFunction   ScenarioFault = "name-of-function"
	OptionValue      ScenarioFault = "option-value"
	NoLaterRequest   ScenarioFault = "no-later-request"
	NothingFollows   ScenarioFault = "nothing-follows"
	RowsMixed        ScenarioFault = "rows-mixed"
	HeaderForm       ScenarioFault = "header-form"
	SignerNone       ScenarioFault = "signer-none"
	SignerPartial    ScenarioFault = "signer-partial"
	ValueLater       ScenarioFault = "value-later"
	NameUnknown      ScenarioFault = "name-unknown"
	NotBare          ScenarioFault = "not-bare" // number, boolean or null
	FormatUnknown    ScenarioFault = "format-unknown"
	FormatsMixed     ScenarioFault = "formats-mixed"
	NoBodyToStream   ScenarioFault = "no-body-to-stream"
	StreamCompressed ScenarioFault = "stream-compressed"
	NoHost           ScenarioFault = "no-host"
	PathUnknown      ScenarioFault = "path-unknown" // whether it begins with a slash
	NoScheme         ScenarioFault = "no-scheme"
	OtherServer      ScenarioFault = "other-server"
	Fragment         ScenarioFault = "fragment"
	RedirectsMany    ScenarioFault = "redirects-many"
	ValueNoText      ScenarioFault = "value-no-text"  // in the run
	ValueNotBare     ScenarioFault = "value-not-bare" // in the run
	ColumnFunction   ScenarioFault = "column-function"
	ColumnTwice      ScenarioFault = "column-twice"
	VariableFunction ScenarioFault = "variable-function"
	QuoteOpen        ScenarioFault = "quote-open"
)

// Kind is the kind's name.
func (InScenario) Kind() Kind { return "in-scenario" }

// NotInLoad says that hurl has something that no load has.
type NotInLoad struct {
	What HurlPart `json:"what"`
	Name string   `json:"name,omitempty"`
	Late bool     `json:"late,omitempty"` // it has a value that only the run knows
	// OfRun is set if a load has it, but one for all requests.
	OfRun bool `json:"of_run,omitempty"`
}

// A HurlPart is a part of a Hurl file.
type HurlPart string

// Parts of a Hurl file.
const (
	HurlQuery     HurlPart = "query"
	HurlOption    HurlPart = "option"
	EndlessOption HurlPart = "endless-option"
	VariableName  HurlPart = "variable-name"
	HeaderName    HurlPart = "header-name"
	FileName      HurlPart = "file-name"
	CaptureName   HurlPart = "capture-name"
	TwoBodies     HurlPart = "two-bodies"
)

// Kind is the kind's name.
func (NotInLoad) Kind() Kind { return "not-in-load" }
