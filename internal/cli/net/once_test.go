package net

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/capacity"
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

// saidOtherwiseOnPage is likewise of pages: the caution about errors says it.
var saidOtherwiseOnPage = map[string]string{"runs/facts-status-all": "EVERY answer was an error "}

// Each reason of the self-check and each warning stands once in the full report: as an older dyno
// worded it, or in the sentence of its fact. In no other format that people read is it more often, nor
// in a page's data.
func TestFactsStandOnce(t *testing.T) {
	for _, input := range inputs(t, stored, "runs/*.json") {
		r, err := result.Decode(read(t, path(input)))
		if err != nil {
			t.Fatal(err)
		}
		all := append(wordings(r.Generator.Reasons, r.ReasonFacts()), wordings(r.Warnings, r.WarningFacts())...)
		name := strings.TrimSuffix(input, ".json")
		standOnce(t, name, "report -v", all)
		standOnceOnPage(t, name, pageOfResult(t, path(input)), true, all)
	}
	for _, input := range inputs(t, unpacked, "labs/*") {
		r, err := lab.ReadRecord(filepath.Join(unpacked, input))
		if err != nil {
			t.Fatal(err)
		}
		all := wordings(make([]string, len(r.Facts)), r.Facts)
		standOnce(t, input, "none", all) // cautions say it in their words
		standOnceOnPage(t, input, pageOfExperiment(t, filepath.Join(unpacked, input)), false, all)
	}
	for _, input := range inputs(t, stored, "finds/*.json") {
		s, _, _, err := capacity.Decode(read(t, path(input)))
		if err != nil {
			t.Fatal(err)
		}
		if s != nil {
			standOnceOnPage(t, input, pageOfFinding(t, path(input)), true, wordings([]string{s.Reason}, s.Facts))
		}
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

// repeatedOnPages are the parts of a page's data that say again what the others do: what is stored is there as
// scripts read it, and the summary is the answer as Markdown, to be copied.
var repeatedOnPages = []string{"result", "record", "search", "curve", "summary"}

// standOnceOnPage looks for what is said in the data of a page, which must have it all if it is full.
func standOnceOnPage(t *testing.T, name string, p picture, full bool, all [][]string) {
	t.Helper()
	parts := p.parts(t)
	for _, key := range repeatedOnPages {
		delete(parts, key)
	}
	var tree any
	if err := json.Unmarshal(marshal(t, parts), &tree); err != nil {
		t.Fatal(err)
	}
	said, otherwise := unbroken(strings.Join(textsIn(tree), "\n")), saidOtherwise[name]+saidOtherwiseOnPage[name]
	for _, wordings := range all {
		n := 0
		for _, text := range wordings {
			if text = unbroken(text); text != "" {
				n = max(n, strings.Count(said, text))
			}
		}
		lacks := n == 0 && full && (otherwise == "" || !strings.HasPrefix(wordings[0], otherwise))
		if n > 1 || lacks {
			t.Errorf("%s, its page: %d times: %q", name, n, wordings)
		}
	}
}

// textsIn are the texts of a value of JSON.
func textsIn(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			all = append(all, textsIn(item)...)
		}
	case map[string]any:
		for _, item := range v {
			all = append(all, textsIn(item)...)
		}
	}
	return all
}

// unbroken is a text in small letters on one line, without what formats put between its words.
func unbroken(text string) string {
	var words []string
	for _, word := range strings.Fields(strings.NewReplacer("`", "", `\`, "", "&lt;", "<", "&gt;", ">", "&amp;", "&", "&#39;", "'").Replace(text)) {
		words = append(words, strings.ToLower(word))
	}
	return strings.Join(words, " ")
}
