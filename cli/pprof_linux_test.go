package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dyno/lab"
)

const profiledApart = `
version: 1
name: apart
design: {rounds: 1, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: 0.2s, cooldown: 0,
  metrics: [throughput], clients: {count: 2, isolate: netns}}
fairness: {mode: off}
levels: [{name: c2, connections: 2}]
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
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(profiledApart, "PROGRAM", filepath.Join(dir, "profiled"), 1)
	for name, content := range map[string][]byte{"dyno": program, "profiled": program,
		"e.yaml": []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mark := newMark()
	cmd := exec.Command(filepath.Join(dir, "dyno"), "lab", "run", filepath.Join(dir, "e.yaml"), "-o",
		filepath.Join(dir, "out"))
	cmd.Env = append(os.Environ(), mark, "GORACE="+shortly)
	said, err := cmd.CombinedOutput()
	if strings.Contains(string(said), "it needs root with CAP_SYS_ADMIN") {
		t.Skipf("no network namespaces here:\n%s", said)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	r, err := lab.Open(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Profiles) != 1 || r.Profiles[0].Problem != "" || r.Profiles[0].By != "pprof" ||
		len(r.Profiles[0].Shares) != 1 || r.Profiles[0].Shares[0].Cumulative.Share < 0.05 {
		t.Errorf("%+v\n%s", r.Profiles, said)
	}
	await(t, "nothing is left", func() bool { return len(marked(mark)) == 0 })
}
