// Package reporttest has what the tests of packages report, labreport and chart share.
//
//	absent.go     results without each part that they can lack
//	again.go      whether a stored result has the report that it had
//	doubt.go      adds facts to results
//	fixtures.go   results
//	forge.go      texts that try to begin a line of their own
//	golden.go     golden files, and those of sentences
//	rendering.go  what may be in no rendering
//	suite.go      reads JUnit
package reporttest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dyno/internal/view/format"
)

// Golden compares got with the file testdata/NAME.golden, or writes the file if update is set.
func Golden(t *testing.T, name string, got []byte, update bool) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if update {
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

// A Phrase is a sentence of a report, and the name of its place there.
type Phrase struct{ Name, Text string }

// A Phrasebook has the sentences of several reports, each once, with its places in those reports.
// Its golden file, NAME.sentences.golden, is the only one that has them: LayoutOf leaves them out
// of the goldens of whole reports. So a reworded sentence changes one line of a golden.
type Phrasebook map[string]map[string][]string // by sentence and place, the reports

// Collect adds the sentences of a report. Phrase.Name is the place of a sentence in it.
func (b Phrasebook) Collect(report string, all []Phrase) {
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

// Text is the contents of the phrasebook's golden file.
func (b Phrasebook) Text() []byte {
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
	return format.Visible([]byte(strings.Join(all, "")), "")
}

// Phrases are texts at one place.
func Phrases(name string, texts ...string) (all []Phrase) {
	for _, text := range texts {
		if text != "" {
			all = append(all, Phrase{name, text})
		}
	}
	return all
}

// wordGap is what may stand between two words of a sentence: lines break there, and colours end.
const wordGap = `(?:\s|\x1b\[[0-9]+m)+`

// LayoutOf is a report in which each sentence is replaced by its place in braces, {reason 2} for
// the second of several. A line that a sentence goes on in has an ellipsis. Texts of a single word
// are left as they are.
func LayoutOf(report []byte, all []Phrase) []byte {
	type replacement struct{ text, name string }
	var replacements []replacement
	number := map[string]int{}
	for _, s := range all {
		name := s.Name
		if number[s.Name]++; number[s.Name] > 1 {
			name += fmt.Sprintf(" %d", number[s.Name])
		}
		if strings.Contains(s.Text, " ") {
			for _, text := range []string{s.Text, format.EscapeMarkdown(s.Text), format.EscapeCell(s.Text)} {
				replacements = append(replacements, replacement{text, name})
			}
		}
	}
	// The longest first: a short text may be a part of a longer one.
	slices.SortStableFunc(replacements,
		func(a, b replacement) int { return len(b.text) - len(a.text) })
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
