// Package fact has what dyno found out, as values: what is so, how bad that is, where, and which
// setting would change it. A fact is no sentence: package say has those.
//
//	arms.go          kinds: variants that cannot be tested, and what is not tried with them
//	comparisons.go   kinds: what a comparison of runs shows
//	experiments.go   kinds: what an experiment shows
//	fact.go          Fact, with its JSON
//	fairness.go      kinds: whether servers answer alike
//	fleet.go         kinds: the agents of a fleet
//	gate.go          kinds: why a gate is not decided
//	generator.go     kinds: the reasons of the generator's self-check
//	kinds.go         all kinds in one table, and the other kinds' arguments
//	losses.go        kinds: requests without a latency
//	mistakes.go      kinds: mistakes in what somebody wrote
//	notices.go       kinds: what a load did otherwise than one would take it to
//	peer.go          who ends or refuses connections: the server, or a proxy before it
//	search.go        kinds: a search for a rate, its probes, points of a sweep; what a measure lacks
//	shortage.go      what an open workload had too little of
//	streams.go       kinds: streams of events
//	texts.go         the texts in a fact, for whoever looks for secrets
//	trials.go        kinds: doubts about a trial of an experiment
package fact

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// A Fact is one thing that a reader must know.
type Fact struct {
	Severity Severity
	Scope    Scope
	Args     Args // its type is the kind: see the table
	Remedies []Remedy
}

// A Kind names what a fact is about. It is the key under which scripts know it.
type Kind string

// A Severity says what a fact means for the figures beside it.
type Severity string

// The severities, from good to bad.
const (
	Note    Severity = "note"    // the figures hold
	Warning Severity = "warning" // the figures hold if one knows this
	Error   Severity = "error"   // the figures do not show what was to be measured
)

var severities = []Severity{Note, Warning, Error}

// IsWorse reports whether a severity is worse than another. One that this dyno does not know is the
// best.
func (s Severity) IsWorse(than Severity) bool {
	return slices.Index(severities, s) > slices.Index(severities, than)
}

// A Scope is what a fact holds for; the zero value: for all of the result.
type Scope struct {
	Parts   []int  `json:"parts,omitempty"`    // of the generators that loaded at once, from 1
	OfParts int    `json:"of_parts,omitempty"` // how many these are; 0: it is not said
	Agent   string `json:"agent,omitempty"`
	Address string `json:"address,omitempty"`
	Route   string `json:"route,omitempty"`
	Group   string `json:"group,omitempty"` // of a comparison: A, B
	Variant string `json:"variant,omitempty"`
	Level   string `json:"level,omitempty"`
	Trial   int    `json:"trial,omitempty"` // from 1
}

// A Remedy is a setting that would change what the fact says.
type Remedy struct {
	Setting string `json:"setting"` // its long name on the command line, or expect_status
	Value   string `json:"value"`   // one of those below, or the value to give
}

// The values of a remedy that are none of the setting's.
const (
	Higher = "higher"
	Lower  = "lower"
	Some   = "some"  // it was not given
	Other  = "other" // than the one that was given
	None   = "none"  // it should not be given
)

// A Mended is an error with settings that would change it.
type Mended struct {
	Err  error
	Mend []Remedy
}

// Error is that of the error.
func (e Mended) Error() string { return e.Err.Error() }

// Unwrap is the error.
func (e Mended) Unwrap() error { return e.Err }

// Remedies are the settings.
func (e Mended) Remedies() []Remedy { return e.Mend }

// RemediesOf are the remedies for an error that has some: it, or one that it wraps, has a method
// that returns them.
func RemediesOf(err error) []Remedy {
	var has interface{ Remedies() []Remedy }
	if errors.As(err, &has) {
		return has.Remedies()
	}
	return nil
}

// Kind is the fact's kind.
func (f Fact) Kind() Kind { return f.Args.Kind() }

// Find is the first fact of a kind.
func Find[T Args](all []Fact) (f Fact, args T, found bool) {
	for _, f := range all {
		if args, is := f.Args.(T); is {
			return f, args, true
		}
	}
	return f, args, false
}

// stored is a Fact's JSON.
type stored struct {
	Kind     Kind            `json:"kind"`
	Severity Severity        `json:"severity"`
	Scope    Scope           `json:"scope,omitzero"`
	Args     json.RawMessage `json:"args"`
	Remedies []Remedy        `json:"remedies,omitempty"`
}

// MarshalJSON writes {kind, severity, scope, args, remedies}.
func (f Fact) MarshalJSON() ([]byte, error) {
	args, err := json.Marshal(f.Args)
	if err != nil {
		return nil, fmt.Errorf("the arguments of the fact %q: %w", f.Kind(), err)
	}
	return json.Marshal(stored{f.Kind(), f.Severity, f.Scope, args, f.Remedies})
}

// UnmarshalJSON reads what MarshalJSON writes. Of a kind that this dyno does not know it keeps the
// arguments as they are (Unknown). Its error names the kind whose arguments are not of their types.
func (f *Fact) UnmarshalJSON(b []byte) error {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	args, err := decodeArgs(s.Kind, s.Args)
	if err != nil {
		return fmt.Errorf("the arguments of the fact %q: %w", s.Kind, err)
	}
	*f = Fact{s.Severity, s.Scope, args, s.Remedies}
	return nil
}
