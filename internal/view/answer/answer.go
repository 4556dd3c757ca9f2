// Package answer holds what a report says first, as values: findings, cautions, the conditions and
// the next step. Terminal, Markdown and page all render the same Answer, so they cannot disagree.
//
// A report's box is never judged by itself: Answer.Box is the worst of Answer.Cautions, and it is
// Clear only if there is none.
//
// Package labanswer makes the Answer of an experiment, package report that of a run.
//
//	answer.go     Answer, Caution, Finding: the values, and which caution is worst
//	markdown.go   the same as a document, for all formats
package answer

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// An Answer is what a report says first. All texts are plain, on one line each.
type Answer struct {
	Sentence   string    `json:"sentence"`            // what was found, by how much, how sure
	Uncovered  string    `json:"uncovered,omitempty"` // variants that Groups are not about; "": none
	Box        Severity  `json:"box"`                 // the worst of Cautions
	BoxText    string    `json:"box_text,omitempty"`  // of the box; on a page "": a caution
	Numbers    []Number  `json:"-"`                   // of a run: rate, latency, errors
	Groups     []Group   `json:"groups,omitempty"`
	NotLoaded  []Finding `json:"not_loaded,omitempty"` // variants that were refused or are missing
	Cautions   []Caution `json:"cautions,omitempty"`   // the worst first
	Load       string    `json:"load,omitempty"`       // of an experiment: "load: closed, 2 users"
	Conditions []string  `json:"conditions,omitempty"` // what else it holds for, a few words each
	Next       Step      `json:"next"`

	Unreliable string `json:"-"` // why it must not be relied on; the sentence begins with it
	Withheld   string `json:"-"` // the kind of the caution that Unreliable is of
}

// A Severity is how much speaks against an answer.
type Severity string

// The severities, from good to bad.
const (
	Clear Severity = "clear" // no caution applies
	Note  Severity = "note"  // it limits what the answer covers, and takes nothing back
	Doubt Severity = "doubt" // the answer, or a part of it, may be wrong
	Bad   Severity = "bad"   // the answer must not be relied on, or what was asked for was missed
)

// severities are all of them, from good to bad.
var severities = []Severity{Clear, Note, Doubt, Bad}

// rank is the place of a severity, from good to bad.
func (s Severity) rank() int { return slices.Index(severities, s) }

// A Caution is one reason not to take an answer at its word. Each kind appears at most once for a
// scope.
type Caution struct {
	Kind     string   `json:"kind"` // one of the constants below
	Severity Severity `json:"severity"`
	Says     string   `json:"says"`              // a sentence without its full stop
	Scope    string   `json:"scope,omitempty"`   // what it is about: "throughput at c100"; "": all
	Reasons  []string `json:"reasons,omitempty"` // details
	Remedy   string   `json:"remedy,omitempty"`  // what can be done about it
	Way      Way      `json:"-"`                 // in which that is done
	Said     bool     `json:"-"`                 // the answer's sentence says it

	Variant, Level string `json:"-"` // of Spoiled: whose server it was, and where
}

// A Way is which command a remedy takes.
type Way int

// The ways.
const (
	ChangeAndRun Way = iota // the experiment's file, or how it is run
	RunAgain                // as it is
	ReadTables
)

// Text is the caution in one line, without its remedy.
func (c Caution) Text() string {
	text := c.Says
	if c.Scope != "" {
		text += " (" + c.Scope + ")"
	}
	if len(c.Reasons) > 0 {
		text += ": " + strings.Join(c.Reasons, "; ")
	}
	return text
}

