package net

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/lab"
	"dyno/internal/result"
	"dyno/internal/say"
)

// Each fact stands once in an output: its sentence, in any format that people read.
func TestFactsStandOnce(t *testing.T) {
	found := 0
	for _, input := range inputs(t, stored, "runs/*.json") {
		r, err := result.Decode(read(t, path(input)))
		if err != nil {
			t.Fatal(err)
		}
		found += standOnce(t, strings.TrimSuffix(input, ".json"), r.Facts)
	}
	for _, input := range inputs(t, unpacked, "labs/*") {
		r, err := lab.ReadRecord(filepath.Join(unpacked, input))
		if err != nil {
			t.Fatal(err)
		}
		found += standOnce(t, input, r.Facts)
	}
	if found < 30 {
		t.Errorf("%d facts are in the goldens", found)
	}
}

// standOnce looks for facts in the golden of an input, and returns how often it found one.
func standOnce(t *testing.T, name string, facts []fact.Fact) (found int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(golden, name+".golden"))
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(text), "######## ") {
		title, body, _ := strings.Cut(part, "\n")
		if title == "page" || strings.HasPrefix(title, "page: ") || title == "charts" || strings.Contains(title, ".json") {
			continue // values, of which a page shows some
		}
		said := unbroken(body)
		for _, f := range facts {
			sentence := unbroken(say.Sentence(f))
			if sentence == "" {
				continue
			}
			n := strings.Count(said, sentence)
			if found += min(n, 1); n > 1 {
				t.Errorf("%s, %s: %d times: %s", name, title, n, sentence)
			}
		}
	}
	return found
}

// unbroken is a text in small letters on one line, without what formats put between its words.
func unbroken(text string) string {
	var words []string
	for _, word := range strings.Fields(strings.NewReplacer("`", "", `\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'").Replace(text)) {
		words = append(words, strings.ToLower(word))
	}
	return strings.Join(words, " ")
}
