package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/lab"
)

// badServers are one that serves and those that end, fork and write as no server
// should. A trial of each takes about a second. dies-later dies under the load, whose two connections
// are open at once; what is asked before has one. Of a connection the pattern finds the client's line, where
// the state follows the port of the server; of the other end an address does, which also begins with 01.
const badServers = `
version: 1
name: bad
design: {rounds: 1, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: 1.5s, cooldown: 0, metrics: [throughput]}
fairness: {mode: off}
levels: [{name: c2, connections: 2, rate: 500}]
variants:
  good:
    processes: [{cmd: "{{dyno}} target --listen 127.0.0.1:{{port}}"}]
    url: http://127.0.0.1:{{port}}/
  dies-later:
    processes: [{cmd: "sh -c '{{dyno}} target --listen 127.0.0.1:{{port}} & at=$(printf :%04X {{port}});
      while [ $(grep -c \"$at 01 \" /proc/net/tcp) -lt 2 ]; do sleep 0.1; done; kill $!; echo had enough; exit 7'"}]
    url: http://127.0.0.1:{{port}}/
  never-ready:
    processes: [{cmd: "sh -c 'echo {{port}}; exec sleep 1000'", ready: {timeout: 0.5s}}]
    url: http://127.0.0.1:{{port}}/
  ignores:
    processes: [{cmd: "sh -c 'trap \"\" TERM; {{dyno}} target --listen 127.0.0.1:{{port}} & while :; do sleep 1; done'", stop: {grace: 0.2s}}]
    url: http://127.0.0.1:{{port}}/
  forks:
    processes: [{cmd: "sh -c 'setsid {{dyno}} target --listen 127.0.0.1:{{port}} & sleep 1000'"}]
    url: http://127.0.0.1:{{port}}/
  floods:
    processes: [{cmd: "sh -c 'yes floods & {{dyno}} target --listen 127.0.0.1:{{port}}'"}]
    url: http://127.0.0.1:{{port}}/
`

// labRuns starts dyno lab run, marked so that what it starts can be found.
func labRuns(t *testing.T, mark string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	dyno := copied(t, t.TempDir(), "dyno")
	cmd := exec.Command(dyno, append([]string{"lab", "run"}, args...)...)
	cmd.Env = append(os.Environ(), mark, "GORACE="+shortly)
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// marked are the processes that have mark in their environment.
func marked(mark string) (pids []string) {
	all, _ := os.ReadDir("/proc")
	for _, p := range all { // who has ended meanwhile, and what is no process, has no environment
		env, err := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		if err == nil && strings.Contains(string(env), mark) {
			pids = append(pids, p.Name())
		}
	}
	return pids
}

// await waits until it is so, for as long as a busy machine may need.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for till := time.Now().Add(2 * time.Minute); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(till) {
			t.Fatal("waited in vain: ", what)
		}
	}
}

// Killed in the middle of any trial, dyno leaves no process behind, and what was
// measured is there; resumed, the experiment ends with each trial once.
func TestLabKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(badServers), 0o600); err != nil {
		t.Fatal(err)
	}
	trials := func() []string {
		all, _ := filepath.Glob(filepath.Join(out, "trials", "*.json"))
		return all
	}
	args := []string{file, "-o", out}
	for round := 0; ; round++ {
		mark := fmt.Sprintf("DYNO_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
		had := len(trials())
		cmd, said := labRuns(t, mark, args...)
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		if round == 3 { // let it come to its end
			if err := <-ended; err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			check(t, out, said.String(), trials())
			return
		}
		await(t, "another trial", func() bool { return len(trials()) > had || len(ended) > 0 })
		time.Sleep(300 * time.Millisecond) // into the next one
		cmd.Process.Kill()
		if err := <-ended; err == nil {
			t.Logf("round %d: it had come to its end before it was killed", round)
		}
		await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
		args = []string{"--resume", out}
	}
}

// check looks at what became of the bad servers.
func check(t *testing.T, out, said string, trials []string) {
	first := 0
	var all string
	for _, name := range trials {
		if !strings.Contains(name, "again") { // which those are that a busy machine spoiled
			first++
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	if first != 6 {
		t.Errorf("%d trials: %q", first, trials)
	}
	for _, want := range []string{"had enough", "ended with status 7",
		`"phase": "start"`, "within 500ms"} {
		if !strings.Contains(all, want) {
			t.Errorf("no trial says %q:\n%s", want, said)
		}
	}
	logs, _ := filepath.Glob(filepath.Join(out, "output", "*floods*"))
	for _, log := range logs {
		if info, err := os.Stat(log); err != nil || info.Size() > 3<<20 {
			t.Errorf("%s: %v, %d bytes", log, err, info.Size())
		}
	}
	if len(logs) == 0 {
		t.Error("what floods wrote is lost")
	}
	if _, err := os.Stat(filepath.Join(out, "report.md")); err != nil {
		t.Error(err)
	}
}

// Interrupted, it reports what was measured and how to go on.
func TestLabInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(file, []byte(badServers), 0o600); err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprintf("DYNO_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd, said := labRuns(t, mark, file, "-o", out)
	await(t, "a trial", func() bool {
		all, _ := filepath.Glob(filepath.Join(out, "trials", "*.json"))
		return len(all) > 0
	})
	cmd.Process.Signal(syscall.SIGINT)
	err := cmd.Wait()
	exit, is := errors.AsType[*exec.ExitError](err)
	if !is || exit.ExitCode() != exitInterrupted {
		t.Errorf("%v\n%s", err, said)
	}
	if !strings.Contains(said.String(), "go on with: dyno lab run --resume") ||
		!strings.Contains(said.String(), "NOT COMPLETE") {
		t.Error(said)
	}
	await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
}

// An experiment whose dashboard is gone stores that it was interrupted, though nobody reads what it says.
func TestConductOutlivesItsReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(filepath.Join(dir, "long.yaml"), []byte("version: 1\nname: long\n"+
		"design: {rounds: 200, aa: false, warmup: {min: 0, max: 0}, measure: 0.2s, cooldown: 0, metrics: [throughput]}\n"+
		"levels: [{connections: 1, rate: 50}]\nvariants:\n  a:\n"+
		"    processes: [{cmd: '{{dyno}} target --listen 127.0.0.1:{{port}}'}]\n    url: http://127.0.0.1:{{port}}/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(copied(t, dir, "dyno"), "conduct")
	c.Env, c.Stderr = append(os.Environ(), "GORACE="+shortly, "DYNO_HOME="+filepath.Join(dir, "home")), writer
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err = errors.Join(err, reader.Close(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(order{File: filepath.Join(dir, "long.yaml"), Dir: out}); err != nil {
		t.Fatal(err)
	}
	await(t, "a trial", func() bool {
		trials, _ := filepath.Glob(filepath.Join(out, "trials", "*.json"))
		return len(trials) > 0
	})
	in.Close()
	err = c.Wait()
	if h, wrong := lab.ReadHeading(out); wrong != nil || h.State != lab.Interrupted {
		t.Errorf("it is %q: %v; %v", h.State, wrong, err)
	}
}
