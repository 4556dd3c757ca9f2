package dyno_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/lab/grade"
)

// failing are the folders whose texts are failures of a load, or doubts about it. Reasons of the laboratory's trials repeat
// them.
var failing = []string{"internal/engine/failure/", "internal/engine/h3/", "internal/engine/load/", "internal/engine/luascript/",
	"internal/engine/proto/", "internal/engine/ring/", "internal/engine/uring/", "internal/result/"}

// warnings are files of these whose texts no trial repeats, with the reason.
var warnings = map[string]string{
	"internal/engine/load/http3.go": "a warning of a run",
	"internal/result/warn.go":       "warnings of a run",
}

var flagInText = regexp.MustCompile(`(^|[\s(])--?[A-Za-z][\w-]*`)

// What the engine advises for a command line, the laboratory advises in words of its file, where there are no flags.
func TestLaboratoryNamesNoFlag(t *testing.T) {
	flagged := 0
	for _, s := range parsed(t) {
		path := filepath.ToSlash(s.path)
		in := func(folder string) bool { return strings.HasPrefix(path, folder) }
		if s.isTest() || warnings[path] != "" || !slices.ContainsFunc(failing, in) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			e, is := n.(ast.Expr)
			if !is {
				return true
			}
			text, is := literal(e)
			if !is {
				return true
			}
			text = strings.ReplaceAll(text, "ulimit -n", "")
			if flagInText.MatchString(text) {
				flagged++
			}
			if found := flagInText.FindString(grade.InFileWords("; " + text)); found != "" {
				t.Errorf("%s: the laboratory repeats %q: package grade needs other words for %q (filewords.go)",
					s.set.Position(e.Pos()), found, text)
			}
			return false
		})
	}
	if flagged < 10 {
		t.Errorf("only %d texts name a flag: are they looked for where they are?", flagged)
	}
}

// literal is the text of a string that is written in the source, also in several parts; not one with parts that are not.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		x, is := literal(e.X)
		y, both := literal(e.Y)
		return x + y, is && both && e.Op == token.ADD
	}
	return "", false
}
