//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the commands of README.md that show their output, shortened
// and against a target of the test's own, and checks that the output still has
// the lines that the README shows and explains.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	label := regexp.MustCompile(`^ {2,}([a-z]+[0-9.]*) `)
	ran := 0
	for part := range strings.SplitSeq(string(text), "\n    $ dyno run ") {
		command, shown, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(part, "# dyno") {
			continue // what is before the first
		}
		ran++
		target := startTarget(t)
		command = strings.NewReplacer("-d 10s", "-d 1s", "http://127.0.0.1:8080", target.url).Replace(command)
		got := runDyno(t, 0, strings.Fields(command)...).stdout
		have := map[string]bool{}
		for line := range strings.Lines(got) {
			if m := label.FindStringSubmatch(line); m != nil {
				have[m[1]] = true
			}
		}
		for line := range strings.Lines(shown) {
			if !strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != "" {
				break
			}
			if m := label.FindStringSubmatch(strings.TrimPrefix(line, "    ")); m != nil && !have[m[1]] {
				t.Errorf("dyno run %s: the README shows a line %q, the output has none:\n%s", command, m[1], got)
			}
		}
	}
	if ran == 0 {
		t.Error("the README shows no output")
	}
}
