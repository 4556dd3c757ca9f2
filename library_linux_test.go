package dyno_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dyno"
)

// A load changes nothing of the process, and prints nothing.
func TestRunChangesNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	home := t.TempDir()
	t.Setenv("DYNO_HOME", home)
	before, environment := runtime.GOMAXPROCS(0), os.Environ()
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	r, err := dyno.Run(context.Background(), dyno.Load{URL: server.URL, Threads: before + 1,
		Connections: before + 1, Requests: 100, Drain: time.Minute})
	if err != nil || r.Completed != 100 {
		t.Fatal(r, err)
	}
	if now := runtime.GOMAXPROCS(0); now != before {
		t.Errorf("GOMAXPROCS was %d and is %d", before, now)
	}
	if !slices.Equal(environment, os.Environ()) {
		t.Error("the environment is another one")
	}
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now); err != nil || now != files {
		t.Errorf("the limit of open files was %v and is %v, %v", files, now, err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the home has %v, %v", left, err)
	}
	if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "GOMAXPROCS") }) {
		t.Errorf("no warning says that the load took the slower way: %q", r.Warnings)
	}
}
