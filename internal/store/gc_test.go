package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// withData is a result whose requests are so many that they are stored apart.
func withData(t *testing.T, minute, of int) *result.Result {
	t.Helper()
	r := measured(minute, 1000)
	for i := range 100 {
		r.Plan.Requests = append(r.Plan.Requests, loadplan.Request{Weight: 1,
			Request: proto.Request{Method: "GET", Path: fmt.Sprintf("/%d/%d", of, i)}})
	}
	if err := r.Plan.SetData(); err != nil {
		t.Fatal(err)
	}
	return r
}

func leave(t *testing.T, age time.Duration, path ...string) string {
	t.Helper()
	file, at := filepath.Join(path...), time.Now().Add(-age)
	err := joined(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("12345"), 0o600))
	if err = joined(err, os.Chtimes(file, at, at)); err != nil {
		t.Fatal(err)
	}
	return file
}

func paths(all []Removed) (names []string) {
	for _, r := range all {
		names = append(names, r.Path)
	}
	slices.Sort(names)
	return names
}

// Data stays while one result refers to it, though it be one that cannot be read; what is left
// of killed processes goes, and what is being written stays.
func TestCollect(t *testing.T) {
	home := t.TempDir()
	ids := save(t, home, withData(t, 0, 1), withData(t, 1, 1), withData(t, 2, 2), withData(t, 3, 3))
	one, two, three := withData(t, 0, 1).Plan.Data, withData(t, 0, 2).Plan.Data, withData(t, 0, 3).Plan.Data
	s := opened(t, home)
	results, data := filepath.Join(home, "results"), dynohome.DataFolder(home)
	newer := strings.Replace(`{"format": "dyno.result/2", "where": "X"}`, "X", three.SHA256, 1)
	if err := os.WriteFile(filepath.Join(results, ids[3]+".json"), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := []string{
		leave(t, 0, results, ".20260102-150405-0009.json.tmp"), // nobody holds it
		leave(t, 2*time.Hour, results, ".20260102-150405-0009.note.123"),
		leave(t, 0, results, "20260102-150405-0009.note"),
		leave(t, 0, results, "20260102-150405-0009.cpu.pb.gz"),
		leave(t, 0, data, "."+strings.Repeat("0", 64)+".jsonl.tmp"),
		filepath.Dir(leave(t, 0, home, "experiments", removing+"x", "trials", "1.json")),
	}
	gone[5] = filepath.Dir(gone[5])
	for _, path := range []string{filepath.Join(home, ".import-1")} {
		leave(t, 2*time.Hour, path, "file")
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		gone = append(gone, path)
	}
	kept := []string{
		leave(t, 0, results, ".20260102-150405-0008.note.123"), // perhaps being written
		leave(t, 2*time.Hour, results, "mine.note"),
		leave(t, 2*time.Hour, home, ".mine"),
		leave(t, 2*time.Hour, home, "calibration-x.json"),
	}
	for _, id := range []string{ids[0], ids[2]} {
		if _, err := s.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
	gone = append(gone, dynohome.DataFile(home, two.SHA256))
	kept = append(kept, dynohome.DataFile(home, one.SHA256), dynohome.DataFile(home, three.SHA256))
	slices.Sort(gone)
	for _, dry := range []bool{true, false} {
		found, err := s.Collect(dry)
		if err != nil || !slices.Equal(paths(found), gone) {
			t.Errorf("dry %v: %q, %v\nwant %q", dry, paths(found), err, gone)
		}
		for _, path := range gone {
			if isThere(path) != dry {
				t.Errorf("dry %v: %s is there: %v", dry, path, !dry)
			}
		}
	}
	for _, path := range kept {
		if !isThere(path) {
			t.Errorf("%s is gone", path)
		}
	}
	if found, err := s.Collect(false); err != nil || len(found) > 0 {
		t.Errorf("again: %+v, %v", found, err)
	}
}

// What is removed is in no list any more, with all that lay beside it, and the others are.
func TestRemove(t *testing.T) {
	home, ids := full(t)
	s := opened(t, home)
	if err := s.Note(ids[0], "to be removed"); err != nil {
		t.Fatal(err)
	}
	before, err := s.History(Query{Metric: lab.Measures[0]})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{ids[0], before.Experiments[0].ID} {
		if _, err := s.Remove(id); err != nil {
			t.Error(err)
		}
		if _, err := s.Remove(id); err == nil {
			t.Errorf("%s is removed twice", id)
		}
		left, _ := filepath.Glob(filepath.Join(home, "*", id+"*"))
		if len(left) > 0 {
			t.Errorf("of %s there are still %q", id, left)
		}
	}
	after, err := s.History(Query{Metric: lab.Measures[0]})
	if err != nil || len(after.Entries) != len(before.Entries)-1 ||
		len(after.Experiments) != len(before.Experiments)-1 {
		t.Errorf("%d results and %d experiments are left of %d and %d, %v", len(after.Entries),
			len(after.Experiments), len(before.Entries), len(before.Experiments), err)
	}
	for _, id := range []string{"", ".", "..", "../results", "results", "x/../" + ids[1]} {
		if _, err := s.Remove(id); err == nil {
			t.Errorf("%q is removed", id)
		}
	}
	agrees(t, s)
}

// An experiment that runs is not removed.
func TestRemoveOfWhatRuns(t *testing.T) {
	home, _ := full(t)
	s := opened(t, home)
	h, err := s.History(Query{Metric: lab.Measures[0]})
	if err != nil {
		t.Fatal(err)
	}
	release, err := lab.LockFolder(h.Experiments[0].Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := s.Remove(h.Experiments[0].ID); err == nil || !isThere(h.Experiments[0].Dir) {
		t.Errorf("it is removed: %v", err)
	}
}

// What dyno never makes stays, however old it is and wherever it lies in the store.
func TestCollectKeepsWhatIsNotOurs(t *testing.T) {
	home, ids := full(t)
	s := opened(t, home)
	var kept []string
	for _, folder := range []string{"", "results", "changes", "experiments", "data/sha256"} {
		for _, name := range []string{".git/config", ".gitignore", ".import-mine", ".removing-",
			".nfs0001", "." + ids[0] + ".json.mine", ".x.json.tmp", "." + ids[0] + ".note.mine"} {
			path := leave(t, 2*time.Hour, home, folder, name)
			old := time.Now().Add(-2 * time.Hour)
			for ; path != filepath.Join(home, folder); path = filepath.Dir(path) {
				kept = append(kept, path)
				if err := os.Chtimes(path, old, old); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	found, err := s.Collect(false)
	if err != nil || len(found) > 0 {
		t.Errorf("%q, %v", paths(found), err)
	}
	for _, path := range kept {
		if !isThere(path) {
			t.Errorf("%s is gone", path)
		}
	}
}

// What an import writes to stays: while it holds the folder, and while anything below is new.
func TestCollectBesideAnImport(t *testing.T) {
	home := t.TempDir()
	s := opened(t, home)
	age := func(path string) {
		t.Helper()
		old := time.Now().Add(-2 * time.Hour)
		for _, p := range []string{filepath.Join(path, "results"), path} {
			if err := os.Chtimes(p, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	written := filepath.Join(home, "experiments", ".import-1")
	leave(t, 2*time.Hour, written, "results", "old")
	leave(t, 0, written, "results", "new")
	age(written)
	held := filepath.Join(home, ".import-2")
	leave(t, 2*time.Hour, held, "results", "old")
	leave(t, 2*time.Hour, held, ".lock")
	release, err := lab.LockFolder(held)
	if err != nil {
		t.Fatal(err)
	}
	age(held)
	if found, err := s.Collect(false); err != nil || len(found) > 0 {
		t.Errorf("%q, %v", paths(found), err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Collect(false); err != nil || !slices.Equal(paths(found), []string{held}) {
		t.Errorf("when it has ended: %q, %v", paths(found), err)
	}
}

// What data takes is what its files do, whether a result refers to them or none any more, and
// not what results say of them.
func TestSizeOfData(t *testing.T) {
	home := t.TempDir()
	ids := save(t, home, withData(t, 0, 1), withData(t, 1, 2))
	leave(t, 0, dynohome.DataFolder(home), strings.Repeat("0", 64)+".jsonl")
	if err := os.Remove(dynohome.DataFile(home, withData(t, 0, 1).Plan.Data.SHA256)); err != nil {
		t.Fatal(err)
	}
	s := opened(t, home)
	want := 5 + withData(t, 0, 2).Plan.Data.Bytes
	for _, id := range ids {
		h, err := s.History(Query{Metric: lab.Measures[0]})
		if err != nil || h.Size.Data != want {
			t.Errorf("%d bytes of data, %v; want %d", h.Size.Data, err, want)
		}
		if _, err := s.Remove(id); err != nil {
			t.Fatal(err)
		}
	}
}

// The size of a folder is that of the files in it and below it. One that was removed has none.
func TestFolderSize(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"a": 3, "below/b": 40, "below/c": 500} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for of, want := range map[string]int64{dir: 543, filepath.Join(dir, "below"): 540, filepath.Join(dir, "none"): 0} {
		if size, err := folderSize(of); size != want || err != nil {
			t.Errorf("%s: %d, %v", of, size, err)
		}
	}
}
