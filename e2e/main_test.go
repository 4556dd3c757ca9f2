//go:build linux

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/result"
)

// binaryEnv names the program that make test, or the test outside a namespace, has built; without it
// one is built.
const binaryEnv = "DYNO_E2E_BINARY"

// binary is the program under test.
var binary = os.Getenv(binaryEnv)

// scratch is a folder for what several tests need, until all have ended.
var scratch string

func TestMain(m *testing.M) {
	runForbidden()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	os.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -ldflags=-w") // nobody debugs what is built here
	var err error
	if scratch, err = os.MkdirTemp("", "dyno-e2e"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	os.Chmod(scratch, 0o755) // tests that give up root still start the program
	if binary != "" {
		return m.Run()
	}
	binary = filepath.Join(scratch, "dyno")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "../cmd/dyno") // as make build
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building dyno: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// patience is how long a run may take before it counts as hanging.
const patience = 2 * time.Minute

// A running is a dyno that runs.
type running struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr strings.Builder
	json           string // where it writes its result
	began          time.Time
	killer         *time.Timer
}

// An outcome is what a user gets in the end.
type outcome struct {
	stdout, stderr string
	code           int
	took           time.Duration
	result         *result.Result // nil if none was written
}

// startDyno starts dyno run with these arguments. Its result is also written to a file.
func startDyno(t *testing.T, args ...string) *running {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	return startCommand(t, file, exec.Command(binary, runArgs(file, args)...))
}

func runArgs(file string, args []string) []string {
	return append([]string{"run", "--no-save", "--json", file}, args...)
}

func startCommand(t *testing.T, file string, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{t: t, json: file, cmd: cmd, began: time.Now()}
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "GODEBUG=", "DYNO_HOME="+filepath.Dir(file))
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r.killer = time.AfterFunc(patience, func() { cmd.Process.Signal(syscall.SIGQUIT) })
	t.Cleanup(func() { cmd.Process.Kill() })
	return r
}

// waitForExit waits for its end, and fails the test if it hangs.
func (r *running) waitForExit() *outcome {
	r.t.Helper()
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	o := &outcome{stdout: r.stdout.String(), stderr: r.stderr.String(),
		code: r.cmd.ProcessState.ExitCode(), took: time.Since(r.began)}
	if !r.killer.Stop() {
		r.t.Fatalf("%v hung; its goroutines:\n%s", r.cmd.Args, o.stderr)
	}
	b, err := os.ReadFile(r.json)
	if err == nil {
		o.result = &result.Result{}
		err = json.Unmarshal(b, o.result)
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		r.t.Fatalf("%v: %v", r.cmd.Args, err)
	}
	return o
}

// peakMemory is the most memory that it ever had until it ends, in kB resident. The
// kernel's own account, rusage, has that of the process that started it as well.
func (r *running) peakMemory() (kB int64) {
	for {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.cmd.Process.Pid))
		_, line, alive := strings.Cut(string(b), "VmHWM:")
		if !alive { // it has no memory any more
			return kB
		}
		fmt.Sscan(line, &kB)
		time.Sleep(5 * time.Millisecond)
	}
}

// runDyno runs dyno to its end and expects an exit code.
func runDyno(t *testing.T, code int, args ...string) *outcome {
	t.Helper()
	return startDyno(t, args...).waitForExit().expectExit(t, code)
}

func (o *outcome) expectExit(t *testing.T, code int) *outcome {
	t.Helper()
	if o.code != code {
		t.Fatalf("exit code %d, want %d\nstdout:\n%s\nstderr:\n%s", o.code, code, o.stdout, o.stderr)
	}
	if o.result == nil && code != 2 {
		t.Fatalf("no result was written\nstderr:\n%s", o.stderr)
	}
	return o
}

// lastLine is the last line on stderr, which says what went wrong.
func (o *outcome) lastLine() string {
	lines := strings.Split(strings.TrimRight(o.stderr, "\n"), "\n")
	return normalizeOutput(lines[len(lines)-1])
}

// errorRows are the errors of the result, without the counts: phase, kind, place and detail.
func (o *outcome) errorRows() (rows []string) {
	for _, e := range o.result.Errors {
		rows = append(rows, normalizeOutput(strings.Join([]string{e.Phase, e.Kind, e.Address, e.Detail}, " ")))
	}
	return rows
}

// reportLines is what the report warns of, and its reasons to doubt the numbers but for
// those that depend on how busy and how fast this machine is.
func (o *outcome) reportLines() (all []string) {
	for _, s := range append(o.result.Warnings, o.result.Generator.Reasons...) {
		if !machine.MatchString(s) {
			all = append(all, slow.ReplaceAllString(normalizeOutput(s), fewMany))
		}
	}
	return all
}

var machine = regexp.MustCompile(`^(the generator|a thread of the|arrivals were|the hypervisor|` +
	`the Go runtime|a server's queue|\d+ TCP|\d+ sockets|too short to judge: \d{3,}|garbage|connections had) `)

// slow is said in place of fewMany where those 40 answers took a second or longer.
var slow = regexp.MustCompile(`^only 40 answers in TIME: too few for percentiles, .*`)

var (
	port     = regexp.MustCompile(`(127\.0\.0\.1|\[::1\]|localhost):\d+`)
	duration = regexp.MustCompile(`\b\d+(\.\d+)? ?(ns|µs|ms|s)\b`)
	date     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	times    = regexp.MustCompile(`\((once|\d+ times)\)$`)
	blanks   = regexp.MustCompile(`\s+`)
)

// normalizeOutput is s without what differs from run to run.
func normalizeOutput(s string) string {
	s = port.ReplaceAllString(s, "$1:PORT")
	s = date.ReplaceAllString(s, "DATE")
	s = duration.ReplaceAllString(s, "TIME")
	s = times.ReplaceAllString(s, "(N times)")
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}

// checkBalanced checks that every request is accounted for: n were sent, unless n is
// below 0, and each of them came to one end.
func checkBalanced(t *testing.T, r *result.Result, n int64) {
	t.Helper()
	q := r.Requests
	if q.Completed+q.Errors+q.Unfinished != q.Sent {
		t.Errorf("requests do not add up: %+v", q)
	}
	if n >= 0 && q.Sent != n {
		t.Errorf("sent %d, want %d", q.Sent, n)
	}
	var status, series int64
	for _, k := range r.Status {
		status += k
	}
	for _, p := range r.Series {
		series += p.Sent
	}
	if status < q.Completed || series != q.Sent {
		t.Errorf("%d statuses of %d completed, %d in the series of %d sent", status, q.Completed,
			series, q.Sent)
	}
}

// checkFlawless checks that all n were answered, with this status.
func checkFlawless(t *testing.T, r *result.Result, n int64, status string) {
	t.Helper()
	checkBalanced(t, r, n)
	if r.Requests.Completed != n || len(r.Errors) > 0 || r.Status[status] != n {
		t.Errorf("completed %d of %d, %s: %v, errors %+v", r.Requests.Completed, n, status,
			r.Status, r.Errors)
	}
}

// waitUntil waits until a condition holds.
func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
