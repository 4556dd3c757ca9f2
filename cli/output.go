package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dyno/report"
	"dyno/result"
)

// An output is where --json writes. It is tried before the load so that a run does not end with
// nowhere to write its result. A file is written beside and then renamed, so that what it held
// stays until there is something better; what else a name stands for is written straight. A nil
// output writes nothing.
type output struct {
	w    io.Writer
	file *os.File // that is written straight; nil: stdout, or the file called name
	name string
}

func openOutput(name string, stdout io.Writer) (*output, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return &output{w: stdout}, nil
	}
	temp, err := beside(name)
	if err != nil {
		return nil, err
	}
	if temp != nil { // it can be made, and is when there is what belongs into it
		temp.Close()
		return &output{name: name}, os.Remove(temp.Name())
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return &output{w: f, file: f}, nil
}

// straight reports whether a name is of something that a file cannot take the place of: a link,
// which may lead anywhere, a pipe, a device, or a folder, which the system refuses.
func straight(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && !info.Mode().IsRegular()
}

// beside makes the file that is to become the one of that name, with the rights that this has, or
// that a new one gets; nil if that one is written straight, for it is no file, or its folder takes
// no other. One that may not be written is not replaced.
func beside(name string) (*os.File, error) {
	if straight(name) {
		return nil, nil
	}
	info, err := os.Lstat(name)
	if err == nil {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		f.Close()
	}
	for try := range beginnings {
		temp := fmt.Sprintf(".%s.%d-%d.tmp", filepath.Base(name), os.Getpid(), try)
		f, bad := os.OpenFile(filepath.Join(filepath.Dir(name), temp),
			os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(bad, os.ErrExist) {
			continue
		}
		if errors.Is(bad, os.ErrPermission) && err == nil {
			return nil, nil
		}
		if bad == nil && err == nil {
			bad = f.Chmod(info.Mode().Perm())
		}
		if bad != nil && f != nil {
			f.Close()
			os.Remove(f.Name())
		}
		return f, named(bad, name)
	}
	return nil, fmt.Errorf("%s: too many of its temporary files are there; remove them", name)
}

// beginnings are how many temporary files of one name there may be.
const beginnings = 100

// named is a fault of a temporary file as one of the file that it was to become.
func named(err error, name string) error {
	if e, is := errors.AsType[*os.PathError](err); is {
		return &os.PathError{Op: e.Op, Path: name, Err: e.Err}
	}
	return err
}

// discard leaves everything as it was.
func (o *output) discard() {
	if o != nil && o.file != nil {
		o.file.Close()
	}
}

// write writes r and, beside a file, the profile that is stored nowhere else.
func (o *output) write(r *result.Result) error {
	if o == nil {
		return nil
	}
	if name := o.regular(); name != "" {
		r.SaveProfile(strings.TrimSuffix(name, filepath.Ext(name)))
	}
	return o.put(func(w io.Writer) error { return report.JSON(w, r) })
}

// put writes all that the output is to have.
func (o *output) put(write func(io.Writer) error) error {
	switch {
	case o == nil:
		return nil
	case o.name != "":
		return writeFile(o.name, write)
	case o.file != nil:
		return errors.Join(emptied(o.file), write(o.file), o.file.Close())
	}
	return write(o.w)
}

// regular is the name of the file that is written, also through a link; "" if it is none.
func (o *output) regular() string {
	if o.name != "" || o.file == nil {
		return o.name
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		return o.file.Name()
	}
	return ""
}

// emptied takes away what a file held; a pipe or a device holds nothing.
func emptied(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// become writes temp and gives it its name, or leaves what has that name as it was.
func become(temp *os.File, name string, write func(io.Writer) error) error {
	err := errors.Join(write(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
		return named(err, name)
	}
	result.SyncFolder(filepath.Dir(name))
	return nil
}

// writeFile writes a file, if it has a name, so that it is either whole or what it was before.
// What is no file is written straight, once all there is to write is known.
func writeFile(file string, write func(io.Writer) error) error {
	if file == "" || file == "-" {
		return nil
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	temp, err := beside(file)
	if err != nil {
		return err
	}
	if temp == nil {
		return os.WriteFile(file, b.Bytes(), 0o666)
	}
	return become(temp, file, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}
