//go:build linux

package e2e

import (
	"debug/buildinfo"
	"debug/elf"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Before main, none of dyno's packages allocates much: what takes longer, such as compiling regular
// expressions, is done where it is used; the largest is the table of settings. How much Go allocates there does not depend on the machine.
func TestStart(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatal(err, stderr.String())
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	inits := regexp.MustCompile(`(?m)^init (`+regexp.QuoteMeta(info.Main.Path)+`/\S+) @.*, (\d+) bytes, (\d+) allocs$`).
		FindAllStringSubmatch(stderr.String(), -1)
	bytes, allocations := 0, 0
	for _, m := range inits {
		b, _ := strconv.Atoi(m[2])
		a, _ := strconv.Atoi(m[3])
		if b > 64<<10 || a > 250 {
			t.Errorf("%s allocates %d bytes before main, in %d allocations", m[1], b, a)
		}
		bytes, allocations = bytes+b, allocations+a
	}
	if len(inits) < 20 || bytes > 192<<10 || allocations > 1500 {
		t.Errorf("%d packages allocate %d bytes before main, in %d allocations", len(inits), bytes, allocations)
	}
}

// What make build makes needs no C library, has no symbols for debuggers, and names no folder of the
// machine that built it.
func TestBinary(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	built := map[string]string{}
	for _, s := range info.Settings {
		built[s.Key] = s.Value
	}
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if len(libraries) > 0 || err != nil || file.Section(".symtab") != nil || file.Section(".debug_info") != nil ||
		built["CGO_ENABLED"] != "0" || built["-trimpath"] != "true" {
		t.Errorf("needs %q (%v), and was built with %v", libraries, err, built)
	}
}
