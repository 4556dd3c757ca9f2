package store

import (
	"bytes"
	"errors"
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

// stored is a home with an index of so many results of 50 series. Their files are one, which is no
// result, so that whoever reads one fails.
func stored(t *testing.T, n int) string {
	t.Helper()
	home := t.TempDir()
	s, dir, content := opened(t, home), filepath.Join(home, "results"), "no result"
	one := filepath.Join(home, "one")
	err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(one, []byte(content), 0o600), os.Chtimes(one, began, began))
	for i := 0; i < n && err == nil; i++ {
		err = os.Link(one, filepath.Join(dir, fmt.Sprintf("20260102-%06d-0000.json", i)))
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		`CREATE TEMP TABLE every AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i+1 < ?1)
			SELECT i, i % 50 AS k, printf('20260102-%06d-0000', i) AS id FROM n`,
		`INSERT INTO files SELECT 'results/' || id || '.json', ?2, ?3, '' FROM every WHERE ?1`,
		`INSERT INTO results SELECT id, i * 60000000000, 'http://127.0.0.1:8080/' || k, 'closed', 8, NULL, 'ok', 'ok',
			'plan' || k, 'machine', '{"cpu": "Some CPU"}', '0.1.0' FROM every WHERE ?1`,
		`INSERT INTO measures SELECT every.id, value, 1000 + i / 50 % 7, 0 FROM every, json_each(?4) WHERE ?1`,
	} {
		if _, err := s.db.Exec(statement, n, began.UnixNano(), len(content),
			`["throughput", "p50", "p90", "p99", "p999", "max", "mean", "cpu"]`); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return home
}

// Ten thousand results are listed without reading one, and the index is read a few times at most.
func TestListsOfTenThousand(t *testing.T) {
	const n = 10_000
	home := stored(t, n)
	index := sizeOf(filepath.Join(home, indexFile))
	for _, limit := range []int{50, 3} {
		before := bytesRead(t)
		s := opened(t, home)
		h, err := s.History(Query{Metric: lab.Measures[0], Limit: limit})
		if err = joined(err, s.Close()); err != nil || len(h.Unreadable) > 0 {
			t.Fatal(len(h.Unreadable), err)
		}
		runs := 0
		for _, series := range h.Series {
			runs += len(series.Runs)
		}
		if len(h.Entries) != limit || h.Older != n-limit || len(h.Series) != 50 || runs != n ||
			h.Entries[0].Values["p99"] == 0 || h.Series[0].Newest.URL == "" {
			t.Errorf("%d listed, %d older, %d series of %d runs, %+v", len(h.Entries), h.Older,
				len(h.Series), runs, h.Entries[0])
		}
		if read := bytesRead(t) - before; read > 4*index {
			t.Errorf("of %d: %d bytes are read, and the index has %d", limit, read, index)
		}
	}
}
