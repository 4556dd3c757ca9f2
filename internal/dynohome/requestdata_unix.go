//go:build unix

package dynohome

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lockTimeout is how long to wait for other processes that store or remove data.
const lockTimeout = 10 * time.Second

// lockData locks the data below home, exclusively if alone is set, otherwise shared.
func lockData(home string, alone bool) (release func(), err error) {
	path := filepath.Join(DataFolder(home), ".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	for began := time.Now(); ; time.Sleep(attemptTime) {
		err = syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK { // a file system without locks
			return func() { f.Close() }, nil
		}
		if time.Since(began) > lockTimeout {
			f.Close()
			return nil, fmt.Errorf("another dyno stores results, or removes some, for over %v; "+
				"try again", lockTimeout)
		}
	}
}
