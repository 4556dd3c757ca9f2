package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Each form of a flag gives its value, and each fault is told of the argument that it is in.
func TestParseOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-c 5 -c 7 -q -q":          "connections=5 quiet=true quiet=true [] --connections: is given twice, as \"5\" and \"7\"; give one of them",
		"-c 5 --connections=5":     "connections=5 connections=5 []",
		"-H a -H b":                "header=a header=b []",
		"--user a:b --user a:c":    "user=a:b [] --user: is given twice; give one of them",
		"-c 5 u":                   "connections=5 [u]",
		"-c5 -c=6 u":               "connections=5 [u] --connections: is given twice, as \"5\" and \"6\"; give one of them",
		"--connections=7 u":        "connections=7 [u]",
		"--connections -7":         "connections=-7 []",
		"-qvc 5":                   "quiet=true verbose=true connections=5 []",
		"-q=false --verbose=x":     "quiet=false verbose=x []",
		"u -q -- -c --frob":        "quiet=true [u -c --frob]",
		"- --connections= u":       "connections= [- u]",
		"-c":                       "[] -c: needs a value",
		"u --connections":          "[u] --connections: needs a value",
		"-qc":                      "[] -qc: needs a value",
		"-qx -q":                   "quiet=true [] -qx: is not a flag",
		"-connections=5":           "connections=5 [] -connections: is not a flag; did you mean --connections?",
		"--conections 5 u":         "connections=5 [u] --conections: is not a flag; did you mean --connections?",
		"--conections":             "[] --conections: is not a flag; did you mean --connections? --connections: needs a value",
		"-quiet":                   "quiet=true [] -quiet: is not a flag; did you mean --quiet?",
		"--frob -1 -x 2 u":         "[2 u] --frob: is not a flag -x: is not a flag",
		"---quiet --= -=":          "quiet=true [] ---quiet: is not a flag; did you mean --quiet? --: is not a flag -: is not a flag",
		"-c --conections --frob=1": "connections=--conections [] --frob: is not a flag",
		"-c bad -x -q":             "connections=bad quiet=true [] -x: is not a flag --connections: is bad",
	} {
		var set []string
		to := func(name string) func(string) error {
			return func(s string) error {
				set = append(set, name+"="+s)
				if s == "bad" {
					return errors.New("is bad")
				}
				return nil
			}
		}
		p := parseOptions(strings.Fields(args), []group{{"", []option{
			{"connections", "c", "N", "", to("connections")},
			{"quiet", "q", "", "", to("quiet")},
			{"header", "H", "V", "one of all; {again}", to("header")},
			{"user", "", "V", "", to("user")},
		}}, {"", []option{{"verbose", "v", "", "", to("verbose")}}}})
		got := strings.TrimSpace(strings.Join(set, " ") + " " + fmt.Sprint(p.words))
		for _, fault := range p.faults {
			got += " " + fault.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", args, got, want)
		}
	}
}

// recorded is a value of pflag that notes what it is set to.
type recorded struct {
	set        *[]string
	name, kind string
}

func (r recorded) String() string { return "" }
func (r recorded) Type() string   { return r.kind }
func (r recorded) Set(s string) error {
	*r.set = append(*r.set, r.name+"="+s)
	return nil
}

// Help that says that a flag may be repeated says it by the hole, which is what counts.
func TestRepeatedBySaying(t *testing.T) {
	for _, v := range verbs() {
		if v.groups == nil {
			continue
		}
		for _, g := range v.groups() {
			for _, o := range g.options {
				says := strings.Contains(strings.Join(strings.Fields(o.does), " "), "may be repeated")
				if says || o.long == "secret" && !o.repeats() {
					t.Errorf("dyno %s %s: %q", v.name, o.flagName(), o.does)
				}
			}
		}
	}
}

// A command line in which neither finds a fault is read as pflag reads it.
func FuzzParseOptions(f *testing.F) {
	for _, line := range []string{"-c 5 u", "-qvc 5 --connections=7", "u -q -- -c", "-q=false - --connections= x",
		"-c=", "-c5=6", "-vq -c -7 --verbose=true"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		var ours, theirs []string
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		set.Usage = func() {}
		var options []option
		for _, o := range []option{{long: "connections", short: "c", value: "N", does: "{again}"}, {long: "quiet", short: "q"},
			{long: "verbose", short: "v"}} {
			set.VarPF(recorded{&theirs, o.long, o.value}, o.long, o.short, "")
			if o.value == "" {
				set.Lookup(o.long).NoOptDefVal = "true"
			}
			o.set = recorded{&ours, o.long, o.value}.Set
			options = append(options, o)
		}
		p, err := parseOptions(args, []group{{"", options}}), set.Parse(args)
		if err != nil || len(p.faults) > 0 { // each asks for help, or corrects, in its own way
			return
		}
		if !slices.Equal(ours, theirs) || !slices.Equal(p.words, set.Args()) {
			t.Errorf("%q: %q %q, and pflag %q %q", args, ours, p.words, theirs, set.Args())
		}
	})
}
