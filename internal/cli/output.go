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

// An output is where --json writes. It is opened before the load, so that a run does not end
// without a place for its result. A file is written under a temporary name and then renamed, so the
// old content stays until the new one is complete. A file that cannot be replaced in this way is
// written directly. A nil output writes nothing.
type output struct {
	w    io.Writer
	file *os.File // written directly; nil: stdout, or the file called name
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
	if temp != nil { // it is created when there is content to write
		temp.Close()
		return &output{name: name}, os.Remove(temp.Name())
	}
	f, err := atomicfile.OpenStraight(name, 0, 0o666)
	if err != nil {
		return nil, err
	}
	return &output{w: f, file: f}, nil
}

// beginReplacement creates the file that will replace the file of that name, with its owner and
// mode, or with those of a new file. It returns nil if the file must be written directly: it is not
// a regular file, it has other names too, its folder accepts no new file, or the new file cannot
// have its owner. A file that may not be written is not replaced.
func beginReplacement(name string) (*atomicfile.File, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return atomicfile.BeginReplace(name, 0o666)
	}
	if !info.Mode().IsRegular() { // a link, a pipe, a device, or a folder, which is an error
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

// closeUnwritten leaves the file unchanged.
func (o *output) closeUnwritten() {
	if o != nil && o.file != nil {
		o.file.Close()
	}
}

// writeResult writes r and, next to a file, the profile if it is stored nowhere else.
func (o *output) writeResult(r *result.Result) error {
	if o == nil {
		return nil
	}
	if name := o.regularName(); name != "" {
		r.SaveProfile(strings.TrimSuffix(name, filepath.Ext(name)))
	}
	return o.writeContent(func(w io.Writer) error { return report.JSON(w, r) })
}

// writeContent writes the whole content of the output.
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

// regularName is the name of the regular file that is written, links resolved; "" if it is none.
func (o *output) regularName() string {
	if o.name != "" || o.file == nil {
		return o.name
	}
	if info, err := o.file.Stat(); err == nil && info.Mode().IsRegular() {
		return o.file.Name()
	}
	return ""
}

// truncateRegular empties a regular file; a pipe or a device has no content.
func truncateRegular(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return f.Truncate(0)
}

// publishContent writes temp and renames it to name. A file that cannot be replaced, such as one
// that is mounted into a container, is written directly.
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

// writeStraight writes the file of that name directly.
func writeStraight(name string, content []byte) error {
	f, err := atomicfile.OpenStraight(name, os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// writeFile writes a file, if it has a name, completely or not at all. If beginReplacement returns
// no file, it is written directly, once the whole content is known.
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
