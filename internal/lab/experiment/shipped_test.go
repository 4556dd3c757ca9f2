package experiment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestShipped(t *testing.T) {
	var listed []string
	for _, l := range Shipped() {
		listed = append(listed, l.Name)
		if l.Description == "" {
			t.Errorf("%s says nothing of itself", l.Name)
		}
	}
	if !slices.Equal(listed, ShippedNames()) || !slices.Contains(listed, "hello") {
		t.Errorf("listed %q of %q", listed, ShippedNames())
	}
	if _, err := OpenShipped("helo"); err == nil || !strings.Contains(err.Error(), "did you mean hello?") {
		t.Error(err)
	}
	e, err := OpenShipped("hello")
	if err != nil {
		t.Fatal(err)
	}
	variants := Expand(e)
	for _, v := range variants {
		if missing := Missing(v); len(missing) > 0 {
			t.Errorf("%s: %q", v.Name, missing)
		}
	}
}

// What ships is complete: extracted, it is found right with all that lies beside
// it, every variant can be rendered, and --quick takes as long as one waits.
func TestShippedFiles(t *testing.T) {
	for _, name := range ShippedNames() {
		dir := filepath.Join(t.TempDir(), name)
		if err := Extract(name, dir); err != nil {
			t.Fatal(err)
		}
		e, err := ReadFile(filepath.Join(dir, shippedFile))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name != name || e.Published == nil || len(e.Published.Figures) == 0 {
			t.Errorf("%s: its name is %s, and of others it says %+v", name, e.Name, e.Published)
		}
		variants := Expand(e)
		for _, v := range variants {
			x := values(t.TempDir())
			x.Here = ""
			if _, err := Render(v, x); err != nil && !strings.Contains(err.Error(), "is not set") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := RenderBuild(v, x); err != nil && !strings.Contains(err.Error(), "is not set") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := Extract(name, dir); err == nil {
			t.Errorf("%s: extracted over what is there", name)
		}
		if err := Extracted(name, dir); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(filepath.Join(dir, shippedFile), []byte("version: 2\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Extracted(name, dir); err != nil {
			t.Errorf("%s: with an experiment of its own: %v", name, err)
		}
		if err := os.Remove(filepath.Join(dir, shippedFile)); err != nil {
			t.Fatal(err)
		}
		if err := Extracted(name, dir); err == nil || !strings.Contains(err.Error(), shippedFile) {
			t.Errorf("%s: without its file: %v", name, err)
		}
	}
}

// What servers are started with, and load is made of, is the same to the end.
func TestExtractedIsChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "files")
	if err := Extract("dump-request", dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "body.txt"), []byte("longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Extracted("dump-request", dir); err == nil || !strings.Contains(err.Error(), "body.txt was changed") {
		t.Errorf("%v", err)
	}
}

func TestObjectives(t *testing.T) {
	e := mustRead(t, smallest+"objectives: [p99<20ms, errors<=0.1%, rps > 10k, cpu<50us, 'p50 < 2 ms, mean<3ms']\n")
	var all []string
	for _, o := range e.Objectives {
		all = append(all, string(o))
	}
	if want := []string{"p99<20ms", "errors<=0.1%", "rps>10k", "cpu<50us", "p50<2ms", "mean<3ms"}; !slices.Equal(all, want) {
		t.Errorf("%q", all)
	}
}
