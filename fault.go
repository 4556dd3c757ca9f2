package dyno

import (
	"errors"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// A FieldError says what is wrong with a field of a Load, or with several fields together. The
// error of Run joins all faults, and errors.As finds the first.
type FieldError struct {
	Field   string // such as "Connections", or "Steps, Users" if the fault is of both together
	Problem string // what is wrong with its value, and what is possible
}

// Error returns Field and Problem, with a colon between them.
func (e FieldError) Error() string { return e.Field + ": " + e.Problem }

// fieldErrors are the faults that err joins, as those of fields. Others stay as they are.
func fieldErrors(err error) (all []error) {
	if flaw, is := err.(loadplan.Flaw); is {
		named := flaw.Named(setting.InLibrary)
		return []error{FieldError{named.Setting, named.Problem}}
	}
	if joined, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range joined.Unwrap() {
			all = append(all, fieldErrors(e)...)
		}
		return all
	}
	if flaw, is := errors.AsType[loadplan.Flaw](err); is {
		return fieldErrors(flaw)
	}
	return []error{err}
}
