package design

import (
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
