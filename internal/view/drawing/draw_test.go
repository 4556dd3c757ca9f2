package drawing

import (
	"regexp"
	"slices"
	"testing"
)

// A picture of many seconds has as much of a line as can be seen, with its peaks.
func TestThinned(t *testing.T) {
	var path [][2]float64
	for i := range 100_000 {
		path = append(path, [2]float64{float64(i) / 200, float64(i % 7)})
	}
	path[50_001][1] = 99
	kept := thinned(path, 1)
	if len(kept) > 2000 || kept[0] != path[0] || kept[len(kept)-1] != path[len(path)-1] ||
		!slices.Contains(kept, path[50_001]) {
		t.Errorf("%d points of %d", len(kept), len(path))
	}
	if some := thinned(path[:3], 0.001); len(some) != 3 {
		t.Errorf("of three points apart %d are left", len(some))
	}
}

// Every colour is one in light and in dark, and lines have patterns.
func TestTheme(t *testing.T) {
	is := regexp.MustCompile(`^#[0-9a-f]{6}$`)
	for name, c := range readTheme().Inks {
		if !is.MatchString(c[0]) || !is.MatchString(c[1]) {
			t.Errorf("%s is %q", name, c)
		}
	}
	if n := len(readTheme().Inks); n < 20 || len(dashOf(0)) != 0 || len(dashOf(9)) != 2 {
		t.Errorf("%d colours, dashes %v and %v", n, dashOf(0), dashOf(9))
	}
}
