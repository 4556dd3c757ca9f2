package dyno_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// The countable half of STYLE.md.
const (
	functionMax  = 60   // lines
	fileMax      = 500  // lines, tests apart
	lineMax      = 100  // characters
	interfaceMax = 8    // methods
	structMax    = 25   // fields
	packageMax   = 4000 // lines of a folder's files, tests apart, as wc -l counts them
)

// larger are packages that may have more lines, with the reason.
var larger = map[string]string{
	"internal/cli": "each verb is a file of its own, and no verb needs those of another",
}

// exceptions are places that may break a rule, with the reason.
var exceptions = map[string]string{}

// settings are structs that may have more fields: each field is a setting of its own.
var settings = map[string]bool{
	"internal/engine/loadplan/plan.go: Plan": true,
	"internal/cli/flags.go: runFlags":        true,
	"dyno.go: Load":                          true,
}

// sources are the names of the Go files of the repository.
func sources(t *testing.T) []string {
	t.Helper()
	files, err := findSources()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func findSources() (files []string, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go"):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// A source is a Go file that has been read.
type source struct {
	path string
	text []byte
	set  *token.FileSet
	file *ast.File
}

func (s *source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

// parsed are the sources. Several tests look at them, and with the race detector reading them
// takes seconds.
func parsed(t *testing.T) []source {
	t.Helper()
	all, err := parseOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var parseOnce = sync.OnceValues(func() (all []source, err error) {
	paths, err := findSources()
	for _, path := range paths {
		s := source{path: path, set: token.NewFileSet()}
		if s.text, err = os.ReadFile(path); err == nil {
			s.file, err = parser.ParseFile(s.set, path, s.text, parser.ParseComments|parser.SkipObjectResolution)
		}
		if err != nil {
			break
		}
		all = append(all, s)
	}
	return all, err
})

// unfinished are words that say so. Each is looked for before the expression is: that is much quicker.
var (
	unfinished      = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)
	unfinishedWords = []string{"TODO", "FIXME", "XXX", "HACK"}
)

func isUnfinished(line []byte) bool {
	return slices.ContainsFunc(unfinishedWords, func(word string) bool {
		return bytes.Contains(line, []byte(word))
	}) && unfinished.Match(line)
}

func TestStyle(t *testing.T) {
	for _, s := range parsed(t) {
		path, text, test := s.path, s.text, s.isTest()
		complain := func(at token.Position, format string, args ...any) {
			if exceptions[path] == "" {
				t.Errorf("%s:%d: "+format, append([]any{path, at.Line}, args...)...)
			}
		}
		lines := bytes.Split(text, []byte("\n"))
		if len(lines)-1 > fileMax && !test {
			complain(token.Position{Line: len(lines)}, "%d lines, at most %d: has it outgrown its name?", len(lines)-1, fileMax)
		}
		for i, line := range lines {
			at := token.Position{Line: i + 1}
			if n := utf8.RuneCount(line); n > lineMax && !test {
				complain(at, "%d characters, at most %d", n, lineMax)
			}
			if isUnfinished(line) && path != "style_test.go" {
				complain(at, "unfinished by its own words")
			}
		}
		if !test {
			checkDeclarations(s.set, s.file, complain)
		}
	}
}

// renamers may rename for themselves, with the reason.
var renamers = map[string]string{
	"internal/atomicfile/atomicfile.go": "it syncs what it renames, and the folder",
	"internal/store/remove.go":          "what is removed need not outlive anything",
}

// What gets its name by a rename is lost with the power unless it is synced first, and the folder
// after.
func TestRenames(t *testing.T) {
	for _, s := range parsed(t) {
		if !s.isTest() && renamers[filepath.ToSlash(s.path)] == "" && bytes.Contains(s.text, []byte("os.Rename(")) {
			t.Errorf("%s calls os.Rename: use internal/atomicfile", s.path)
		}
	}
}

// exponents are files that may write numbers with an exponent, with the reason.
var exponents = map[string]string{
	"internal/digits/digits.go":            "finds the power of ten",
	"internal/engine/luavm/numbers.go":     "Lua writes numbers so, and the compiler reads them",
	"internal/engine/strftime/strftime.go": "%e and %g are verbs of strftime",
	"internal/result/validate.go":          "likewise",
	"internal/result/iterations.go":        "likewise",
	"internal/fleet/policy/policy.go":      "repeats what the file has",
	"internal/view/labreport/gobench.go":   "Go's format of benchmarks, which programs read",
	"internal/view/labreport/trials.go":    "CSV, which programs read",
}

// exponentVerb is a verb of package fmt that writes 1,000,000 as 1e+06.
var exponentVerb = regexp.MustCompile(`%[-+#0]*(\d+|\*)?(\.(\d+|\*)?)?(\[\d+\])?[eEgG]`)

// No figure has an exponent: numbers for people are written by package digits, or with a fixed number of decimals.
// Tools of development may.
func TestNoExponents(t *testing.T) {
	found := map[string]bool{}
	for _, s := range parsed(t) {
		path := filepath.ToSlash(s.path)
		if s.isTest() || strings.HasPrefix(path, "bench/") || strings.HasPrefix(path, "release/") {
			continue
		}
		complain := func(at token.Pos, what string) {
			if found[path] = true; exponents[path] == "" {
				t.Errorf("%s: %s writes large and small numbers with an exponent; package digits does not", s.set.Position(at), what)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING && exponentVerb.MatchString(strings.ReplaceAll(n.Value, "%%", "")) {
					complain(n.Pos(), n.Value)
				}
			case *ast.CallExpr:
				f, is := n.Fun.(*ast.SelectorExpr)
				if !is || f.Sel.Name != "FormatFloat" && f.Sel.Name != "AppendFloat" {
					return true
				}
				for _, arg := range n.Args {
					if c, is := arg.(*ast.BasicLit); is && c.Kind == token.CHAR && strings.ContainsAny(c.Value, "eEgG") {
						complain(c.Pos(), f.Sel.Name+" with "+c.Value)
					}
				}
			}
			return true
		})
	}
	for path := range exponents {
		if !found[path] {
			t.Errorf("%s writes no exponents: take it off the list", path)
		}
	}
}

// A struct holds one thing; what holds more is made of parts.
func TestStructs(t *testing.T) {
	left := maps.Clone(settings)
	for _, s := range parsed(t) {
		name := ""
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				name = n.Name.Name
			case *ast.StructType:
				fields := 0
				for _, f := range n.Fields.List {
					fields += max(len(f.Names), 1) // an embedded one has no name
				}
				if fields <= structMax {
					break
				}
				if key := filepath.ToSlash(s.path) + ": " + name; settings[key] {
					delete(left, key)
				} else {
					t.Errorf("%s: a struct of %d fields in %s, at most %d: put what belongs together "+
						"into structs of their own", s.set.Position(n.Pos()), fields, name, structMax)
				}
			}
			return true
		})
	}
	for key := range left {
		t.Errorf("%s has at most %d fields: take it off the list of settings", key, structMax)
	}
}

