//go:build unix

package dynohome

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is no result is read no further than its beginning, though it may never end.
func TestOpenWithoutEnd(t *testing.T) {
	for begin, want := range map[string]string{"\x00": "not a result of dyno: invalid character", "x": "invalid character 'x'",
		" ": "not a result of dyno: it begins with blanks only"} {
		path := filepath.Join(t.TempDir(), "endless")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		const most = 16 << 20 // far more than pipes hold
		written := make(chan int)
		go func() {
			n := 0
			defer func() { written <- n }()
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return
			}
			defer f.Close()
			for part := bytes.Repeat([]byte(begin), 4<<10); n < most && err == nil; {
				var wrote int
				wrote, err = f.Write(part)
				n += wrote
			}
		}()
		if _, err := Open(t.TempDir(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", begin, err)
		}
		if n := <-written; n >= most {
			t.Errorf("%q: %d bytes of it were read", begin, n)
		}
	}
}
