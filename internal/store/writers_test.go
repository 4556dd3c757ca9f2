package store

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
)

// writerHome is set in a process that stores results, and nothing else.
const writerHome = "DYNO_TEST_WRITER_HOME"

func TestMain(m *testing.M) {
	if home := os.Getenv(writerHome); home != "" {
		if err := write(home, os.Args[1], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// write stores so many results, or for ever, with a note on every other one and the index
// brought up to date, and says of each when it is stored.
func write(home, count string, acknowledge io.Writer) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := 0; i < n; i++ {
		r := measured(i, 1000+float64(os.Getpid()%100))
		if _, err := dynohome.Save(home, r); err != nil {
			return err
		}
		fmt.Fprintln(acknowledge, r.ID)
		s, err := Open(home)
		if err != nil {
			return err
		}
		if s.Problem != nil {
			return s.Problem
		}
		if i%2 == 0 {
			text := "note of " + r.ID
			if err := s.Note(r.ID, text); err != nil {
				return err
			}
			fmt.Fprintf(acknowledge, "%s %s\n", r.ID, text)
		}
		if i%5 == 0 {
			if _, err := s.History(Query{Metric: lab.Measures[0]}); err != nil {
				return err
			}
		}
		if err := s.Close(); err != nil {
			return err
		}
	}
	return nil
}

// writer is another process that stores count results.
func writer(ctx context.Context, home string, count int) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], strconv.Itoa(count))
	c.Env = append(os.Environ(), writerHome+"="+home, "GORACE=atexit_sleep_ms=0")
	return c
}

// acknowledged are the results that a writer said it has stored, and its notes.
func acknowledged(lines []string) (ids []string, notes map[string]string) {
	notes = map[string]string{}
	for _, line := range lines {
		id, note, has := strings.Cut(line, " ")
		if has {
			notes[id] = note
		} else {
			ids = append(ids, id)
		}
	}
	return ids, notes
}

// holds fails unless the store has all that was acknowledged, and the index says what the
// files do.
func holds(t *testing.T, home string, lines []string) {
	t.Helper()
	s := opened(t, home)
	defer s.Close()
	entries, err := s.Entries()
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]Entry{}
	for _, e := range entries {
		stored[e.ID] = e
	}
	ids, notes := acknowledged(lines)
	for _, id := range ids {
		if _, has := stored[id]; !has {
			t.Errorf("%s was stored, and is not there", id)
		}
		if _, err := dynohome.Open(home, filepath.Join(home, "results", id+".json")); err != nil {
			t.Error(err)
		}
	}
	for id, note := range notes {
		if stored[id].Note != note {
			t.Errorf("the note on %s is %q, want %q", id, stored[id].Note, note)
		}
	}
	agrees(t, s)
}

func TestTwoProcessesWriteAtOnce(t *testing.T) {
	home := t.TempDir()
	const processes, each = 3, 8
	var all sync.WaitGroup
	out := make([][]byte, processes)
	for i := range processes {
		all.Go(func() {
			var err error
			if out[i], err = writer(t.Context(), home, each).Output(); err != nil {
				t.Errorf("%v: %s", err, err.(*exec.ExitError).Stderr)
			}
		})
	}
	all.Wait()
	lines := strings.Split(strings.TrimSpace(string(joinAll(out))), "\n")
	ids, _ := acknowledged(lines)
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(seen) != processes*each {
		t.Errorf("%d IDs for %d results", len(seen), processes*each)
	}
	holds(t, home, lines)
}

// Who opens an index that another process is just making waits for it: SQLite refuses at once to change to WAL what
// another connection is about to write.
func TestOpenedWhileItIsMade(t *testing.T) {
	home := t.TempDir()
	other, err := sql.Open("sqlite", "file:"+filepath.ToSlash(filepath.Join(home, indexFile))+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	making, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error)
	go func() {
		s, err := Open(home)
		if err == nil {
			err = errors.Join(s.Problem, s.Close())
		}
		opened <- err
	}()
	select {
	case err := <-opened:
		t.Fatalf("it was opened while it was made: %v", err)
	case <-time.After(50 * time.Millisecond): // a slow machine has not come that far, and then sees nothing
	}
	if err := making.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func joinAll(all [][]byte) (b []byte) {
	for _, part := range all {
		b = append(b, part...)
	}
	return b
}

// A writer is killed a hundred times, at whatever it does then: what it said is stored is
// there, and the index can be used and is right.
func TestKilledWriters(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGKILL")
	}
	random := rand.New(rand.NewPCG(2, uint64(time.Now().UnixNano())))
	home := t.TempDir()
	var lines []string
	const kills = 100
	for kill := range kills {
		ctx, stop := context.WithCancel(t.Context())
		c := writer(ctx, home, 1<<30)
		c.Stderr = os.Stderr
		pipe, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// Where in its work it is killed is by chance: some lines and some time later.
		until, wait := random.IntN(3), time.Duration(random.IntN(6000))*time.Microsecond
		said := bufio.NewScanner(pipe)
		for n := 0; said.Scan(); n++ {
			lines = append(lines, said.Text())
			if n == until {
				time.AfterFunc(wait, stop)
			}
		}
		stop()
		if c.Wait() == nil {
			t.Fatal("the writer ended by itself")
		}
		if kill%25 == 24 {
			holds(t, home, lines)
		}
	}
	if len(lines) < kills {
		t.Errorf("only %d acknowledgements in %d processes", len(lines), kills)
	}
}
