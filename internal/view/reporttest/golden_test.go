package reporttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No sentence stands in two goldens of sentences.
func TestSentencesStandOnce(t *testing.T) {
	files, err := filepath.Glob("../*/testdata/*.sentences.golden")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	at := map[string]string{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			sentence, is := strings.CutPrefix(line, "    ")
			if !is || len(strings.Fields(sentence)) < 5 {
				continue
			}
			if other, twice := at[sentence]; twice {
				t.Errorf("%q is in %s and in %s", sentence, other, path)
			}
			at[sentence] = path
		}
	}
}

// What LayoutOf leaves of a report has no sentence of it, and has all that is none.
func TestLayout(t *testing.T) {
	all := slices.Concat(Phrases("reason", "too few: see *why*", "late"), Phrases("rate", "a rate of 5"),
		Phrases("reason", "a rate of 5 is too high"))
	got := string(LayoutOf([]byte("- too few:\n  see *why*\n- late\n| too few: see \\*why\\* |\n"+
		"- \x1b[1ma rate\x1b[0m\n  \x1b[1mof 5 is too high\x1b[0m\nrate a rate of 5\n"), all))
	want := "- {reason}\n  …\n- late\n| {reason} |\n" +
		"- \x1b[1m{reason 3}\x1b[0m\n  \x1b[1m…\x1b[0m\nrate {rate}\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
