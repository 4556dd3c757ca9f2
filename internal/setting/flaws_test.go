package setting

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// In the engine's sources each Flaw names a field that has a row, and no text of one names a flag.
func TestFlawsNameSettings(t *testing.T) {
	var files []string
	for _, folder := range []string{"loadplan", "load", "transport", "onestep"} {
		names, err := filepath.Glob(filepath.Join("../engine", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, names...)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			setting, texts := flawTexts(n)
			if setting != "" {
				found++
				for field := range strings.SplitSeq(setting, ", ") {
					if !loadplan.Fields[field] || Field(field) == nil {
						t.Errorf("%v: %q is no field of the plan, or has no row", set.Position(n.Pos()), field)
					}
				}
			}
			for _, text := range texts {
				if regexp.MustCompile(`(^|[ (])--?[a-zA-Z]`).MatchString(text) {
					t.Errorf("%v: a flag in %q", set.Position(n.Pos()), text)
				}
			}
			return true
		})
	}
	if found < 60 {
		t.Errorf("only %d flaws were found", found)
	}
}

// settingAt is which argument of a function is the setting of a Flaw.
var settingAt = map[string]int{"flaw": 1, "within": 3, "period": 2, "checkRate": 1}

// flawTexts are the setting and all texts in a call or a literal that makes a Flaw; none if n is
// neither. A setting that is computed is "".
func flawTexts(n ast.Node) (setting string, all []string) {
	var in []ast.Expr
	at := 0
	switch n := n.(type) {
	case *ast.CallExpr:
		name, is := n.Fun.(*ast.Ident)
		if !is || settingAt[name.Name] == 0 {
			return "", nil
		}
		in, at = n.Args, settingAt[name.Name]
	case *ast.CompositeLit:
		if name, is := n.Type.(*ast.Ident); is && name.Name == "Flaw" {
			in = n.Elts
		} else if s, is := n.Type.(*ast.SelectorExpr); is && s.Sel.Name == "Flaw" {
			in = n.Elts
		}
	}
	for i, e := range in {
		if kv, is := e.(*ast.KeyValueExpr); is {
			e = kv.Value
		}
		text, whole := textOf(e)
		if i == at && whole {
			setting = text
		}
		all = append(all, text)
	}
	return setting, all
}

// textOf is the text of a literal, or of several that are added.
func textOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		a, is := textOf(e.X)
		b, also := textOf(e.Y)
		return a + b, is && also
	}
	return "", false
}
