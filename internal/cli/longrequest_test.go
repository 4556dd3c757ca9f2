package cli

import (
	"bytes"
	"strings"
	"testing"

	"dyno/internal/result"
	"dyno/internal/view/format"
	"dyno/internal/view/reporttest"
)

// A result whose only request is too long for it is shown in every form, without the request.
func TestFormsOfALongRequest(t *testing.T) {
	r := reporttest.Closed()
	long := strings.Repeat("some words ", 100_000)
	r.Plan.Requests[0].Name = long
	var b bytes.Buffer
	if err := result.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	stored, err := result.Decode(b.Bytes())
	if err != nil || stored.Plan.Asks() != 1 || len(stored.Plan.Requests) != 0 || b.Len() > 100<<10 {
		t.Fatalf("%d requests of %d, %d bytes, %v", len(stored.Plan.Requests), stored.Plan.Asks(), b.Len(), err)
	}
	for _, form := range renderers {
		if strings.HasPrefix(form.suffix, ".h") && form.suffix != ".html" {
			continue // of a histogram, which this result does not have
		}
		b.Reset()
		err := form.write(&b, stored, format.Style{})
		if err != nil || b.Len() == 0 || bytes.Contains(b.Bytes(), []byte(long[:1000])) {
			t.Errorf("%s: %d bytes, %v", form.suffix, b.Len(), err)
		}
	}
}
