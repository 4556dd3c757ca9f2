//go:build linux

package attack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tiny is an experiment whose server is a command of the test's choice.
const tiny = `version: 1
name: tiny
design: {rounds: 1, aa: false, cooldown: 0s, warmup: {min: 0s, max: 0s}}
fairness: {mode: off}
levels: [{name: c1, connections: 1, threads: 1, requests: 20}]
variants:
  a: {processes: [{name: app, cmd: %q}], url: 'http://127.0.0.1:{{port}}/'}
`

// honest starts a server of dyno's.
const honest = "{{dyno}} target --listen 127.0.0.1:{{port}}"

// folderOf is the only experiment that a home has.
func folderOf(t *testing.T, home string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(home, "experiments", "*"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all[0]
}

// writeArchive writes what a store exports, with these files.
func writeArchive(t *testing.T, files map[string][]byte) (name string) {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipped)
	for path, content := range files {
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o600, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	archive.Close()
	zipped.Close()
	name = filepath.Join(t.TempDir(), "x.tar.gz")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// stolenFiles are an experiment's files as somebody sends them back who has them: there is one more
// trial, and another command. hashed says whether the record has the new file's hash.
func stolenFiles(t *testing.T, dir, command string, hashed bool) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	below := "experiments/" + filepath.Base(dir) + "/"
	read := func(name string) []byte {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	trials, err := filepath.Glob(filepath.Join(dir, "trials", "*.json"))
	if err != nil || len(trials) == 0 {
		t.Fatal(trials, err)
	}
	for _, path := range trials {
		files[below+"trials/"+filepath.Base(path)] = read(path)
		files[below+"trials/z"+filepath.Base(path)] = bytes.Replace(read(path), []byte(`"id": "`), []byte(`"id": "z`), 1)
	}
	source := fmt.Appendf(nil, tiny, command)
	files[below+"experiment.yaml"] = source
	record := read(filepath.Join(dir, "experiment.json"))
	if hashed {
		var r map[string]any
		if err := json.Unmarshal(record, &r); err != nil {
			t.Fatal(err)
		}
		r["sha256"] = fmt.Sprintf("%x", sha256.Sum256(source))
		if record, err = json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	}
	files[below+"experiment.json"] = record
	return files
}

// Who has an experiment of yours sends it back with a command of his. It does not take the place of
// yours, and what is his runs only where --imported says so.
func TestImportBringsNoCommand(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	ran := filepath.Join(work, "ran")
	command := fmt.Sprintf("sh -c 'touch %s; : {{port}}'", ran)
	file := filepath.Join(work, "tiny.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, tiny, honest), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"DYNO_HOME=" + home}
	if got := runDyno(t, env, "lab", "run", file); got.code != 0 {
		t.Fatalf("%d\n%s", got.code, got.err)
	}
	dir := folderOf(t, home)
	hasRun := func(when string) {
		t.Helper()
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s: the stranger's command ran", when)
		}
		os.Remove(ran)
	}
	for _, hashed := range []bool{false, true} {
		got := runDyno(t, env, "import", writeArchive(t, stolenFiles(t, dir, command, hashed)))
		if source, err := os.ReadFile(filepath.Join(dir, "experiment.yaml")); err != nil || bytes.Contains(source, []byte(ran)) {
			t.Errorf("hashed %v: the experiment was replaced: %v\n%s", hashed, err, got.err)
		}
		if got.code == 0 {
			t.Errorf("hashed %v: it is said to be stored: %s%s", hashed, got.out, got.err)
		}
		if got := runDyno(t, env, "lab", "rerun", dir, "-o", filepath.Join(work, fmt.Sprint("again", hashed))); got.code != 0 {
			t.Errorf("hashed %v: rerun of the own experiment: %d\n%s", hashed, got.code, got.err)
		}
		hasRun(fmt.Sprint("rerun, hashed ", hashed))
	}

	// One that is new is stored, and says what it would run.
	files := stolenFiles(t, dir, command, true)
	other := map[string][]byte{}
	for name, content := range files {
		other[strings.Replace(name, filepath.Base(dir), "theirs", 1)] = content
	}
	if got := runDyno(t, env, "import", writeArchive(t, other)); got.code != 0 {
		t.Fatalf("%d\n%s", got.code, got.err)
	}
	theirs := filepath.Join(home, "experiments", "theirs")
	for _, words := range [][]string{{"lab", "rerun", theirs, "-o", filepath.Join(work, "w")}, {"lab", "run", "--resume", theirs},
		{"lab", "run", filepath.Join(theirs, "experiment.yaml"), "-o", filepath.Join(work, "f")}} {
		got := runDyno(t, env, words...)
		if got.code != 2 || !strings.Contains(got.err, "touch "+ran) || !strings.Contains(got.err, "give --imported") {
			t.Errorf("%q: %d\n%s", words, got.code, got.err)
		}
		hasRun(strings.Join(words, " "))
	}
	runDyno(t, env, "lab", "rerun", "--imported", theirs, "-o", filepath.Join(work, "meant"))
	if _, err := os.Stat(ran); err != nil {
		t.Error("nothing was shown: --imported does not run it")
	}

	// And a file that was changed beside its record is not what was run.
	if err := os.WriteFile(filepath.Join(dir, "experiment.yaml"), fmt.Appendf(nil, tiny, command), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(ran)
	got := runDyno(t, env, "lab", "rerun", dir, "-o", filepath.Join(work, "changed"))
	if hasRun("of a changed file"); got.code != 2 || !strings.Contains(got.err, "is not the file that was run") {
		t.Errorf("a changed file: %d\n%s", got.code, got.err)
	}
}

// An archive of some hundred KB writes nothing to the disk that is not recognised first.
func TestImportFillsNoDisk(t *testing.T) {
	large := make([]byte, 139<<20)
	for name, files := range map[string]map[string][]byte{
		"a name that no store has":            {"filler/x": large},
		"beside what is no experiment":        {"experiments/e/output/x.log": large, "experiments/e/experiment.json": []byte("{}")},
		"of an experiment without its record": {"experiments/e/output/x.log": large},
		"a result":                            {"results/x.json": large},
		"no result":                           {"results/x.json": large[:100<<20]},
		"a note":                              {"results/x.note": large},
		"a record":                            {"experiments/e/experiment.json": large},
		"an experiment's file":                {"experiments/e/experiment.yaml": large},
		"a folder that no experiment has":     {"experiments/e/more/x": large},
	} {
		archive := writeArchive(t, files)
		home := t.TempDir()
		// A file that becomes larger than 4 MiB is an error here.
		got := runProgram(t, exec.Command("sh", "-c", `ulimit -f 8192; exec "$0" import "$1"`, binary, archive), "DYNO_HOME="+home)
		if got.code != 2 || strings.Contains(got.err, "file too large") {
			t.Errorf("%s: %d\n%s", name, got.code, got.err)
		}
	}
}
