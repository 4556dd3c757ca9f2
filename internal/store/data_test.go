package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/dynohome"
)

// archived is what a store exports, as an archive whose files change turns into others.
func archived(t *testing.T, s *Store, change func(h *tar.Header, content []byte) []byte) string {
	t.Helper()
	var b, out bytes.Buffer
	if _, damaged, err := s.Export(&b, nil); err != nil || damaged != nil {
		t.Fatal(damaged, err)
	}
	zipped, err := gzip.NewReader(&b)
	if err != nil {
		t.Fatal(err)
	}
	from, packed := tar.NewReader(zipped), gzip.NewWriter(&out)
	to := tar.NewWriter(packed)
	for {
		h, err := from.Next()
		if err == io.EOF {
			break
		}
		content, err2 := io.ReadAll(from)
		if err = joined(err, err2); err != nil {
			t.Fatal(err)
		}
		content = change(h, content)
		h.Size = int64(len(content))
		_, err2 = to.Write(nil)
		if err = joined(to.WriteHeader(h), err2); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	err = errors.Join(to.Close(), packed.Close(), os.WriteFile(file, out.Bytes(), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func asItIs(_ *tar.Header, content []byte) []byte { return content }

// Requests that results share go with them, once, and are found where the results are.
func TestDataIsExportedAndImported(t *testing.T) {
	home := t.TempDir()
	ids := save(t, home, withData(t, 0, 1), withData(t, 1, 1), withData(t, 2, 2), measured(3, 1000))
	one, two := withData(t, 0, 1).Plan.Data.SHA256, withData(t, 0, 2).Plan.Data.SHA256
	s, folder := opened(t, home), t.TempDir()
	if _, damaged, err := s.ExportDir(folder, ids[:2]); err != nil || damaged != nil {
		t.Fatal(damaged, err)
	}
	want := []string{"data/sha256/" + one + ".jsonl", "results/" + ids[0] + ".json", "results/" + ids[1] + ".json"}
	if got := names(t, folder); !slices.Equal(got, want) {
		t.Errorf("%q is exported, want %q", got, want)
	}
	for _, from := range []string{archived(t, s, asItIs), home} {
		there := filepath.Join(t.TempDir(), "home")
		other := opened(t, there)
		if stored, same, faults := imported(t, other, from); stored != 6 || same != 0 || faults != nil {
			t.Errorf("%s: %d stored, %d there already, %q", from, stored, same, faults)
		}
		if stored, same, faults := imported(t, other, from); stored != 0 || same != 4 || faults != nil {
			t.Errorf("%s again: %d stored, %d there already, %q", from, stored, same, faults)
		}
		for i, sum := range map[int]string{0: one, 1: one, 2: two} {
			r, err := dynohome.OpenID(there, ids[i])
			if err != nil || r.Plan.Data.File != dynohome.DataFile(there, sum) {
				t.Errorf("%s: %v, %+v", ids[i], err, r.Plan.Data)
			}
			a, err := os.ReadFile(dynohome.DataFile(home, sum))
			b, err2 := os.ReadFile(dynohome.DataFile(there, sum))
			if joined(err, err2) != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %d bytes for %d, %v, %v", sum, len(b), len(a), err, err2)
			}
		}
		if found, err := other.Collect(false); err != nil || len(found) > 0 {
			t.Errorf("what was imported is collected: %q, %v", paths(found), err)
		}
	}
}

// Data that is not what its name says is refused once, however many results refer to it, and
// nothing of it is stored.
func TestDataThatIsNotItsHash(t *testing.T) {
	home := t.TempDir()
	save(t, home, withData(t, 0, 1), withData(t, 1, 1))
	s := opened(t, home)
	for name, test := range map[string]struct {
		change func(h *tar.Header, content []byte) []byte
		want   string
	}{
		"other bytes": {func(h *tar.Header, content []byte) []byte {
			return bytes.ReplaceAll(content, []byte("/1/50"), []byte("/2/50"))
		}, "its SHA256 is "},
		"shorter": {func(h *tar.Header, content []byte) []byte {
			return content[:len(content)-1]
		}, "bytes, and its result says"},
		"longer": {func(h *tar.Header, content []byte) []byte {
			return append(content, "{}\n"...)
		}, "bytes, and its result says"},
	} {
		there := t.TempDir()
		file := archived(t, s, func(h *tar.Header, content []byte) []byte {
			if strings.HasPrefix(h.Name, "data/") {
				return test.change(h, content)
			}
			return content
		})
		stored, _, faults := imported(t, opened(t, there), file)
		if stored != 2 || len(faults) != 1 || !strings.Contains(faults[0], test.want) {
			t.Errorf("%s: %d stored, %q", name, stored, faults)
		}
		left := names(t, dynohome.DataFolder(there))
		if !slices.Equal(left, []string{".lock"}) {
			t.Errorf("%s: %q is stored", name, left)
		}
	}
}

// A name that leads elsewhere is no SHA256, and data is read through no link.
func TestDataIsFromWhereItSays(t *testing.T) {
	home := t.TempDir()
	ids := save(t, home, withData(t, 0, 1))
	s := opened(t, home)
	sum := withData(t, 0, 1).Plan.Data.SHA256
	file := archived(t, s, func(h *tar.Header, content []byte) []byte {
		return bytes.ReplaceAll(content, []byte(sum), []byte("../../../"+sum[9:]))
	})
	stored, _, faults := imported(t, opened(t, t.TempDir()), file)
	if stored != 0 || len(faults) != 1 || !strings.Contains(faults[0], "plan.data is not that of") {
		t.Errorf("%d stored, %q", stored, faults)
	}
	data, moved := dynohome.DataFile(home, sum), filepath.Join(t.TempDir(), "moved")
	if err := joined(os.Rename(data, moved), os.Symlink(moved, data)); err != nil {
		t.Skipf("no links here: %v", err)
	}
	stored, _, faults = imported(t, opened(t, t.TempDir()), home)
	if stored != 1 || len(faults) != 1 || !strings.Contains(faults[0], "is a link") {
		t.Errorf("%s: %d stored, %q", ids[0], stored, faults)
	}
}

// A result whose data is missing is exported without it, and that is said once.
func TestExportOfMissingData(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	save(t, home, withData(t, 0, 1), withData(t, 1, 1))
	data := dynohome.DataFile(home, withData(t, 0, 1).Plan.Data.SHA256)
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	n, damaged, err := opened(t, home).ExportDir(dir, nil)
	if n != 2 || err != nil || len(damaged) != 1 || damaged[0].Path != data ||
		!strings.Contains(damaged[0].Err.Error(), "are missing") {
		t.Errorf("%d are exported, %+v, %v", n, damaged, err)
	}
	if stored, _, faults := imported(t, opened(t, t.TempDir()), dir); stored != 2 || faults != nil {
		t.Errorf("%d stored, %q", stored, faults)
	}
}
