package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dyno/internal/lab"
)

// rowsLab has three clients send each row of a file once in each trial. The gate compares a variant
// that answers one of 500 wrongly.
const rowsLab = `
version: 1
name: rows
design:
  {rounds: 2, seed: 1, aa: false, warmup: {min: 0, max: 0}, cooldown: 0, metrics: [throughput], clients: {count: 3}}
workload:
  request: {path: "/?id={{id}}&n={{seq}}"}
  data: ids.csv
  data_order: once
  expect: {body: 'json:$.ok==true'}
fairness: {mode: off}
levels: [{name: closed, connections: 7, requests: 1000}, {name: open, connections: 8, requests: 1000, rate: 20k}]
gate: {metrics: [throughput], confirm: false}
variants:
  right: {url: "%[1]s", request: {path: "/right?id={{id}}&n={{seq}}"}}
  wrong: {url: "%[1]s", request: {path: "/wrong?id={{id}}&n={{seq}}"}}
`

// Three clients of an experiment send each of 1,000 rows once in each trial, and each wrong body is
// counted: its trial is of grade F, and the gate does not pass.
func TestRowsOfAnExperiment(t *testing.T) {
	t.Parallel()
	const rows, asks = 1000, 6
	var mu sync.Mutex
	seen := map[string][]int{"/right": make([]int, rows), "/wrong": make([]int, rows)}
	strange := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.URL.Query().Get("id"))
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		mu.Lock()
		if of := seen[r.URL.Path]; err == nil && of != nil && id < rows && n == id+1 {
			of[id]++
		} else {
			strange++
		}
		mu.Unlock()
		fmt.Fprintf(w, `{"ok": %v}`, r.URL.Path == "/right" || id%500 != 499)
	}))
	defer s.Close()
	dir := t.TempDir()
	var file strings.Builder
	file.WriteString("id\n")
	for i := range rows {
		fmt.Fprintln(&file, i)
	}
	for name, text := range map[string]string{"ids.csv": file.String(), "rows.yaml": fmt.Sprintf(rowsLab, s.URL)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(copied(t, dir, "dyno"), "lab", "run", "rows.yaml", "-o", "out")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "GORACE="+shortly)
	said, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != exitUntrusted {
		t.Fatalf("code %d, %v\n%s", code, err, said)
	}
	trials := map[string]int{} // of each variant: four, and those run again because the machine was busy
	for _, trial := range trialsIn(t, dir) {
		trials["/"+trial.Arm]++
		checkRowsTrial(t, trial, rows)
	}
	for path, of := range seen {
		if trials[path] < 4 {
			t.Errorf("%d trials of %s\n%s", trials[path], path, said)
		}
		for id, n := range of {
			want := trials[path]
			if id == 0 {
				want += trials[path] * asks // that the checks before each load sent
			}
			if n != want {
				t.Fatalf("%s: row %d came %d times, want %d\n%s", path, id+1, n, want, said)
			}
		}
	}
	if strange > 0 {
		t.Errorf("%d requests were of no row", strange)
	}
	record, err := lab.ReadRecord(filepath.Join(dir, "out"))
	if err != nil || record.Gate == nil || record.Gate.Verdict == lab.Passed {
		t.Errorf("the gate is %+v, %v", record.Gate, err)
	}
}

// checkRowsTrial checks what a trial counted.
func checkRowsTrial(t *testing.T, trial *lab.Trial, rows int64) {
	t.Helper()
	wrong := int64(0)
	if trial.Arm == "wrong" {
		wrong = rows / 500
	}
	r := trial.Result
	if r == nil || len(r.Checks) != 1 || r.Checks[0].Failed != wrong || r.Checks[0].Passed != rows-wrong ||
		r.Requests.Errors != wrong || r.Requests.Completed != rows-wrong {
		t.Errorf("%s: %+v, %+v", trial.ID, r.Checks, r.Requests)
		return
	}
	told := false
	for _, reason := range trial.Reasons {
		told = told || reason.Grade == lab.GradeF &&
			strings.Contains(reason.Says, "2 of 1,000 requests failed "+
				`(checks that failed: "json:$.ok==true": 2)`)
	}
	if told != (wrong > 0) || wrong > 0 && trial.Grade != lab.GradeF {
		t.Errorf("%s: grade %s, %+v", trial.ID, trial.Grade, trial.Reasons)
	}
	if p := r.Plan; p.Rows == nil || p.Rows.Order != "once" || p.Rows.Rows != int(rows) {
		t.Errorf("%s: the plan's rows are %+v", trial.ID, p.Rows)
	}
}
