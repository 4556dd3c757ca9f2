package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/lab/judge"
)

const profiledApart = `
version: 1
name: apart
design: {rounds: 1, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: 3s, cooldown: 0,
  metrics: [throughput], clients: {count: 2, isolate: netns}}
fairness: {mode: off}
levels: [{name: c2, connections: 2, rate: 500}]
variants:
  go:
    processes: [{cmd: "PROGRAM {{address}}:{{port}}"}]
    url: http://{{address}}:{{port}}/
    pprof: http://{{address}}:{{port}}/debug/pprof
profile: {cpu: 1s, functions: [toil]}
`

// A server in a network of its own is profiled from there.
func TestLabProfileInNamespace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "e.yaml")
	text := strings.Replace(profiledApart, "PROGRAM", copied(t, dir, "profiled"), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	mark, dyno, out := newMark(), copied(t, dir, "dyno"), filepath.Join(dir, "out")
	run := func(args ...string) (string, error) {
		cmd := exec.Command(dyno, append([]string{"lab", "run"}, args...)...)
		cmd.Env = append(os.Environ(), mark, "GORACE="+shortly)
		said, err := cmd.CombinedOutput()
		return string(said), err
	}
	said, err := run(file, "-o", out)
	if strings.Contains(said, "it needs root with CAP_SYS_ADMIN") {
		t.Skipf("no network namespaces here:\n%s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	r, err := judge.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Profiles) != 1 || r.Profiles[0].Problem != "" || r.Profiles[0].By != "pprof" ||
		len(r.Profiles[0].Shares) != 1 || r.Profiles[0].Shares[0].Cumulative.Share < 0.05 {
		t.Errorf("%+v\n%s", r.Profiles, said)
	}
	took := r.Profiles
	said, err = run("--resume", out)
	if r, failed := judge.Open(out); err != nil || failed != nil || !reflect.DeepEqual(r.Profiles, took) {
		t.Errorf("a profile that was there was taken again, or lost: %v, %v\n%s", err, failed, said)
	}
	await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
}
