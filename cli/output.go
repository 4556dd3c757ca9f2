package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"dyno/report"
	"dyno/result"
)

// An output is where --json writes. It is opened before the load so that a run
// does not end with nowhere to write its result; what a file held stays until
// there is something better. A nil output writes nothing.
type output struct {
	w    io.Writer
	file *os.File // nil for stdout
	made bool     // the file is new
}

func openOutput(name string, stdout io.Writer) (*output, error) {
	switch name {
	case "":
		return nil, nil
	case "-":
		return &output{w: stdout}, nil
	}
	_, missing := os.Stat(name)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	return &output{f, f, missing != nil}, nil
}

// discard leaves everything as it was.
func (o *output) discard() {
	if o == nil || o.file == nil {
		return
	}
	o.file.Close()
	if o.made {
		os.Remove(o.file.Name())
	}
}

// write writes r and, beside a file, the profile that is stored nowhere else.
func (o *output) write(r *result.Result) error {
	if o == nil {
		return nil
	}
	if o.file == nil {
		return report.JSON(o.w, r)
	}
	info, err := o.file.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = o.file.Truncate(0)
		r.SaveProfile(strings.TrimSuffix(o.file.Name(), filepath.Ext(o.file.Name())))
	}
	if err == nil {
		err = report.JSON(o.w, r)
	}
	return errors.Join(err, o.file.Close())
}
