package serve

import (
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Whoever was let in is known again when the dashboard is started again at the same port; the
// token of the URL is another.
func TestRemember(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at, home := free.Addr().String(), t.TempDir()
	_, port, _ := net.SplitHostPort(at)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "serve", port)
	start := func(home, at string) (cookie, token string) {
		t.Helper()
		s, err := New(Config{Listen: at, Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return s.keys.cookie, s.keys.token
	}
	cookie, token := start(home, at)
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	again, other := start(home, at)
	if again != cookie || other == token {
		t.Errorf("the cookie was %s and is %s; the token was %s and is %s", cookie, again, token, other)
	}
	if cookie, _ := start(t.TempDir(), at); cookie == again {
		t.Error("another store has the same cookie")
	}
	elsewhere := t.TempDir()
	if cookie, _ := start(elsewhere, "127.0.0.1:0"); cookie == again {
		t.Error("another port has the same cookie")
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Errorf("of a port that was drawn there is kept %v", left)
	}
}

// What is too old, or others could have read or written, lets nobody in.
func TestRememberedIsPrivate(t *testing.T) {
	secret := rand.Text()
	for what, spoil := range map[string]func(file string) error{
		"":                 func(string) error { return nil },
		"old":              func(file string) error { return os.Chtimes(file, time.Time{}, time.Now().Add(-25*time.Hour)) },
		"from the future":  func(file string) error { return os.Chtimes(file, time.Time{}, time.Now().Add(25*time.Hour)) },
		"gone":             os.Remove,
		"cut":              func(file string) error { return os.Truncate(file, 5) },
		"empty":            func(file string) error { return os.Truncate(file, 0) },
		"readable by all":  func(file string) error { return os.Chmod(file, 0o644) },
		"writable by some": func(file string) error { return os.Chmod(file, 0o620) },
		"a link": func(file string) error {
			return errors.Join(os.Rename(file, file+".moved"), os.Symlink(file+".moved", file))
		},
	} {
		file := filepath.Join(t.TempDir(), "serve", "3966")
		if err := writeCookie(file, secret); err != nil {
			t.Fatal(err)
		}
		if err := spoil(file); err != nil {
			t.Logf("%s cannot be tried here: %v", what, err)
			continue
		}
		if runtime.GOOS == "windows" && (what == "readable by all" || what == "writable by some") {
			continue // it has no such permissions
		}
		if got := readCookie(file); (got == secret) != (what == "") || len(got) != len(secret) {
			t.Errorf("%q: remembered is %q", what, got)
		}
	}
}
