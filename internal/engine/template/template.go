// Package template parses texts with holes, such as {"id": "{{uuid}}", "to": "{{email}}"}, in which
// each message has values of its own.
//
// A text is compiled once to the literal text and the places of its holes. To fill a hole is to
// append bytes: nothing is interpreted or allocated under load. Package hole says what a hole is.
//
//	fill.go       under load: appends a hole's value, drawn (uuid, random_int), read from the clock
//	              (now), counted (seq), or a column's; escapes it for JSON
//	parse.go      before it: compiles a text, and finds what is wrong in its holes
//	template.go   the types, and which functions and names there are
package template

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dyno/internal/fault"
	"dyno/internal/nearest"
)

// A Kind is what fills a hole.
type Kind uint8

// The kinds of holes. UUID, Int and Hex are drawn anew in each hole; in all other holes of the same
// name a message has the same value.
const (
	UUID    Kind = iota // a random UUID, version 4 of RFC 9562
	Int                 // a random integer from Low to High
	Hex                 // Low random hexadecimal digits
	Seq                 // the number of the iteration, from 1, unique in the run
	Now                 // when the request was due: RFC 3339, UTC, microseconds
	Column              // a value of the data: of column Index
	Capture             // what was taken from an answer: capture Index
)

// A Source says what fills a hole.
type Source struct {
	Kind      Kind
	Index     int   // of a Column or Capture
	Low, High int64 // of Int; Low is the number of digits of Hex
	JSON      bool  `json:",omitempty"` // a Column's value is written as a string of JSON
}

// A Text is a compiled text.
type Text struct {
	Literal string // without the holes
	Holes   []Hole // in order
}

// A Hole is a place in a Text.
type Hole struct {
	At int // bytes of Literal before it
	Source
}

// Names are what {{name}} can mean, besides a function.
type Names struct {
	Columns   []string          // of the data
	Variables map[string]string // constant in a run, so that they become literal text
	Captures  []string
	// NamesHint says where the names of columns come from, to whom looks for one in vain; may be "".
	NamesHint string
	// Variable is what the setting of variables is called, and More what adds names, in the words of
	// whoever describes the load. They may be "".
	Variable, More string
	// Env is the environment of the process; nil: there is none.
	Env func(name string) (value string, set bool)
	// Unread says that the data could not be read, so that any name may be a column.
	Unread bool
	// Used gets the columns and variables that stand in holes, unless it is nil.
	Used map[string]bool
	// Literal says that texts have no holes: {{ stands for itself, and so does a backslash before it.
	Literal bool
}

// A Position is where a text begins: in a file, or in the value of a flag, which File then names.
type Position struct {
	File         string
	Line, Column int // from 1
}

// function is one that fills a hole.
type function struct {
	name, usage string
	kind        Kind
}

// functions are all but env, which fills no hole: its value becomes literal text. No column or
// variable may be called env either.
var functions = []function{
	{"uuid", "{{uuid}}", UUID},
	{"int", "{{int LOW HIGH}}, as in {{int 1 100}}", Int},
	{"hex", "{{hex DIGITS}}, as in {{hex 16}}", Hex},
	{"seq", "{{seq}}", Seq},
	{"now", "{{now}}", Now},
}

const env = "env"

// asJSON is the function {{json NAME}}: a column or a variable as a string of JSON.
const asJSON = "json"

// elsewhere maps what other tools call them to the functions.
var elsewhere = map[string]string{
	"newuuid": "uuid", "guid": "uuid", "$guid": "uuid", "$randomuuid": "uuid", "uuidv4": "uuid",
	"randint": "int", "random": "int", "rand": "int", "randomint": "int", "$randomint": "int",
	"timestamp": "now", "$timestamp": "now", "newdate": "now", "counter": "seq", "iteration": "seq",
}

// IsFunction reports whether a name is a function's. No column or variable may have it.
func IsFunction(name string) bool {
	is := func(f function) bool { return f.name == name }
	return name == env || name == asJSON || slices.ContainsFunc(functions, is)
}

// functionNames are the names of the functions, in the order of the documentation.
func functionNames() []string {
	var all []string
	for _, f := range functions {
		all = append(all, f.name)
	}
	return append(all, asJSON, env)
}

// Check reports every variable or capture whose name means something else, too. Columns are checked
// where the data is read.
func (n *Names) Check() error {
	l := fault.List{File: cmp.Or(n.Variable, "variables")}
	for _, name := range slices.Sorted(maps.Keys(n.Variables)) {
		switch {
		case IsFunction(name):
			l.Add(0, 0, "%q is the name of a function; choose another name", name)
		case slices.Contains(n.Columns, name):
			l.Add(0, 0, "the data has a column %q, too; choose another name for the variable", name)
		}
	}
	for i, name := range n.Captures {
		_, variable := n.Variables[name]
		if IsFunction(name) || variable || slices.Contains(n.Columns, name) ||
			slices.Contains(n.Captures[:i], name) {
			l.Add(0, 0, "capture %s has the name of something else; choose another", name)
		}
	}
	return l.Err()
}

// problem is the error for a name that means nothing.
func (n *Names) problem(name string) string {
	known := slices.Concat(n.Columns, slices.Sorted(maps.Keys(n.Variables)), n.Captures)
	meant := elsewhere[strings.ToLower(name)]
	if meant == "" {
		meant = nearest.ClosestName(name, slices.Concat(functionNames(), known))
	}
	hint := "there are the functions " + strings.Join(functionNames(), ", ")
	if len(known) > 0 {
		hint += " and the names " + strings.Join(known[:min(len(known), 20)], ", ")
	} else {
		hint += "; " + cmp.Or(n.More, "data and variables add names")
	}
	if n.NamesHint != "" {
		hint += "; " + n.NamesHint
	}
	if meant != "" {
		hint = "did you mean " + meant + "?"
	}
	return fmt.Sprintf(`{{%.60s}} is unknown: %s (to send it as it is, write \{{)`, name, hint)
}
