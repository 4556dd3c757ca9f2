package reporttest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"dyno/internal/observe/probe"
)

// Odd is a value near one that is as near to one figure of three digits as to the next.
func Odd(random *rand.Rand) probe.Value {
	near := math.Floor(1000*random.Float64())/10 + 0.05
	return probe.Value(near - 0.004*random.Float64())
}

// AsStored is v as its file has it.
func AsStored(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Text is what write writes.
func Text(t *testing.T, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Same fails the test at the first line in which two reports differ.
func Same(t *testing.T, was, is string) {
	t.Helper()
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			t.Fatalf("it was\n%s\nand read again it is\n%s", before[i],
				strings.Join(after[min(i, len(after)):min(i+1, len(after))], ""))
		}
	}
}
