package dyno_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What make test tests without the race detector starts no goroutine, as far as its source shows it:
// there is no go, no channel, no import of sync or net/http, and no call that begins a goroutine. Of
// its tests nothing is asked: those of page start a browser, and servers to profile. What the
// packages that they import do is not looked at; TestLayers says which of ours these are. The race
// detector watches them in the tests of those that import them and start goroutines, except for what
// UNWATCHED leaves out, which has no goroutines either. What is STARTED has goroutines, and the race
// detector when CI runs make test.
func TestWhatIsTestedWithoutRaceDetector(t *testing.T) {
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if ci, err := os.ReadFile(".ci/run"); err != nil || !strings.Contains(string(ci), "DYNO_RACE=1 make test") {
		t.Error("CI does not test with DYNO_RACE=1: ", err)
	}
	raced := map[string]bool{}
	for _, folder := range slices.Concat(folders(t, string(b), "RACED"), folders(t, string(b), "STARTED")) {
		if files, err := filepath.Glob(filepath.Join(folder, "*_test.go")); err != nil || len(files) == 0 {
			t.Errorf("%s: %d files of tests, %v", folder, len(files), err)
		}
		raced[filepath.Clean(folder)] = true
	}
	for _, own := range regexp.MustCompile(`\bdyno/[\w/]+`).FindAllString(unwatched(t, string(b)), -1) {
		if folder := strings.TrimPrefix(own, "dyno/"); raced[folder] {
			t.Errorf("%s starts goroutines, so UNWATCHED may not leave it out", folder)
		}
	}
	tested := map[string]bool{}
	for _, s := range parsed(t) {
		tested[filepath.Dir(s.path)] = tested[filepath.Dir(s.path)] || s.isTest()
	}
	for _, s := range parsed(t) {
		folder := filepath.Dir(s.path)
		if s.isTest() || !tested[folder] || raced[folder] {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if why := several(n); why != "" {
				t.Errorf("%s has %s: test it with the race detector", s.path, why)
			}
			return true
		})
	}
}

// folders are those that a variable of the Makefile lists.
func folders(t *testing.T, makefile, variable string) []string {
	t.Helper()
	list := regexp.MustCompile(`(?m)^` + variable + ` = ((?:.*\\\n)*.*)$`).FindStringSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no ", variable)
	}
	return strings.Fields(strings.ReplaceAll(list[1], "\\\n", " "))
}

// unwatched is the packages that the race detector is left out of.
func unwatched(t *testing.T, makefile string) string {
	t.Helper()
	list := regexp.MustCompile(`(?m)^UNWATCHED = ((?:.*\\\n)*.*)$`).FindString(makefile)
	if !strings.Contains(list, "dyno/internal/stats") {
		t.Fatalf("UNWATCHED is read as %q", list)
	}
	return list
}

// several is what of a node makes or needs another goroutine.
func several(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.ChanType:
		return "a channel"
	case *ast.ImportSpec:
		if slices.Contains([]string{`"sync"`, `"sync/atomic"`, `"net/http"`, `"net/http/httptest"`}, n.Path.Value) {
			return n.Path.Value
		}
	case *ast.CallExpr:
		if f, is := n.Fun.(*ast.SelectorExpr); is && slices.Contains([]string{"Go", "AfterFunc"}, f.Sel.Name) {
			return f.Sel.Name
		}
	}
	return ""
}