func checkDeclarations(set *token.FileSet, file *ast.File, complain func(token.Position, string, ...any)) {
	if name := file.Name.Name; name == "util" || name == "common" || name == "lib" || name == "core" {
		complain(set.Position(file.Pos()), "a package named %s says nothing", name)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			at, end := set.Position(n.Pos()), set.Position(n.End())
			if lines := end.Line - at.Line + 1; lines > functionMax {
				complain(at, "%s has %d lines, at most %d", n.Name.Name, lines, functionMax)
			}
			if n.Name.Name == "init" && n.Recv == nil {
				complain(at, "no init functions")
			}
			if n.Doc == nil && n.Name.IsExported() && exportedReceiver(n) && !conventional[n.Name.Name] {
				complain(at, "%s has no doc comment", n.Name.Name)
			}
		case *ast.InterfaceType:
			if m := n.Methods.NumFields(); m > interfaceMax {
				complain(set.Position(n.Pos()), "an interface of %d methods, at most %d", m, interfaceMax)
			}
		}
		return true
	})
}

// conventional are methods whose contract is that of a well-known interface.
var conventional = map[string]bool{
	"String": true, "Error": true, "Unwrap": true, "Close": true, "Read": true, "Write": true,
	"Len": true, "Less": true, "Swap": true, "Push": true, "Pop": true, "Set": true, "Type": true,
}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	typ := f.Recv.List[0].Type
	if star, is := typ.(*ast.StarExpr); is {
		typ = star.X
	}
	name, is := typ.(*ast.Ident)
	return is && name.IsExported()
}

