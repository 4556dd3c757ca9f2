package cli

import (
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// What is stored is its owner's alone, whichever verb makes the store; and a store that another
// version left open is closed by the next verb. The folders of experiments have the user's mask.
func TestHomeIsPrivate(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(unhurried(answer(new(atomic.Int64))))
	t.Cleanup(server.Close)
	for name, line := range map[string]string{
		"run": "dyno run -q -n 2 -c 1 " + server.URL + "/",
		"a secret that is not saved": "dyno run -q --no-save -n 2 -c 1 -H 'X-Auth: a' " +
			server.URL + "/",
		"lab":       "dyno lab run e.yaml",
		"token":     "dyno fleet token; true",
		"calibrate": "dyno calibrate --time 100ms",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "e.yaml"), []byte(fleetExperiment), 0o600); err != nil {
			t.Fatal(err)
		}
		done(t, dir, "sh -c '"+strings.ReplaceAll("umask 022; "+line, "'", `'\''`)+"; true'")
		private(t, name, filepath.Join(dir, "home"))
	}
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	done(t, dir, "dyno run -q -n 2 -c 1 -H 'X-Auth: a' "+server.URL+"/")
	for _, open := range []string{"", "results", "redact.key"} {
		if err := os.Chmod(filepath.Join(home, open), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	done(t, dir, "dyno history")
	private(t, "a home that was open", home)
}

func private(t *testing.T, name, home string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) && path == home {
			return nil // nothing was to be kept
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %s is %v", name, path, info.Mode())
		}
		if seen++; e.IsDir() && e.Name() == "experiments" {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if seen == 0 && name != "token" {
		t.Errorf("%s: there is no home", name)
	}
}
