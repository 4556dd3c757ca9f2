package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What could not be exported whole leaves nothing behind, so that the folder can be given again.
func TestExportDirTakesBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("how long a path can be is Linux's here")
	}
	home, ids := full(t)
	// The files of results can be made there, and not those with longer names.
	room := 4095 - len("/results/."+ids[0]+".json.tmp")
	dir := t.TempDir()
	for left := room - len(dir); left > 0; left = room - len(dir) {
		if left > 200 {
			left = 100 // so that 2 are left for another name at least
		}
		dir += "/" + strings.Repeat("d", left-1)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, there := range []bool{false, true} {
		if there {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := opened(t, home).ExportDir(dir, nil); err == nil {
			t.Fatal("the path was not too long")
		}
		entries, err := os.ReadDir(dir)
		if len(entries) > 0 || (err == nil) != there {
			t.Errorf("%v are left, %v", entries, err)
		}
	}
}
