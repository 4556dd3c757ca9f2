package profile

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// processNames are what the fixtures' processes are called.
var processNames = map[int]string{
	41: "web", 42: "(sd-pam)", 45: "node", 70: "php-fpm8.2", 16626: "nginx",
}

// TestScript reads each testdata/perf/*.txt. nginx.txt and go.txt were recorded by
// `perf record -F 99 -g` from servers under load, the others follow perf-script(1).
func TestScript(t *testing.T) {
	files, err := filepath.Glob("testdata/perf/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no fixtures", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := parseScript(bytes.NewReader(b), processNames)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.CheckValid(); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".txt")+".golden", folded(p))
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (go test -update writes it):\n%s\nwant\n%s", path, got, want)
	}
}

// folded is all that a profile says, one stack a line, with kernel frames marked.
func folded(p *Profile) string {
	var lines []string
	for _, s := range p.Sample {
		var names []string
		for _, f := range framesFromRoot(s) {
			if f.kernel {
				f.name += "_[k]"
			}
			names = append(names, f.name)
		}
		if thread := s.Label["thread"]; thread != nil {
			names[0] += fmt.Sprintf(" %q", thread[0])
		}
		lines = append(lines, fmt.Sprintf("%s %d %d", strings.Join(names, ";"),
			s.Value[0], s.Value[1]))
	}
	slices.Sort(lines)
	for _, m := range p.Mapping {
		lines = append(lines, "mapping: "+m.File)
	}
	for _, c := range p.Comments {
		lines = append(lines, "comment: "+c)
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestScriptWithoutSamples(t *testing.T) {
	p, err := parseScript(strings.NewReader(""), nil)
	if err != nil || len(p.Sample) != 0 || len(p.SampleType) != 2 {
		t.Errorf("nothing recorded: %v, %v", p, err)
	}
	for name, text := range map[string]string{
		"no samples":  "perf: not found\n",
		"endless":     strings.Repeat("x", maxLine+1),
		"a frame":     "\t   10ff main (/bin/x)\n",
		"no period":   "x 5/5 cpu-clock:\n",
		"a negative":  "x 5/5 -1 cpu-clock:\n",
		"another PID": "x five/5 1 cpu-clock:\n",
	} {
		if p, err := parseScript(strings.NewReader(text), nil); err == nil {
			t.Errorf("%s: no error but %v", name, p)
		}
	}
}

func TestScriptBoundsAStack(t *testing.T) {
	text := "x 5/5 10 cpu-clock:\n" + strings.Repeat("\t10 f (/bin/x)\n", maxFrames+7)
	p, err := parseScript(strings.NewReader(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Sample[0].Location); n != maxFrames {
		t.Errorf("%d frames, at most %d", n, maxFrames)
	}
	if len(p.Comments) != 1 || !strings.Contains(p.Comments[0], "7 lines") {
		t.Errorf("comments %q", p.Comments)
	}
}

func FuzzScript(f *testing.F) {
	files, _ := filepath.Glob("testdata/perf/*.txt")
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 2000)])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parseScript(bytes.NewReader(text), processNames)
		if err != nil {
			return
		}
		if err := p.CheckValid(); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.WriteUncompressed(&b); err != nil {
			t.Fatal(err)
		}
		if _, err := decodeProfile(b.Bytes()); err != nil {
			t.Fatalf("what was parsed cannot be read back: %v", err)
		}
		checkReadings(t, p)
	})
}

func FuzzDecode(f *testing.F) {
	p, err := parseScript(strings.NewReader("x 5/5 10 cpu-clock:\n\t10 f (/bin/x)\n"), nil)
	if err != nil {
		f.Fatal(err)
	}
	var plain, zipped bytes.Buffer
	if err := p.WriteUncompressed(&plain); err != nil {
		f.Fatal(err)
	}
	if err := p.Write(&zipped); err != nil {
		f.Fatal(err)
	}
	f.Add(plain.Bytes())
	f.Add(zipped.Bytes())
	f.Add([]byte("<!doctype html>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := decodeProfile(b); err == nil {
			checkReadings(t, p)
		}
	})
}

// checkReadings reads everything there is out of p: none of it may fail on a valid profile.
func checkReadings(t *testing.T, p *Profile) {
	Share(p, "f")
	Top(p, 3)
	checkTree(t, Tree(p))
	if _, err := Diff(p, p); err == nil {
		if d, err := DiffTree(p, p); err != nil || d.Base != 1 || d.Other != 1 {
			t.Errorf("a profile over itself: %v, %v", d, err)
		}
	}
	if err := Speedscope(&bytes.Buffer{}, p); err != nil {
		t.Error(err)
	}
}

// checkTree: every node's total is its own and its children's, who are in order.
func checkTree(t *testing.T, n *Node) {
	t.Helper()
	sum, last := n.Self, ""
	for i, c := range n.Children {
		if i > 0 && c.Name <= last {
			t.Errorf("%q comes after %q", c.Name, last)
		}
		last = c.Name
		sum += c.Total
		checkTree(t, c)
	}
	if sum != n.Total {
		t.Errorf("%s: total %d, its parts %d", n.Name, n.Total, sum)
	}
}
