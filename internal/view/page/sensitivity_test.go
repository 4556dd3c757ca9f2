package page

import (
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/lab"
)

// The trials that tried settings of the generator are listed below the others, each with its setting;
// they are in no other list.
func TestSensitivityOnThePage(t *testing.T) {
	dir := experimentFolder(t, 1, 2)
	const setting = "2 threads instead of 4"
	rewrite(t, filepath.Join(dir, "experiment.json"), func(record map[string]any) {
		record["sensitivity"] = map[string]any{"arm": "go", "level": "c100", "metric": "throughput", "matters": true,
			"sentence": "another setting of the generator moves throughput by 10 % [8, 12]", "skipped": []string{"wrk: it is not installed"},
			"settings": []any{map[string]any{"name": setting, "trials": 6,
				"ratio": map[string]any{"low": 0.88, "estimate": 0.9, "high": 0.92, "level": 0.96}}},
			"trials": []any{map[string]any{"id": "s1", "round": lab.SensitivityRound, "position": 1, "attempt": 1,
				"arm": lab.SettingArm("go", setting), "level": "c100", "started": "2026-03-04T05:06:07Z", "grade": "B",
				"reasons": []any{map[string]any{"grade": "B", "says": "the machine was busy"}},
				"values":  map[string]any{"throughput": 912.5, "p99": 431.5}}}}
	})
	html, data := experimentHTML(t, dir)
	tab := chromium.OpenPage(t, html)
	tab.ShowTables()
	text := tab.ElementText("#sensitivity")
	for _, want := range []string{"another setting of the generator moves throughput by 10 % [8, 12].", setting, "the machine was busy",
		"Not tried: wrk: it is not installed."} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q: %s", want, text)
		}
	}
	numbers := tab.NumbersByPath()
	checkNumbers(t, numbers, data)
	for _, path := range []string{"record.sensitivity.trials.0.values.throughput", "record.sensitivity.settings.0.ratio.high",
		"record.sensitivity.settings.0.trials"} {
		if _, there := numbers[path]; !there {
			t.Errorf("%s is not on the page", path)
		}
	}
	if all, _ := lookup(data, "record.trials"); len(all.([]any)) != 6 {
		t.Errorf("%d trials are compared, want 6", len(all.([]any)))
	}
}
