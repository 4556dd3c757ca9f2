package cli

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fault"
	"dyno/internal/nearest"
	"dyno/internal/setting"
)

// An option is one flag: its names, its value's name in the help ("" for a switch), what it does,
// and the function that stores its value.
type option struct {
	long, short, value, does string
	set                      func(string) error
}

// A group is options that the help shows together.
type group struct {
	title   string
	options []option
}

// repeats reports whether o may be given more than once. Its help has a hole for that.
func (o option) repeats() bool { return o.value == "" || strings.Contains(o.does, setting.Again) }

// help is what o does, in lines.
func (o option) help() string {
	return strings.ReplaceAll(o.does, setting.Again, "may be repeated")
}

// flagName returns the name that messages have for o, with its dashes.
func (o option) flagName() string { return "--" + o.long }

// setSwitch returns what sets a switch.
func setSwitch(b *bool) func(string) error { return storeParsed(b, setting.ParseSwitch) }

// storeParsed returns what stores the value that parse reads.
func storeParsed[T any](to *T, parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err == nil {
			*to = v
		}
		return err
	}
}

// setText returns what stores a value as it is. An empty value is a fault.
func setText(to *string) func(string) error {
	return func(s string) error {
		if s == "" {
			return setting.ErrNoValue
		}
		*to = s
		return nil
	}
}

// A parsed is a command line without the options' values.
type parsed struct {
	words  []string          // that belong to no flag
	after  int               // how many of words, the last, follow --
	given  map[string]bool   // long names of the flags given, with a value they take
	tried  map[string]bool   // and of those whose value is at fault
	texts  map[string]string // the values as they were given
	faults []error
	stray  bool // words may contain the value of an unknown flag
}

// parseOptions gives the options of groups the values that args has for them, in their order. Two
// values of an option that may not be repeated are a fault. It returns every fault: first those of
// the flags, then those of the values. Flags are written as GNU's: --long V, --long=V, -xV, -x V,
// -x=V, and -vq for switches; after -- all are words. A single - is a word. pflag stops at the
// first fault, and does not say at which argument; FuzzParseOptions compares its reading with this
// one.
func parseOptions(args []string, groups []group) parsed {
	p := parsed{given: map[string]bool{}, tried: map[string]bool{}, texts: map[string]string{}}
	var values []assignment
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			p.words, p.after = append(p.words, args...), len(args)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			p.words = append(p.words, arg)
			continue
		}
		found, known := readFlag(arg, groups)
		if !known {
			if found, known = p.correctFlag(arg, groups); !known {
				if len(args) > 0 && isNegative(args[0]) {
					args = args[1:] // its value, which is no flag
				}
				continue
			}
			arg = found[0].flagName()
		}
		if last := &found[len(found)-1]; last.missing && len(args) > 0 {
			last.text, args = args[0], args[1:]
		} else if last.missing {
			p.faults = append(p.faults, loadplan.Flaw{Setting: arg, Problem: "needs a value"})
			p.tried[last.long] = true
			continue
		}
		values = append(values, found...)
	}
	for _, v := range values {
		p.assignValue(v)
	}
	return p
}

// An assignment is an option and the value that the command line has for it.
type assignment struct {
	option
	text    string
	missing bool // the value is the next argument
}

// readFlag reads an argument that begins with a dash: one long option, or one or more short ones.
// known is false if any of them does not exist.
func readFlag(arg string, groups []group) (found []assignment, known bool) {
	name, value, hasValue := strings.Cut(arg, "=")
	if strings.HasPrefix(arg, "--") {
		o, known := findOption(groups, func(o option) bool { return "--"+o.long == name })
		return []assignment{o.withValue(value, hasValue)}, known
	}
	for letters := arg[1:]; letters != ""; {
		o, known := findOption(groups, func(o option) bool { return o.short == letters[:1] })
		if !known {
			return nil, false
		}
		v := assignment{option: o}
		switch letters = letters[1:]; {
		case len(letters) > 1 && letters[0] == '=':
			v.text, letters = letters[1:], ""
		case o.value == "":
			v.text = "true"
		case letters == "":
			v.missing = true
		case len(found) == 0 && isLongName(arg, o, groups):
			return nil, false
		default:
			v.text, letters = letters, ""
		}
		found = append(found, v)
	}
	return found, true
}

// isLongName reports whether arg, which can be read as o's letter and its value, is more likely the
// option's long name with one dash.
func isLongName(arg string, o option, groups []group) bool {
	name, _, _ := strings.Cut(arg[1:], "=")
	meant, found := nearestFlag("-"+name, groups)
	return len(arg) > 3 && found && nearest.Distance(name, meant.long) < 2
}

// withValue returns o with the value behind its =. Without one, a switch is true.
func (o option) withValue(value string, hasValue bool) assignment {
	if o.value == "" && !hasValue {
		return assignment{o, "true", false}
	}
	return assignment{o, value, !hasValue}
}

// findOption returns the first option that is meant.
func findOption(groups []group, is func(option) bool) (option, bool) {
	for _, g := range groups {
		if i := slices.IndexFunc(g.options, is); i >= 0 {
			return g.options[i], true
		}
	}
	return option{}, false
}

// correctFlag adds the fault of a flag that does not exist. It returns the option that it probably
// is, with the value of arg, so that this is not taken for something else.
func (p *parsed) correctFlag(arg string, groups []group) (found []assignment, known bool) {
	flag, value, hasValue := strings.Cut(arg, "=")
	problem := "is not a flag"
	meant, known := nearestFlag(flag, groups)
	if known {
		problem += "; did you mean " + meant.flagName() + "?"
		found = []assignment{meant.withValue(value, hasValue)}
	}
	p.stray = p.stray || !known
	p.faults = append(p.faults, loadplan.Flaw{Setting: flag, Problem: problem})
	return found, known
}

// assignValue gives an option its value, or keeps the fault of that.
func (p *parsed) assignValue(v assignment) {
	if before, twice := p.texts[v.long]; twice && before != v.text && !v.repeats() {
		problem := fmt.Sprintf("is given twice, as %.60q and %.60q; give one of them", before, v.text)
		if row := setting.Named(v.long); row != nil && row.Secret {
			problem = "is given twice; give one of them"
		}
		p.faults = append(p.faults, loadplan.Flaw{Setting: v.flagName(), Problem: problem})
		return
	}
	p.tried[v.long], p.texts[v.long] = true, v.text
	if err := v.set(v.text); err != nil {
		for _, each := range joinedErrors(err) {
			p.faults = append(p.faults, loadplan.Flaw{Setting: v.flagName(), Problem: fault.Text(each)})
		}
		return
	}
	off := false
	if v.value == "" {
		on, err := setting.ParseSwitch(v.text)
		off = err == nil && !on
	}
	p.given[v.long] = !off // a switch that is off excludes no other
}

// isNegative reports whether an argument is a number below 0.
func isNegative(arg string) bool {
	_, is := setting.PlainNumber(arg)
	return is && strings.HasPrefix(arg, "-")
}

// extraWords is the fault of having more words than n, unless they may be the values of flags that
// are a fault themselves.
func (p parsed) extraWords(n int) []error {
	if p.stray {
		return nil
	}
	return tooManyWords(p.words, n)
}
