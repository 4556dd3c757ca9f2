package server

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

const (
	watchEvery = time.Second
	watchShare = 50      // a walk is followed by at least so many times its duration
	watchMost  = 200_000 // files that a walk looks at
)

// measureDir is how many bytes the files below dir take on disk, as far as limit.
// What vanishes or cannot be read meanwhile counts nothing.
func measureDir(dir string, limit int64) (size int64) {
	files := 0
	filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if files++; files > watchMost || size > limit {
			return filepath.SkipAll
		}
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			size += diskUse(info)
		}
		return nil
	})
	return size
}

// dirFull is the failure of a directory that holds more than limit.
func dirFull(dir string, limit int64) *Failure {
	return &Failure{Kind: DirFull, Reason: fmt.Sprintf(
		"the run directory %s holds more than %d MiB: the server was killed", dir, limit>>20)}
}

// watchDirSize calls full, once, when dir holds more than limit, and looks until done
// is closed.
func watchDirSize(dir string, limit int64, done <-chan struct{}, full func()) {
	pause := watchEvery
	for {
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
		began := time.Now()
		if measureDir(dir, limit) > limit {
			full()
			return
		}
		pause = max(watchEvery, watchShare*time.Since(began))
	}
}
