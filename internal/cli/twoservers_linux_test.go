package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dyno/internal/lab"
)

// twoServers is the page that leads from nothing to a comparison of two servers.
const twoServers = "two-servers.md"

// tryTwoServers follows the page with two programs, ./a and ./b, which answer as servers of Go and of
// Node.js do.
func tryTwoServers(t *testing.T, page string) {
	dir := t.TempDir()
	writeSession(t, dir, page)
	for name, style := range map[string]string{"a": "", "b": "-node "} {
		text := "#!/bin/sh\nexec shop " + style + "\"$@\"\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	all := instructionsOf(page)
	for _, i := range all {
		if !strings.HasPrefix(i.command, "dyno vs") {
			t.Errorf("%s: is no comparison", i.command)
			continue
		}
		compareShops(t, dir, page, i.command, i.shown)
	}
	if len(all) != 2 {
		t.Errorf("%d comparisons", len(all))
	}
}

var (
	folderFlag = regexp.MustCompile(` -o (\S+)`)
	question   = regexp.MustCompile(`^Compare them nevertheless \(--allow (\S+)\)\? \[y/N\] y$`)
)

// standing matches the line of a server, by its name and one of the words that stand for a verdict.
var standing = regexp.MustCompile(`(?m)^    (\S+)  (?:better|worse|the same|cannot tell yet|not valid|unreliable)(?:  |$)`)

// checkStandings checks that a page and an output have a word for a verdict after the name of each
// server that the page shows.
func checkStandings(t *testing.T, line string, shown []string, said string) {
	t.Helper()
	got := map[string]bool{}
	for _, m := range standing.FindAllStringSubmatch(said, -1) {
		got[m[1]] = true
	}
	for _, want := range shown {
		if !strings.HasPrefix(want, "    ") || strings.HasPrefix(want, "     ") { // it goes on with the line before
			continue
		}
		if m := standing.FindStringSubmatch(want); m == nil || !got[m[1]] {
			t.Errorf("%s: %q is of no verdict, or the output has none of it:\n%s", line, want, said)
		}
	}
}

// compareShops tries a comparison. Nobody can answer here, so dyno refuses it, and names the list of
// its question. With that list each iteration of each trial is completed, and the report is where
// the page says.
func compareShops(t *testing.T, dir, page, line string, shown []string) {
	t.Helper()
	asks := slices.IndexFunc(shown, question.MatchString)
	if asks < 0 {
		t.Errorf("%s: the page shows no question", line)
		return
	}
	list := question.FindStringSubmatch(shown[asks])[1]
	said, code := runVs(t, dir, line)
	if code != exitUnreachable {
		t.Errorf("%s: without --allow: code %d\n%s", line, code, said)
	}
	for _, want := range shown[:asks] {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("%s: the page shows %q, and the output is\n%s", line, want, said)
		}
	}
	if n := strings.Count(said, "\n  "); asks > 0 && n != asks-1 {
		t.Errorf("%s: the page shows %d differences, and the output has %d:\n%s", line, asks-1, n, said)
	}
	named := said[strings.LastIndex(said, "--allow")+len("--allow"):]
	if strings.TrimSpace(named) != list {
		t.Errorf("%s: dyno names%s", line, named)
	}
	said, code = runVs(t, dir, line+" --allow "+list)
	if code != exitOK && code != exitUntrusted {
		t.Errorf("%s: code %d\n%s", line, code, said)
	}
	checkShown(t, line, shown[asks+1:], said)
	checkStandings(t, line, shown[asks+1:], said)
	folder := folderFlag.FindStringSubmatch(line)[1]
	if _, err := os.Stat(filepath.Join(dir, folder, "report.html")); err != nil {
		t.Error(err)
	}
	if !strings.Contains(page, "`"+folder+"/report.html`") {
		t.Errorf("the page does not say where the report of %s is", folder)
	}
	if strings.Contains(line, ".hurl") {
		allCompleted(t, filepath.Join(dir, folder))
	}
}

// runVs runs dyno vs for a short time, and returns what it printed and its exit code.
func runVs(t *testing.T, dir, line string) (said string, code int) {
	t.Helper()
	out, err := shell(t, dir, line+shortVs).CombinedOutput()
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed:
		return string(out), exit.ExitCode()
	case err != nil:
		t.Fatalf("%s: %v", line, err)
	}
	return string(out), exitOK
}

// allCompleted checks that no iteration of an experiment's trials failed.
func allCompleted(t *testing.T, dir string) {
	t.Helper()
	trials, err := filepath.Glob(filepath.Join(dir, "trials", "*.json"))
	if err != nil || len(trials) < 3 {
		t.Errorf("%d trials: %v", len(trials), err)
	}
	for _, name := range trials {
		var one lab.Trial
		b, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(b, &one)
		}
		if err != nil || one.Result == nil || one.Result.Iterations == nil {
			t.Errorf("%s: no iterations, %v", name, err)
			continue
		}
		if i := one.Result.Iterations; i.Completed == 0 || i.Failed > 0 {
			t.Errorf("%s: %+v", name, i)
		}
	}
}
