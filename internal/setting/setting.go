// Package setting is the one table of what people set of a load. A row says everything about a
// setting: its flag, its key in an experiment's file, the field of the plan and of the library that
// it is, its field in the forms of the dashboard, and how its text is read and written. Flags,
// help, completions, manual pages, forms, schemas, the command that repeats a run, and the names in
// messages are made from it. So a new setting is a row here, besides what the engine does with it.
//
// Its default stands in loadplan.DefaultPlan, and the table has none. Its range is judged by
// Plan.Check. A row repeats that of a number, so that a schema has it and an experiment's file is
// refused at the place of the value; a test holds the two together.
//
//	access.go       how a setting is read from text and written in a plan
//	clashes.go      settings that exclude each other, and those that a Hurl file or a script leaves
//	                no room for
//	connections.go  rows: connections and TLS
//	load.go         rows: how much load there is, when, and on which threads
//	names.go        what settings are called: by flags, keys, fields and labels
//	output.go       rows: what is watched and reported, which is not of the plan
//	own.go          rows that dyno find and dyno vs have of their own
//	remedies.go     what to do about settings, beyond raising, lowering or giving them
//	requests.go     rows: what is sent, and what responses must be
//	schema.go       what the schemas of results and experiments say of settings
//	setting.go      a row and the table
//	shown.go        what a plan has that differs from the default
//	streams.go      rows: answers that are streams of events
//	units.go        texts of numbers, durations and rates
//	values.go       texts of other values: CPUs (0,2-3), switches, seeds, stages
package setting

import (
	"slices"
	"strings"
	"sync"

	"dyno/internal/engine/loadplan"
)

// A Setting is a row of the table. What a zero field means is said at the field; a setting that
// lacks a door (a flag, a key, a form, a field of the library) cannot be set there.
type Setting struct {
	Name  string // its flag without dashes, and its name in facts; "": it has none (see Called)
	Short string // its letter as a flag; "": none
	Value string // what its value is called in help; "": it is a switch
	Group string // the heading under which help lists it
	On    Verbs  // the verbs that have the flag
	// Does is the help. {default} stands for the default, which the plan has, and {again} says that
	// the flag may be repeated.
	Does  string
	Finds string // the help of dyno find; "": Does

	Values      []string // that it can have, or examples of them if Free; for completions and forms
	Free        bool
	Least, Most int64 // of a number that is given, as Plan.Check has them; 0, 0: that alone knows
	Secret      bool  // its value is not repeated in messages
	Varies      bool  // its default depends on the machine

	Access        // how it is read and written; zero: whoever reads the command line does that
	Field  string // of the plan, as Flaws name it, or several; "": none
	Called string // in messages, if it has no flag
	// Says is what a description of the load says of it, after the number of connections; "": nothing.
	Says func(p *loadplan.Plan) string

	Key     string   // in an experiment's file, as "level.pipeline"; "": it is in none
	Library string   // the field of dyno.Load, or several; "": none
	Form    *Form    // its field in the form of a load; nil: there is none
	Compare *Form    // likewise in the form that compares servers
	Schema  KeyWords // what the schema of experiments says of Key
	Stored  string   // what the schema of results says of Field; {default} stands for the default
	// StoredType is the type of Field in that schema, if it is more exact than that of the plan's.
	StoredType string
}

// Verbs are those that have a flag.
type Verbs uint8

// The verbs whose flags are in the table.
const (
	Run Verbs = 1 << iota
	Find
	Vs
	All = Run | Find | Vs
)

// A Form is a field of a form.
type Form struct {
	Hint
	Does string // what it does, if that is not the help of the flag
}

// A Hint helps to fill in a field.
type Hint struct {
	Label   string   `json:"label,omitempty"`   // what the field is called, if not by its name
	Unit    string   `json:"unit,omitempty"`    // of a number without one
	Default string   `json:"default,omitempty"` // what an empty field means
	Choices []string `json:"choices,omitempty"` // all that are allowed, unless Free
	Free    bool     `json:"free,omitempty"`    // the choices are examples
}

