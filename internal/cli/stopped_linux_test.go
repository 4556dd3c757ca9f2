package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dyno/internal/fact"
	"dyno/internal/result"
)

// dyno is stopped for a second, as by docker pause, while it loads a server that is well. Whatever
// the load, its verdict says so, and --strict fails.
func TestStoppedGenerator(t *testing.T) {
	t.Parallel()
	for name, load := range map[string][]string{"closed": {"-c", "4"}, "open": {"-R", "100", "-c", "20"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var served atomic.Int64
			pid := make(chan int, 2)
			server := httptest.NewServer(unhurried(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				if served.Add(1) != 20 {
					return
				}
				syscall.Kill(<-pid, syscall.SIGSTOP)
				time.Sleep(time.Second)
				syscall.Kill(<-pid, syscall.SIGCONT)
			})))
			defer server.Close()
			saved := filepath.Join(t.TempDir(), "result.json")
			args := slices.Concat([]string{"run", "--no-save", "--strict", "-t", "1", "-d", "3s", "--json", saved}, load)
			cmd := exec.CommandContext(t.Context(), "dyno", append(args, server.URL)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pid <- cmd.Process.Pid
			pid <- cmd.Process.Pid
			cmd.Wait()
			text, err := os.ReadFile(saved)
			if err != nil {
				t.Fatal(err)
			}
			r, err := result.Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			g := r.Generator
			_, _, found := fact.Find[fact.StoodStill](r.Facts)
			if code := cmd.ProcessState.ExitCode(); code != exitUntrusted || g.StoodStillMax < 900e3 ||
				!found {
				t.Errorf("exit code %d, %s: %q, %+v", code, g.Verdict, g.Reasons, g.Standstill)
			}
		})
	}
}
