package result

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"dyno/internal/fact"
)

// The reasons that an older dyno stored as sentences are said alike of the facts found in the same
// result, by judging it again.
func TestReasonsAsStored(t *testing.T) {
	files, err := filepath.Glob("../cli/net/testdata/stored/runs/*.json")
	reasons := 0
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
		before := r.Generator
		if r.judgeGenerator(); !reflect.DeepEqual(r.Generator, before) {
			t.Errorf("%s:\n%q\n%q", filepath.Base(file), before.Reasons, r.Generator.Reasons)
		}
		if reasons += len(before.Reasons); len(r.ReasonFacts()) != len(before.Reasons) {
			t.Errorf("%s: %d of %d reasons are facts", filepath.Base(file), len(r.ReasonFacts()), len(before.Reasons))
		}
	}
	if err != nil || reasons < 20 {
		t.Errorf("%d reasons in %d files, %v", reasons, len(files), err)
	}
}
