//go:build linux

package attack

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

// orphans is an experiment whose servers would outlive it: one starts another in a session of its
// own, which listens beside it and ignores signals. %s is what else its variant and design say.
const orphans = `version: 1
name: orphans
design: {rounds: 6, aa: false, cooldown: 0s, measure: 20s, warmup: {min: 0s, max: 0s}%s}
fairness: {mode: off}
levels: [{name: c1, connections: 2, threads: 1}]
variants:
  one:
%s    processes:
      - {cmd: ["sh", "-c", "trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' & exec '%s' target --listen {{address}}:{{port}}"]}
    url: http://{{address}}:{{port}}/
`

// A laboratory that is killed leaves nothing: no server, no supervisor, no client in its network
// namespace, no port, no folder, and no setting of the machine.
func TestKilledLaboratory(t *testing.T) {
	setting := func() string {
		b, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_max_syn_backlog")
		return string(b)
	}
	before := setting()
	for name, more := range map[string][2]string{
		"on the machine's network": {"", ""},
		"in network namespaces": {", clients: {count: 2, isolate: netns}",
			"    sysctl: {net.ipv4.tcp_max_syn_backlog: 77}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			temporary := filepath.Join(dir, "tmp")
			if err := os.Mkdir(temporary, 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "orphans.yaml")
			if err := os.WriteFile(file, fmt.Appendf(nil, orphans, more[0], more[1], binary), 0o600); err != nil {
				t.Fatal(err)
			}
			mark := "DYNO_HOME=" + filepath.Join(dir, "home")
			lab := exec.Command(binary, "lab", "run", "-v", "-o", filepath.Join(dir, "out"), file)
			lab.Env = append(os.Environ(), mark, "NO_COLOR=1", "TMPDIR="+temporary)
			said, err := os.Create(filepath.Join(dir, "said"))
			if err != nil {
				t.Fatal(err)
			}
			defer said.Close()
			lab.Stdout, lab.Stderr = said, said
			if err := lab.Start(); err != nil {
				t.Fatal(err)
			}
			defer lab.Process.Kill()
			awaited := [][]byte{[]byte("sleep 1\n"), []byte("target --listen")}
			if more[0] != "" {
				awaited = append(awaited, []byte(" worker"))
			}
			await(t, "the daemon and what loads the server run", func() bool {
				all := marked(mark)
				return !slices.ContainsFunc(awaited, func(is []byte) bool { return !bytes.Contains(all, is) })
			})
			port := regexp.MustCompile(`target --listen (\S+)`).FindSubmatch(marked(mark))
			if port == nil {
				t.Fatalf("no server is there:\n%s", marked(mark))
			}
			lab.Process.Kill()
			lab.Wait()
			await(t, "nothing is left", func() bool {
				left, _ := os.ReadDir(temporary)
				return len(marked(mark)) == 0 && len(left) == 0
			})
			if c, err := net.DialTimeout("tcp", string(port[1]), time.Second); err == nil {
				c.Close()
				t.Errorf("%s is still listened to", port[1])
			}
			if setting() != before {
				t.Errorf("the machine's setting is %s, and was %s", setting(), before)
			}
		})
	}
}

// marked is the command lines of the processes that have a setting in their environment.
func marked(setting string) (all []byte) {
	processes, _ := os.ReadDir("/proc")
	for _, p := range processes { // who has ended meanwhile, and what is no process, has no environment
		b, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "environ"))
		if !bytes.Contains(b, append([]byte(setting), 0)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", p.Name(), "cmdline"))
		if line = bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte(" "))); len(line) > 0 {
			all = append(append(all, line...), '\n')
		}
	}
	return all
}
