package report

import (
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// A result that was stored and read again has the report that it had when it was measured: no
// figure is rounded on its way through the file.
func TestStoredResultReadsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		r := reporttest.Watched()
		for i := range r.Server.Processes {
			u := &r.Server.Processes[i]
			u.Percent, u.CPU = reporttest.Odd(random), reporttest.Odd(random)
			u.User, u.System = reporttest.Odd(random), reporttest.Odd(random)
		}
		r.Server.Host.Steal = reporttest.Odd(random)
		again, err := result.Decode(reporttest.AsStored(t, r))
		if err != nil {
			t.Fatal(err)
		}
		reporttest.Same(t, reporttest.Text(t, func(b *strings.Builder) error { return Text(b, r, format.Style{}) }),
			reporttest.Text(t, func(b *strings.Builder) error { return Text(b, again, format.Style{}) }))
	}
}
