package setting

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/loadplan"
)

// An Access is how a setting is read from text and written in a plan. Text is what Set reads, so
// that a command, a form and a file can repeat it.
type Access struct {
	Set  func(p *loadplan.Plan, text string) error // sets it, or adds to a list
	Text func(p *loadplan.Plan) []string           // its values; none: it is not set
	// Take sets what a field of the library has: a value of the field's type, or of one that converts
	// to it. Whether it is within its range says Plan.Check.
	Take func(p *loadplan.Plan, v any) error
	// Shows decides whether a command that repeats the plan has the flag; nil: if it differs from the
	// default.
	Shows func(p *loadplan.Plan, differs bool) bool
}

// at is the access to a field, by its parser and its printer. A value whose text is "" is not set.
func at[T any](field func(*loadplan.Plan) *T, parse func(string) (T, error),
	text func(T) string) Access {
	return Access{
		Set: func(p *loadplan.Plan, s string) error {
			v, err := parse(s)
			if err == nil {
				*field(p) = v
			}
			return err
		},
		Text: func(p *loadplan.Plan) []string { return oneText(text(*field(p))) },
		Take: func(p *loadplan.Plan, v any) error { return take(field(p), v, parse) },
	}
}

// each is the access to a list, to which each value of the flag adds one.
func each[T any](field func(*loadplan.Plan) *[]T, parse func(string) (T, error),
	text func(T) string) Access {
	return Access{
		Set: func(p *loadplan.Plan, s string) error {
			v, err := parse(s)
			if err == nil {
				*field(p) = append(*field(p), v)
			}
			return err
		},
		Text: func(p *loadplan.Plan) (all []string) {
			for _, v := range *field(p) {
				all = append(all, text(v))
			}
			return all
		},
	}
}

// showing is an access that decides itself whether a command that repeats the plan has it.
func (a Access) showing(shows func(p *loadplan.Plan, differs bool) bool) Access {
	a.Shows = shows
	return a
}

func oneText(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// take sets a field from a value of the library.
func take[T any](to *T, v any, parse func(string) (T, error)) (err error) {
	from, field := reflect.ValueOf(v), reflect.ValueOf(to).Elem()
	if from.Kind() == field.Kind() && from.CanConvert(field.Type()) {
		field.Set(from.Convert(field.Type()))
		return nil
	}
	parsed, err := parse(fmt.Sprint(v))
	if err == nil {
		*to = parsed
	}
	return err
}

// ErrNoValue is the fault of an empty value for a setting that needs one.
var ErrNoValue = errors.New("needs a value")

// count is the access to a number; 0 is not set, if it is none of the possible values.
func count[N int | int64](field func(*loadplan.Plan) *N, parse func(string) (N, error)) Access {
	return at(field, parse, func(n N) string { return strconv.FormatInt(int64(n), 10) })
}

// amount is the access to a number of which 0 means that it is not set.
func amount[N int | int64](field func(*loadplan.Plan) *N, parse func(string) (N, error)) Access {
	return at(field, parse, func(n N) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(int64(n), 10)
	})
}

// span is the access to a duration.
func span(field func(*loadplan.Plan) *loadplan.Seconds) Access {
	return at(field, func(s string) (loadplan.Seconds, error) {
		d, err := ParseDuration(s)
		return loadplan.Seconds(d), err
	}, func(d loadplan.Seconds) string { return time.Duration(d).String() })
}

// rate is the access to a number of events a second; 0 is not set.
func rate(field func(*loadplan.Plan) *loadplan.Rate) Access {
	a := at(field, ParseRate, func(r loadplan.Rate) string {
		if r == 0 {
			return ""
		}
		return r.String()
	})
	a.Take = func(p *loadplan.Plan, v any) (err error) {
		*field(p), err = rateOf(v.(float64))
		return err
	}
	return a
}

// text is the access to a text that is not empty.
func text(field func(*loadplan.Plan) *string) Access {
	return at(field, func(s string) (string, error) {
		if s == "" {
			return "", ErrNoValue
		}
		return s, nil
	}, func(s string) string { return s })
}

// readable is the access to the name of a file, which must be readable.
func readable(field func(*loadplan.Plan) *string) Access {
	a := at(field, func(s string) (string, error) {
		if s == "" {
			return "", ErrNoValue
		}
		f, err := os.Open(s)
		if err != nil {
			return "", err
		}
		return s, f.Close()
	}, strings.Clone)
	a.Take = nil // the library has what is in the file
	return a
}

// turn is the access to a switch.
func turn(field func(*loadplan.Plan) *bool) Access {
	return at(field, ParseSwitch, func(on bool) string {
		if !on {
			return ""
		}
		return "true"
	})
}
