package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A process that was killed while it stored leaves a file that blocks no name; one that stores
// at this moment has its name for itself.
func TestCreateOverWhatWasLeft(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "x.json"), filepath.Join(dir, ".x.json.tmp")
	long := time.Now().Add(-24 * time.Hour)
	if err := errors.Join(os.WriteFile(temp, []byte("half of something longer"), 0o600), os.Chtimes(temp, long, long)); err != nil {
		t.Fatal(err)
	}
	held, end, first := make(chan bool), make(chan bool), make(chan error, 1)
	go func() {
		first <- Create(path, func(w io.Writer) error {
			close(held)
			<-end
			_, err := io.WriteString(w, "whole")
			return err
		})
	}()
	select {
	case <-held:
	case err := <-first:
		t.Fatal(err)
	}
	never := func(io.Writer) error {
		t.Error("it was written twice")
		return nil
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := Create(path, never); !errors.Is(err, fs.ErrExist) {
				t.Errorf("while another stores: %v", err)
			}
		})
	}
	all.Wait()
	close(end)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if err := Create(path, never); !errors.Is(err, fs.ErrExist) {
		t.Errorf("when it is there: %v", err)
	}
	failed := errors.New("no room")
	if err := Create(filepath.Join(dir, "y.json"), func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("what cannot be written: %v", err)
	}
	b, err := os.ReadFile(path)
	left, _ := os.ReadDir(dir)
	if string(b) != "whole" || err != nil || len(left) != 1 {
		t.Errorf("%q, %v; the folder has %v", b, err, left)
	}
}

// Of many that want one name at once, over what was left, one makes it, and it is whole.
func TestCreateOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what was left is taken over only when it is old, and by one at a time")
	}
	for range 50 {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.json")
		if err := os.WriteFile(filepath.Join(dir, ".x.json.tmp"), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		var made atomic.Int32
		for i := range 8 {
			all.Go(func() {
				err := Create(path, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "by %d", i)
					return err
				})
				switch {
				case err == nil:
					made.Add(1)
				case !errors.Is(err, fs.ErrExist):
					t.Error(err)
				}
			})
		}
		all.Wait()
		b, err := os.ReadFile(path)
		if left, _ := os.ReadDir(dir); made.Load() != 1 || err != nil || len(b) != 4 || len(left) != 1 {
			t.Fatalf("%d made it: %q, %v; %v", made.Load(), b, err, left)
		}
	}
}

// A replaced file is whole, has the mode that was asked for, and leaves nothing beside it. One
// that cannot be written stays as it was.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.json")
	whole := strings.Repeat("x", 100_000)
	for _, content := range []string{"before", whole} {
		if err := Replace(path, 0o600, ContentWriter([]byte(content))); err != nil {
			t.Fatal(err)
		}
	}
	failed := errors.New("no room")
	err := Replace(path, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, failed)
	})
	if !errors.Is(err, failed) {
		t.Errorf("what cannot be written: %v", err)
	}
	b, err := os.ReadFile(path)
	info, _ := os.Stat(path)
	left, _ := os.ReadDir(dir)
	private := runtime.GOOS == "windows" || info.Mode().Perm() == 0o600
	if string(b) != whole || err != nil || len(left) != 1 || !private {
		t.Errorf("%d bytes, %v, mode %v; the folder has %v", len(b), err, info.Mode(), left)
	}
}

// Errors name the file that was to be replaced, and not the temporary one. A folder is not
// replaced, and stays.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none", "x.json")
	var named *fs.PathError
	if err := Replace(path, 0o600, ContentWriter(nil)); !errors.As(err, &named) || named.Path != path {
		t.Errorf("in no folder: %v", err)
	}
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := Replace(full, 0o600, ContentWriter(nil))
	if left, _ := os.ReadDir(dir); err == nil || len(left) != 1 {
		t.Errorf("a folder is replaced: %v; its folder has %v", err, left)
	}
	if named = nil; !errors.As(err, &named) || named.Path != full || strings.Contains(err.Error(), ".full") {
		t.Errorf("of a folder: %v", err)
	}
}

