// Package notices has the licences of all that is inside the binary: they ask to be with
// every copy of it. Command generate collects them from the modules that the build uses,
// so that none is forgotten when one is added; a binary that was built without says so.
package notices

import (
	"embed"
	"errors"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// NoticesText is every licence, below the name and version of what it is of. The error, if they
// were not collected, says how to.
func NoticesText() (string, error) {
	b, err := dist.ReadFile("dist/notices.txt")
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("this dyno was built without its notices; build it with make build, " +
			"or collect them with make notices and build it again")
	}
	return string(b), err
}
