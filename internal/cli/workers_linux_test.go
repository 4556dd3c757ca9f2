package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/lab"
)

// severalClients is loaded by three generators: beside each other, in a private
// network with the server, or each in one of its own.
const severalClients = `
version: 1
name: clients
design:
  {rounds: 1, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: %s, cooldown: 0, metrics: [throughput],
   clients: {count: 3, isolate: %s}}
fairness: {mode: off}
levels: [{name: n, connections: 5, requests: 1003}, {name: r, connections: 4, rate: 1001}]
variants:
  plain:
    processes: [{cmd: "{{dyno}} target --listen {{address}}:{{port}}"}]
    url: http://{{address}}:{{port}}/
  tuned:
    processes: [{cmd: "sh -c 'cat /proc/sys/net/core/somaxconn; exec {{dyno}} target --listen {{address}}:{{port}}'"}]
    url: http://{{address}}:{{port}}/
    sysctl: {net.core.somaxconn: "64"}
`

// openDir is a folder that every user may use.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(d, 0o777|os.ModeSticky); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// copied puts a program that the scripts start into dir, under its name. A process of its own writes
// it: one that a parallel test forks off meanwhile would inherit the file, and no program is started
// while it is open for writing.
func copied(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	program, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("cp", program, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return path
}

// clientsRun is dyno lab run of severalClients, as user uid.
func clientsRun(t *testing.T, dir, isolate, measure, mark string, uid int) *exec.Cmd {
	t.Helper()
	dyno, file := copied(t, dir, "dyno"), filepath.Join(dir, "e.yaml")
	text := fmt.Sprintf(severalClients, measure, isolate)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dyno, "lab", "run", file, "-o", filepath.Join(dir, "out"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), mark, "GORACE="+shortly, "HOME="+dir, "TMPDIR="+dir)
	if uid != os.Getuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{
			Uid: uint32(uid), Gid: uint32(uid)}}
	}
	return cmd
}

func newMark() string {
	return fmt.Sprintf("DYNO_TEST_MARK=%d-%d", os.Getpid(), time.Now().UnixNano())
}

// trialsIn are those of an experiment's folder.
func trialsIn(t *testing.T, dir string) (all []*lab.Trial) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "out", "trials", "*.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		trial := new(lab.Trial)
		if err == nil {
			err = json.Unmarshal(b, trial)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, trial)
	}
	return all
}

// Several generators do together, to the request, what one would.
func TestLabClients(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	for isolate, users := range map[string][]int{"none": {os.Getuid()}, "netns": {os.Getuid(), nobody}} {
		for _, uid := range users {
			t.Run(fmt.Sprint(isolate, " as ", uid), func(t *testing.T) {
				if uid != os.Getuid() && os.Getuid() != 0 {
					t.Skip("only root can be somebody else")
				}
				t.Parallel()
				dir, mark := openDir(t), newMark()
				said, err := clientsRun(t, dir, isolate, "1s", mark, uid).CombinedOutput()
				if strings.Contains(string(said), "it needs root with CAP_SYS_ADMIN") {
					t.Skipf("no namespaces for user %d here:\n%s", uid, said)
				}
				if err != nil {
					t.Errorf("%v\n%s", err, said)
				}
				first, tuned := 0, 0
				for _, trial := range trialsIn(t, dir) {
					checkClients(t, trial)
					if trial.Attempt == 1 { // a second is a matter of how busy the machine is
						first++
					}
					if trial.Arm == "tuned" {
						tuned++
					}
				}
				if first != 4 {
					t.Fatalf("%d trials\n%s", first, said)
				}
				logs, _ := filepath.Glob(filepath.Join(dir, "out", "output", "r*-tuned@*.log"))
				for _, log := range logs {
					if b, err := os.ReadFile(log); err != nil || !strings.HasPrefix(string(b), "64\n") {
						t.Errorf("net.core.somaxconn is not 64: %v %.100s", err, b)
					}
				}
				if len(logs) != tuned {
					t.Errorf("logs %q of %d trials", logs, tuned)
				}
				await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
			})
		}
	}
}

