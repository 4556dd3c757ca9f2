package loadplan

import (
	"cmp"
	"errors"
	"reflect"
	"strings"
)

// A Flaw is one thing wrong with a plan: which setting, what it was, and what is allowed. Setting
// is a field of Plan or TLS, or several, separated by ", ". In Problem, other fields stand in
// braces: "lower {Threads}". Whoever shows a Flaw to users who write other
// names than these has it Named.
type Flaw struct{ Setting, Problem string }

// Error names the setting first, and fields as they are.
func (f Flaw) Error() string {
	f = f.Named(func(field string) string { return field })
	return f.Setting + ": " + f.Problem
}

// Check is the plan's Flaws, joined; nil if it has none.
func (p *Plan) Check() error {
	var all []error
	for _, f := range p.Flaws() {
		all = append(all, f)
	}
	return errors.Join(all...)
}

// SettingFlaws are those of a plan's settings, whatever its server and its requests will be.
func (p Plan) SettingFlaws() []Flaw {
	p.Target = Target{Host: "unknown", TLS: p.OnlyHTTP3()}
	p.Requests = []Request{{Weight: 1}}
	return p.Flaws()
}

// Fields are the names that Flaws can have: URL, and the fields of Plan, TLS and Stream.
var Fields = fieldsOf(reflect.TypeFor[Plan](), reflect.TypeFor[TLS](), reflect.TypeFor[Stream]())

func fieldsOf(types ...reflect.Type) map[string]bool {
	all := map[string]bool{"URL": true}
	for _, t := range types {
		for _, f := range reflect.VisibleFields(t) {
			all[f.Name] = true
		}
	}
	return all
}

// Named returns the flaw with other names for the fields. A field whose name is "" is left out of
// Setting, unless none is left, and keeps its name in Problem.
func (f Flaw) Named(name func(field string) string) Flaw {
	var names []string
	for field := range strings.SplitSeq(f.Setting, ", ") {
		if n := name(field); n != "" {
			names = append(names, n)
		}
	}
	if len(names) > 0 {
		f.Setting = strings.Join(names, ", ")
	}
	f.Problem = withNames(f.Problem, name)
	return f
}

// withNames is a text with other names for the fields in braces.
func withNames(text string, name func(field string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		field, after, closed := strings.Cut(rest, "}")
		if closed && Fields[field] {
			b.WriteString(cmp.Or(name(field), field))
			text = after
			continue
		}
		b.WriteByte('{')
		text = rest
	}
}
