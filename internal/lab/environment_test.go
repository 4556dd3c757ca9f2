package lab

import (
	"slices"
	"testing"
)

// What changed between two experiments is what their environments do not have alike.
func TestEnvironment(t *testing.T) {
	record := func(sum, load string) *Record {
		return &Record{Progress: Progress{Dyno: "1"}, Definition: Definition{SHA256: "f"},
			Setup: Setup{Machine: []Fact{{"governor", "powersave"}, {LoadAverage, load}}},
			Preparation: Preparation{Arms: []Arm{{Name: "a", Version: "nginx/1.22"}, {Name: "b"}},
				Programs: []ArmProgram{{Arm: "a", Program: Program{Process: "p", Path: "/x", SHA256: sum}},
					{Arm: "a", Program: Program{Process: "p", Path: "/" + load + "/x", SHA256: "2"}},
					{Arm: "b", Program: Program{Process: "p", Path: "/y"}}}}}
	}
	one, two := record("1", "0.1").Environment(), record("3", "9.9").Environment()
	names := map[string]bool{}
	var differ []Fact
	for i, f := range one {
		if names[f.Name] {
			t.Errorf("%s twice", f.Name)
		}
		names[f.Name] = true
		if f != two[i] {
			differ = append(differ, f, two[i])
		}
	}
	const name = "program of a, process p: x (SHA-256)"
	if !slices.Equal(differ, []Fact{{name, "1 and 2"}, {name, "3 and 2"}}) {
		t.Errorf("%+v", differ)
	}
	for _, f := range []Fact{{"version of a", "nginx/1.22"}, {"governor", "powersave"},
		{"program of b, process p: y (SHA-256)", "not readable"}} {
		if !slices.Contains(one, f) {
			t.Errorf("%+v is not in %+v", f, one)
		}
	}
}
