package dynohome

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/loadplan"
	"dyno/internal/result"
)

// DataFolder is the folder, in a store or in an experiment's folder, with all requests of results
// that hold only the first of them. It has a file for each SHA256, however many results refer to
// it.
func DataFolder(home string) string { return filepath.Join(home, "data", "sha256") }

// dataSuffix is the ending of those files' names, after the SHA256.
const dataSuffix = ".jsonl"

// DataFile is the file in which a store keeps the requests with that SHA256.
func DataFile(home, sha256 string) string {
	return filepath.Join(DataFolder(home), sha256+dataSuffix)
}

// SaveData stores the requests of a plan below home, once, if JSON holds only the first of them and
// the plan has all. They must contain no secrets.
func SaveData(home string, p *loadplan.Plan) error {
	if p.Data == nil || !p.Whole() {
		return nil
	}
	path := DataFile(home, p.Data.SHA256)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("storing the requests: %w", err)
	}
	err := atomicfile.Create(path, p.WriteRequests)
	for i := 0; errors.Is(err, fs.ErrExist) && !isData(path, p.Data) && i < attempts; i++ {
		if _, none := os.Lstat(path); none != nil {
			time.Sleep(attemptTime) // another process is writing it
		} else if err = os.Remove(path); err != nil { // it was stored whole, and has been damaged since
			break
		}
		err = atomicfile.Create(path, p.WriteRequests)
	}
	if err != nil && !isData(path, p.Data) {
		return fmt.Errorf("storing the requests: %s is not theirs: %w", path, err)
	}
	p.Data.File = path
	return nil
}

// ImportData stores data from another place below home, once, after checking it against d. same
// reports whether it was there already; then nothing is read.
func ImportData(home string, d loadplan.Data, from io.Reader) (same bool, err error) {
	path := DataFile(home, d.SHA256)
	if isData(path, &d) {
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	err = atomicfile.Create(path, func(to io.Writer) error {
		return CheckData(d, io.TeeReader(from, to))
	})
	if errors.Is(err, fs.ErrExist) && isData(path, &d) {
		return true, nil // another process has stored it meanwhile
	}
	return false, err
}

// CheckData reads data and returns an error if it differs from what d describes.
func CheckData(d loadplan.Data, from io.Reader) error {
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(from, d.Bytes+1))
	switch {
	case err != nil:
		return err
	case n > d.Bytes:
		return fmt.Errorf("it has more than the %d bytes that its result says", d.Bytes)
	case n < d.Bytes:
		return fmt.Errorf("it has %d bytes, and its result says %d", n, d.Bytes)
	}
	if is := hex.EncodeToString(sum.Sum(nil)); is != d.SHA256 {
		return fmt.Errorf("its SHA256 is %s, and not that of its name", is)
	}
	return nil
}

// attemptTime is how long to wait before checking again whether another process has stored the
// same.
const attemptTime = 10 * time.Millisecond

// isData reports whether a file has the length of the data.
func isData(path string, d *loadplan.Data) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == d.Bytes
}

// locateData sets where the data of a result lies that was read from path: next to the folder of
// the result, or in the store.
func locateData(r *result.Result, home, path string) {
	d := r.Plan.Data
	if d == nil || !result.IsSHA256(d.SHA256) {
		return
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	for _, of := range []string{filepath.Dir(filepath.Dir(path)), home} {
		if file := DataFile(of, d.SHA256); isData(file, d) {
			d.File = file
			return
		}
	}
}

// ShareData keeps WithoutSavers from beginning until release is called. A caller uses it between
// storing data and storing the result that refers to the data.
func ShareData(home string) (release func(), err error) { return lockData(home, false) }

// WithoutSavers calls do while nobody stores a result with data. If home does not exist there is
// nothing to protect.
func WithoutSavers(home string, do func() error) error {
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		return do()
	}
	release, err := lockData(home, true)
	if err != nil {
		return err
	}
	defer release()
	return do()
}
