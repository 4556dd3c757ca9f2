package serve

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"dyno/internal/atomicfile"
)

// rememberTime is for how long after the dashboard last began or ended the browsers that it
// had let in may go on when it is started again: pages that are open continue to work, although the
// token is new at each start.
const rememberTime = 24 * time.Hour

// readCookie is the cookie that a dashboard at this port gave to browsers, from the file that
// it was kept in; a new one if there is none, it is too old, or others could have read it.
func readCookie(file string) string {
	info, err := os.Lstat(file)
	private := err == nil && info.Mode().IsRegular() &&
		(runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0)
	if private && time.Since(info.ModTime()).Abs() < rememberTime {
		b, err := os.ReadFile(file)
		if err == nil && len(b) == len(rand.Text()) {
			return string(b)
		}
	}
	return rand.Text()
}

// writeCookie keeps the cookie in a file that only this user can read, from now on for
// rememberTime.
func writeCookie(file, cookie string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(file, 0o600, atomicfile.ContentWriter([]byte(cookie)))
}
