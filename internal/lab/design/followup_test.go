package design

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab/experiment"
)

// The experiment that follows a screening has all combinations of what stands out, and keeps
// everything else of its file.
func TestFollowUp(t *testing.T) {
	source := strings.Replace(screened(8), "version: 1\n", "version: 1 # the format\n", 1)
	text, err := FollowUp([]byte(source), "s-follow-up", []string{"f1", "f6"})
	if err != nil {
		t.Fatal(err)
	}
	e := mustRead(t, string(text))
	if e.Name != "s-follow-up" || e.Design.Screen || !strings.Contains(string(text), "# the format") {
		t.Errorf("%s", text)
	}
	var names []string
	for _, v := range experiment.Expand(e) {
		names = append(names, v.Name)
	}
	if len(names) != 4 || !slices.Contains(names, "n f0=a f1=b f2=a f3=a f4=a f5=a f6=a f7=a") {
		t.Errorf("%q", names)
	}
	if c := Contrasts(e, names); len(c) != 3 { // two factors and both together
		t.Errorf("%d contrasts", len(c))
	}
	for _, wrong := range []string{"", "[", "- a"} {
		if _, err := FollowUp([]byte(wrong), "x", nil); err == nil {
			t.Errorf("%q is followed up", wrong)
		}
	}
}

// An alias stands for a value in several places. The experiment that follows changes one of them.
func TestFollowUpOfAliases(t *testing.T) {
	const source = `version: 1
name: &name s
description: *name
design: &design {<<: &base {rounds: 3}, screen: true, measure: 2s}
factors:
  <<: {f3: [a, b]}
  f0: &values [a, b] # of all
  f1: *values
  f2: *values
levels: [&level {name: c1, connections: 1}, {<<: *level, name: c2}]
variants:
  n: {url: "http://127.0.0.1:8080/{{f0}}/{{f1}}/{{f2}}/{{f3}}"}
`
	mustRead(t, source)
	text, err := FollowUp([]byte(source), "s-follow-up", []string{"f1", "f3"})
	if err != nil {
		t.Fatal(err)
	}
	e := mustRead(t, string(text))
	if e.Name != "s-follow-up" || e.Description != "s" || e.Design.Screen || e.Design.Rounds != 3 ||
		len(e.Levels) != 2 || !strings.Contains(string(text), "# of all") {
		t.Errorf("%s", text)
	}
	counts := map[string]int{}
	for _, f := range e.Factors {
		counts[f.Name] = len(f.Value)
	}
	if want := map[string]int{"f0": 1, "f1": 2, "f2": 1, "f3": 2}; !maps.Equal(counts, want) {
		t.Errorf("%v, want %v\n%s", counts, want, text)
	}
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10))
	}
	for _, wrong := range []string{bomb, "a: &a [*a]\n"} {
		if _, err := FollowUp([]byte(wrong), "x", nil); err == nil || !strings.Contains(err.Error(), "aliases") {
			t.Error(err)
		}
	}
}
