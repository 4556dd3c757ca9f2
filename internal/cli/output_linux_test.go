package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A file whose place no other can take is written all the same: one that is mounted into a
// container, and another user's in a folder like /tmp, where the kernel refuses both to rename
// and to open it with the flag that creates.
func TestOutputNotReplaceable(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may mount and be another user")
	}
	for _, test := range []struct {
		what string
		as   func(name string) error
	}{
		{"mounted", mounted}, {"another user's", anothers},
	} {
		for how := range outputs("", "") {
			name := filepath.Join(t.TempDir(), "x.json")
			for dir := filepath.Dir(name); strings.HasPrefix(dir, os.TempDir()+"/"); {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				dir = filepath.Dir(dir)
			}
			if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := onThread(func() error {
				if err := test.as(name); err != nil {
					return err
				}
				if err := outputs(name, "after")[how](); err != nil {
					return err
				}
				b, err := os.ReadFile(name)
				if err == nil && (!bytes.Contains(b, []byte("after")) ||
					bytes.Contains(b, []byte("before"))) {
					err = errors.New("it has " + string(b))
				}
				return err
			})
			left, _ := os.ReadDir(filepath.Dir(name))
			if err != nil || len(left) != 1 {
				t.Errorf("%s, %s: %v, %v", test.what, how, err, left)
			}
		}
	}
}

// onThread runs f on a thread of its own, which ends with it.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- f()
	}()
	return <-done
}

// mounted gives this thread mounts of its own, and mounts a file over itself.
func mounted(name string) error {
	return errors.Join(syscall.Unshare(syscall.CLONE_NEWNS),
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount(name, name, "", syscall.MS_BIND, ""))
}

// anothers has all write a file and its folder, and makes this thread another user than they
// belong to.
func anothers(name string) error {
	err := errors.Join(os.Chmod(name, 0o666), os.Chmod(filepath.Dir(name), 0o777|os.ModeSticky),
		os.Chown(name, 65533, 65533))
	const user = 65534
	for _, call := range []uintptr{syscall.SYS_SETFSGID, syscall.SYS_SETFSUID} {
		if _, _, e := syscall.RawSyscall(call, user, 0, 0); e != 0 { // of this thread alone
			err = errors.Join(err, e)
		}
	}
	return err
}

// The owner, the group and the other names of a file stay.
func TestOutputKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	for how := range outputs("", "") {
		dir := t.TempDir()
		name, same := filepath.Join(dir, "x.json"), filepath.Join(dir, "same.json")
		err := errors.Join(os.WriteFile(name, []byte("before"), 0o600), os.Chown(name, 65533, 65532),
			outputs(name, "after")[how]())
		info, _ := os.Stat(name)
		if s := info.Sys().(*syscall.Stat_t); err != nil || s.Uid != 65533 || s.Gid != 65532 {
			t.Errorf("%s: %v, owner %d, group %d", how, err, s.Uid, s.Gid)
		}
		err = errors.Join(os.Link(name, same), outputs(name, "again")[how]())
		if b, _ := os.ReadFile(same); err != nil || !bytes.Contains(b, []byte("again")) {
			t.Errorf("%s: %v, the other name has %s", how, err, b)
		}
	}
}

// Nothing is written behind what could not be taken away.
func TestOutputNotEmptied(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name) // a file that is open for reading cannot be truncated
	if err != nil {
		t.Fatal(err)
	}
	wrote := false
	err = (&output{w: f, file: f}).writeContent(func(io.Writer) error {
		wrote = true
		return nil
	})
	if err == nil || wrote {
		t.Errorf("%v; written: %t", err, wrote)
	}
	if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("it stays open: %v", err)
	}
}
