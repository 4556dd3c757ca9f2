package run

import (
	"strings"
	"testing"

	"dyno/internal/fairness"
	"dyno/internal/observe/probe"
)

// What servers were given is in the table, named where a variant has several processes, and
// violates nothing.
func TestInform(t *testing.T) {
	table := &fairness.Table{Variants: []string{"go", "proxied", "elsewhere"}, Reference: "go"}
	addGivens(table, map[string][]probe.Setup{
		"go": {{Name: "app", Processes: 1, Threads: 9, OpenFiles: []string{"1024"},
			MaxProcs: []string{"2"}, Backlogs: []string{"8080: 4096", "9090: 4096", "1: 5"}}},
		"proxied": {{Name: "app", Processes: 1, Threads: 8, OpenFiles: []string{"1024", "2048"}},
			{Name: "nginx", Processes: 3, Threads: 3, OpenFiles: []string{"512"},
				Writes: []string{"access.log"}}},
	})
	want := map[string][3]string{
		"processes":       {"1", "app 1; nginx 3"},
		"threads_at_rest": {"9", "app 8; nginx 3"},
		"gomaxprocs":      {"2"},
		"open_files":      {"1024", "app 1024, 2048; nginx 512"},
		"writes_to":       {"", "nginx access.log"},
		"backlog":         {"4096, 5"},
	}
	if len(table.Rows) != len(want) || len(table.Violations()) != 0 {
		t.Fatalf("%+v", table.Rows)
	}
	for _, row := range table.Rows {
		if strings.HasPrefix(row.Why, "a newer dyno") {
			t.Errorf("%s: nothing says why it matters", row.Aspect)
		}
		for i, cell := range row.Cells {
			value, state := want[row.Aspect][i], fairness.Shown
			if value == "" {
				state = fairness.Unseen
			}
			if cell.Value != value || cell.State != state {
				t.Errorf("%s of %s: %+v, want %q", row.Aspect, table.Variants[i], cell, value)
			}
		}
	}
}
