package net

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files")

// The tests look for results below stored, and for the folders of experiments, which are archives
// there, below unpacked, where they run: how lines are broken must not depend on that folder's name.
var golden, unpacked string

const stored = "testdata/stored"

func TestMain(m *testing.M) {
	flag.Parse()
	time.Local = time.UTC // history shows local time
	os.Setenv("NO_COLOR", "1")
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	here, err := os.Getwd()
	if err == nil {
		golden = filepath.Join(here, "testdata", "golden")
		unpacked, err = os.MkdirTemp("", "net")
	}
	if err == nil {
		err = os.Setenv("DYNO_HOME", filepath.Join(unpacked, "home")) // nothing is stored there
	}
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(unpacked)
	for _, dir := range []string{"labs", "e0a4a60/labs"} {
		archives, err := filepath.Glob(filepath.Join(stored, dir, "*.tar.gz"))
		for _, archive := range archives {
			if err := unpack(archive, filepath.Join(unpacked, dir)); err != nil {
				return 0, fmt.Errorf("%s: %w", archive, err)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// unpack writes the files of an archive below a folder.
func unpack(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for all := tar.NewReader(z); ; {
		h, err := all.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeDir {
			continue
		}
		b, err := io.ReadAll(all)
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%q is outside", h.Name)
		}
		path := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
	}
}

// A sheet is a golden file: how one input is shown, format by format.
type sheet struct {
	t       *testing.T
	dir     string // for files that dyno writes
	replace *strings.Replacer
	text    bytes.Buffer
	had     map[string]string // title, by what is below it
}

func newSheet(t *testing.T) *sheet {
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return &sheet{t: t, dir: dir, had: map[string]string{},
		replace: strings.NewReplacer(dir, "DIR", here, "HERE", "\r\n", "\n")}
}

// add adds a format. What equals an earlier one refers to it.
func (s *sheet) add(title, text string) {
	text = s.replace.Replace(text)
	if was, found := s.had[text]; found {
		text = "as " + was + "\n"
	} else {
		s.had[text] = title
	}
	fmt.Fprintf(&s.text, "######## %s\n%s", title, text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		s.text.WriteString("\n")
	}
}

// dyno runs a command line, and returns what it writes to stdout, behind that what it says on
// stderr, and the exit code if it is not 0.
func (s *sheet) dyno(args ...string) string {
	var out, said bytes.Buffer
	code := cli.Main(args, strings.NewReader(""), &out, &said)
	if said.Len() > 0 {
		fmt.Fprintf(&out, "stderr: %s", &said)
	}
	if code != 0 {
		fmt.Fprintf(&out, "exit code %d\n", code)
	}
	return out.String()
}

// file is the file of that name that a command line writes with -o, behind what it says.
func (s *sheet) file(name string, args ...string) string {
	path := filepath.Join(s.dir, name)
	said := s.dyno(append(args, "-o", path)...)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return said + string(b)
}

// written is what write writes.
func (s *sheet) written(write func(io.Writer) error) string {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

// check compares the sheet with its golden, or writes that.
func (s *sheet) check(name string) {
	s.t.Helper()
	path := filepath.Join(golden, name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, s.text.Bytes(), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	want := strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	got := strings.Split(s.text.String(), "\n")
	if slices.Equal(got, want) {
		return
	}
	only := func(these, those []string) (all string) {
		left := map[string]int{}
		for _, line := range those {
			left[line]++
		}
		title := ""
		for _, line := range these {
			if strings.HasPrefix(line, "######## ") {
				title = line + "\n"
			}
			if left[line]--; left[line] < 0 {
				all, title = all+title+line+"\n", ""
			}
		}
		return all
	}
	s.t.Errorf("%s (make goldens writes it): a difference needs a reason\n--- was\n%s+++ is\n%s", path,
		only(want, got), only(got, want))
}

// inputs are the names of files or folders below a folder, without its name.
func inputs(t *testing.T, dir string, patterns ...string) (all []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d inputs, %v", pattern, len(found), err)
		}
		for _, path := range found {
			rest, err := filepath.Rel(dir, path)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, filepath.ToSlash(rest))
		}
	}
	return all
}

func path(input string) string { return stored + "/" + input }

func TestRuns(t *testing.T) {
	for _, input := range inputs(t, stored, "runs/*.json", "e0a4a60/runs/*.json") {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			s := newSheet(t)
			s.add("report", s.dyno("report", path(input)))
			s.add("report -v", s.dyno("report", "-v", path(input)))
			s.add("report --brief", s.dyno("report", "--brief", path(input)))
			for _, form := range []string{"md", "junit.xml", "bench.txt", "csv"} {
				s.add("report -o ."+form, s.file("x."+form, "report", path(input)))
			}
			for _, form := range []string{"hgrm", "hlog"} {
				s.add("report -o ."+form, digested(s.file("x."+form, "report", path(input))))
			}
			s.add("report -o .json, but for what is stored", changed(read(t, path(input)),
				[]byte(s.file("x.json", "report", path(input)))))
			s.inOneLine(path(input))
			s.pictures(pageOfResult(t, path(input)), path(input), "result")
			s.check(strings.TrimSuffix(input, ".json"))
		})
	}
}

