package dyno

import (
	"errors"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
)

// A FieldError is what is wrong with a field of a Load.
type FieldError struct {
	Field   string // such as "Connections"; several are separated by ", "
	Problem string // what it is, and what is possible
}

// Error names the field first.
func (e FieldError) Error() string { return e.Field + ": " + e.Problem }

// fieldNames are the fields of a Load by the settings that the generator names in its faults and in
// what it says of them.
var fieldNames = map[string]string{
	"URL": "URL", "requests": "Method, Header, Body", "scenario": "Scenario",
	"--connections": "Connections", "--threads": "Threads", "--requests": "Requests",
	"--rate": "Rate", "-R": "Rate", "--arrival": "Poisson", "--duration": "For",
	"--warmup": "Warmup", "--drain": "Drain", "--timeout": "Timeout", "--users": "Users",
	"--http": "HTTP", "--insecure": "Insecure", "--cacert": "RootCAs", "--seed": "Seed",
}

// fieldErrors are the faults that err joins, as those of fields. Others stay as they are.
func fieldErrors(err error) (all []error) {
	if flaw, is := err.(loadplan.Flaw); is {
		return []error{FieldError{inFields(flaw.Setting), inFields(flaw.Problem)}}
	}
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range joined.Unwrap() {
			all = append(all, fieldErrors(e)...)
		}
		return all
	}
	if inner := errors.Unwrap(err); inner != nil {
		if flaw, is := errors.AsType[loadplan.Flaw](inner); is {
			return fieldErrors(flaw)
		}
	}
	return []error{err}
}

// inFields is a text of the generator with fields in place of the command's flags. Of a list of
// flags, those that a Load lacks are left out.
func inFields(text string) string {
	if name, is := fieldNames[text]; is {
		return name
	}
	if flags := strings.Split(text, ", "); strings.HasPrefix(text, "--") && len(flags) > 1 {
		flags = slices.DeleteFunc(flags, func(flag string) bool { return fieldNames[flag] == "" })
		text = strings.Join(flags, ", ")
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		bare := strings.Trim(word, "(),;.")
		if name, is := fieldNames[bare]; is && strings.HasPrefix(bare, "-") {
			words[i] = strings.Replace(word, bare, name, 1)
		}
	}
	return strings.Join(words, " ")
}
