package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/engine/load"
	"dyno/internal/nearest"

	"github.com/spf13/pflag"
)

// An option is one flag: its names, its value's name in the help ("" for a
// switch), what it does, and what takes the value it is given.
type option struct {
	long, short, value, does string
	set                      func(string) error
}

// A group is options that the help shows together.
type group struct {
	title   string
	options []option
}

// flag names o as messages do.
func (o option) flag() string { return "--" + o.long }

// on is what sets a switch.
func on(b *bool) func(string) error {
	return func(s string) (err error) {
		*b, err = strconv.ParseBool(s)
		if err != nil {
			err = fmt.Errorf("%q is not true or false, and neither needs to be said", s)
		}
		return err
	}
}

// into is what stores a value that parse reads.
func into[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*to = v
		}
		return err
	}
}

// errNoValue is the fault of an empty value where none can be meant.
var errNoValue = errors.New("needs a value")

// word is what stores a value as it is, unless it is empty.
func word(to *string) func(string) error {
	return func(s string) error {
		if s == "" {
			return errNoValue
		}
		*to = s
		return nil
	}
}

// A parsed command line is what was found on it besides the options' values.
type parsed struct {
	words  []string        // that belong to no flag
	given  map[string]bool // long names of the flags given, with a value they take
	tried  map[string]bool // and of those whose value is at fault
	faults []error
	stray  bool // words may hold the value of an unknown flag
}

// parse gives the options of groups the values that args has for them, in their
// order, so that of several the last counts. It finds every fault: pflag stops
// at the first, so args are first made free of those that are its business, and
// the options' own are kept while it goes on.
func parse(args []string, groups []group) parsed {
	args, p := settle(args, groups)
	set := newSet(groups, func(o option) pflag.Value { return &value{o, &p} })
	if err := set.Parse(args); err != nil {
		p.faults = append(p.faults, err)
	}
	p.words = set.Args()
	return p
}

func newSet(groups []group, value func(option) pflag.Value) *pflag.FlagSet {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, g := range groups {
		for _, o := range g.options {
			f := set.VarPF(value(o), o.long, o.short, "")
			if o.value == "" {
				f.NoOptDefVal = "true"
			}
		}
	}
	return set
}

// A value hands what pflag finds for an option to it, and keeps the fault.
type value struct {
	option
	*parsed
}

func (v *value) Set(s string) error {
	v.tried[v.long] = true
	if err := v.set(s); err != nil {
		for _, each := range flatten(err) {
			v.faults = append(v.faults, load.Flaw{Setting: v.flag(), Problem: each.Error()})
		}
		return nil
	}
	v.given[v.long] = true
	return nil
}

func (v *value) String() string { return "" }
func (v *value) Type() string   { return v.option.value }

// settle returns args without what pflag would refuse, and the faults that
// these are. In place of a flag that does not exist stands the one it probably
// is, so that its value is not taken for something else.
func settle(args []string, groups []group) ([]string, parsed) {
	args = slices.Clone(args)
	p := parsed{given: map[string]bool{}, tried: map[string]bool{}}
	for range 2 * len(args) { // a round mends one argument; its mend may need another
		set := newSet(groups, func(o option) pflag.Value { return &inspector{o, args, groups} })
		err := set.Parse(args)
		if err == nil {
			break
		}
		i, flag := culprit(args, err)
		if i < 0 {
			p.faults = append(p.faults, err)
			break
		}
		fault := load.Flaw{Setting: flag, Problem: "is not a flag"}
		if e, missing := errors.AsType[*pflag.ValueRequiredError](err); missing {
			fault.Problem = "needs a value"
			p.tried[e.GetFlag().Name] = true
		} else if meant, found := nearestFlag(flag, groups); found {
			fault.Problem += "; did you mean " + meant.flag() + "?"
			args[i] = meant.flag() + args[i][len(flag):]
			p.faults = append(p.faults, fault)
			continue
		} else {
			p.stray = true
		}
		p.faults = append(p.faults, fault)
		n := 1
		if p.stray && i+1 < len(args) && isNegative(args[i+1]) {
			n = 2 // its value, which is no flag
		}
		args = slices.Delete(args, i, i+n)
	}
	return args, p
}

// isNegative reports whether an argument is a number below 0.
func isNegative(arg string) bool {
	_, is := plainNumber(arg)
	return is && strings.HasPrefix(arg, "-")
}

// extra is the fault of having more words than n, unless they may be the values of flags that
// are a fault themselves.
func (p parsed) extra(n int) []error {
	if p.stray {
		return nil
	}
	return extra(p.words, n)
}

// An inspector refuses a value that was not meant as one: the rest of a long flag
// written with one dash.
type inspector struct {
	option
	args   []string
	groups []group
}

func (p *inspector) String() string { return "" }
func (p *inspector) Type() string   { return p.option.value }

func (p *inspector) Set(s string) error {
	word := "-" + p.short + s
	if p.short == "" || len(s) < 2 || !slices.Contains(p.args, word) {
		return nil
	}
	name, _, _ := strings.Cut(word[1:], "=")
	if o, found := nearestFlag("-"+name, p.groups); found && nearest.Distance(name, o.long) < 2 {
		return errors.New("a flag of more than one letter has two dashes")
	}
	return nil
}

// culprit is which of args pflag's err is about, and the flag it has there.
func culprit(args []string, err error) (i int, flag string) {
	var matches func(arg string) bool
	switch e := err.(type) {
	case *pflag.NotExistError:
		matches = func(arg string) bool { return isFlag(arg, e.GetSpecifiedName()) }
		if letters := e.GetSpecifiedShortnames(); letters != "" {
			matches = func(arg string) bool { return isLetters(arg, letters) }
		}
	case *pflag.ValueRequiredError:
		return len(args) - 1, args[len(args)-1]
	case *pflag.InvalidSyntaxError:
		matches = func(arg string) bool { return arg == e.GetSpecifiedFlag() }
	case *pflag.InvalidValueError:
		short := "-" + e.GetFlag().Shorthand + e.GetValue()
		matches = func(arg string) bool { return arg == short }
	default:
		return -1, ""
	}
	i = slices.IndexFunc(args, matches)
	if i >= 0 {
		flag, _, _ = strings.Cut(args[i], "=")
	}
	return i, flag
}

func isFlag(arg, name string) bool {
	arg, _, _ = strings.Cut(arg, "=")
	return arg == "--"+name
}

func isLetters(arg, letters string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") &&
		strings.HasSuffix(arg, letters)
}
