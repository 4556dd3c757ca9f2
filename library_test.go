package dyno_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno"
	"dyno/internal/result"
)

var update = flag.Bool("update", false, "write the goldens")

// library are the packages that other programs import.
var library = []string{".", "dynotest"}

// exportedMost is how many names the library may export, methods included.
const exportedMost = 40

// parsePackage are the files of a package of the library, without tests.
func parsePackage(t *testing.T, dir string) (set *token.FileSet, files []*ast.File) {
	t.Helper()
	set = token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return set, files
}

// exported is what files export: as text, and the names, of methods with their types'.
func exported(t *testing.T, set *token.FileSet, files []*ast.File) (text string, names []string) {
	t.Helper()
	var all []string
	for _, file := range files {
		ast.FileExports(file)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names = append(names, spec.Name.Name)
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names = append(names, name.Name)
						}
					}
				}
			case *ast.FuncDecl:
				d.Body = nil
				name := d.Name.Name
				if d.Recv != nil {
					name = receiver(d) + "_" + name
				}
				names = append(names, name)
			}
			var b bytes.Buffer
			if err := printer.Fprint(&b, set, d); err != nil {
				t.Fatal(err)
			}
			all = append(all, b.String())
		}
	}
	slices.Sort(all)
	slices.Sort(names)
	return strings.Join(all, "\n\n") + "\n", names
}

func receiver(d *ast.FuncDecl) string {
	of := d.Recv.List[0].Type
	if star, is := of.(*ast.StarExpr); is {
		of = star.X
	}
	return of.(*ast.Ident).Name
}

// What the library exports is what testdata/api.txt says: a change to it is made on purpose. No
// name of another package of this module is in it, because other modules cannot import those.
func TestAPI(t *testing.T) {
	var b strings.Builder
	count := 0
	for _, dir := range library {
		set, files := parsePackage(t, dir)
		text, names := exported(t, set, files)
		count += len(names)
		fmt.Fprintf(&b, "package %s\n\n%s\n", files[0].Name.Name, text)
	}
	if count > exportedMost {
		t.Errorf("the library exports %d names, at most %d", count, exportedMost)
	}
	got := b.String()
	for _, word := range regexp.MustCompile(`\b[a-z]\w*\.[A-Z]\w*`).FindAllString(got, -1) {
		of, _, _ := strings.Cut(word, ".")
		if !slices.Contains([]string{"context", "http", "time", "rand", "testing", "dyno"}, of) {
			t.Errorf("%s is of a package that others cannot import", word)
		}
	}
	const golden = "testdata/api.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the library exports something else than %s says; what is taken away or changed "+
			"breaks programs. If it is meant, go test . -update writes:\n%s", golden, got)
	}
}

// Every exported name has an example, which runs as a test; a constant is used in one.
func TestExamples(t *testing.T) {
	for _, dir := range library {
		set, files := parsePackage(t, dir)
		_, names := exported(t, set, files)
		text, err := os.ReadFile(filepath.Join(dir, "example_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			isConstant := name == "OK" || name == "Suspect" || name == "ClientBound"
			if isConstant && bytes.Contains(text, []byte("dyno."+name)) {
				continue
			}
			at := bytes.Index(text, []byte("func Example"+name+"() {"))
			if at < 0 {
				t.Errorf("%s: %s has no example", dir, name)
				continue
			}
			body, _, _ := bytes.Cut(text[at:], []byte("\n}\n"))
			if !bytes.Contains(body, []byte("// Output:")) {
				t.Errorf("%s: the example of %s has no output, so it does not run", dir, name)
			}
		}
	}
}

// The verdicts are those of a stored result.
func TestVerdicts(t *testing.T) {
	for verdict, stored := range map[dyno.Verdict]string{dyno.OK: result.OK,
		dyno.Suspect: result.Suspect, dyno.ClientBound: result.ClientBound} {
		if string(verdict) != stored {
			t.Errorf("%s is stored as %s", verdict, stored)
		}
	}
}

// A fault names fields, never flags, and a scenario that goes on as it may not is one.
func TestFaults(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	again := func(*dyno.User, *dyno.Response) (*dyno.Request, error) { return &dyno.Request{}, nil }
	for _, test := range []struct {
		load dyno.Load
		want string
	}{
		{dyno.Load{}, "URL"}, {dyno.Load{URL: "x"}, "URL"},
		{dyno.Load{Threads: -1}, "Threads"}, {dyno.Load{Rate: -1}, "Rate"},
		{dyno.Load{Requests: 1, Connections: 5}, "Requests"}, {dyno.Load{For: -1}, "For"},
		{dyno.Load{Poisson: true}, "Poisson"}, {dyno.Load{Warmup: -1}, "Warmup"},
		{dyno.Load{Drain: -1}, "Drain"}, {dyno.Load{HTTP: "4"}, "HTTP"},
		{dyno.Load{Insecure: true}, "Insecure, RootCAs"}, {dyno.Load{Users: 1}, "Steps, Users"},
		{dyno.Load{Method: "A B"}, "Method, Header, Body"},
		{dyno.Load{Method: "GET", Scenario: again}, "Method, Header, Body"},
		{dyno.Load{Scenario: again, Requests: 4}, "Scenario"},
		{dyno.Load{Scenario: again, Users: -1}, "Users"},
		{dyno.Load{URL: "https://localhost", RootCAs: []byte("x")}, "RootCAs"},
	} {
		if test.load.URL == "" && test.want != "URL" {
			test.load.URL = server.URL
		}
		_, err := dyno.Run(context.Background(), test.load)
		one, is := errors.AsType[dyno.FieldError](err)
		if !is || one.Field != test.want {
			t.Errorf("%+v: %v, want a fault of %s", test.load, err, test.want)
		}
		if err != nil && regexp.MustCompile(`(^|[ ,(])--?[a-zA-Z]`).MatchString(err.Error()) {
			t.Errorf("a flag in %q", err)
		}
	}
}

// The context ends a load, and what was measured until then is the result.
func TestRunEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stop() }))
	defer server.Close()
	r, err := dyno.Run(ctx, dyno.Load{URL: server.URL, Connections: 1, For: time.Hour})
	if err != nil || r.Ended != "interrupted" || r.Sent == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A server that is not there is a result.
