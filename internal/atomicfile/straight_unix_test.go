//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In a folder like /tmp a link of another user is not followed, whether its target exists or not.
func TestPlantedLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes links of others; CI's tests are root's")
	}
	const nobody = 65534
	for _, tc := range []struct {
		mode       os.FileMode
		by, folder int
		refused    bool
	}{
		{os.ModeSticky | 0o777, nobody, 0, true},
		{os.ModeSticky | 0o777, 0, nobody, false},
		{os.ModeSticky | 0o777, nobody, nobody, false},
		{0o777, nobody, 0, false},
		{os.ModeSticky | 0o755, nobody, 0, false},
	} {
		for _, target := range []string{"there", "missing"} {
			private, common := t.TempDir(), filepath.Join(t.TempDir(), "common")
			aim, link := filepath.Join(private, target), filepath.Join(common, "x")
			if err := os.WriteFile(filepath.Join(private, "there"), []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, err := range []error{os.Mkdir(common, 0o700), os.Chmod(common, tc.mode), os.Symlink(aim, link),
				os.Lchown(link, tc.by, -1), os.Lchown(common, tc.folder, -1)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			f, err := OpenStraight(link, os.O_TRUNC, 0o666)
			f.Close()
			if (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "is a link that another user has made") {
				t.Errorf("%+v, %s: %v", tc, target, err)
			}
			b, _ := os.ReadFile(filepath.Join(private, "there"))
			_, left := os.Lstat(filepath.Join(private, "missing"))
			if tc.refused && (string(b) != "kept" || left == nil) {
				t.Errorf("%+v, %s: %q, and the missing one: %v", tc, target, b, left)
			}
		}
	}
}