// KeyWords are what the schema of experiments says of a key.
type KeyWords struct {
	Type string // its type in JSON schema
	Does string // its description; {default} stands for the default
}

// Table is all settings of a load, in the order in which help lists them.
var Table = slices.Concat(load, requestRows, streamRows, connections, tlsRows, watching, fleetRows,
	output, unset)

// A Group is settings that help shows together.
type Group struct {
	Title    string
	Settings []*Setting
}

// Groups are the settings of a verb, as its help shows them: its own first in each group.
func Groups(v Verbs) (all []Group) {
	for _, title := range titles {
		g := Group{Title: title}
		for _, rows := range [][]Setting{own, Table} {
			for i := range rows {
				if s := &rows[i]; s.On&v != 0 && s.headingOf(v) == title {
					g.Settings = append(g.Settings, s)
				}
			}
		}
		if len(g.Settings) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// headingOf is the heading of a setting in the help of a verb. dyno vs has few of connections.
func (s *Setting) headingOf(v Verbs) string {
	if v == Vs && s.Group == connectionGroup {
		return loadGroup
	}
	return s.Group
}

// Of is a verb's setting of a name; nil if it has none.
func Of(v Verbs, name string) *Setting {
	for _, g := range Groups(v) {
		for _, s := range g.Settings {
			if s.Name == name {
				return s
			}
		}
	}
	return nil
}

// Compared are the settings in the form that compares servers: first those of the load.
func Compared() (all []*Setting) {
	for _, rows := range [][]Setting{Table, own} {
		for i := range rows {
			if rows[i].Compare != nil {
				all = append(all, &rows[i])
			}
		}
	}
	return all
}

// Named is the setting of a name; nil if there is none.
func Named(name string) *Setting {
	return find(func(s *Setting) bool { return s.Name == name && name != "" })
}

func find(is func(*Setting) bool) *Setting {
	for i := range Table {
		if is(&Table[i]) {
			return &Table[i]
		}
	}
	return nil
}

// Help is what the flag does, in lines, for a verb. Again in it stands for that it may be repeated.
func (s *Setting) Help(v Verbs) string {
	if v == Find && s.Finds != "" {
		return s.Finds
	}
	return s.withDefault(s.Does)
}

// Repeats reports whether it may be given more than once.
func (s *Setting) Repeats() bool { return s.Value == "" || strings.Contains(s.Does, Again) }

// withDefault is a text in which {default} stands for the default.
func (s *Setting) withDefault(text string) string {
	if !strings.Contains(text, defaultHole) {
		return text
	}
	return strings.ReplaceAll(text, defaultHole, s.Default())
}

const defaultHole = "{default}"

// Again in the help of a flag says that it may be repeated.
const Again = "{again}"

// Default is the value of a plan for which the setting is not given, as its flag has it; "" if
// there is none that could be given.
func (s *Setting) Default() string {
	if s.Text == nil || s.Varies {
		return ""
	}
	p := defaultPlan()
	return strings.Join(s.Text(&p), ",")
}

// defaultPlan is the plan of which defaults are shown. It is made once, because it asks the machine
// how many CPUs there are, and help, flags and forms have the defaults of some thirty settings.
var defaultPlan = sync.OnceValue(loadplan.DefaultPlan)

// Hints are what helps to fill in a field of a form: what it says, and the values and the default
// of the setting. A number has the field's unit.
func (s *Setting) Hints(f *Form) Hint {
	h := f.Hint
	if h.Choices == nil {
		h.Choices = s.Values
	}
	h.Free = s.Free && len(h.Choices) > 0
	if h.Default == "" {
		h.Default = strings.TrimSuffix(s.Default(), f.Unit)
	}
	return h
}

// FormHelp is what a field of a form does, in one line.
func (s *Setting) FormHelp(f *Form) string {
	if f.Does != "" {
		return f.Does
	}
	does := strings.ReplaceAll(s.Does, "; "+Again, "") // a field can be added
	return strings.ReplaceAll(s.withDefault(does), "\n", " ")
}
