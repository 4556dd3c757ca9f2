package cli

import (
	"bytes"
	"strings"
	"testing"

	"dyno/internal/notices"
)

// The licences are printed, or it is said how to have them.
func TestLicences(t *testing.T) {
	var out, errs bytes.Buffer
	code := Main([]string{"version", "--licences"}, nil, &out, &errs)
	want, err := notices.NoticesText()
	switch {
	case err == nil && (code != exitOK || out.String() != want || !strings.Contains(want, "sqlite")):
		t.Errorf("code %d, %d characters of %d", code, out.Len(), len(want))
	case err != nil && (code != exitUsage || !strings.Contains(errs.String(), "make notices")):
		t.Errorf("code %d, %s", code, errs.String())
	}
}

// To find a verb, dyno does not make the flags of the others: defaults of a load are read from the
// machine, and took a fifth of a start.
func TestFindVerb(t *testing.T) {
	allocations := testing.AllocsPerRun(10, func() {
		if _, found := findVerb("version"); !found {
			t.Error("no version")
		}
	})
	if allocations > 500 { // with the flags of each verb 5,676
		t.Errorf("%v allocations", allocations)
	}
}
