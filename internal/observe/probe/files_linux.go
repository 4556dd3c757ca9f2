package probe

import (
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

// A scratch reads small files of /proc and /sys, always into the same memory.
type scratch struct {
	path []byte
	text []byte
}

// maxText is how much of a file is read: /proc/stat of a big machine is the longest,
// and what is used of it is at both its ends.
const maxText = 1 << 20

func newScratch() *scratch { return &scratch{text: make([]byte, 16<<10)} }

// readFile reads a file whole; what it returns is overwritten by the next.
func (s *scratch) readFile(path string) ([]byte, error) {
	fd, err := openRaw(path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n := 0
	for {
		got, err := unix.Read(fd, s.text[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		n += got
		if got == 0 || n == maxText {
			return s.text[:n], nil
		}
		if n < len(s.text) {
			continue
		}
		s.text = append(s.text, make([]byte, len(s.text))...)
	}
}

// readProcFile reads a file of a process.
func (s *scratch) readProcFile(pid int, name string) ([]byte, error) {
	return s.readFile(s.procPath(pid, name))
}

func (s *scratch) procPath(pid int, name string) string {
	s.path = append(s.path[:0], "/proc/"...)
	s.path = strconv.AppendInt(s.path, int64(pid), 10)
	s.path = append(s.path, '/')
	return string(append(s.path, name...))
}

// taskPath is the path of a file of a thread.
func (s *scratch) taskPath(pid, id int, name string) string {
	s.path = append(s.path[:0], "/proc/"...)
	s.path = strconv.AppendInt(s.path, int64(pid), 10)
	s.path = append(s.path, "/task/"...)
	s.path = strconv.AppendInt(s.path, int64(id), 10)
	s.path = append(s.path, '/')
	return string(append(s.path, name...))
}

// listNumbered appends the names of a directory that are numbers.
func (s *scratch) listNumbered(all []int, path string) ([]int, error) {
	fd, err := openRaw(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return all, err
	}
	defer unix.Close(fd)
	var names []string
	for {
		n, err := unix.ReadDirent(fd, s.text)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return all, err
		}
		if n == 0 {
			return all, nil
		}
		_, _, names = unix.ParseDirent(s.text[:n], -1, names[:0])
		for _, name := range names {
			if id, err := strconv.Atoi(name); err == nil {
				all = append(all, id)
			}
		}
	}
}

func openRaw(path string, how int) (int, error) {
	for {
		fd, err := unix.Open(path, how|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// isRefused says that a file is there and may not be read.
func isRefused(err error) bool { return errors.Is(err, fs.ErrPermission) }
