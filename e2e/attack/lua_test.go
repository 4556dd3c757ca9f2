//go:build linux

package attack

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// scriptMost is how much memory a dyno may take with any script, in MiB: that of scripts, and what it
// takes itself.
const scriptMost = 1<<10 + 256

// No library call of a script takes more memory than scripts may have, or goes on for ever.
func TestScriptsOfLibraries(t *testing.T) {
	const text = "local s = string.rep('a', 250 * 1000 * 1000) "
	for name, c := range map[string]struct{ script, want string }{
		"format":   {text + "string.format(string.rep('%s', 12), s, s, s, s, s, s, s, s, s, s, s, s)", "string.format: a string of more than 256 MiB"},
		"gsub":     {text + "string.gsub(string.rep('x', 10), 'x', {x = s})", "string.gsub: a string of more than 256 MiB"},
		"operator": {text + "local t = s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s", "the operator ..: a string of more than 256 MiB"},
		"tables":   {"function setup(thread) local t = {} for i = 1, 90 do t = {t, t} end thread:set('x', t) end", `thread:set("x"): more than 1000000 values`},
		"pattern":  {"string.find('', string.rep('(', 12 * 1000 * 1000))", "too many captures"},
		"concat":   {"table.concat({}, '', 1, 2 ^ 53)", "invalid value (nil) at index 1"},
		"key":      {"local t = {} for i = 1, 50 do t[i] = {[60 * 1000 * 1000] = 1} end", "the scripts of the run have more memory than they may, 1024 MiB"},
		"many":     {"local t = {} while true do t[#t + 1] = string.rep('a', 1000 * 1000) .. #t end", "the scripts of the run have more memory than they may, 1024 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.lua")
			if err := os.WriteFile(file, []byte(c.script), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(binary, "scenario", "check", file, "http://127.0.0.1:1/")
			cmd.Env = append(os.Environ(), "DYNO_HOME="+t.TempDir(), "NO_COLOR=1")
			killer := time.AfterFunc(patience, func() { cmd.Process.Kill() })
			out, err := cmd.CombinedOutput()
			if !killer.Stop() || err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %.1000s; want %q", err, out, c.want)
			}
			if most := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10; most > scriptMost {
				t.Errorf("it took %d MiB, and may take %d", most, scriptMost)
			} else {
				t.Logf("it took %d MiB, and %v", most, cmd.ProcessState.UserTime())
			}
		})
	}
}
