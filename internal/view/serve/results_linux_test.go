package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno/internal/dynohome"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/loadresult"
	"dyno/internal/engine/metric"
	"dyno/internal/lab/judge"
	"dyno/internal/result"
	"dyno/internal/store"
)

// opens counts how often a file of a name is opened in a folder, until it is asked.
func opens(t *testing.T, dir, name string) (asked func() int) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Skipf("what is opened is not counted here: %v", err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if _, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	return func() (n int) {
		b := make([]byte, 64<<10)
		for {
			size, err := syscall.Read(fd, b)
			if errors.Is(err, syscall.EAGAIN) {
				return n
			}
			if err != nil {
				t.Fatal(err)
			}
			for left := b[:size]; len(left) > 0; {
				length := int(binary.NativeEndian.Uint32(left[12:])) // struct inotify_event
				if string(bytes.TrimRight(left[16:16+length], "\x00")) == name {
					n++
				}
				left = left[16+length:]
			}
		}
	}
}

// storedAt stores a result, as another process does: nothing but files tells of it.
func storedAt(t *testing.T, home string, minute int) string {
	t.Helper()
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://127.0.0.1:1/", Host: "127.0.0.1", Port: 1}
	r, err := result.From(&loadresult.Result{Plan: p, Ended: loadresult.ByDuration, Measured: time.Second,
		Started: time.Date(2026, 3, 4, 5, minute, 7, 0, time.UTC), Total: metric.NewCounters()}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dynohome.Save(home, r); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// settle makes the folder of results as old as one is in which nothing happens.
func settle(t *testing.T, home string, age time.Duration) {
	t.Helper()
	at := time.Now().Add(-age)
	if err := os.Chtimes(filepath.Join(home, "results"), at, at); err != nil {
		t.Fatal(err)
	}
}

func (g *stage) list(t *testing.T) (all []stored) {
	t.Helper()
	if err := json.Unmarshal([]byte(text(t, g.ask(t, "GET", "/api/results", ""))), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// The index is opened once as long as nothing is stored, and a list is never an old one.
func TestListsAreMadeOnce(t *testing.T) {
	home := t.TempDir()
	first := storedAt(t, home, 1)
	settle(t, home, time.Hour)
	g := begin(t, Config{Home: home})
	if all := g.list(t); len(all) != 1 || all[0].ID != first { // makes the index
		t.Fatalf("%+v", all)
	}
	opened, looked := opens(t, home, "index.sqlite"), opens(t, home, "results")
	for range 20 {
		g.list(t)
	}
	if n, m := opened(), looked(); n != 0 || m != 0 {
		t.Errorf("20 lists of what has not changed open the index %d times, the folder %d times", n, m)
	}
	second := storedAt(t, home, 2)
	if all := g.list(t); len(all) != 2 || all[0].ID != second {
		t.Errorf("after a result was stored: %+v", all)
	}
	if opened() == 0 {
		t.Error("opening the index is not counted")
	}
	index, err := store.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	settle(t, home, 50*time.Minute)
	g.list(t)
	if err := index.Note(second, "said of it"); err != nil {
		t.Fatal(err)
	}
	if all := g.list(t); len(all) != 2 || all[0].Note != "said of it" {
		t.Errorf("after a note was made: %+v", all)
	}
	settle(t, home, 40*time.Minute)
	g.list(t)
	path := filepath.Join(home, "results", first+".json")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Replace(content, []byte(`"url": "http://127.0.0.1:1/"`), []byte(`"url": "http://127.0.0.1:2/"`), 1)
	if err := errors.Join(os.WriteFile(path+".new", changed, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	if all := g.list(t); len(all) != 2 || all[1].URL != "http://127.0.0.1:2/" {
		t.Errorf("after a result was replaced: %+v", all)
	}
	settle(t, home, 30*time.Minute)
	g.list(t)
	if _, err := index.Remove(second); err != nil {
		t.Fatal(err)
	}
	if all := g.list(t); len(all) != 1 || all[0].ID != first {
		t.Errorf("after a result was removed: %+v", all)
	}
}

// Within the time that a file system's clock cannot tell apart, nothing is taken for unchanged.
func TestListsWhileMuchIsStored(t *testing.T) {
	home := t.TempDir()
	g := begin(t, Config{Home: home})
	for i := range 10 {
		storedAt(t, home, i)
		settle(t, home, 0)
		if all := g.list(t); len(all) != i+1 {
			t.Errorf("%d results are listed of %d", len(all), i+1)
		}
	}
}

// A comparison as a file is Markdown in which no URL is markup.
func TestComparisonAsAFile(t *testing.T) {
	home := t.TempDir()
	query := ""
	for minute := range 2 {
		id := storedAt(t, home, minute)
		path := filepath.Join(home, "results", id+".json")
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		named := fmt.Sprintf(`"url": "http://127.0.0.1:1/?%d=![a](b)\u003cimg\u003e"`, minute)
		content = bytes.Replace(content, []byte(`"url": "http://127.0.0.1:1/"`), []byte(named), 1)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		query += "&id=" + id
	}
	g := begin(t, Config{Home: home})
	var c struct{ Markdown string }
	said := text(t, g.ask(t, "GET", "/api/compare?"+query[1:], ""))
	if err := json.Unmarshal([]byte(said), &c); err != nil {
		t.Fatal(err, said)
	}
	code := regexp.MustCompile("`[^`]*`")
	outside := code.ReplaceAllString(c.Markdown, "")
	if !strings.HasPrefix(c.Markdown, "# Comparison\n") || !strings.Contains(c.Markdown, "127.0.0.1:1") ||
		strings.Contains(outside, "![a](b)") || strings.Contains(outside, "<img>") {
		t.Errorf("the file is %s", c.Markdown)
	}
	var u judge.Unpaired // as dyno compare --json writes it
	said = text(t, g.ask(t, "GET", "/api/compare?"+query[1:]+"&verdicts", ""))
	if err := json.Unmarshal([]byte(said), &u); err != nil || len(u.Groups) != 2 || u.Format == "" {
		t.Errorf("%v: as JSON it is %s", err, said)
	}
}
