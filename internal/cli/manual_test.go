package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The manual has a page for each verb, with each of its flags; two that are written for the same time
// are equal.
func TestManual(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if code := Main([]string{"man", dir}, nil, io.Discard, io.Discard); code != exitOK {
			t.Fatal(code)
		}
	}
	for _, v := range verbs() {
		name := manualName(v) + ".1"
		text, err := os.ReadFile(filepath.Join(one, name))
		again, _ := os.ReadFile(filepath.Join(two, name))
		if err != nil || string(text) != string(again) || !strings.Contains(string(text), " 2023\\-11\\-14 ") &&
			!strings.Contains(string(text), " 2023-11-14 ") {
			t.Errorf("%s: %v", name, err)
		}
		if v.groups == nil {
			continue
		}
		for _, g := range v.groups() {
			for _, o := range g.options {
				if flag := strings.ReplaceAll(o.flagName(), "-", `\-`); o.long != "" && !strings.Contains(string(text), flag) {
					t.Errorf("%s lacks %s", name, o.flagName())
				}
			}
		}
	}
	if code := Main([]string{"man"}, nil, io.Discard, io.Discard); code != exitUsage {
		t.Error(code)
	}
}
