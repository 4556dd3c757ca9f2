package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// widenPath lets servers be found where a system keeps them for its
// administrators: an ordinary user's PATH does not lead there.
func widenPath() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	path := os.Getenv("PATH")
	known := filepath.SplitList(path)
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if !slices.Contains(known, dir) {
			path += string(filepath.ListSeparator) + dir
		}
	}
	return os.Setenv("PATH", path)
}
