package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/judge"
)

// profiledApart is an experiment of one trial, which is profiled for SPAN seconds.
const profiledApart = `
version: 1
name: apart
design: {rounds: 1, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: SPANs, cooldown: 0,
  metrics: [throughput], clients: {count: 2, isolate: netns}}
fairness: {mode: off}
levels: [{name: c2, connections: 2, rate: 500}]
variants:
  go:
    processes: [{cmd: "PROGRAM {{address}}:{{port}}"}]
    url: http://{{address}}:{{port}}/
    pprof: http://{{address}}:{{port}}/debug/pprof
profile: {cpu: SPANs, functions: [toil]}
`

// runMarked runs dyno lab run as a process of its own, with the mark in its environment.
func runMarked(dyno, mark string, args ...string) (string, error) {
	cmd := exec.Command(dyno, append([]string{"lab", "run"}, args...)...)
	cmd.Env = append(os.Environ(), mark, "GORACE="+shortly)
	said, err := cmd.CombinedOutput()
	return string(said), err
}

// A server in a network of its own is profiled from there. On a busy machine a trial may have no
// answer, and a profile few samples, so it may take longer.
func TestLabProfileInNamespace(t *testing.T) {
	t.Parallel()
	const enough, longest = 20, 27 // samples, seconds
	mark, dir := newMark(), t.TempDir()
	dyno, server := copied(t, dir, "dyno"), copied(t, dir, "profiled")
	var out string
	var took []lab.TakenProfile
	for span, samples := 1, int64(0); span <= longest && samples < enough; span *= 3 {
		out = filepath.Join(dir, fmt.Sprint("out", span))
		file := filepath.Join(dir, "e.yaml")
		text := strings.NewReplacer("PROGRAM", server, "SPAN", fmt.Sprint(span)).Replace(profiledApart)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := runMarked(dyno, mark, file, "-o", out)
		if strings.Contains(said, "it needs root with CAP_SYS_ADMIN") {
			t.Skipf("no network namespaces here:\n%s", said)
		}
		if err != nil && strings.Contains(said, "no request completed") && span < longest {
			continue
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		r, err := judge.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		took = r.Profiles
		if len(took) != 1 || took[0].Problem != "" || took[0].By != "pprof" {
			t.Fatalf("%+v\n%s", took, said)
		}
		for _, toil := range took[0].Shares { // none of a profile without samples
			samples = toil.Samples
		}
	}
	if len(took[0].Shares) != 1 || took[0].Shares[0].Cumulative.Share < 0.05 {
		t.Errorf("%+v", took)
	}
	said, err := runMarked(dyno, mark, "--resume", out)
	if r, failed := judge.Open(out); err != nil || failed != nil || !reflect.DeepEqual(r.Profiles, took) {
		t.Errorf("a profile that was there was taken again, or lost: %v, %v\n%s", err, failed, said)
	}
	await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
}
