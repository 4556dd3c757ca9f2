package result

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dyno/internal/fact"
	"dyno/internal/say"
)

// The reasons and warnings that an older dyno stored as sentences are said alike of the facts found in
// the same result, by judging it again.
func TestReasonsAsStored(t *testing.T) {
	files, err := filepath.Glob("../cli/net/testdata/stored/runs/*.json")
	reasons, warned := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if r.Fleet != nil {
			continue // its parts are not stored
		}
		_, none, _ := fact.Find[fact.NoServer](r.Facts)
		if none.WindowUS == 0 && slices.ContainsFunc(r.Generator.Doubts, func(d Doubt) bool { return d.Cause == NoServer }) {
			continue // which is said otherwise since it is a fact
		}
		for _, f := range cautions(r) { // what is advised may have changed, and "1 answer was" was "1 answers were"
			text := strings.NewReplacer("1 answer (", "1 answers (", ") was an error", ") were errors").Replace(say.Sentence(f))
			if !strings.Contains(strings.Join(r.Warnings, "\n")+"\n", text) {
				t.Errorf("%s: %q is none of %q", filepath.Base(file), text, r.Warnings)
			}
			warned++
		}
		before := r.Generator
		if r.judgeGenerator(); !reflect.DeepEqual(r.Generator, before) {
			t.Errorf("%s:\n%q\n%q", filepath.Base(file), before.Reasons, r.Generator.Reasons)
		}
		if reasons += len(before.Reasons); len(r.ReasonFacts()) != len(before.Reasons) {
			t.Errorf("%s: %d of %d reasons are facts", filepath.Base(file), len(r.ReasonFacts()), len(before.Reasons))
		}
	}
	if err != nil || reasons < 20 || warned < 8 {
		t.Errorf("%d reasons and %d warnings in %d files, %v", reasons, warned, len(files), err)
	}
}
