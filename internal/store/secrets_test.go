package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dyno/internal/dynohome"
	"dyno/internal/engine/proto"
	"dyno/internal/result/plansecrets"
)

// What an earlier version stored with its secrets comes into the index without them, and is of the
// series of what is measured now.
func TestIndexHasNoSecrets(t *testing.T) {
	home := t.TempDir()
	old := measured(0, 1)
	old.Plan.Target.URL += "?api_key=SECRET-KEY"
	old.Plan.Requests[0].Header = []proto.Field{{Name: "X-Tenant", Value: "SECRET-TENANT"}}
	old.Plan.Requests[0].Body = []byte("SECRET-BODY")
	now := measured(1, 2)
	now.Plan = plansecrets.Redacted(old.Plan, dynohome.Marks(home))
	save(t, home, old, now)
	s := opened(t, home)
	all, err := s.Entries()
	if err != nil || len(all) != 2 || all[0].Plan != all[1].Plan {
		t.Errorf("%v %+v", err, all)
	}
	shown, err := json.Marshal(all)
	if err != nil || strings.Contains(string(shown), "SECRET") {
		t.Errorf("%v %s", err, shown)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(home, indexFile+"*"))
	for _, file := range files {
		if b, err := os.ReadFile(file); err != nil || bytes.Contains(b, []byte("SECRET")) {
			t.Errorf("%s has a secret, %v", file, err)
		}
	}
	if len(files) == 0 {
		t.Error("there is no index")
	}
}
