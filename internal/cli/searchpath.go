package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// widenPath adds the folders with servers to PATH. They are often missing from an ordinary user's
// PATH.
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
