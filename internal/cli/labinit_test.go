package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/stats"
)

// screening is an experiment file with four factors.
const screening = `version: 1
name: s
design: {screen: true}
factors: {f0: &values [a, b], f1: *values, f2: *values, f3: *values}
variants:
  n:
    url: "http://127.0.0.1:8080/{{f0}}{{f1}}{{f2}}{{f3}}"
`

// screened is the folder of a screening that was run, in which f1 makes a difference. here is the
// folder of its file; "" if it ships inside dyno.
func screened(t *testing.T, here, source string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	r := lab.Record{Format: lab.ExperimentFormat, Progress: lab.Progress{Name: "s", State: lab.Complete},
		Definition: lab.Definition{File: "s.yaml", Here: here}}
	r.Verdicts = []lab.Comparison{{Metric: "cpu", Verdict: stats.Different}}
	r.Verdicts[0].Factor = "f1"
	text, err := json.Marshal(r)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, lab.RecordFile), text, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, lab.SourceFile), []byte(source), 0o600)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, lab.FilesFolder), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func labInitFrom(args ...string) (code int, said string) {
	var out strings.Builder
	code = Main(append([]string{"lab", "init", "--from"}, args...), strings.NewReader(""), &out, &out)
	return code, out.String()
}

// The experiment that follows a screening stands beside the screening's file, or with the files of an
// experiment that ships inside dyno: there are the files that it names. Of an alias only the factor
// that stands out keeps both values.
func TestInitFromScreening(t *testing.T) {
	home := t.TempDir()
	ships := screened(t, "", screening)
	for dir, where := range map[string]string{screened(t, home, screening): home,
		ships: filepath.Join(ships, lab.FilesFolder)} {
		code, said := labInitFrom(dir)
		name := filepath.Join(where, "s-follow-up.yaml")
		text, err := os.ReadFile(name)
		if code != exitOK || err != nil || !strings.Contains(said, "wrote "+name) || strings.Contains(said, "secrets") {
			t.Fatalf("exit code %d, %v\n%s", code, err, said)
		}
		e, err := experiment.Read(name, strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range e.Factors {
			if n := len(f.Value); f.Name == "f1" && n != 2 || f.Name != "f1" && n != 1 {
				t.Errorf("%s has %d values\n%s", f.Name, n, text)
			}
		}
		if code, said := labInitFrom(dir); code != exitUsage || !strings.Contains(said, "is there already") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
}

// What a follow-up cannot be is said, and what it lacks.
func TestInitFromSays(t *testing.T) {
	home := t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "x.yaml")
	if code, said := labInitFrom(screened(t, home, screening), elsewhere); code != exitUsage ||
		!strings.Contains(said, "write it into "+home) {
		t.Errorf("exit code %d: %s", code, said)
	}
	secret := screening + "workload: {request: {headers: {Authorization: Bearer (redacted-0a1b2c3d)}}}\n"
	if code, said := labInitFrom(screened(t, home, secret)); code != exitOK || !strings.Contains(said, "secrets were not stored") {
		t.Errorf("exit code %d: %s", code, said)
	}
	full := strings.Replace(screening, "screen: true", "rounds: 3", 1)
	if code, said := labInitFrom(screened(t, home, full)); code != exitUsage || !strings.Contains(said, "it is no screening") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if code, said := labInitFrom(t.TempDir()); code != exitUsage || said == "" {
		t.Errorf("exit code %d: %s", code, said)
	}
}