// The kinds of cautions.
const (
	Incomplete  = "incomplete"   // it was interrupted, or something could not be stored
	GateMissed  = "gate"         // the gate found a regression, or is undecided
	GatePassed  = "gate-passed"  // the gate passed, although the baseline differs from itself
	Objectives  = "objective"    // an objective was missed
	SelfDiffers = "self"         // the baseline differs from itself
	QuickRun    = "quick"        // --quick
	FewRounds   = "few-rounds"   // too few for any interval
	Unloaded    = "not-loaded"   // variants that were not tested
	FailedTrial = "failed"       // trials that measured nothing
	GradeF      = "grade-f"      // trials that are unreliable
	Spoiled     = "spoiled"      // trials that a server itself spoiled
	AtLimit     = "generator"    // the generator was at its limit
	Disturbed   = "disturbed"    // something else held the generator up
	OtherLoad   = "other-load"   // the load was not the requested one, as when it was sent late
	MissingPair = "missing"      // rounds in which a variant measured nothing
	AboveNoise  = "noise"        // the machine's own noise is larger than the effect
	Correction  = "correction"   // one comparison alone would differ, all together do not
	Planned     = "planned"      // fewer trials ran than were planned
	Repeated    = "repeated"     // trials that were disturbed, and repeated well
	NotCompared = "not-compared" // there is no comparison

	NothingDecided = "undecided" // each comparison is undecided, and no other caution says why
	Open           = "open"      // likewise, of some comparisons
	Forecast       = "forecast"  // of Finding.Because alone: more rounds would decide

	AddedRounds = "added"        // rounds were added after the verdicts had been seen
	OneRun      = "one-run"      // no interval
	Conditions  = "conditions"   // of the machine, the order or the servers
	Failing     = "failing"      // requests failed
	Unanswered  = "unanswered"   // nothing was measured
	Generator   = "self-verdict" // another doubt about the generator
	Warning     = "warning"      // of a run
)

// A Verdict is what may be said of a variant.
type Verdict string

// The verdicts. Each row of a report has one.
const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Same      Verdict = "the same"
	Undecided Verdict = "undecided"
	Refused   Verdict = "not tested" // refused, or missing
	NotValid  Verdict = "not valid"  // withheld: the generator was at its limit

	Noise         Verdict = "noise"               // of the baseline against itself
	SelfDiffering Verdict = "differs from itself" // likewise
)

// ButUnreliable stands behind the words of a verdict that must not be relied on.
const ButUnreliable = "but unreliable"

// A Group is the findings for one measure at one level.
type Group struct {
	Metric   string    `json:"metric"`
	Level    string    `json:"level,omitempty"`
	Name     string    `json:"name"`    // "CPU per request at c100"
	Against  string    `json:"against"` // "default, 22.4 µs"
	Change   string    `json:"change"`  // of what changes are: not of the medians beside them
	Better   string    `json:"better"`  // "less is better"
	Margin   float64   `json:"margin"`  // share from which a difference matters
	Rule     string    `json:"rule"`    // of its plot: what is shaded, and by what a verdict goes
	Noise    string    `json:"noise,omitempty"`
	Findings []Finding `json:"findings"`        // by effect, the best first
	Notes    []string  `json:"notes,omitempty"` // what the findings say together, a sentence each
}

// A Finding is one variant compared with its baseline.
type Finding struct {
	Variant    string  `json:"variant"`
	Baseline   string  `json:"baseline,omitempty"`
	Label      string  `json:"label,omitempty"` // of its row, if that is not Variant
	Verdict    Verdict `json:"verdict"`
	Value      string  `json:"value,omitempty"`      // the median: "14.6 µs"
	Medians    string  `json:"medians,omitempty"`    // of baseline and variant: "22.4 → 14.6 µs"
	Effect     string  `json:"effect,omitempty"`     // "−35 %"
	Interval   string  `json:"interval,omitempty"`   // "[−45, −15]"; "": too few rounds
	Why        string  `json:"why,omitempty"`        // see Words
	Because    string  `json:"-"`                    // the kind of Why, as AboveNoise
	Unreliable string  `json:"unreliable,omitempty"` // ButUnreliable; "": the verdict can be relied on
	Remedy     string  `json:"remedy,omitempty"`
	Comparison int     `json:"comparison"` // in Record.Verdicts; -1: none

	Interaction bool `json:"-"` // of two factors

	Ratio float64 `json:"-"`
	More  int     `json:"-"` // rounds that would decide, if the estimate holds; 0: unknown
}

// A Number is one of a run's, as it is printed.
type Number struct{ Name, Text string }

// A Step is what to do next.
type Step struct {
	Says    string `json:"says"`
	Command string `json:"command,omitempty"` // "": nothing needs to be run
	Short   string `json:"-"`                 // says it without a command; "": it takes the command
	Form    string `json:"form,omitempty"`    // a dashboard's page whose form is filled in for it
	InTurns bool   `json:"-"`                 // the command is the dyno vs that repeats a comparison

	Rate float64 `json:"-"` // requests/s to load with, which the generator reaches; 0: any, or none

	Remedy string `json:"-"` // of a caution, which Says says with more; "": none, or Says is one
}