// Errors of Create name the new file too, whichever step failed.
func TestCreateFails(t *testing.T) {
	dir := t.TempDir()
	missing, path := filepath.Join(dir, "none", "x.json"), filepath.Join(dir, "y.json")
	closed := func(w io.Writer) error { // so that it cannot be written
		f := w.(*File)
		if err := f.File.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := f.Write([]byte("x"))
		return err
	}
	late := func(io.Writer) error { return os.MkdirAll(filepath.Join(path, "in it"), 0o700) }
	for _, c := range []struct {
		path  string
		write func(io.Writer) error
	}{{missing, nil}, {path, closed}, {path, late}} {
		var named *fs.PathError
		err := Create(c.path, c.write)
		if !errors.As(err, &named) || named.Path != c.path || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", filepath.Base(c.path), err)
		}
	}
}

// A writer holds its temporary file until the file has its name.
func TestIsAbandoned(t *testing.T) {
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "x"), filepath.Join(dir, ".x.tmp")
	err := Create(path, func(io.Writer) error {
		if IsAbandoned(temp) {
			t.Error("it is abandoned while it is written")
		}
		return nil
	})
	if err != nil || IsAbandoned(temp) {
		t.Errorf("%v; a file that is not there is abandoned: %v", err, IsAbandoned(temp))
	}
	long := time.Now().Add(-24 * time.Hour)
	err = errors.Join(os.WriteFile(temp, nil, 0o600), os.Chtimes(temp, long, long))
	if err != nil || !IsAbandoned(temp) {
		t.Errorf("%v; what was left is held", err)
	}
}

// What has a name is on the disk before it has it, and the name is before the function returns:
// first the files and the folders that they are in are synced, then, after the rename, the folder
// above.
func TestSynced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders cannot be synced here")
	}
	for name, c := range map[string]struct {
		publish func(path string, sync syncer) error
		want    []string
	}{
		"Create": {func(path string, sync syncer) error {
			return create(path, ContentWriter([]byte("whole")), sync)
		}, []string{"5 bytes, nameless", "folder, named"}},
		"Replace": {func(path string, sync syncer) error {
			return replace(path, 0o600, ContentWriter([]byte("whole")), sync)
		}, []string{"5 bytes, nameless", "folder, named"}},
		"PublishFolder": {func(path string, sync syncer) error {
			temp := filepath.Join(filepath.Dir(path), ".temp")
			err := os.MkdirAll(filepath.Join(temp, "sub"), 0o700)
			return errors.Join(err, publishFolder(temp, path, sync))
		}, []string{"folder/.temp, nameless", "folder/.temp/sub, nameless", "folder, named"}},
	} {
		dir := filepath.Join(t.TempDir(), "folder")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "x")
		var got []string
		err := c.publish(path, func(f *os.File) error {
			info, err := f.Stat()
			if err != nil {
				return err
			}
			what := fmt.Sprint(info.Size(), " bytes")
			if info.IsDir() {
				what, err = filepath.Rel(filepath.Dir(dir), f.Name())
			}
			if _, missing := os.Lstat(path); missing != nil {
				what += ", nameless"
			} else {
				what += ", named"
			}
			got = append(got, what)
			return errors.Join(err, f.Sync())
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s syncs %q, want %q, %v", name, got, c.want, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 1 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
}

// What cannot be synced is an error, and has no name.
func TestSyncFails(t *testing.T) {
	dir := t.TempDir()
	broken := func(f *os.File) error { return &fs.PathError{Op: "sync", Path: f.Name(), Err: errors.ErrUnsupported} }
	for name, publish := range map[string]func(path string) error{
		"Create":  func(path string) error { return create(path, ContentWriter(nil), broken) },
		"Replace": func(path string) error { return replace(path, 0o600, ContentWriter(nil), broken) },
	} {
		path := filepath.Join(dir, name)
		err := publish(path)
		var named *fs.PathError
		if !errors.As(err, &named) || named.Path != path {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("%v are left, %v", left, err)
	}
}