// A package has one job, so what has outgrown the limit has two.
func TestPackageSizes(t *testing.T) {
	lines := map[string]int{}
	for _, s := range parsed(t) {
		if !s.isTest() {
			lines[filepath.ToSlash(filepath.Dir(s.path))] += bytes.Count(s.text, []byte("\n"))
		}
	}
	for pkg, n := range lines {
		if n > packageMax && larger[pkg] == "" {
			t.Errorf("%s has %d lines, at most %d: which of its jobs can be a package?", pkg, n, packageMax)
		}
	}
	for pkg := range larger {
		if lines[pkg] <= packageMax {
			t.Errorf("%s has %d lines: take it off the list of larger packages", pkg, lines[pkg])
		}
	}
}

// The pages that everybody reads first stay short.
func TestPagesAreShort(t *testing.T) {
	for page, most := range map[string]struct{ lines, bytes int }{"README.md": {90, 16 << 10},
		"ARCHITECTURE.md": {300, 16 << 10}, "docs/two-servers.md": {90, 16 << 10}} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte("\n")); n > most.lines || len(text) > most.bytes {
			t.Errorf("%s has %d lines and %d bytes, at most %d and %d: longer reasons belong to package comments",
				page, n, len(text), most.lines, most.bytes)
		}
	}
}

// mapless is up to how many files a package needs no map of them, tests apart.
const mapless = 6

// A package comment that says what is in which file names all files of the package, and none that there is not. One of
// a package with many files says it.
func TestMapsOfFiles(t *testing.T) {
	name := regexp.MustCompile(`[\w/*]+\.go\b`)
	files, named := map[string][]string{}, map[string][]string{}
	for _, s := range parsed(t) {
		dir, file := filepath.Split(filepath.ToSlash(s.path))
		if s.isTest() {
			continue
		}
		files[dir] = append(files[dir], file)
		for _, mentioned := range name.FindAllString(s.file.Doc.Text(), -1) {
			named[dir] = append(named[dir], mentioned)
			beside, within := filepath.Join(dir, mentioned), filepath.Join("internal", mentioned)
			if !strings.Contains(mentioned, "*") && !exists(beside) && !exists(within) {
				t.Errorf("%s: there is no %s", s.path, mentioned)
			}
		}
	}
	for dir, all := range files {
		hasMap := slices.ContainsFunc(named[dir], func(file string) bool { return slices.Contains(all, file) })
		for _, file := range all {
			if (hasMap || len(all) > mapless) && file != "doc.go" && !slices.Contains(named[dir], file) {
				t.Errorf("the package comment of %s does not say what is in %s", dir, file)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Every package says what it is for.
func TestPackageComments(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range parsed(t) {
		if !s.isTest() {
			dir := filepath.Dir(s.path)
			documented[dir] = documented[dir] || s.file.Doc != nil
		}
	}
	for dir, has := range documented {
		if !has {
			t.Errorf("%s has no package comment", dir)
		}
	}
}
