package loadplan

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is named instead of a certificate does not fill the memory.
func TestReadPEM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ca.pem")
	for size, want := range map[int64]string{0: "is empty", 1: "has no PEM certificate", longestPEM + 1: "has more than 16777216 bytes"} {
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		p := DefaultPlan()
		p.TLS.CAFile = path
		if _, err := p.TLSConfig(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d bytes: %v, want that it %s", size, err, want)
		}
	}
}
