package loadplan

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// A Flaw is one thing wrong with a plan: which setting, what it was or what is allowed, and what
// can be done, which may be "". Setting is a field of Plan or TLS, or several, separated by ", ".
// In the others, fields stand in braces: "lower {Threads}". Whoever shows a Flaw to users who
// write other names than these has it Named.
type Flaw struct{ Setting, Problem, Mend string }

// Error names the setting first, and fields as they are.
func (f Flaw) Error() string {
	f = f.Named(func(field string) string { return field })
	return f.Setting + ": " + f.Says()
}

// Says is what is wrong, and what can be done.
func (f Flaw) Says() string {
	if f.Mend == "" {
		return f.Problem
	}
	return f.Problem + "; " + f.Mend
}

// A finder finds a flaw if something is bad, and returns it: its Mend can be set before the next
// flaw is found.
type finder func(bad bool, setting, format string, args ...any) *Flaw

// findIn is a finder that adds to all.
func findIn(all *[]Flaw) finder {
	return func(bad bool, setting, format string, args ...any) *Flaw {
		if !bad {
			return new(Flaw)
		}
		*all = append(*all, Flaw{Setting: setting, Problem: fmt.Sprintf(format, args...)})
		return &(*all)[len(*all)-1]
	}
}

// Check is the plan's Flaws, joined; nil if it has none.
func (p *Plan) Check() error { return joined(p.Flaws()) }

func joined(flaws []Flaw) error {
	all := make([]error, len(flaws))
	for i, f := range flaws {
		all[i] = f
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
	f.Problem, f.Mend = withNames(f.Problem, name), withNames(f.Mend, name)
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
