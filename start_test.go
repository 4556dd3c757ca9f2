package dyno_test

import (
	"errors"
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// No package of dyno's compiles a regular expression before main, so each of those that are compiled at
// their first use is compiled here: else a fault in one would be found by a user.
func TestRegularExpressions(t *testing.T) {
	constants := map[string]map[string]ast.Expr{} // of a folder
	for _, s := range parsed(t) {
		folder := filepath.Dir(s.path)
		if constants[folder] == nil {
			constants[folder] = map[string]ast.Expr{}
		}
		for _, d := range s.file.Decls {
			for name, value := range declared(d, token.CONST) {
				constants[folder][name] = value
			}
		}
	}
	compiled := 0
	for _, s := range parsed(t) {
		path := filepath.ToSlash(s.path)
		if s.isTest() || !strings.HasPrefix(path, "internal/") || s.file.Name.Name == "main" {
			continue // tools of development may take longer to start
		}
		for _, d := range s.file.Decls {
			for _, value := range declared(d, token.VAR) {
				ast.Inspect(value, func(n ast.Node) bool {
					call, is := n.(*ast.CallExpr)
					if _, function := n.(*ast.FuncLit); function || !is {
						return !function
					}
					switch name := calledName(call); {
					case name == "regexp.MustCompile":
						t.Errorf("%s: use lazyregexp.New: dyno would compile it at each start", s.set.Position(n.Pos()))
					case name == "lazyregexp.New":
						compiled++
						text, err := textOf(call.Args[0], constants[filepath.Dir(s.path)])
						if err == nil {
							_, err = regexp.Compile(text)
						}
						if err != nil {
							t.Errorf("%s: %v", s.set.Position(n.Pos()), err)
						}
					}
					return true
				})
			}
		}
	}
	if compiled < 50 {
		t.Errorf("found %d", compiled)
	}
}

// declared are the values of a package's constants or variables, by name.
func declared(d ast.Decl, kind token.Token) map[string]ast.Expr {
	all := map[string]ast.Expr{}
	if g, is := d.(*ast.GenDecl); is && g.Tok == kind {
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for i, value := range v.Values {
				all[v.Names[i].Name] = value
			}
		}
	}
	return all
}

// calledName is the package and the function that a call names.
func calledName(call *ast.CallExpr) string {
	if f, is := call.Fun.(*ast.SelectorExpr); is {
		if pkg, is := f.X.(*ast.Ident); is {
			return pkg.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// textOf is a constant text: literals and constants of the package, joined by +.
func textOf(e ast.Expr, constants map[string]ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.Unquote(e.Value)
	case *ast.Ident:
		if value := constants[e.Name]; value != nil {
			return textOf(value, constants)
		}
	case *ast.BinaryExpr:
		left, err := textOf(e.X, constants)
		right, err2 := textOf(e.Y, constants)
		return left + right, errors.Join(err, err2)
	}
	return "", errors.New("this is no constant, so that no test compiles it")
}
