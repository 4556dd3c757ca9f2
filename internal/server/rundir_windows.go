package server

import "io/fs"

// isPrivate is always so where rights are not a file's mode: the temporary directory is the user's.
func isPrivate(fs.FileInfo) bool { return true }

// steady is dir: the temporary directory is the user's.
func steady(dir string) (string, error) { return dir, nil }
