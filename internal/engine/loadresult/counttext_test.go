package loadresult

import (
	"math"
	"testing"
)

func TestCountText(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -100: "-100", -1000: "-1,000", 123456: "123,456",
		1234567: "1,234,567", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := CountText(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
