package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/atomicfile"
	"dyno/internal/result"
	"dyno/internal/view/report"
)

// An output is where --json writes. It is tried before the load so that a run does not end with
// nowhere to write its result. A file is written beside and then renamed, so that what it held
// stays until there is something better; what cannot be replaced so is written straight. A nil
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
	temp, err := beginReplacement(name)
	if err != nil {
		return nil, err
	}
	if temp != nil { // it can be made, and is when there is what belongs into it
		temp.Close()
		return &output{name: name}, os.Remove(temp.Name())
	}
	f, err := openStraight(name, 0)
	if err != nil {
		return nil, err
	}
	return &output{w: f, file: f}, nil
}

// openStraight opens what is written straight. Linux refuses the flag that creates a file to
// whoever opens another user's file in a folder like /tmp, also where the file may be written.
func openStraight(name string, flags int) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|flags, 0)
	if errors.Is(err, os.ErrNotExist) {
		return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|flags, 0o666)
	}
	return f, err
}

// beginReplacement makes the file that is to become the one of that name, with the owner and the
// rights that this has, or that a new one gets. It is nil if the file of that name is written
// straight: if it is no regular file or has other names too, or if its folder takes no other file
// or the new one cannot have its owner. A file that may not be written is not replaced.
func beginReplacement(name string) (*atomicfile.File, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return atomicfile.BeginReplace(name, 0o666)
	}
	if !info.Mode().IsRegular() { // a link, a pipe, a device, or a folder, which is refused
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	f.Close()
	if hasOtherNames(info) {
		return nil, nil
	}
	temp, err := atomicfile.BeginReplace(name, 0o666)
	if errors.Is(err, os.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := errors.Join(copyOwner(temp.File, info), temp.Chmod(info.Mode().Perm())); err != nil {
		temp.Close()
		return nil, os.Remove(temp.Name())
	}
	return temp, nil
}

// closeUnwritten leaves everything as it was.
func (o *output) closeUnwritten() {
	if o != nil && o.file != nil {
		o.file.Close()
	}
}

// writeResult writes r and, beside a file, the profile that is stored nowhere else.
func (o *output) writeResult(r *result.Result) error {
	if o == nil {
		return nil
	}
	if name := o.regularName(); name != "" {
		r.SaveProfile(strings.TrimSuffix(name, filepath.Ext(name)))
	}
	return o.writeContent(func(w io.Writer) error { return report.JSON(w, r) })
}

// writeContent writes all that the output is to have.
func (o *output) writeContent(write func(io.Writer) error) error {
	switch {
	case o == nil:
		return nil
	case o.name != "":
		return writeFile(o.name, write)
	case o.file != nil:
		err := truncateRegular(o.file)
		if err == nil {
			err = write(o.file)
		}
		return errors.Join(err, o.file.Close())
	}
	return write(o.w)
}

// regularName is the name of the file that is written, also through a link; "" if it is none.
func (o *output) regularName() string {
	if o.name != "" || o.file == nil {
		return o.name
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		return o.file.Name()
	}
	return ""
}

// truncateRegular takes away what a file held; a pipe or a device holds nothing.
func truncateRegular(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// publishContent writes temp and gives it its name. A file whose place no other can take, as one
// that is mounted into a container, is written straight then.
func publishContent(temp *atomicfile.File, name string, content []byte) error {
	_, err := temp.Write(content)
	if err := errors.Join(err, temp.Close()); err != nil {
		os.Remove(temp.Name())
		return err
	}
	if temp.Publish() == nil {
		return nil
	}
	if err := writeStraight(name, content); err != nil {
		return fmt.Errorf("%w; all of it is in %s", err, temp.Name())
	}
	return os.Remove(temp.Name())
}

// writeStraight writes what has that name straight.
func writeStraight(name string, content []byte) error {
	f, err := openStraight(name, os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// writeFile writes a file, if it has a name, so that it is either whole or what it was before.
// What beside makes no file for is written straight, once all there is to write is known.
func writeFile(file string, write func(io.Writer) error) error {
	if file == "" || file == "-" {
		return nil
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	temp, err := beginReplacement(file)
	switch {
	case err != nil:
		return err
	case temp == nil:
		return writeStraight(file, b.Bytes())
	}
	return publishContent(temp, file, b.Bytes())
}
