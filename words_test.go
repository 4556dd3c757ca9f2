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

	"dyno/internal/setting"
)

// silent are the folders that have no words for people: they find facts, which the voices of package setting say.
var silent = []string{"internal/engine/failure/", "internal/engine/h3/", "internal/engine/load/", "internal/engine/luascript/",
	"internal/engine/proto/", "internal/engine/ring/", "internal/engine/uring/", "internal/result/", "internal/lab/grade/",
	"internal/lab/judge/", "internal/fact/", "internal/say/"}

// ownFlags are files of these that name a flag of dyno, with the reason.
var ownFlags = map[string]string{}

var flagInText = regexp.MustCompile(`(?:^|[\s('])--?([A-Za-z][\w-]*)`)

// No text there names a flag of dyno: who describes a load in a file, in a form or in a program has none. Remedies and
// flaws name settings, and whoever shows them has the voice.
func TestFlagsAreSaid(t *testing.T) {
	flags := map[string]bool{}
	for _, verb := range []setting.Verbs{setting.Run, setting.Find, setting.Vs} {
		for _, g := range setting.Groups(verb) {
			for _, s := range g.Settings {
				flags[s.Name], flags[s.Short] = true, true
			}
		}
	}
	for _, name := range []string{"resume", "quick", "show-secrets", "secret"} { // of dyno lab run
		flags[name] = true
	}
	found := map[string]bool{}
	for _, s := range parsed(t) {
		path := filepath.ToSlash(s.path)
		in := func(folder string) bool { return strings.HasPrefix(path, folder) }
		if s.isTest() || !slices.ContainsFunc(silent, in) {
			continue
		}
		eachLiteral(s, func(at ast.Expr, text string) {
			for _, m := range flagInText.FindAllStringSubmatch(strings.ReplaceAll(text, "ulimit -n", ""), -1) {
				if !flags[m[1]] {
					continue
				}
				if found[path] = true; ownFlags[path] == "" {
					t.Errorf("%s: %q names a flag: give a remedy or a flaw that names the setting", s.set.Position(at.Pos()), text)
				}
			}
		})
	}
	for path := range ownFlags {
		if !found[path] {
			t.Errorf("%s names no flag any more: it needs no exemption", path)
		}
	}
}

// eachLiteral calls f with each text that is written in a source, also in several parts, but for tags and imports.
func eachLiteral(s source, f func(at ast.Expr, text string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			ast.Inspect(n.Type, func(ast.Node) bool { return false })
			return n.Tag == nil
		case ast.Expr:
			if text, is := literal(n); is {
				f(n, text)
				return false
			}
		}
		return true
	})
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
