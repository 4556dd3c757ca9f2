package fault

import (
	"io/fs"
	"strings"
)

// Text is an error's message, in which a file that cannot be opened, read or written is named in
// one way: "users.csv: no such file or directory", without the system call.
func Text(err error) string {
	text := err.Error()
	for _, e := range pathErrors(err, nil) {
		text = strings.Replace(text, e.Error(), e.Path+": "+e.Err.Error(), 1)
	}
	return text
}

// pathErrors are those in the tree of an error, after all.
func pathErrors(err error, all []*fs.PathError) []*fs.PathError {
	switch e := err.(type) {
	case *fs.PathError:
		if e.Path != "" && e.Err != nil {
			all = append(all, e)
		}
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			all = pathErrors(inner, all)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			all = pathErrors(inner, all)
		}
	}
	return all
}
