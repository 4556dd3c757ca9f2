package quantity

import (
	"encoding/json"
	"errors"
	"strings"

	"dyno/internal/engine/check"
)

// A BodyRule is what a body must be, as --expect-body of dyno run has it: see check.ParseBody.
type BodyRule string

// UnmarshalText reads and checks a rule.
func (r *BodyRule) UnmarshalText(b []byte) error {
	*r = BodyRule(b)
	return parseRule(string(b), check.ParseBody)
}

// A HeaderRule is what a header must be: see check.ParseHeader.
type HeaderRule string

// UnmarshalText reads and checks a rule.
func (r *HeaderRule) UnmarshalText(b []byte) error {
	*r = HeaderRule(b)
	return parseRule(string(b), check.ParseHeader)
}

// errHolesInRule is the fault of a rule that looks like a template.
var errHolesInRule = errors.New("a rule is the same for all answers, and has no {{holes}}; two " +
	"braces are regex:[{]{")

func parseRule(s string, parse func(string) (*check.Check, error)) error {
	if strings.Contains(s, "{{") {
		return errHolesInRule
	}
	_, err := parse(s)
	return err
}

// BodyRules are one rule, or a list of them, which must all hold.
type BodyRules []BodyRule

// UnmarshalText reads one rule.
func (all *BodyRules) UnmarshalText(b []byte) error {
	*all = make(BodyRules, 1)
	return (*all)[0].UnmarshalText(b)
}

// MarshalJSON writes one rule as a text, and several as a list.
func (all BodyRules) MarshalJSON() ([]byte, error) {
	if len(all) == 1 {
		return json.Marshal(string(all[0]))
	}
	return json.Marshal([]BodyRule(all))
}

// HeaderRules are one rule, or a list of them, which must all hold.
type HeaderRules []HeaderRule

// UnmarshalText reads one rule.
func (all *HeaderRules) UnmarshalText(b []byte) error {
	*all = make(HeaderRules, 1)
	return (*all)[0].UnmarshalText(b)
}

// Contains is what the first rule that says so wants a body to contain; "" if none does.
func (all BodyRules) Contains() string { return all.first("contains:") }

// SHA256 is what a body's must be, in hexadecimal, by the first rule that says so; "" if none does.
func (all BodyRules) SHA256() string { return strings.ToLower(all.first("sha256:")) }

func (all BodyRules) first(kind string) string {
	for _, r := range all {
		if rest, is := strings.CutPrefix(string(r), kind); is {
			return rest
		}
	}
	return ""
}

// Texts are the rules as they are written.
func (all BodyRules) Texts() (texts []string) {
	for _, r := range all {
		texts = append(texts, string(r))
	}
	return texts
}

// Texts are the rules as they are written.
func (all HeaderRules) Texts() (texts []string) {
	for _, r := range all {
		texts = append(texts, string(r))
	}
	return texts
}
