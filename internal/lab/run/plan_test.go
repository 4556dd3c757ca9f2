package run

import (
	"path/filepath"
	"strings"
	"testing"
)

// A URL whose path comes from elsewhere, and is not what requests ask for, is refused too.
func TestPathFromElsewhere(t *testing.T) {
	t.Setenv("DYNO_TEST_URL", "http://base.invalid/dat.json")
	b := newTestBench(t)
	b.rates = map[string]float64{"base": 100}
	text := "version: 1\nname: x\nworkload: {request: {path: /data.json}}\n" +
		"variants: {base: {url: '{{env \"DYNO_TEST_URL\" \"\"}}'}}\n"
	l := b.lab(filepath.Join(t.TempDir(), "out"), text)
	for url, wrong := range map[string]bool{"http://base.invalid/dat.json": true,
		"http://base.invalid/data.json": false, "http://base.invalid/": false, "http://base.invalid": false} {
		_, err := plan(l.Experiment, new(filling), l.Experiment.Levels[0], l.Experiment.Workload, url, nil)
		if (err != nil) != wrong || wrong && !strings.Contains(err.Error(), "/dat.json, is not what requests ask for, /data.json") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