func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 1, For: time.Second})
	if err != nil || r.Ended != "unreachable" || len(r.Failures) == 0 || r.String() == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// hello is a program in a module of its own, which has this one by replace.
var hello = map[string]string{
	"hello.go": `package hello

import (
	"fmt"
	"net/http"
)

// Handler says hello.
var Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
`,
	"hello_test.go": `package hello

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"MODULE"
	"MODULE/dynotest"
)

func TestHello(t *testing.T) {
	dynotest.Objective(t, Handler, "errors<0.1%", dyno.Load{Rate: 500, Requests: 100})
}

func TestRun(t *testing.T) {
	server := httptest.NewServer(Handler)
	defer server.Close()
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Connections: 4, Requests: 100,
		Drain: time.Minute})
	if err != nil || r.Completed != 100 {
		t.Fatal(r, err)
	}
}

func BenchmarkHello(b *testing.B) { dynotest.Benchmark(b, Handler, dyno.Load{}) }
`}

// The library is used from another module with nothing but a replace.
func TestOtherModule(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range hello {
		text = strings.ReplaceAll(text, "MODULE", modulePath(t))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	module := fmt.Sprintf("module hello\n\ngo 1.26.0\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %s\n",
		modulePath(t), here)
	sums, err := os.ReadFile("go.sum")
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-mod=mod", "-v", "-bench", ".", "-benchtime", "20x", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GONOSUMDB=*", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"--- PASS: TestRun", "ns/op", "p50-ns", "p99-ns", "req/s"} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}

// make module MODULE=PATH gives the module another path, in one step: all packages are found then.
func TestModulePath(t *testing.T) {
	dir := t.TempDir()
	for _, path := range sources(t) {
		copyFile(t, path, filepath.Join(dir, path))
	}
	for _, path := range []string{"go.mod", "go.sum", "Makefile", "bench/module.sh"} {
		copyFile(t, path, filepath.Join(dir, path))
	}
	const path = "example.org/load/dyno"
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("make", "-s", "module", "MODULE="+path)
	missing := run("go", "list", "-e", "-f", `{{.ImportPath}}
{{range .DepsErrors}}{{.Err}}
{{end}}`, "./...")
	if !strings.Contains(missing, path+"/internal/cli\n") {
		t.Errorf("the packages are\n%s", missing)
	}
	for line := range strings.Lines(missing) {
		line = strings.TrimSpace(line)
		embeds := strings.Contains(line, "no matching files found") // which were not copied
		if line != "" && !embeds && !strings.HasPrefix(line, path) {
			t.Error(line)
		}
	}
	old := regexp.MustCompile(`"` + modulePath(t) + `/(internal|cmd|bench|e2e|dynotest)\b`)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if old.Match(text) {
				t.Errorf("%s has the old path", name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
}
