package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"dyno/internal/observe/probe"
)

// What runs is told by its bytes: those of the file as it was executed, also after another has
// taken its name.
func TestPrograms(t *testing.T) {
	shell, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "server")
	if err := os.WriteFile(path, text, 0o755); err != nil {
		t.Fatal(err)
	}
	tree := probe.Use{Name: "app"}
	start := func(args ...string) {
		cmd := exec.Command(path, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		tree.Processes = append(tree.Processes, probe.Use{PID: cmd.Process.Pid})
	}
	start("1001")
	start("1002")
	tree.Processes = append(tree.Processes, probe.Use{PID: 1 << 30}) // none
	sum := sha256.Sum256(text)
	want := Program{Process: "app", Path: path, SHA256: hex.EncodeToString(sum[:]), Count: 2}
	h := hasher{}
	check := func(got []Program) {
		t.Helper()
		if len(got) != 1 || !got[0].same(want) || got[0].Count != want.Count ||
			!slices.Equal(got[0].Args, []string{path, "1001"}) {
			t.Errorf("%+v", got)
		}
	}
	check(h.programs([]probe.Use{tree}))
	for version := range h {
		h[version] = "known" // so that it shows whether it is computed again
	}
	want.SHA256 = "known"
	check(h.programs([]probe.Use{tree}))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want.Path += " (deleted)"
	want.SHA256 = hex.EncodeToString(sum[:])
	check(h.programs([]probe.Use{tree}))
}

// Versions are told apart by what the files are, wherever they lie: `go run` has another folder
// for each trial.
func TestProgramsOfTrials(t *testing.T) {
	of := func(arm, path, sum string) *Trial {
		return &Trial{Slot: Slot{Arm: arm}, Programs: []Program{{Process: "app", Path: path, SHA256: sum}}}
	}
	all := ran([]*Trial{of("a", "/tmp/1/app", "1"), of("b", "/tmp/2/app", "2"),
		of("a", "/tmp/3/app", "1"), {Slot: Slot{Arm: "c"}}, of("a", "/tmp/4/app", "")})
	if len(all) != 3 || all[0].Trials != 2 || all[1].Arm != "b" || changedPrograms(all) != nil {
		t.Errorf("%+v, changed %q", all, changedPrograms(all))
	}
	all = ran([]*Trial{of("a", "/1/app", "1"), of("a", "/2/app", "2"), of("a", "/1/app (deleted)", "3")})
	if got := changedPrograms(all); !slices.Equal(got, []string{"app of a"}) {
		t.Errorf("%q", got)
	}
}
