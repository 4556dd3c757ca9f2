package labreport

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// What dyno lab run prints at its end is what dyno lab show prints later.
func TestStoredExperimentReadsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		r := servers()
		r.Ended = r.Started.Add(time.Duration(random.Int64N(int64(time.Hour))))
		r.SpentS = 3600 * random.Float64()
		for _, name := range []string{"", "nginx"} {
			r.Parts = append(r.Parts, lab.ProcessUse{Arm: "go", Level: "c10", Name: name,
				CPU: reporttest.Odd(random), User: reporttest.Odd(random), System: reporttest.Odd(random), Percent: reporttest.Odd(random),
				Memory: reporttest.Odd(random) * 1e6})
		}
		again := &lab.Record{}
		if err := json.Unmarshal(reporttest.AsStored(t, r), again); err != nil {
			t.Fatal(err)
		}
		reporttest.Same(t, reporttest.Text(t, func(b *strings.Builder) error { return Experiment(b, r, format.Style{Detail: true}) }),
			reporttest.Text(t, func(b *strings.Builder) error { return Experiment(b, again, format.Style{Detail: true}) }))
	}
}