func TestFinds(t *testing.T) {
	for _, input := range inputs(t, stored, "finds/*.json", "e0a4a60/finds/*.json") {
		t.Run(input, func(t *testing.T) {
			t.Parallel()
			s := newSheet(t)
			s.add("report", s.dyno("report", path(input)))
			s.add("report -v", s.dyno("report", "-v", path(input)))
			s.add("report -o .md", s.file("x.md", "report", path(input)))
			s.add("report -o .json, but for what is stored", changed(read(t, path(input)),
				[]byte(s.file("x.json", "report", path(input)))))
			s.pictures(pageOfFinding(t, path(input)), path(input), "search", "curve")
			s.check(strings.TrimSuffix(input, ".json"))
		})
	}
}

func TestExperiments(t *testing.T) {
	for _, input := range inputs(t, unpacked, "labs/*", "e0a4a60/labs/*") {
		t.Run(input, func(t *testing.T) {
			t.Chdir(unpacked)
			s := newSheet(t)
			s.add("lab show", s.dyno("lab", "show", input))
			s.add("lab show -v", s.dyno("lab", "show", "-v", input))
			s.add("lab show --brief", s.dyno("lab", "show", "--brief", input))
			s.add("lab show -v -o .md", s.file("x.md", "lab", "show", "-v", input))
			for _, form := range []string{"md", "junit.xml", "bench.txt", "csv"} {
				s.add("lab show -o ."+form, s.file("y."+form, "lab", "show", input))
			}
			if b, err := os.ReadFile(filepath.Join(s.dir, "y.svg")); err == nil {
				s.add("the plot beside .md", drawn(b, map[string]bool{}))
			}
			s.conclusion(input)
			s.pictures(pageOfExperiment(t, input), input+"/experiment.json", "record")
			s.check(input)
		})
	}
}

func TestCompare(t *testing.T) {
	for name, args := range map[string]string{
		"single":      "runs/closed.json runs/closed-stall.json runs/open.json",
		"versions":    "e0a4a60/runs/closed.json runs/closed.json",
		"sessions":    "runs/session.json runs/session-failing.json",
		"repeated":    "series/before series/after",
		"gate":        "--gate --metrics p50,p99,throughput,max series/before series/after",
		"gate-unfit":  "--gate runs/status.json runs/timeout.json",
		"arms":        "labs/decided:fast labs/decided:slow",
		"arms-gate":   "--gate labs/vs:fast labs/vs:slow",
		"experiments": "e0a4a60/labs/decided labs/decided",
		"unlike":      "labs/decided labs/capacity",
		"bound":       "labs/bound:healthy labs/bound:hanging",
		"unanswered":  "runs/closed.json runs/unanswered.json runs/hanging.json",
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(args, "labs/") {
				t.Chdir(unpacked)
			} else {
				t.Chdir(stored)
			}
			s := newSheet(t)
			words := append([]string{"compare"}, strings.Fields(args)...)
			s.add(strings.Join(words, " "), s.dyno(words...))
			s.file("x.md", words...) // which shows the same again
			if md, err := os.ReadFile(filepath.Join(s.dir, "x.md")); err == nil {
				s.add("-o .md", string(md))
			}
			if name == "gate" || name == "arms" { // of the others the report has the figures
				s.add("--json -", lines([]byte(s.dyno(append(words, "--json", "-")...))))
			}
			s.check("compare/" + name)
		})
	}
}

