package remote

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A process that takes more memory than it may ends, and says why.
func TestMemoryLimit(t *testing.T) {
	const role = "DYNO_TAKE_MEMORY"
	if os.Getenv(role) != "" {
		limitMemory(512 << 20)
		var all [][]byte
		for range 64 {
			b := make([]byte, 32<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
		t.Logf("%d taken", len(all))
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, "-test.run=^TestMemoryLimit$")
	c.Env = append(os.Environ(), role+"=1")
	out, err := c.CombinedOutput()
	said := string(out) // by the Go runtime, or by the race detector, which ends first
	if err == nil || !strings.Contains(said, "out of memory") && !strings.Contains(said, "cannot allocate memory") &&
		!strings.Contains(said, "failed to allocate") {
		t.Errorf("%v: %.300s", err, out)
	}
	if half := HalfOfMemory(); half < leastMemory {
		t.Errorf("half of the machine's memory is %d", half)
	}
}
