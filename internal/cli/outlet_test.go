package cli

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
)

// What others have chosen is shown on a terminal, and not obeyed.
func TestOutlets(t *testing.T) {
	const hostile = "\x1b]0;owned\a\u009b2J\u202e"
	for _, args := range [][]string{{hostile}, {"run", "--json", hostile, "http://" + hostile}, {"report", hostile},
		{"lab", "check", hostile}, {"lab", hostile}, {"import", hostile}, {"agent", "--name", hostile}} {
		var out, said bytes.Buffer
		if code := Main(args, strings.NewReader(""), &out, &said); code != exitUsage {
			t.Errorf("%q exits with %d", args, code)
		}
		if text := out.String() + said.String(); strings.ContainsAny(text, "\x1b\a\u009b\u202e") || said.Len() == 0 {
			t.Errorf("%q says %q", args, text)
		}
	}
}

// No line of a log can be forged.
func TestOneLine(t *testing.T) {
	var said bytes.Buffer
	s := newOutlets(nil, nil, &said)
	s.logAgent("refused\n2026-01-01 00:00:00 accepted\x1b[2K\r")
	s.fleetReporter(false)("web1: no\nfleet: all is well")
	if n := strings.Count(said.String(), "\n"); n != 2 || strings.ContainsAny(said.String(), "\r\x1b") {
		t.Errorf("%q", said.String())
	}
}

// pastOutlets are those who may write to the standard streams without a filter: what they write
// is no text, or is drawn by a library that knows terminals, or is a fixed sequence.
var pastOutlets = []string{
	"internal/cli/history.go exportFiles", "internal/cli/lab.go runWorker", "internal/cli/progress.go erase",
	"internal/cli/progress.go sizeOf", "internal/cli/labprogress.go erase", "internal/cli/progress.go isTerminal", "internal/cli/tui.go startScreen",
}

// Nobody but main knows the standard streams, and nobody but those writes past the outlets.
func TestNobodyWritesPastOutlets(t *testing.T) {
	t.Parallel()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("../../")))
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"bench", "release", "internal/lab/experiment/shipped", "internal/notices/generate", "internal/view/page/pagetest",
			"internal/cli/net/make", "e2e", "internal/view/page/web", ".git"}, rel): // programs of their own, and no programs of ours
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || rel == "cmd/dyno/main.go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, use := range writesPast(file, rel) {
			if !slices.Contains(pastOutlets, use) {
				t.Errorf("%s writes past the outlets", use)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writesPast are the functions of a file that name a standard stream, print to one, or ask for
// what is behind an outlet.
func writesPast(file *ast.File, path string) (all []string) {
	forbidden := []string{"os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println", "log.Print",
		"log.Printf", "log.Println", "log.Fatal", "log.Fatalf", "log.Fatalln", "log.Panic", "log.Panicf",
		"log.Default", "slog.Info", "slog.Error", "slog.Warn", "print", "println", "behindOutlet", "pastOutlet",
		"syscall.Stdout", "syscall.Stderr", "debug.PrintStack"}
	for _, decl := range file.Decls {
		f, is := decl.(*ast.FuncDecl)
		name := "a declaration"
		if is {
			name = f.Name.Name
		}
		if path == "internal/cli/outlet.go" {
			continue // which they are
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			used := ""
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, is := n.X.(*ast.Ident); is {
					used = x.Name + "." + n.Sel.Name
				}
			case *ast.CallExpr:
				if x, is := n.Fun.(*ast.Ident); is {
					used = x.Name
				}
			case *ast.BasicLit:
				if slices.Contains([]string{`"/dev/tty"`, `"/dev/stdout"`, `"/dev/stderr"`}, n.Value) {
					all = append(all, path+" "+name)
				}
			}
			if slices.Contains(forbidden, used) {
				all = append(all, path+" "+name)
			}
			return true
		})
	}
	return all
}

// Each of several errors has a line of its own, with what was said before all of them. The lines of
// one error are one: another may have chosen the second.
func TestErrorsHaveLines(t *testing.T) {
	one, two := errors.New("one"), errors.New("two\ndyno: forged")
	both := errors.Join(one, two)
	for _, c := range []struct {
		err  error
		want string
	}{
		{one, "dyno: one\n"},
		{both, "dyno: one\ndyno: two | dyno: forged\n"},
		{fmt.Errorf("a: %w", one), "dyno: a: one\n"},
		{fmt.Errorf("a: %w", both), "dyno: a: one\ndyno: a: two | dyno: forged\n"},
		{fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", both), io.EOF)),
			"dyno: a: b: one\ndyno: a: b: two | dyno: forged\ndyno: a: EOF\n"},
		{fmt.Errorf("a: %w, and more", both), "dyno: a: one | two | dyno: forged, and more\n"},
		{loadplan.Flaw{Setting: "-c", Problem: "x"}, "dyno: " + loadplan.Flaw{Setting: "-c", Problem: "x"}.Error() + "\n"},
	} {
		var said bytes.Buffer
		if newOutlets(nil, io.Discard, &said).failWith(exitFault, c.err); said.String() != c.want {
			t.Errorf("%q, want %q", &said, c.want)
		}
	}
}
