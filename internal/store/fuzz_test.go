package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/result"
)

// FuzzImport imports a folder of others with one file that has any content: a result, beside one,
// or of an experiment. What is said to be stored can be read again, and nothing lies elsewhere.
func FuzzImport(f *testing.F) {
	around := f.TempDir()
	home := filepath.Join(around, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		f.Fatal(err)
	}
	s, err := Open(home)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	places := []string{"%.json", "results/%.json", "changes/%.json", "results/%.note", "data/sha256/%",
		"experiments/%/experiment.json", "experiments/e/experiment.yaml", "experiments/e/trials/%.json"}
	var b bytes.Buffer
	if err := result.Encode(&b, measured(0, 1)); err != nil {
		f.Fatal(err)
	}
	record, err := json.Marshal(lab.Record{Format: lab.ExperimentFormat,
		Progress: lab.Progress{Name: "e", State: lab.Complete}})
	if err != nil {
		f.Fatal(err)
	}
	for place := range places {
		for _, content := range [][]byte{b.Bytes(), record, []byte("{}"), []byte(`{"format":"dyno.change/1"}`)} {
			f.Add(byte(place), "20260102-150405-0001", content)
			f.Add(byte(place), "..", content)
			f.Add(byte(place), "\x1b]0;x\a", content)
		}
	}
	f.Fuzz(func(t *testing.T, place byte, name string, content []byte) {
		dir := t.TempDir()
		path := strings.Replace(places[int(place)%len(places)], "%", name, 1)
		if path = filepath.FromSlash(path); !filepath.IsLocal(path) {
			return
		}
		path = filepath.Join(dir, path)
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, content, 0o600) != nil {
			return // no such name can be
		}
		all, _ := s.Import(dir)
		for _, i := range all {
			if i.Err != nil || i.What != "result" {
				continue
			}
			if _, err := dynohome.Open(home, i.ID); err != nil {
				t.Errorf("%s was imported, and cannot be read: %v", i.ID, err)
			}
		}
		if entries, err := os.ReadDir(around); err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}
