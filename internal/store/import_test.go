package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/observe/profile"
	"dyno/internal/result"
)

// full is a store with one of everything.
func full(t *testing.T) (home string, ids []string) {
	t.Helper()
	home = t.TempDir()
	random := rand.New(rand.NewPCG(5, 6))
	for i := range 16 {
		ids = append(ids, save(t, home, measured(i, noisy(random, 1000-200*float64(i/8), 0.01)))...)
	}
	s := opened(t, home)
	if err := s.Note(ids[3], "said #so"); err != nil {
		t.Fatal(err)
	}
	if n := len(changesOf(t, s, "throughput")); n != 1 {
		t.Fatal(n)
	}
	for name, content := range map[string]string{
		"results/" + ids[4] + ".cpu.pb.gz":  "a profile",
		"results/README":                    "not ours",
		"experiments/hello/experiment.json": `{"format":"dyno.experiment/1","name":"hello","arms":[{"name":"a"}]}`,
		"experiments/hello/trials/r1.json": `{"format":"dyno.trial/1","id":"r1","round":1,"arm":"a","level":"c","attempt":1,` +
			`"grade":"A"}`,
		"experiments/hello/.lock":           "",
		"experiments/hello/build/large":     "built again",
		"experiments/hello/output/a.stderr": "hello",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	return home, ids
}

// imported imports, and counts what became of it.
func imported(t *testing.T, s *Store, path string) (stored, same int, faults []string) {
	t.Helper()
	all, err := s.Import(path)
	if err != nil {
		faults = append(faults, err.Error())
	}
	for _, i := range all {
		switch {
		case i.Err != nil:
			faults = append(faults, i.From+": "+i.Err.Error())
		case i.Same:
			same++
		default:
			stored++
		}
	}
	agrees(t, s)
	return stored, same, faults
}

// What is exported and imported elsewhere is the same; and imported again it changes
// nothing.
func TestExportAndImport(t *testing.T) {
	home, _ := full(t)
	s := opened(t, home)
	archive := filepath.Join(t.TempDir(), "x.tar.gz")
	var b bytes.Buffer
	if n, damaged, err := s.Export(&b, nil); err != nil || n != 17 || damaged != nil {
		t.Fatal(n, damaged, err)
	}
	if err := os.WriteFile(archive, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "new", "folder")
	if n, _, err := s.ExportDir(folder, nil); err != nil || n != 17 {
		t.Fatal(n, err)
	}
	if _, _, err := s.ExportDir(folder, nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
	for _, from := range []string{archive, folder, home} {
		there := filepath.Join(t.TempDir(), "home")
		other := opened(t, there)
		if stored, same, faults := imported(t, other, from); stored != 19 || same != 0 || faults != nil {
			t.Errorf("%s: %d stored, %d there already, %q", from, stored, same, faults)
		}
		other = opened(t, there) // now that there is a folder
		if stored, same, faults := imported(t, other, from); stored != 0 || same != 19 || faults != nil {
			t.Errorf("%s again: %d stored, %d there already, %q", from, stored, same, faults)
		}
		if got, want := dump(t, other), dump(t, s); got != want {
			t.Errorf("%s: %s\nwant\n%s", from, got, want)
		}
		left, want := names(t, there), names(t, folder)
		if !slices.Equal(left, want) {
			t.Errorf("%s: %q\nwant\n%q", from, left, want)
		}
	}
}

// names are those of all files below dir, but for the index and the marks of what was imported.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(path, indexFile) && e.Name() != ".imported" {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestExportOfSome(t *testing.T) {
	home, ids := full(t)
	s := opened(t, home)
	dir := t.TempDir()
	if n, _, err := s.ExportDir(dir, []string{ids[3], ids[4], "hello", ids[3], "hello"}); err != nil || n != 3 {
		t.Fatal(n, err)
	}
	want := []string{"experiments/hello/experiment.json", "experiments/hello/output/a.stderr",
		"experiments/hello/trials/r1.json", "results/" + ids[3] + ".json", "results/" + ids[3] + ".note",
		"results/" + ids[4] + ".cpu.pb.gz", "results/" + ids[4] + ".json"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, id := range []string{"", "x", "../results/" + ids[0], "../experiments/hello", "."} {
		if _, _, err := s.ExportDir(t.TempDir(), []string{id}); err == nil {
			t.Errorf("%q is exported", id)
		}
	}
}

// What import would refuse is not exported, but named; the rest is, and imported.
func TestExportOfWhatIsDamaged(t *testing.T) {
	home, ids := full(t)
	sums := measured(0, 1000)
	sums.Requests.Errors = 3
	b, err := json.Marshal(sums)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := filepath.Glob(filepath.Join(home, "changes", "*"))
	if err != nil || len(changes) != 1 {
		t.Fatal(changes, err)
	}
	why := map[string]string{}
	for _, bad := range []struct{ file, content, want string }{
		{"results/" + ids[0] + ".json", string(b), "requests do not add up: 5000 sent, 5000 completed, 3 errors"},
		{"results/" + ids[4] + ".json", `{"format":"dyno.res`, "not a result of dyno: unexpected end"},
		{"results/" + ids[3] + ".note", "\xff", "the note is not UTF-8"},
		{"changes/" + filepath.Base(changes[0]), "{}", "not a change point"},
		{"experiments/hello/trials/r1.json", "{", "r1.json is damaged"},
	} {
		if err := os.WriteFile(filepath.Join(home, bad.file), []byte(bad.content), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(home, bad.file)
		if strings.HasPrefix(bad.file, "experiments/") {
			path = filepath.Join(home, "experiments", "hello")
		}
		why[path] = bad.want
	}
	s := opened(t, home)
	dir := filepath.Join(t.TempDir(), "x")
	n, damaged, err := s.ExportDir(dir, nil)
	if err != nil || n != 14 || len(damaged) != len(why) {
		t.Errorf("%d are exported, %v, damaged are %v", n, err, damaged)
	}
	for _, d := range damaged {
		if want := why[d.Path]; want == "" || !strings.Contains(d.Err.Error(), want) {
			t.Errorf("%s: %v, want %q", d.Path, d.Err, want)
		}
	}
	if stored, _, faults := imported(t, opened(t, t.TempDir()), dir); stored != 14 || faults != nil {
		t.Errorf("%d are imported, %q", stored, faults)
	}
	var none bytes.Buffer
	if _, damaged, err := s.Export(&none, []string{ids[0], "hello"}); err == nil || len(damaged) != 2 || none.Len() > 0 {
		t.Errorf("%d bytes of nothing, %v, %v", none.Len(), damaged, err)
	}
}

// An experiment that was exported while it ran is brought up to date by a later export, and
// an earlier one takes nothing from it.
func TestImportOfAnExperimentThatWentOn(t *testing.T) {
	from := t.TempDir()
	lay := func(folder, state string, seed int, trials ...string) string {
		dir := filepath.Join(from, folder, "run-1")
		files := map[string]string{"report.md": state, "experiment.json": fmt.Sprintf(`{"format":"dyno.experiment/1",`+
			`"name":"run","state":%q,"started":"2026-01-02T15:04:05Z","seed":%d,"sha256":"5a","arms":[{"name":"a"}]}`, state, seed)}
		for _, id := range trials {
			files["trials/"+id[:2]+".json"] = fmt.Sprintf(`{"format":"dyno.trial/1","id":%q,"round":1,"arm":"a","level":"c",`+
				`"attempt":1,"grade":"A","took_s":%d}`, id[:2], len(id))
		}
		for name, content := range files {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	running, stopped := lay("running", "running", 7, "r1"), lay("stopped", "interrupted", 7, "r1", "r2")
	complete := lay("complete", "complete", 7, "r1", "r2")
	home := t.TempDir()
	s := opened(t, home)
	there := filepath.Join(home, "experiments", "run-1")
	for i, step := range []struct {
		dir                string
		stored, same       int
		fault, state, last string
	}{
		{running, 1, 0, "", "running", "r1"}, {running, 0, 1, "", "running", "r1"},
		{stopped, 1, 0, "", "interrupted", "r2"}, {running, 0, 1, "", "interrupted", "r2"},
		{complete, 1, 0, "", "complete", "r2"}, {stopped, 0, 1, "", "complete", "r2"},
		{complete, 0, 1, "", "complete", "r2"},
		{lay("seed", "complete", 8, "r1", "r2", "r3"), 0, 0, "another experiment", "complete", "r2"},
		{lay("altered", "complete", 7, "r1", "r2 altered", "r3"), 0, 0, "another experiment", "complete", "r2"},
	} {
		stored, same, faults := imported(t, s, step.dir)
		if stored != step.stored || same != step.same || !strings.Contains(strings.Join(faults, ""), step.fault) ||
			(step.fault == "") != (faults == nil) {
			t.Errorf("step %d: %d stored, %d there already, %q", i+1, stored, same, faults)
		}
		h, err := lab.ReadHeading(there)
		report, bad := os.ReadFile(filepath.Join(there, "report.md"))
		if err != nil || bad != nil || string(h.State) != step.state || string(report) != step.state {
			t.Errorf("step %d: stored is %+v, %v, whose report is %q, %v", i+1, h, err, report, bad)
		}
		trials := names(t, filepath.Join(there, "trials"))
		if last := trials[len(trials)-1]; last != step.last+".json" {
			t.Errorf("step %d: the last trial is %s", i+1, last)
		}
	}
}

// An experiment that runs here is not changed below the dyno that runs it.
func TestImportOverAnExperimentThatRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no lock on an experiment's folder")
	}
	home, _ := full(t)
	dir := filepath.Join(t.TempDir(), "hello")
	there := filepath.Join(home, "experiments", "hello")
	if err := os.CopyFS(dir, os.DirFS(there)); err != nil {
		t.Fatal(err)
	}
	more := []byte(`{"format":"dyno.trial/1","id":"r2","round":2,"arm":"a","level":"c","attempt":1,"grade":"A"}`)
	if err := os.WriteFile(filepath.Join(dir, "trials", "r2.json"), more, 0o600); err != nil {
		t.Fatal(err)
	}
	s := opened(t, home)
	if _, _, faults := imported(t, s, dir); len(faults) != 1 || !strings.Contains(faults[0], "was run here, and is kept") {
		t.Errorf("%q", faults)
	}
	err := lab.MarkImported(there)
	release, failed := lab.LockFolder(there)
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	if _, _, faults := imported(t, s, dir); len(faults) != 1 || !strings.Contains(faults[0], "in use by another dyno") {
		t.Errorf("%q", faults)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if stored, _, faults := imported(t, s, dir); stored != 1 || faults != nil {
		t.Errorf("%d stored, %q", stored, faults)
	}
}

// One file, in whatever folder, with or without an ID, comes in once.
func TestImportOfAFile(t *testing.T) {
	home, from := t.TempDir(), t.TempDir()
	s := opened(t, home)
	file := func(name string, r *result.Result) string {
		b, err := json.Marshal(r) // not as Save writes it
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(from, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	nameless, named := measured(0, 1000), measured(1, 1000)
	named.ID = "20260102-150505-0000"
	other := *named
	other.Rate.Completed++
	sameStart := measured(0, 1001)
	for _, step := range []struct {
		file         string
		stored, same int
		fault        string
	}{
		{file("nameless.json", nameless), 1, 0, ""},
		{file("again.json", nameless), 0, 1, ""},
		{file("same start.json", sameStart), 1, 0, ""},
		{file("same start.json", sameStart), 0, 1, ""},
		{file("named.json", named), 1, 0, ""},
		{file("named.json", named), 0, 1, ""},
		{file("other.json", &other), 0, 0, "another result is stored as 20260102-150505-0000, and is kept"},
		{filepath.Join(from, "none.json"), 0, 0, "no such file"},
		{t.TempDir(), 0, 0, "neither results nor experiments"},
	} {
		stored, same, faults := imported(t, s, step.file)
		if stored != step.stored || same != step.same || !strings.Contains(strings.Join(faults, ""), step.fault) ||
			(step.fault == "") != (faults == nil) {
			t.Errorf("%s: %d stored, %d there already, %q", step.file, stored, same, faults)
		}
	}
	b, err := os.ReadFile(filepath.Join(home, "results", named.ID+".json"))
	if r, bad := result.Decode(b); err != nil || bad != nil || r.Rate.Completed != 1000 {
		t.Errorf("%v, %v", err, bad)
	}
	hold(t, filepath.Join(home, "results", "20260102-150605-0000.json"))
	late := measured(2, 1)
	late.ID = "20260102-150605-0000"
	if _, _, faults := imported(t, s, file("late.json", late)); len(faults) != 1 || !strings.Contains(faults[0], "is being stored by another dyno") {
		t.Errorf("%q", faults)
	}
}

// A result's profile comes with it, however its file is named.
func TestImportOfAFileWithAProfile(t *testing.T) {
	home, from := t.TempDir(), t.TempDir()
	r := measured(0, 1000)
	r.ID = "20260102-150505-0000"
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"r.json": b, "r.cpu.pb.gz": []byte("profile")} {
		if err := os.WriteFile(filepath.Join(from, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(from)
	if stored, _, faults := imported(t, opened(t, home), "./r.json"); stored != 1 || faults != nil {
		t.Errorf("%d stored, %q", stored, faults)
	}
	if _, err := os.Stat(filepath.Join(home, "results", r.ID+".cpu.pb.gz")); err != nil {
		t.Error(err)
	}
}

// A profile that is larger than any that dyno reads stays where it is, whole, and is said to be; its
// result is imported, and exported without it.
func TestProfilesAreBounded(t *testing.T) {
	there, from := t.TempDir(), t.TempDir()
	r := measured(0, 1000)
	r.ID = "20260102-150505-0000"
	b, err := json.Marshal(r)
	large := filepath.Join(from, "r.cpu.pb.gz")
	if err := errors.Join(err, os.WriteFile(filepath.Join(from, "r.json"), b, 0o600),
		os.WriteFile(large, nil, 0o600), os.Truncate(large, profile.MaxEncoded+1),
		os.WriteFile(filepath.Join(from, "r.heap.pb.gz"), []byte("profile"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := opened(t, there)
	want := large + ": has 67108865 bytes; import takes at most 67108864 of such a file"
	if stored, _, faults := imported(t, s, from); stored != 1 || !slices.Equal(faults, []string{want}) {
		t.Errorf("%d stored, %q", stored, faults)
	}
	heap, cpu := r.ID+".heap.pb.gz", r.ID+".cpu.pb.gz"
	if got := names(t, filepath.Join(there, "results")); !slices.Equal(got, []string{heap, r.ID + ".json"}) {
		t.Errorf("%q is stored", got)
	}
	stored, out := filepath.Join(there, "results", cpu), filepath.Join(t.TempDir(), "out")
	if err := os.Rename(large, stored); err != nil {
		t.Fatal(err)
	}
	n, damaged, err := s.ExportDir(out, nil)
	if n != 1 || err != nil || len(damaged) != 1 || damaged[0].Path != stored {
		t.Errorf("%d are exported, without %+v, %v", n, damaged, err)
	}
	if stored, _, faults := imported(t, opened(t, t.TempDir()), out); stored != 1 || faults != nil {
		t.Errorf("%d of the export are stored, %q", stored, faults)
	}
}

// What is not ours, or could not be true, is refused with the reason; what is beside it is
// imported all the same.
func TestImportRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(r *result.Result)
		want   string
	}{
		"id":         {func(r *result.Result) { r.ID = "../../x" }, `its id is "../../x", not of the form`},
		"time":       {func(r *result.Result) { r.Window.Started = time.Time{} }, "window.started is missing"},
		"model":      {func(r *result.Result) { r.Model = "half-open" }, `its model is "half-open"`},
		"verdict":    {func(r *result.Result) { r.Generator.Verdict = "" }, `its verdict is ""`},
		"URL":        {func(r *result.Result) { r.Plan.Target.URL = "" }, "plan.target.url is missing"},
		"sums":       {func(r *result.Result) { r.Requests.Errors = 3 }, "requests do not add up: 5000 sent, 5000 completed, 3 errors"},
		"negative":   {func(r *result.Result) { r.Requests.Errors, r.Requests.Unfinished = -3, 3 }, "requests do not add up"},
		"rate":       {func(r *result.Result) { r.Rate.Completed = -1 }, "not within 0 and"},
		"percentile": {func(r *result.Result) { r.Latency.P90 = 1e12 }, "latency: its percentiles do not ascend"},
		"histogram":  {func(r *result.Result) { r.Latency.HDR = "HISTFAAA" }, "latency.hdr: "},
		"format":     {func(r *result.Result) { r.Format = "dyno.result/9" }, "written by a newer dyno"},
		"no result":  {func(r *result.Result) { r.Format = "" }, "not a result of dyno"},
	} {
		home, from := t.TempDir(), t.TempDir()
		r := measured(0, 1000)
		test.change(r)
		for file, r := range map[string]*result.Result{"bad.json": r, "good.json": measured(1, 1)} {
			b, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(from, file), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		stored, same, faults := imported(t, opened(t, home), from)
		if stored != 1 || same != 0 || len(faults) != 1 || !strings.Contains(faults[0], "bad.json: ") ||
			!strings.Contains(faults[0], test.want) {
			t.Errorf("%s: %d stored, %d there already, %q", name, stored, same, faults)
		}
	}
}

// Nothing that is there is ever replaced.
func TestImportReplacesNothing(t *testing.T) {
	home, ids := full(t)
	exported := filepath.Join(t.TempDir(), "x")
	if _, _, err := opened(t, home).ExportDir(exported, nil); err != nil {
		t.Fatal(err)
	}
	change, err := filepath.Glob(filepath.Join(exported, "changes", "*"))
	if err != nil || len(change) != 1 {
		t.Fatal(change, err)
	}
	for _, file := range []string{"results/" + ids[3] + ".note", "experiments/hello/output/a.stderr"} {
		if err := os.WriteFile(filepath.Join(exported, file), []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(change[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(change[0], bytes.Replace(b, []byte(`"worse"`), []byte(`"better"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	before := anew(t, home)
	_, _, faults := imported(t, opened(t, home), exported)
	all := strings.Join(faults, "\n")
	for _, want := range []string{"another note on " + ids[3], "another change point was published as " + ids[8],
		"another experiment is stored as hello"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q does not say %s", all, want)
		}
	}
	if after := anew(t, home); after != before || len(faults) != 3 {
		t.Errorf("%d faults; the store is\n%s\nand was\n%s", len(faults), after, before)
	}
}

func TestImportOfAnExperiment(t *testing.T) {
	home, _ := full(t)
	dir := filepath.Join(t.TempDir(), "mine")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(home, "experiments", "hello"))); err != nil {
		t.Fatal(err)
	}
	s := opened(t, home)
	if stored, _, faults := imported(t, s, dir); stored != 1 || faults != nil {
		t.Errorf("%d stored, %q", stored, faults)
	}
	h, err := s.History(Query{Metric: lab.CPU})
	if err != nil || len(h.Experiments) != 2 {
		t.Errorf("%+v, %v", h.Experiments, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "trials", "r2.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(filepath.Dir(dir), "bad")
	if err := os.Rename(dir, bad); err != nil {
		t.Fatal(err)
	}
	if _, _, faults := imported(t, s, bad); len(faults) != 1 || !strings.Contains(faults[0], "r2.json is damaged") {
		t.Errorf("%q", faults)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// What does not fit is not begun.
func TestArchiveWithoutRoom(t *testing.T) {
	home, _ := full(t)
	var b bytes.Buffer
	if _, _, err := opened(t, home).Export(&b, nil); err != nil {
		t.Fatal(err)
	}
	archive, dir := filepath.Join(t.TempDir(), "x.tgz"), t.TempDir()
	if err := os.WriteFile(archive, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, free := range []room{{1 << 10, 1 << 20}, {1 << 30, 20}} {
		if err := unpack(archive, dir, free); err == nil || !strings.Contains(err.Error(), "that are free") {
			t.Errorf("%+v: %v", free, err)
		}
		if left := names(t, dir); len(left) != 0 {
			t.Errorf("%+v: left behind: %q", free, left)
		}
	}
	if err := unpack(archive, dir, room{1 << 30, 1 << 10}); err != nil {
		t.Error(err)
	}
}

// An archive puts nothing where it should not.
func TestArchivesThatAreNotOurs(t *testing.T) {
	for name, test := range map[string]struct {
		headers []tar.Header
		want    string
	}{
		"above":    {[]tar.Header{{Name: "../x", Typeflag: tar.TypeReg}}, "lies elsewhere"},
		"absolute": {[]tar.Header{{Name: "/tmp/x", Typeflag: tar.TypeReg}}, "lies elsewhere"},
		"link":     {[]tar.Header{{Name: "results", Typeflag: tar.TypeSymlink, Linkname: "/"}}, "no regular file"},
		"device":   {[]tar.Header{{Name: "results/x", Typeflag: tar.TypeChar}}, "no regular file"},
		"unknown":  {[]tar.Header{{Name: "output/x.json", Typeflag: tar.TypeReg}}, "writes no such name"},
		"a result": {[]tar.Header{{Name: "results/x.json", Typeflag: tar.TypeReg, Size: longestResult + 1}}, "takes at most"},
		"a note":   {[]tar.Header{{Name: "results/x.note", Typeflag: tar.TypeReg, Size: longestNote + 1}}, "takes at most"},
		"a file": {[]tar.Header{{Name: "experiments/e/experiment.yaml", Typeflag: tar.TypeReg, Size: longestSource + 1}},
			"takes at most"},
		"bytes": {[]tar.Header{{Name: "experiments/e/output/x", Typeflag: tar.TypeReg, Size: archiveFile},
			{Name: "experiments/e/output/y", Typeflag: tar.TypeReg, Size: 1}}, "more than an archive of this size"},
		"twice":   {[]tar.Header{{Name: "x.note", Typeflag: tar.TypeReg}, {Name: "x.note", Typeflag: tar.TypeReg}}, "exists"},
		"nothing": {nil, "neither results nor experiments"},
	} {
		var b bytes.Buffer
		zipped := gzip.NewWriter(&b)
		archive := tar.NewWriter(zipped)
		for _, h := range test.headers {
			if err := archive.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if name == "bytes" {
				io.CopyN(archive, zeros{}, h.Size)
			}
		}
		archive.Close() // which a header without its content makes an error
		zipped.Close()
		home := filepath.Join(t.TempDir(), "home")
		file := filepath.Join(t.TempDir(), "x.tar.gz")
		if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, faults := imported(t, opened(t, home), file)
		if len(faults) != 1 || !strings.Contains(faults[0], test.want) {
			t.Errorf("%s: %q", name, faults)
		}
		if left := names(t, home); len(left) != 0 {
			t.Errorf("%s: left behind: %q", name, left)
		}
	}
	file := filepath.Join(t.TempDir(), "x.tgz")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, faults := imported(t, opened(t, t.TempDir()), file); len(faults) != 1 || !strings.Contains(faults[0], "not an archive") {
		t.Errorf("%q", faults)
	}
}

// Whatever is in an archive, nothing is written beside the folder it is unpacked into.
func FuzzUnpack(f *testing.F) {
	home := f.TempDir()
	s, err := Open(home)
	if err != nil {
		f.Fatal(err)
	}
	save := measured(0, 1)
	if _, err := dynohome.Save(home, save); err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if _, _, err := s.Export(&b, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, content []byte) {
		around := t.TempDir()
		dir, file := filepath.Join(around, "dir"), filepath.Join(around, "x.tgz")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = unpack(file, dir, roomIn(dir))
		if entries, err := os.ReadDir(around); err != nil || len(entries) != 2 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}

// Nothing is read through a link, and nothing larger than what dyno writes.
func TestImportReadsWhatIsMeant(t *testing.T) {
	home, ids := full(t)
	dir, secret := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	from, to := filepath.Join(home, "results", ids[0]), filepath.Join(dir, ids[0])
	content, err := os.ReadFile(from + ".json")
	err = joined(err, os.WriteFile(to+".json", content, 0o600))
	err = joined(err, joined(os.WriteFile(secret, []byte("hidden"), 0o600), os.Symlink(secret, to+".note")))
	large := filepath.Join(dir, "large.json")
	if err = joined(err, joined(os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<30))); err != nil {
		t.Fatal(err)
	}
	s := opened(t, t.TempDir())
	stored, _, faults := imported(t, s, dir)
	said := strings.Join(faults, "\n")
	if stored != 1 || !strings.Contains(said, "is a link") || !strings.Contains(said, "has 1073741824 bytes") {
		t.Errorf("%d stored; %s", stored, said)
	}
	if all, err := s.Entries(); err != nil || len(all) != 1 || all[0].Note != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

// An experiment's folder is taken as it is: a record, a trial or the trials that are a link, and
// files larger than any of theirs, are refused before they are read.
func TestImportOfAnExperimentWithLinks(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"experiment.json is a link": func(dir string) error { return outside(dir, "experiment.json") },
		"trials is a link":          func(dir string) error { return outside(dir, "trials") },
		"experiment.json has 134217729 bytes": func(dir string) error {
			return os.Truncate(filepath.Join(dir, "experiment.json"), longestResult+1)
		},
		"r1.json has 134217729 bytes": func(dir string) error {
			return os.Truncate(filepath.Join(dir, "trials", "r1.json"), longestResult+1)
		},
		"a.stderr has 1073741825 bytes": func(dir string) error {
			return os.Truncate(filepath.Join(dir, "output", "a.stderr"), archiveFile+1)
		},
	} {
		home, _ := full(t)
		dir := filepath.Join(home, "experiments", "hello")
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		other := opened(t, filepath.Join(t.TempDir(), "home"))
		all, err := other.Import(dir)
		if err != nil || len(all) != 1 || all[0].Err == nil || !strings.Contains(all[0].Err.Error(), name) {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
}

// outside moves a file or folder of dir out of it, and leaves a link.
func outside(dir, name string) error {
	to := filepath.Join(filepath.Dir(dir), "outside")
	if err := os.Rename(filepath.Join(dir, name), to); err != nil {
		return err
	}
	return os.Symlink(to, filepath.Join(dir, name))
}
