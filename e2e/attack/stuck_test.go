//go:build linux

package attack

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// begin starts a dyno that goes on until the test ends, and returns the rest of the line on which it
// says a word.
func begin(t *testing.T, c *exec.Cmd, word string) string {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c.Stdout, c.Stderr = f, f
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	rest := ""
	await(t, word, func() bool {
		b, _ := os.ReadFile(f.Name())
		_, after, found := strings.Cut(string(b), word)
		rest, _, _ = strings.Cut(after, "\n")
		return found
	})
	return strings.TrimSpace(rest)
}

// await waits for what must happen.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(start) > 2*time.Minute {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// childOf is a process that another has started, with a word in its command line; 0: there is none.
func childOf(parent int, word string) (pid int) {
	all, _ := os.ReadDir("/proc")
	for _, p := range all { // who has ended meanwhile, and what is no process, is nobody's child
		b, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "stat"))
		var id, of int
		if _, after, ok := strings.Cut(string(b), ") "); ok {
			var state string
			fmt.Sscan(after, &state, &of)
			fmt.Sscan(string(b), &id)
		}
		line, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline"))
		if of == parent && bytes.Contains(line, []byte(word)) {
			return id
		}
	}
	return 0
}

// A load that does not end when it is told to is killed: the agent is ready for the next order. The
// load is stopped here as a debugger would do it, so that it can hear nothing.
func TestStuckLoadIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := func(home string, args ...string) *exec.Cmd {
		c := exec.Command(binary, args...)
		c.Env = append(os.Environ(), "DYNO_HOME="+filepath.Join(dir, home), "NO_COLOR=1")
		return c
	}
	url := begin(t, command("hub", "target", "--listen", "127.0.0.1:0"), "listening on ")
	begin(t, command("hub", "fleet", "up", "--listen", "127.0.0.1:0"), "the fleet's hub is at")
	token, err := command("hub", "fleet", "token").Output()
	if err != nil {
		t.Fatal(err)
	}
	agent := command("agent", "agent", "--join", "-", "--name", "one", "--weight", "1")
	agent.Stdin = bytes.NewReader(token)
	begin(t, agent, "is on the bus")

	run := command("hub", "run", "--fleet", "all", "--loose-start", "-d", "10m", "-c", "2", "-R", "100", "-v", url)
	begin(t, run, "        0\n") // errors, in the line of whichever second comes first
	child := childOf(agent.Process.Pid, "worker")
	if child == 0 {
		t.Fatal("the agent makes the load itself")
	}
	if err := syscall.Kill(child, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	run.Process.Signal(os.Interrupt)
	run.Wait()
	await(t, "the load is killed", func() bool { return syscall.Kill(child, 0) != nil })
	await(t, "the agent is ready", func() bool {
		out, _ := command("hub", "fleet", "ls").Output()
		return bytes.Contains(out, []byte(" ready "))
	})
	out, err := command("hub", "run", "--fleet", "all", "--loose-start", "-n", "20", "-c", "1", "--drain", "1m", "--no-save", url).CombinedOutput()
	if err != nil {
		t.Errorf("the next load: %v\n%s", err, out)
	}
}
