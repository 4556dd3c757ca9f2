package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"dyno/internal/lab"
	"dyno/internal/result"
)

// bytesRead is how many bytes this process has read so far, of files and whatever else.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skipf("what is read is not counted here: %v", err)
	}
	if _, err := fmt.Sscanf(string(b), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A list of what is stored is made of the index: no result is read, though many are of one URL
// and load and differ only in what they asked for.
func TestListsReadNoResults(t *testing.T) {
	home, all := t.TempDir(), int64(0)
	if err := os.MkdirAll(filepath.Join(home, "results"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		r := measured(i, 1000)
		r.ID = fmt.Sprintf("20260102-%06d-0000", i)
		r.Plan.Requests[0].Path = fmt.Sprint("/", i%50)
		for range 500 {
			r.Series = append(r.Series, result.Point{Completed: 1000})
		}
		var b bytes.Buffer
		path := filepath.Join(home, "results", r.ID+".json")
		if err := joined(result.Encode(&b, r), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, began, began); err != nil { // else it could still be written
			t.Fatal(err)
		}
		all += int64(b.Len())
	}
	s := opened(t, home)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := bytesRead(t)
	s = opened(t, home)
	h, err := s.History(Query{Metric: lab.Measures[0], Limit: 3})
	if err != nil || len(h.Series) != 50 || h.Series[0].Asked == nil || h.Older != 297 {
		t.Fatalf("%d series, %d older, %v", len(h.Series), h.Older, err)
	}
	if h.Size.Results != all || h.Entries[0].Size == 0 {
		t.Errorf("the size is said to be %+v, and is %d", h.Size, all)
	}
	if n := bytesRead(t) - before; n > all/10 {
		t.Errorf("%d bytes are read to list results of %d", n, all)
	}
}
