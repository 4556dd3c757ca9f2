package serve

import (
	"testing"

	"dyno/internal/lab"
)

// A change knows whether it is more or less, also where it is only bounded; a page does not read that from its text.
func TestChangeOf(t *testing.T) {
	for _, c := range []struct {
		now, before float64
		known       lab.Bound
		text        string
		sign        int
	}{
		{110, 100, "", "+10 %", 1}, {90, 100, "", "−10 %", -1}, {100.001, 100, "", "0 %", 0}, {500, 100, "", "+400 %", 1}, {5000, 100, "", "×50.0", 1},
		{110, 100, lab.AtLeast, "+10 % or higher", 1}, {90, 100, lab.AtMost, "−10 % or lower", -1},
	} {
		got := changeOf(c.now, c.before, c.known)
		if got == nil || *got != (change{c.text, c.sign}) {
			t.Errorf("%v after %v (%s): %+v, not %q, %d", c.now, c.before, c.known, got, c.text, c.sign)
		}
	}
	if a, b, c := changeOf(0, 1, ""), changeOf(1, 0, ""), changeOf(2, 1, lab.NoBound); a != nil || b != nil || c != nil {
		t.Error(a, b, c)
	}
}
