package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Each form of a flag gives its value, and each fault is told of the argument that it is in.
func TestParseOptions(t *testing.T) {
	for args, want := range map[string]string{
		"-c 5 u":                   "connections=5 [u]",
		"-c5 -c=6 u":               "connections=5 connections=6 [u]",
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
