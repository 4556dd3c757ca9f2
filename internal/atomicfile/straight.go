package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OpenStraight opens a file that a user has named to be written directly. In a folder like /tmp,
// Linux refuses O_CREATE on another user's file, even if the file may be written. There a link
// that another user has made is not followed, as Linux itself has it where fs.protected_symlinks
// is 1.
func OpenStraight(name string, flags int, perm fs.FileMode) (*os.File, error) {
	flags |= os.O_WRONLY | plantedFlag(name)
	f, err := os.OpenFile(name, flags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(name, flags|os.O_CREATE, perm)
	}
	if isPlanted(err) {
		return nil, fmt.Errorf("%s is a link that another user has made; give another file", name)
	}
	return f, err
}