func TestHistory(t *testing.T) {
	here, err := filepath.Abs(stored)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("DYNO_HOME", "home") // the folders of experiments are listed
	s := newSheet(t)
	for _, of := range []struct{ dir, pattern string }{{here, "runs/open*.json"},
		{here, "series/*/*.json"}, {unpacked, "labs/decided"}, {unpacked, "labs/vs"}} {
		words := []string{"import"}
		for _, input := range inputs(t, of.dir, of.pattern) {
			words = append(words, filepath.Join(of.dir, input))
		}
		s.add("import "+of.pattern, s.dyno(words...))
	}
	published := regexp.MustCompile(`published [-0-9]+`) // when it is first found: now
	for _, more := range []string{"--limit 0", "--limit 0 --metric p50", "--limit 3"} {
		words := append([]string{"history", "--machine", "all"}, strings.Fields(more)...)
		s.add("history "+more, published.ReplaceAllString(s.dyno(words...), "published TODAY"))
	}
	s.check("history")
}

// Texts that are abridged elsewhere.
func TestTexts(t *testing.T) {
	longTexts.Clear()
	var pages []picture
	for _, input := range inputs(t, stored, "runs/*.json", "e0a4a60/runs/*.json") {
		pages = append(pages, pageOfResult(t, path(input)))
	}
	for _, input := range inputs(t, stored, "finds/*.json", "e0a4a60/finds/*.json") {
		pages = append(pages, pageOfFinding(t, path(input)))
	}
	for _, input := range inputs(t, unpacked, "labs/*", "e0a4a60/labs/*") {
		pages = append(pages, pageOfExperiment(t, filepath.Join(unpacked, input)))
	}
	for _, p := range pages {
		all := p.parts(t)
		delete(all, "summary")
		lines(marshal(t, all))
	}
	var texts []string
	longTexts.Range(func(text, inWords any) bool {
		if inWords.(bool) {
			texts = append(texts, text.(string))
		}
		return true
	})
	slices.Sort(texts)
	s := newSheet(t)
	for _, text := range texts {
		fmt.Fprintf(&s.text, "%s %s\n", digest(marshal(t, text)), text)
	}
	s.check("texts")
}

// What is stored has nothing of the machine that made it.
func TestInputsAreOfNoMachine(t *testing.T) {
	size, words := int64(0), wordsOfMachines(t)
	look := func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b := read(t, path)
		if !strings.HasPrefix(path, unpacked) {
			size += int64(len(b))
		}
		if filepath.Ext(path) == ".gz" {
			return nil
		}
		for _, word := range words {
			if bytes.Contains(b, []byte(word)) {
				t.Errorf("%s has %q", path, word)
			}
		}
		for _, of := range []string{`"kernel":"`, `"cpu":"`} {
			for part := range bytes.SplitSeq(b, []byte(of)) {
				known := slices.ContainsFunc([]string{`6.1.0"`, `Some CPU"`, "{"}, func(is string) bool {
					return bytes.HasPrefix(part, []byte(is))
				})
				if !known && !bytes.HasPrefix(b, part) {
					t.Errorf("%s: %s%.40s", path, of, part)
				}
			}
		}
		return nil
	}
	err := errors.Join(filepath.WalkDir(stored, look), filepath.WalkDir(unpacked, look))
	if err != nil || size > 3<<19 {
		t.Errorf("%d bytes of inputs, %v: they have to be small", size, err)
	}
}

// wordsOfMachines are folders of users and of what is temporary, on most machines and on this one,
// and this one's name.
func wordsOfMachines(t *testing.T) []string {
	t.Helper()
	words := []string{"/tmp/", "/home/", "/root"}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	for _, path := range []string{here, home, os.TempDir()} {
		top, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if top != "" && top != "srv" && top != "usr" { // make writes /srv and /usr in their place
			words = append(words, "/"+top+"/")
		}
	}
	if host, err := os.Hostname(); err == nil && len(host) > 3 && host != "localhost" {
		words = append(words, host)
	}
	return words
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