func checkClients(t *testing.T, trial *lab.Trial) {
	t.Helper()
	r := trial.Result
	if trial.Failure != nil || r == nil {
		t.Errorf("%s: %+v", trial.ID, trial.Failure)
		return
	}
	want, q := map[string]int64{"n": 1003, "r": 1001}[trial.Level], r.Requests
	sent := want
	if trial.Level == "r" { // on a busy machine what is due at the end is not sent any more
		if q.Due == nil || q.Waiting == nil || *q.Due != want {
			t.Fatalf("%s: %+v, want %d due", trial.ID, q, want)
		}
		sent -= *q.Waiting
	}
	if q.Sent != sent || q.Completed != sent || r.Latency.Count != sent || r.Status["200"] != sent {
		t.Errorf("%s: %+v, %d latencies, %v, want %d", trial.ID, q, r.Latency.Count, r.Status, sent)
	}
	if c := r.Connections; c.Asked != map[string]int{"n": 5, "r": 4}[trial.Level] || c.Served != c.Asked {
		t.Errorf("%s: %+v", trial.ID, c)
	}
	for i, p := range r.Series {
		if whole := len(r.Series) == 1; p.Completed > 0 && (p.P50 == 0 || p.P99 < p.P50 || len(p.ByPart) != 3) ||
			whole && (p.P50 != r.Latency.P50 || p.P99 != r.Latency.P99 || p.Max != r.Latency.Max) {
			t.Errorf("%s: second %d: %+v of %+v", trial.ID, i, p, r.Latency)
		}
	}
	if r.Generator.Threads != 3 || r.Plan.Parts != 0 || r.Plan.Threads != 3 ||
		r.Generator.CPUPerRequest <= 0 {
		t.Errorf("%s: not of three generators: %+v", trial.ID, r.Generator)
	}
	if r.Server == nil || len(r.Server.Processes) == 0 {
		t.Errorf("%s: the server was not watched", trial.ID)
		return
	}
	for _, u := range r.Server.Processes {
		if strings.Contains(u.Name, "generator") {
			t.Errorf("%s: what a generator used counts as the server's: %+v", trial.ID, u)
		}
	}
}

// generators are the marked processes that load.
func generators(mark string) (pids []string) {
	return slices.DeleteFunc(marked(mark), func(pid string) bool {
		b, err := os.ReadFile("/proc/" + pid + "/cmdline")
		return err != nil || !strings.HasSuffix(string(b), "\x00worker\x00")
	})
}

// loading waits until all generators load, and returns their ids.
func loading(t *testing.T, dir, mark string) (pids []string) {
	t.Helper()
	await(t, "three generators", func() bool {
		logs, _ := filepath.Glob(filepath.Join(dir, "out", "output", "r*.log"))
		if len(logs) == 0 {
			return false
		}
		pids = generators(mark)
		return len(pids) == 3
	})
	return pids
}

// needsNetns skips a test where this user may make no network namespace.
func needsNetns(t *testing.T) {
	t.Helper()
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET}
	if err := cmd.Run(); err != nil {
		t.Skip("no network namespace for this user: ", err)
	}
}

// Generators end with dyno, even in namespaces of their own.
func TestLabClientsKilled(t *testing.T) {
	t.Parallel()
	for _, isolate := range []string{"none", "netns"} {
		t.Run(isolate, func(t *testing.T) {
			t.Parallel()
			if isolate == "netns" {
				needsNetns(t)
			}
			dir, mark := openDir(t), newMark()
			cmd := clientsRun(t, dir, isolate, "60s", mark, os.Getuid())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			loading(t, dir, mark)
			cmd.Process.Kill()
			cmd.Wait()
			await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
		})
	}
}

// A generator that is lost fails its trial, and no other.
func TestLabClientLost(t *testing.T) {
	t.Parallel()
	dir, mark := openDir(t), newMark()
	cmd := clientsRun(t, dir, "none", "60s", mark, os.Getuid())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
		await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
	}()
	failed := func() bool {
		return slices.ContainsFunc(trialsIn(t, dir), func(trial *lab.Trial) bool {
			return trial.Failure != nil && strings.Contains(trial.Failure.Reason, "ended by signal SIGKILL")
		})
	}
	for till := time.Now().Add(2 * time.Minute); !failed() && time.Now().Before(till); {
		for _, pid := range loading(t, dir, mark)[:1] {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			syscall.Kill(n, syscall.SIGKILL)
		}
		time.Sleep(200 * time.Millisecond)
	}
	if !failed() {
		t.Errorf("no trial has failed for the lack of a generator: %+v", trialsIn(t, dir))
	}
}
