package run

import (
	"crypto/sha256"
	"dyno/internal/lab"
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
	want := lab.Program{Process: "app", Path: path, SHA256: hex.EncodeToString(sum[:]), Count: 2}
	h := hasher{}
	check := func(got []lab.Program) {
		t.Helper()
		if len(got) != 1 || !got[0].SameVersion(want) || got[0].Count != want.Count ||
			!slices.Equal(got[0].Args, []string{path, "1001"}) {
			t.Errorf("%+v", got)
		}
	}
	check(h.serverPrograms([]probe.Use{tree}))
	for version := range h {
		h[version] = "known" // so that it shows whether it is computed again
	}
	want.SHA256 = "known"
	check(h.serverPrograms([]probe.Use{tree}))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want.Path += " (deleted)"
	want.SHA256 = hex.EncodeToString(sum[:])
	check(h.serverPrograms([]probe.Use{tree}))
}
