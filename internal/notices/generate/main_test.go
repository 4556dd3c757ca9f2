package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every module that is linked into dyno is in its notices, and so are Go and the page's
// packages.
func TestEverythingHasItsNotice(t *testing.T) {
	t.Chdir("../../..")
	modules, err := listModules()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, of := range modules {
		if err := of.writeLicences(&b); err != nil {
			t.Error(err)
		}
	}
	out, err := exec.Command("go", "list", "-f", `{{join .Deps "\n"}}`, "./cmd/dyno").Output()
	if err != nil {
		t.Fatal(err)
	}
	foreign := 0
	for imp := range strings.FieldsSeq(string(out)) {
		host, _, _ := strings.Cut(imp, "/")
		if !strings.Contains(host, ".") {
			continue
		}
		foreign++
		if !slices.ContainsFunc(modules, func(of work) bool {
			module, _, _ := strings.Cut(of.name, " ")
			return strings.HasPrefix(imp+"/", module+"/") && strings.Contains(b.String(), of.name+"\n===")
		}) {
			t.Errorf("%s is linked, and has no notice", imp)
		}
	}
	if foreign < 10 {
		t.Errorf("only %d packages are others'", foreign)
	}
	page, err := listBundled()
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, of := range page {
		names += of.name + "\n"
	}
	if names != "" { // its scripts are dyno's own; what builds them is not in it
		t.Errorf("of the page: %s", names)
	}
}

func TestAWorkWithoutALicence(t *testing.T) {
	dir := t.TempDir()
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	of := work{name: "some work"}
	of.addFolders(sub, dir)
	for _, name := range []string{"license.go", "README", "x-license"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("no"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := of.writeLicences(io.Discard); err == nil || !strings.Contains(err.Error(), "some work has no licence") {
		t.Errorf("%v", err)
	}
	for name, text := range map[string]string{"LICENSE": "first\r\nof two\n", "a/NOTICE.txt": "second\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := of.writeLicences(&b); err != nil || b.String() != "some work\n=========\n\nfirst\nof two\n\nsecond\n\n\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	of.folders = []string{filepath.Join(dir, "gone")}
	if err := of.writeLicences(io.Discard); err == nil || !strings.Contains(err.Error(), "is it installed?") {
		t.Errorf("%v", err)
	}
}
