package labreport

import (
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/observe/profile"
)

// A profile is compared with that of the baseline only if both ran the same programs: functions of
// two different servers have nothing in common but their names.
func TestProfilesOfOtherProgramsAreNotCompared(t *testing.T) {
	for path, want := range map[string]bool{"/b/app": true, "/usr/sbin/nginx": false} {
		r := new(lab.Record)
		r.Arms = []lab.Arm{{Name: "go"}, {Name: "other", Baseline: "go"}}
		r.Programs = []lab.ArmProgram{{Arm: "go", Program: lab.Program{Path: "/a/app"}},
			{Arm: "other", Program: lab.Program{Path: path}}}
		r.Profiles = []lab.TakenProfile{{Arm: "other", Level: "c1", Kind: "cpu",
			Different: []profile.Delta{{Function: "runtime.mallocgc", Change: 0.05}}}}
		text := ""
		for _, s := range profileParts(r) {
			text += strings.Join(s.Text, "\n")
		}
		if strings.Contains(text, "compared with the baseline: runtime.mallocgc") != want {
			t.Errorf("%s beside /a/app: %q", path, text)
		}
	}
}
