package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab"
)

const fleetExperiment = `
version: 1
name: lent
design: {rounds: 3, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput]}
fairness: {mode: off}
levels: [{name: c2, connections: 2, rate: 500}]
variants:
  good:
    processes: [{cmd: "{{dyno}} target --listen 127.0.0.1:{{port}}"}]
    url: http://127.0.0.1:{{port}}/
`

// An experiment does not begin without its agents, and stops when one is lost: what is missing
// then is no server's failure, and is measured when the agent is there again.
func TestLabLosesAgent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	if err := os.WriteFile(filepath.Join(dir, "lent.yaml"), []byte(fleetExperiment), 0o600); err != nil {
		t.Fatal(err)
	}
	_, hub := started(t, dir, "dyno fleet up --listen 127.0.0.1:0")
	defer ended(t, hub)
	join := func() *exec.Cmd {
		done(t, dir, "sh -c 'dyno fleet token > token'")
		_, agent := started(t, dir, "dyno agent --join @token --name web1")
		await(t, "web1", func() bool { return strings.Contains(done(t, dir, "dyno fleet ls"), "ready") })
		return agent
	}
	agent := join()
	trials := func() []string {
		all, _ := filepath.Glob(filepath.Join(out, "trials", "*.json"))
		return all
	}
	tried := func(args string, meanwhile func()) (string, int) {
		t.Helper()
		c, said := shell(t, dir, "dyno lab run "+args), new(bytes.Buffer)
		c.Stdout, c.Stderr = said, said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		meanwhile()
		c.Wait()
		return said.String(), c.ProcessState.ExitCode()
	}
	run := func(args string, code int) string {
		t.Helper()
		said, got := tried(args, func() {})
		if got != code {
			t.Errorf("%s: exit code %d, want %d\n%s", args, got, code, said)
		}
		return said
	}
	if said := run("--fleet nosuch lent.yaml -o out", exitUsage); len(trials()) > 0 ||
		!strings.Contains(said, "nosuch does not answer") {
		t.Errorf("%q %s", trials(), said)
	}
	said, code := "", 0
	for try := 1; try == 1 || try <= 5 && len(trials()) >= 3; try++ {
		if try > 1 { // a busy machine: this test slept for longer than the experiment took
			t.Logf("try %d: %d trials before the agent was lost", try-1, len(trials()))
			out = filepath.Join(dir, fmt.Sprint("out", try))
			agent = join()
		}
		said, code = tried("--fleet all lent.yaml -o "+out, func() {
			await(t, "a trial", func() bool { return len(trials()) > 0 })
			time.Sleep(500 * time.Millisecond) // into the next one, if all goes well
			agent.Process.Kill()
			agent.Wait()
		})
	}
	if code != exitUntrusted {
		t.Errorf("exit code %d\n%s", code, said)
	}
	t.Log(said)
	again := "--resume " + out
	if len(trials()) == 0 || len(trials()) >= 3 || !strings.Contains(said, "web1") ||
		!strings.Contains(said, "go on with: dyno lab run "+again) {
		t.Errorf("%q %s", trials(), said)
	}
	for args, want := range map[string]string{
		again: "web1 does not answer", "--fleet web2 " + again: "web2 does not answer"} {
		if said := run(args, exitUsage); !strings.Contains(said, want) ||
			!strings.Contains(said, "goes on with agent web1 alone") {
			t.Errorf("%s: %s", args, said)
		}
	}
	alone, err := shell(t, dir, "env DYNO_HOME=other dyno lab run "+again).CombinedOutput()
	exit, _ := errors.AsType[*exec.ExitError](err)
	if exit == nil || exit.ExitCode() != exitUnreachable ||
		!strings.Contains(string(alone), "goes on with agent web1 alone") {
		t.Errorf("without a hub: %v\n%s", err, alone)
	}
	agent = join()
	defer ended(t, agent)
	run(again, exitOK)
	for _, name := range trials() {
		if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), `"failure"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(trials()) < 3 {
		t.Errorf("%q", trials())
	}
	if said := done(t, dir, "sh -c 'dyno lab rerun "+out+" -o again 2>&1'"); !strings.Contains(said,
		"made by a fleet, and now are by this machine") {
		t.Error(said)
	}
}

// What is read of a record goes to the bus and to the terminal.
func TestResumesWithAgentsAlone(t *testing.T) {
	var f fleetFlags
	faults := f.resumeFleet(&lab.Fleet{Agents: []string{"web1", "a.>\x1b[2J"}})
	if len(faults) != 1 || strings.Contains(faults[0].Error(), "\x1b") || f.isAsked() {
		t.Errorf("%q", faults)
	}
	if faults := f.resumeFleet(&lab.Fleet{Agents: []string{"web1"}}); len(faults) > 0 || !f.isAsked() {
		t.Errorf("%q", faults)
	}
}
