//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A link with the name of another load generator acts as it.
func TestLinkToDyno(t *testing.T) {
	t.Parallel()
	target := startTarget(t)
	for name, line := range map[string]string{
		"wrk": "-t1 -c2 -d200ms", "ab": "-n 10 -c 2", "go-meter": "-t 1 -c 2 -d 1s -mrq 100 -u",
	} {
		link := filepath.Join(t.TempDir(), name)
		if err := os.Symlink(binary, link); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(link, append(strings.Fields(line), target.url+"/")...).Output()
		want := map[string]string{"wrk": "Requests/sec:", "ab": "Complete requests:      10", "go-meter": "Net In:"}[name]
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s %s: %v\n%s", name, line, err, out)
		}
	}
}