// Row is what the finding's row is called: the variant, and its baseline where rows differ in it.
func (f Finding) Row() string { return cmp.Or(f.Label, f.Variant) }

// Words are the verdict as a row shows it: with within what a variant is the same, with what keeps
// a difference from being one that matters for sure, and with whether it must not be relied on. Why
// anything is undecided stands beside.
func (f Finding) Words() string {
	words := string(f.Verdict)
	if f.Why != "" && (f.IsDecided() || f.Verdict == Same) {
		words += ", " + f.Why
	}
	if f.Unreliable != "" {
		words += ", " + f.Unreliable
	}
	return words
}

// IsManyUnreliable reports whether so many trials are unreliable that more of them would not help.
func (c Caution) IsManyUnreliable() bool { return c.Kind == GradeF && c.Severity == Bad }

// IsSettled reports whether a finding says all that was asked: its dot is filled.
func (f Finding) IsSettled() bool {
	return f.Unreliable == "" && (f.Verdict == Same || f.IsDecided() && f.Why == "")
}

// IsDecided reports whether a finding says that the variant is better or worse.
func (f Finding) IsDecided() bool { return f.Verdict == Better || f.Verdict == Worse }

// Shown are the places of those findings that a table of so many rows has; 0 is no limit. The
// largest differences come first, the worse before the better, so that none of them is left out for
// one that shows no difference. The places rise.
func Shown(all []Finding, most int) (places []int) {
	var better, worse, others []int
	for i, f := range all {
		switch f.Verdict {
		case Better:
			better = append(better, i)
		case Worse:
			worse = append(worse, i)
		default:
			others = append(others, i)
		}
	}
	bySize := func(x, y int) int { return cmp.Compare(all[y].Size(), all[x].Size()) }
	slices.SortStableFunc(better, bySize)
	slices.SortStableFunc(worse, bySize)
	for i := range max(len(better), len(worse)) {
		if i < len(worse) {
			places = append(places, worse[i])
		}
		if i < len(better) {
			places = append(places, better[i])
		}
	}
	if places = append(places, others...); most > 0 {
		places = places[:min(len(places), most)]
	}
	slices.Sort(places)
	return places
}

// Size is how far a finding is from no difference.
func (f Finding) Size() float64 {
	if !(f.Ratio > 0) {
		return 0
	}
	return math.Abs(math.Log(f.Ratio))
}

// Judge sorts the cautions, the worst first, and sets the box from them.
func (a *Answer) Judge(fine string) {
	slices.SortStableFunc(a.Cautions, func(x, y Caution) int {
		return y.Severity.rank() - x.Severity.rank()
	})
	a.Box, a.BoxText = Clear, fine
	if len(a.Cautions) == 0 {
		return
	}
	a.Box, a.BoxText = a.Cautions[0].Severity, a.Cautions[0].Says
}

// Does reports whether the step is a remedy, or says it with more.
func (s Step) Does(remedy string) bool {
	return remedy == s.Says || remedy == s.Short || remedy == s.Remedy
}

// SayOnce takes from the cautions the remedies that the next step says.
func (a *Answer) SayOnce() {
	for i := range a.Cautions {
		if a.Next.Does(a.Cautions[i].Remedy) {
			a.Cautions[i].Remedy = ""
		}
	}
}

// IsBad reports whether a caution says that the answer must not be relied on.
func (a *Answer) IsBad() bool { return a.Box == Bad }

// Unsaid are the cautions that the sentence does not say.
func (a *Answer) Unsaid() (all []Caution) {
	for _, c := range a.Cautions {
		if !c.Said {
			all = append(all, c)
		}
	}
	return all
}

// OnPage is the answer as a page has it, which shows each caution once: the box says the first of
// those that the sentence does not say.
func (a Answer) OnPage() Answer {
	all := len(a.Cautions)
	switch a.Cautions = a.Unsaid(); {
	case len(a.Cautions) > 0:
		a.BoxText = ""
	case all > 0:
		a.BoxText = "Nothing else speaks against it"
	}
	return a
}

// Has reports whether there is a caution of that kind.
func (a *Answer) Has(kind string) bool {
	return slices.ContainsFunc(a.Cautions, func(c Caution) bool { return c.Kind == kind })
}
