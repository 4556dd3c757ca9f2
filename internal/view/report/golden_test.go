package report

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// make goldens sets it, for every package that has goldens.
var update = flag.Bool("update", false, "write the golden files")

// golden compares got with the file of that name, or writes the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n")); !bytes.Equal(got, want) {
		t.Errorf("%s (make goldens writes it):\n%s\nwant\n%s", path, got, want)
	}
}

// A phrasebook has the sentences of several reports, each once, with its places in those reports.
// Its golden file, NAME.sentences.golden, is the only one that has them: layoutOf leaves them out
// of the goldens of whole reports. So a reworded sentence changes one line of a golden.
type phrasebook map[string]map[string][]string // by sentence and place, the reports

// collect adds the sentences of a report. Fact.Name is the place of a sentence in it.
func (b phrasebook) collect(report string, all []Fact) {
	number := map[string]int{}
	for _, s := range all {
		label := report
		if number[s.Name]++; number[s.Name] > 1 {
			label += fmt.Sprintf(" (%d)", number[s.Name])
		}
		if b[s.Text] == nil {
			b[s.Text] = map[string][]string{}
		}
		b[s.Text][s.Name] = append(b[s.Text][s.Name], label)
	}
}

// golden compares the phrasebook with its file, or writes the file.
func (b phrasebook) golden(t *testing.T, name string) {
	t.Helper()
	var all []string
	for text, places := range b {
		entry := ""
		for _, place := range slices.Sorted(maps.Keys(places)) {
			slices.Sort(places[place])
			entry += fmt.Sprintf("%s: %s\n", place, strings.Join(places[place], ", "))
		}
		all = append(all, entry+"    "+text+"\n")
	}
	slices.Sort(all)
	golden(t, name+".sentences", Visible([]byte(strings.Join(all, "")), ""))
}

// phrases are texts at one place.
func phrases(name string, texts ...string) (all []Fact) {
	for _, text := range texts {
		if text != "" {
			all = append(all, Fact{name, text})
		}
	}
	return all
}

// phrasesOf are the sentences of a run, a search or a sweep.
func phrasesOf(s Sentences) []Fact {
	return slices.Concat(phrases("what", s.What), phrases("how", s.How), phrases("model", s.Model),
		phrases("verdict", s.Verdict), phrases("reason", s.Reasons...), phrases("warning", s.Warnings...),
		phrases("objective", s.Objectives...), s.Facts, phrases("host", s.Machine),
		phrases("method", s.Methods...), phrases("command", s.Command), phrases("lost", s.Lost),
		phrases("agent", s.Agents...))
}

// wordGap is what may stand between two words of a sentence: lines break there, and colours end.
const wordGap = `(?:\s|\x1b\[[0-9]+m)+`

// layoutOf is a report in which each sentence is replaced by its place in braces, {reason 2} for
// the second of several. A line that a sentence goes on in has an ellipsis. Texts of a single word
// are left as they are.
func layoutOf(report []byte, all []Fact) []byte {
	type replacement struct{ text, name string }
	var replacements []replacement
	number := map[string]int{}
	for _, s := range all {
		name := s.Name
		if number[s.Name]++; number[s.Name] > 1 {
			name += fmt.Sprintf(" %d", number[s.Name])
		}
		if strings.Contains(s.Text, " ") {
			for _, text := range []string{s.Text, escapeMarkdown(s.Text), escapeCell(s.Text)} {
				replacements = append(replacements, replacement{text, name})
			}
		}
	}
	// The longest first: a short text may be a part of a longer one.
	slices.SortStableFunc(replacements, func(a, b replacement) int { return len(b.text) - len(a.text) })
	breaks := regexp.MustCompile(wordGap)
	for _, r := range replacements {
		words := strings.Fields(r.text)
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		pattern := regexp.MustCompile(strings.Join(words, wordGap))
		report = pattern.ReplaceAllFunc(report, func(found []byte) []byte {
			out := []byte("{" + r.name + "}")
			for _, gap := range breaks.FindAll(found, -1) {
				if bytes.Contains(gap, []byte("\n")) {
					out = append(append(out, gap...), "…"...)
				}
			}
			return out
		})
	}
	return report
}

// No sentence stands in two goldens of sentences.
func TestSentencesStandOnce(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sentences.golden")
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

// What layoutOf leaves of a report has no sentence of it, and has all that is none.
func TestLayout(t *testing.T) {
	all := slices.Concat(phrases("reason", "too few: see *why*", "late"), phrases("rate", "a rate of 5"),
		phrases("reason", "a rate of 5 is too high"))
	got := string(layoutOf([]byte("- too few:\n  see *why*\n- late\n| too few: see \\*why\\* |\n"+
		"- \x1b[1ma rate\x1b[0m\n  \x1b[1mof 5 is too high\x1b[0m\nrate a rate of 5\n"), all))
	want := "- {reason}\n  …\n- late\n| {reason} |\n" +
		"- \x1b[1m{reason 3}\x1b[0m\n  \x1b[1m…\x1b[0m\nrate {rate}\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
