package dyno_test

import (
	"go/ast"
	"go/parser"
	"go/token"
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
// packages that they import do is not looked at; TestLayers says which of ours these are.
func TestWhatIsTestedWithoutRaceDetector(t *testing.T) {
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	alone := regexp.MustCompile(`(?m)^ALONE = (.*)$`).FindSubmatch(b)
	if alone == nil {
		t.Fatal("the Makefile names none")
	}
	for _, folder := range strings.Fields(string(alone[1])) {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", folder, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				if why := several(n); why != "" {
					t.Errorf("%s has %s: test it with the race detector", file, why)
				}
				return true
			})
		}
	}
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
	case *ast.SelectorExpr:
		if slices.Contains([]string{"Go", "AfterFunc"}, n.Sel.Name) {
			return n.Sel.Name
		}
	}
	return ""
}
