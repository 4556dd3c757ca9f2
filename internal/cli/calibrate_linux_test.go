package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/lab"
)

// loadedBy is an experiment whose load comes from dyno itself, or from two processes.
const loadedBy = `
version: 1
name: rings
design:
  {rounds: 1, seed: 1, aa: false, warmup: {min: 0, max: 0}, measure: 1s, cooldown: 0, metrics: [throughput],
   clients: {count: CLIENTS}}
fairness: {mode: off}
levels: [{name: n, connections: 40, threads: 1, requests: 500, rate: 1000}]
variants:
  target:
    processes: [{cmd: "{{dyno}} target --listen {{address}}:{{port}}"}]
    url: http://{{address}}:{{port}}/
`

// The laboratory's generators, too, are on the ring that was faster.
func TestLabsAutoIsWhatWasFaster(t *testing.T) {
	t.Parallel()
	for _, clients := range []string{"1", "2"} {
		for _, epoll := range []float64{4, 3} {
			want := map[float64]string{4: "uring", 3: "epoll"}[epoll]
			all := labWith(t, clients, epoll)
			if len(all) == 0 { // there is another if a busy machine spoiled the first
				t.Fatalf("%s clients: no trial", clients)
			}
			for _, trial := range all {
				if trial.Result == nil {
					t.Fatalf("%s clients: %+v", clients, trial)
				}
				g := trial.Result.Generator
				if want == "uring" && g.Ring == "epoll" {
					t.Skip("this system has no io_uring for dyno")
				}
				if g.Ring != want || trial.Result.Plan.Ring != "auto" {
					t.Errorf("%s clients: on %s, its plan %s, want %s", clients, g.Ring,
						trial.Result.Plan.Ring, want)
				}
			}
		}
	}
}

// labWith runs loadedBy on a machine on whose epoll a request takes so many µs, and 4 on io_uring.
func labWith(t *testing.T, clients string, epoll float64) []*lab.Trial {
	t.Helper()
	dir := t.TempDir()
	home, file := filepath.Join(dir, "home"), filepath.Join(dir, "e.yaml")
	calibratedFor(t, home, loadplan.Version, epoll, 4)
	err := os.WriteFile(file, []byte(strings.Replace(loadedBy, "CLIENTS", clients, 1)), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd, said := labRuns(t, "DYNO_HOME="+home, file, "-o", filepath.Join(dir, "out"))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return trialsIn(t, dir)
}
