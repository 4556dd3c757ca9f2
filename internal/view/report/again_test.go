package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"dyno/internal/lab"
	"dyno/internal/observe/probe"
	"dyno/internal/result"
)

// A result that was stored and read again has the report that it had when it was measured: no
// figure is rounded on its way through the file.
func TestStoredResultReadsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		r := watched()
		for i := range r.Server.Processes {
			u := &r.Server.Processes[i]
			u.Percent, u.CPU = odd(random), odd(random)
			u.User, u.System = odd(random), odd(random)
		}
		r.Server.Host.Steal = odd(random)
		again, err := result.Decode(asStored(t, r))
		if err != nil {
			t.Fatal(err)
		}
		same(t, text(t, func(b *strings.Builder) error { return Text(b, r, Style{}) }),
			text(t, func(b *strings.Builder) error { return Text(b, again, Style{}) }))
	}
}

// What dyno lab run prints at its end is what dyno lab show prints later.
func TestStoredExperimentReadsTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		r := servers()
		r.Ended = r.Started.Add(time.Duration(random.Int64N(int64(time.Hour))))
		r.SpentS = 3600 * random.Float64()
		for _, name := range []string{"", "nginx"} {
			r.Parts = append(r.Parts, lab.ProcessUse{Arm: "go", Level: "c10", Name: name,
				CPU: odd(random), User: odd(random), System: odd(random), Percent: odd(random),
				Memory: odd(random) * 1e6})
		}
		again := &lab.Record{}
		if err := json.Unmarshal(asStored(t, r), again); err != nil {
			t.Fatal(err)
		}
		same(t, text(t, func(b *strings.Builder) error { return Experiment(b, r, Style{}) }),
			text(t, func(b *strings.Builder) error { return Experiment(b, again, Style{}) }))
	}
}

// odd is a value near one that is as near to one figure of three digits as to the next.
func odd(random *rand.Rand) probe.Value {
	near := math.Floor(1000*random.Float64())/10 + 0.05
	return probe.Value(near - 0.004*random.Float64())
}

func asStored(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func text(t *testing.T, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// same fails the test at the first line in which two reports differ.
func same(t *testing.T, was, is string) {
	t.Helper()
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			t.Fatalf("it was\n%s\nand read again it is\n%s", before[i], strings.Join(after[min(i, len(after)):min(i+1, len(after))], ""))
		}
	}
}
