package report

import (
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/reporttest"
)

// A code that only some seconds had is a column of all.
func TestCSVHasCodes(t *testing.T) {
	r := reporttest.Closed()
	r.Series = []result.Point{{T: 1, Status: map[string]int64{"503": 2, "200": 7}}, {T: 2},
		{T: 3, Status: map[string]int64{"200": 1}}}
	var b strings.Builder
	if err := CSV(&b, r); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"bytes_sent,status.200,status.503", "0,7,2", "0,0,0", "0,1,0"} {
		if line := strings.Split(b.String(), "\n")[i]; !strings.HasSuffix(line, want) {
			t.Errorf("line %d is %q, and should end in %q", i, line, want)
		}
	}
}
