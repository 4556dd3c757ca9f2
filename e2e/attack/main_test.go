//go:build linux

package attack

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// binaryEnv names the dyno that is attacked; without it one is built.
const binaryEnv = "DYNO_E2E_BINARY"

// binary is the program under attack.
var binary = os.Getenv(binaryEnv)

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == neighbourRole {
		return runNeighbour(os.Args[2:])
	}
	if binary != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "dyno-attack")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Chmod(dir, 0o755) // other users start the program
	binary = filepath.Join(dir, "dyno")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", binary, "../../cmd/dyno").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building dyno: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long a dyno may take before it counts as a hang.
const patience = 10 * time.Minute

// said is what a dyno wrote, and how it ended.
type said struct {
	out, err string
	code     int
}

// runDyno runs the program under attack, with these settings of the environment besides.
func runDyno(t *testing.T, env []string, args ...string) said {
	t.Helper()
	return runProgram(t, exec.Command(binary, args...), env...)
}

// runProgram runs what starts the program under attack.
func runProgram(t *testing.T, cmd *exec.Cmd, env ...string) said {
	t.Helper()
	var out, errs strings.Builder
	cmd.Env = append(append(os.Environ(), "DYNO_HOME="+t.TempDir(), "NO_COLOR=1"), env...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	var exit *exec.ExitError
	if !killer.Stop() || err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v\n%s", cmd.Args, err, errs.String())
	}
	return said{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}
