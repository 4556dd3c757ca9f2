package store

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"dyno/internal/atomicfile"
	"dyno/internal/lab"
)

// noisy is a value that varies by a share.
func noisy(random *rand.Rand, level, noise float64) float64 {
	return level * math.Exp(noise*random.NormFloat64())
}

func changesOf(t *testing.T, s *Store, metric string) []Change {
	t.Helper()
	for _, m := range lab.Measures {
		if m.Name == metric {
			h, err := s.History(Query{Metric: m})
			if err != nil || h.Unkept != nil || len(h.Series) != 1 {
				t.Fatalf("%v, %v, %d series", err, h.Unkept, len(h.Series))
			}
			return h.Series[0].Changes
		}
	}
	t.Fatal(metric)
	return nil
}

// What was published stays as it was, whatever is measured, or imported, later.
func TestPublishedChangesStay(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	home := t.TempDir()
	minute := 100
	var ids []string
	run := func(n int, rate float64) {
		for range n {
			minute++
			ids = append(ids, save(t, home, measured(minute, noisy(random, rate, 0.01)))...)
		}
	}
	s := opened(t, home)
	look := func() []Change {
		t.Helper()
		if err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
		return changesOf(t, s, "throughput")
	}
	run(10, 1000)
	if found := look(); len(found) != 0 {
		t.Fatalf("of nothing: %+v", found)
	}
	run(10, 900)
	first := look()
	if len(first) != 1 || first[0].Verdict != Worse || first[0].After[0].ID != ids[10] ||
		first[0].ID != ids[10]+"-throughput" || first[0].High > 0.95 || first[0].Low < 0.85 ||
		len(first[0].Before) != 10 || len(first[0].After) != 10 {
		t.Fatalf("%+v", first)
	}
	file := filepath.Join(home, "changes", first[0].ID+".json")
	published, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	run(10, 1100)
	for i := range 10 { // older ones, between those of before the change and far before them
		save(t, home, measured(i, noisy(random, 500, 0.01)))
	}
	second := look()
	if len(second) != 3 || !reflect.DeepEqual(second[1], first[0]) || second[0].Verdict != Better ||
		second[2].Verdict != Better || second[2].After[0].ID != ids[20] {
		t.Fatalf("%+v\nafter\n%+v", second, first)
	}
	if again := look(); !reflect.DeepEqual(again, second) {
		t.Errorf("%+v\nand then\n%+v", second, again)
	}
	p99 := changesOf(t, s, "p99") // its 1e9 divided by the rate
	if len(p99) != 3 || p99[1].Verdict != Worse || p99[1].ID != ids[10]+"-p99" {
		t.Errorf("%+v", p99)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != string(published) {
		t.Errorf("%s\nwas\n%s (%v)", now, published, err)
	}
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	agrees(t, s)
}

// A change is that of its results, also when the fingerprint of their plan is another by
// the next version; and it stays when they are gone but for one.
func TestAChangeBelongsToItsResults(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	home := t.TempDir()
	for i := range 16 {
		save(t, home, measured(i, noisy(random, 1000-200*float64(i/8), 0.01)))
	}
	s := opened(t, home)
	first := changesOf(t, s, "throughput")
	if len(first) != 1 {
		t.Fatalf("%+v", first)
	}
	for i, r := range append(first[0].Before, first[0].After...) {
		if i > 0 {
			if err := os.Remove(filepath.Join(home, "results", r.ID+".json")); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	if again := changesOf(t, s, "throughput"); !reflect.DeepEqual(again, first) {
		t.Errorf("%+v", again)
	}
}

// A series that was examined is not examined again while it is what it was: a change in it is found
// only after something of it is another. What was examined is forgotten with its results.
func TestSeriesAreExaminedOnce(t *testing.T) {
	for name, change := range map[string]func(s *Store, home string) error{
		"a result more": func(_ *Store, home string) error { save(t, home, measured(20, 800)); return nil },
		"a result less": func(s *Store, home string) error {
			all, err := s.Entries()
			return errors.Join(err, os.Remove(all[0].Path))
		},
		"all is read again": func(s *Store, _ string) error {
			_, err := s.db.Exec("DELETE FROM files")
			return err
		},
	} {
		random, home := rand.New(rand.NewPCG(5, 11)), t.TempDir()
		for i := range 16 {
			id := save(t, home, measured(i, noisy(random, 1000-200*float64(i/8), 0.01)))[0]
			// else it could still be written, and is read again
			if err := os.Chtimes(filepath.Join(home, "results", id+".json"), began, began); err != nil {
				t.Fatal(err)
			}
		}
		s := opened(t, home)
		h := s.seriesUnexamined(t)
		tx, err := s.db.Begin()
		if err == nil {
			err = joined(markExamined(tx, h.examinedKey(), h.stateDigest()), tx.Commit())
		}
		if err != nil {
			t.Fatal(err)
		}
		if found := changesOf(t, s, "throughput"); len(found) != 0 {
			t.Fatalf("%s: it was examined twice: %+v", name, found)
		}
		if found := changesOf(t, s, "p99"); len(found) != 1 {
			t.Errorf("%s: of another measure %d changes are found", name, len(found))
		}
		if err := joined(change(s, home), s.Refresh()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if found := changesOf(t, s, "throughput"); len(found) != 1 {
				t.Fatalf("%s: %d changes are found", name, len(found))
			}
		}
		if err := os.Remove(filepath.Join(home, "changes", changesOf(t, s, "throughput")[0].ID+".json")); err != nil {
			t.Fatal(err)
		}
		if found := changesOf(t, s, "throughput"); len(found) != 1 {
			t.Errorf("%s: what was taken back is not found again", name)
		}
		if err := joined(os.RemoveAll(filepath.Join(home, "results")), s.Refresh()); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := s.db.QueryRow("SELECT count(*) FROM examined").Scan(&left); err != nil || left != 0 {
			t.Errorf("%s: %d are left, %v", name, left, err)
		}
	}
}

// seriesUnexamined is the only series, of throughput, without its changes.
func (s *Store) seriesUnexamined(t *testing.T) *Series {
	t.Helper()
	m := lab.Measures[0]
	all, err := s.selectBriefs("", m.Name)
	series := seriesOf(all, m)
	if err != nil || len(series) != 1 || m.Name != "throughput" {
		t.Fatalf("%d series of %s, %v", len(series), m.Name, err)
	}
	return &series[0]
}

// What does not matter is not published, however certain it is.
func TestSmallChangesAreNotPublished(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	home := t.TempDir()
	for i := range 40 {
		save(t, home, measured(i, noisy(random, 1000-10*float64(i/20), 0.001)))
	}
	if found := changesOf(t, opened(t, home), "throughput"); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}

// A series that never changes is looked at after each of its runs, and what is found once
// stays: over all these looks, one of twenty may have a change.
func TestFalseChangesAreRare(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	const series, length = 40, 60
	wrong := 0
	for range series {
		s := Series{Metric: lab.CPU}
		for i := range length {
			s.Runs = append(s.Runs, Run{fmt.Sprint(i), began.AddDate(0, 0, i), noisy(random, 100, 0.05), false})
			if found := s.findChanges(); len(found) > 0 {
				wrong++
				break
			}
		}
	}
	if wrong > 4 { // of 2 expected; a binomial number is above that once in 20 times
		t.Errorf("%d of %d series without a change have one", wrong, series)
	}
}

// A change of 10 % among runs that vary by 3 % is found, about where it is.
func TestChangesAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	const series = 20
	for after, least := range map[int]int{4: 8, 8: 18} {
		right := 0
		for range series {
			s := Series{Metric: lab.CPU}
			for i := range 20 + after {
				level := 100.0
				if i >= 20 {
					level = 110
				}
				s.Runs = append(s.Runs, Run{fmt.Sprint(i), began.AddDate(0, 0, i), noisy(random, level, 0.03), false})
			}
			found := s.findChanges()
			if len(found) == 1 && found[0].Verdict == Worse && len(found[0].Before) >= 18 && len(found[0].Before) <= 22 {
				right++
			}
		}
		t.Logf("%d runs after it: found in %d of %d", after, right, series)
		if right < least {
			t.Errorf("%d runs after it: found in %d of %d, want %d", after, right, series, least)
		}
	}
}

// What cannot be kept is shown all the same.
func TestChangesThatCannotBeKept(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	home := t.TempDir()
	for i := range 16 {
		save(t, home, measured(i, noisy(random, 1000-200*float64(i/8), 0.01)))
	}
	s := opened(t, home)
	dir := filepath.Join(home, "changes")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	hold(t, filepath.Join(dir, resultIDs(t, s)[7]+"-throughput.json"))
	h, err := s.History(Query{Metric: lab.Measures[0]})
	if err != nil || h.Unkept == nil || len(h.Series[0].Changes) != 1 || !h.Series[0].Changes[0].Published.IsZero() {
		t.Errorf("%+v, %v", h, err)
	}
}

// hold keeps a file from being made, until the test ends, as a dyno that is writing it does.
func hold(t *testing.T, path string) {
	t.Helper()
	held, end, done := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		done <- atomicfile.Create(path, func(io.Writer) error {
			close(held)
			<-end
			return errors.New("the test is over")
		})
	}()
	select {
	case <-held:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(end)
		<-done
	})
}

func resultIDs(t *testing.T, s *Store) (ids []string) {
	t.Helper()
	all, err := s.Entries()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		ids = append(ids, e.ID)
	}
	return ids
}

func FuzzDecodeChange(f *testing.F) {
	f.Add([]byte(`{"format":"dyno.change/1","id":"20260102-150405-0000-p99","before":[{}],"after":[{}]}`))
	f.Add([]byte(`{"format":"dyno.change/2"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeChange(b)
		if err == nil && (!changeID().MatchString(c.ID) || c.At().IsZero() != c.After[0].Started.IsZero()) {
			t.Errorf("%+v", c)
		}
	})
}

// Every measure has a name that can be in the ID of a change.
func TestMeasuresCanBeInAnID(t *testing.T) {
	for _, m := range lab.Measures {
		if id := "20260102-150405-0000-" + m.Name; !changeID().MatchString(id) {
			t.Errorf("%s is not an ID", id)
		}
	}
}
