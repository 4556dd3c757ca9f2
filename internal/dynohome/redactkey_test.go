package dynohome

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/redact"
	"dyno/internal/result/plansecrets"
)

// Marks of one home are those of one key, whoever made it and however many did at once; those of
// another home are others.
func TestOneKeyOfAHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "a", "home")
	var group sync.WaitGroup
	marks := make([]string, 20)
	for i := range marks {
		group.Go(func() { marks[i] = Marks(home)("", "value") })
	}
	group.Wait()
	for _, m := range marks {
		if m != marks[0] || !redact.IsMark(m) {
			t.Fatalf("%q", marks)
		}
	}
	if other := Marks(t.TempDir())("", "value"); other == marks[0] {
		t.Error("another home has the same key")
	}
	info, err := os.Stat(filepath.Join(home, keyFile))
	open := runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0
	if err != nil || info.Size() != keyBytes || open {
		t.Errorf("%v %v", info.Mode(), err)
	}
	entries, _ := os.ReadDir(home)
	if len(entries) != 1 {
		t.Errorf("%v is left beside the key", entries)
	}
	if info, err = os.Stat(home); err != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := os.WriteFile(filepath.Join(home, keyFile), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := markKey(home); err == nil || !strings.Contains(err.Error(), "has 5 bytes") {
		t.Error(err)
	}
	if m := Marks("")("", "value"); !redact.IsMark(m) || m == Marks("")("", "value") {
		t.Errorf("without a home the mark is %s each time", m)
	}
}

// A home with nothing to mark has no key: nobody asked for one.
func TestNoKeyWithoutSecrets(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	p := loadplan.DefaultPlan()
	p.Target.URL = "http://host/?page=1"
	p.Requests = []loadplan.Request{{Request: proto.Request{Method: "GET", Path: "/?page=1",
		Header: []proto.Field{{Name: "Accept", Value: "x"}}}}}
	plansecrets.Redacted(p, Marks(home))
	if _, err := os.Stat(home); err == nil {
		t.Error("a key was made")
	}
}
