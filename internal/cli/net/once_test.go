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

// saidOtherwise is how a warning begins that has no place of its own in a full report, by its input:
// the verdict or another reason says it with other figures.
var saidOtherwise = map[string]string{
	"runs/closed-gone":           "the load could not be applied for ",
	"runs/facts-open-overload":   "629 requests were due and never sent, ",
	"runs/open-overload":         "629 requests were due and never sent, ",
	"runs/facts-session-failing": "40 answers (50.00 %) were errors ",
	"runs/facts-status":          "100 answers (20.00 %) were errors ",
}

// Each reason of the self-check and each warning stands once in the full report: as an older dyno
// worded it, or in the sentence of its fact. In no other format that people read is it more often.
func TestFactsStandOnce(t *testing.T) {
	for _, input := range inputs(t, stored, "runs/*.json") {
		r, err := result.Decode(read(t, path(input)))
		if err != nil {
			t.Fatal(err)
		}
		all := append(wordings(r.Generator.Reasons, r.ReasonFacts()), wordings(r.Warnings, r.WarningFacts())...)
		standOnce(t, strings.TrimSuffix(input, ".json"), "report -v", all)
	}
	for _, input := range inputs(t, unpacked, "labs/*") {
		r, err := lab.ReadRecord(filepath.Join(unpacked, input))
		if err != nil {
			t.Fatal(err)
		}
		standOnce(t, input, "none", wordings(make([]string, len(r.Facts)), r.Facts)) // cautions say it in their words
	}
}

// wordings are the texts of which one says each thing: that which is stored, and that of its fact.
func wordings(stored []string, facts []fact.Fact) (all [][]string) {
	for i, text := range stored {
		one := []string{text}
		if i < len(facts) {
			one = append(one, say.Sentence(facts[i]))
		}
		all = append(all, one)
	}
	return all
}

// standOnce looks for what is said in the golden of an input, whose format full must have it all.
func standOnce(t *testing.T, name, full string, all [][]string) {
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
		said, otherwise := unbroken(body), saidOtherwise[name]
		for _, wordings := range all {
			n := 0
			for _, text := range wordings {
				if text = unbroken(text); text != "" {
					n = max(n, strings.Count(said, text))
				}
			}
			lacks := n == 0 && title == full && (otherwise == "" || !strings.HasPrefix(wordings[0], otherwise))
			if n > 1 || lacks {
				t.Errorf("%s, %s: %d times: %q", name, title, n, wordings)
			}
		}
	}
}

// unbroken is a text in small letters on one line, without what formats put between its words.
func unbroken(text string) string {
	var words []string
	for _, word := range strings.Fields(strings.NewReplacer("`", "", `\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'").Replace(text)) {
		words = append(words, strings.ToLower(word))
	}
	return strings.Join(words, " ")
}
