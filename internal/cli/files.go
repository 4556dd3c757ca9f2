package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/requests"
	"dyno/internal/fault"
)

// readRequests returns the requests that the flags and their files describe.
func (f *runFlags) readRequests(stdin io.Reader) ([]loadplan.Request, []error) {
	var faults []error
	contested := f.stdinFlags()
	if len(contested) > 1 {
		faults = append(faults, loadplan.Flaw{Setting: strings.Join(contested, " and "),
			Problem: "each want all of stdin; give one of them a file"})
	}
	read := func(flag, file string, parse func(name string, r io.Reader) error) {
		if file != "" && (file != "-" || len(contested) == 1) { // otherwise that fault was reported
			faults = append(faults, f.readInput(flag, file, stdin, parse)...)
		}
	}
	var all []loadplan.Request
	read("--requests-file", f.requestsFile, func(name string, r io.Reader) (err error) {
		all, err = requests.Read(name, r, f.defaults)
		return err
	})
	urls, bodies := []requests.URL{f.defaults.URL}, [][]byte{nil}
	read("--urls", f.urls, func(name string, r io.Reader) (err error) {
		urls, err = requests.URLs(name, r, f.defaults.URL, f.defaults.Names)
		return err
	})
	read("--bodies", f.bodies, func(name string, r io.Reader) (err error) {
		bodies, err = requests.Bodies(name, r, f.defaults.Names)
		return err
	})
	if file, isFile := strings.CutPrefix(f.body, "@"); isFile {
		read("--body", file, func(name string, r io.Reader) error {
			b, err := readWhole(r)
			bodies = [][]byte{b}
			return errors.Join(err, f.checkText(name, b))
		})
	} else if f.hasBody {
		bodies = [][]byte{[]byte(f.body)}
	}
	read("--json-body", f.jsonBody, func(name string, r io.Reader) error {
		b, err := f.readJSON(name, r)
		bodies = [][]byte{b}
		return err
	})
	if len(f.form.fields) > 0 {
		b, wrong := f.formBody()
		bodies, faults = [][]byte{b}, append(faults, wrong...)
	}
	if len(faults) > 0 || f.requestsFile != "" || f.defaults.URL == (requests.URL{}) {
		return all, faults
	}
	all, err := requests.Pair(f.defaults, urls, bodies)
	return all, joinedErrors(err)
}

// stdinFlags names the flags that read stdin.
func (f *runFlags) stdinFlags() (flags []string) {
	for _, x := range []struct{ flag, file, stdin string }{
		{"--body", f.body, "@-"}, {"--urls", f.urls, "-"}, {"--bodies", f.bodies, "-"},
		{"--requests-file", f.requestsFile, "-"}, {"--stages", f.stages, "-"},
		{"--json-body", f.jsonBody, "-"},
	} {
		if x.file == x.stdin {
			flags = append(flags, x.flag)
		}
	}
	return flags
}

// readInput passes the file to parse, or stdin if the name is "-". Without a URL the contents
// cannot be judged, only whether the file exists.
func (f *runFlags) readInput(flag, file string, stdin io.Reader,
	parse func(name string, r io.Reader) error) []error {
	r, name := stdin, "stdin"
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return []error{loadplan.Flaw{Setting: flag, Problem: fault.Text(err)}}
		}
		defer opened.Close()
		r, name = opened, file
	}
	if f.defaults.URL == (requests.URL{}) {
		return nil
	}
	r, err := limitDevice(r)
	if err != nil {
		return []error{loadplan.Flaw{Setting: flag, Problem: name + ": " + err.Error()}}
	}
	return joinedErrors(parse(name, r))
}

// deviceMost is how many bytes a device may give. Some have their use, as /dev/null and a terminal,
// and some never end, as /dev/zero.
const deviceMost = 1 << 20

// limitDevice is r, or all that it gives if it is a device. It fails on one that gives more than
// deviceMost.
func limitDevice(r io.Reader) (io.Reader, error) {
	file, is := r.(*os.File)
	if !is {
		return r, nil
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return r, nil
	}
	b, err := io.ReadAll(io.LimitReader(file, deviceMost+1))
	if err == nil && len(b) > deviceMost {
		err = fmt.Errorf("it is a device that gives more than %d MiB; name a file", deviceMost>>20)
	}
	return bytes.NewReader(b), err
}

// readWhole is all of r, up to what a run can send. A file is read into memory of its size.
func readWhole(r io.Reader) ([]byte, error) {
	var b bytes.Buffer
	if file, is := r.(*os.File); is {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(min(info.Size(), requests.MaxFile)) + bytes.MinRead)
		}
	}
	n, err := b.ReadFrom(io.LimitReader(r, requests.MaxFile+1))
	switch {
	case err != nil:
		return nil, loadplan.Flaw{Setting: "--body", Problem: err.Error()}
	case n > requests.MaxFile:
		return nil, loadplan.Flaw{Setting: "--body", Problem: fmt.Sprintf(
			"the file is larger than %d GiB", requests.MaxFile>>30)}
	}
	return b.Bytes(), nil
}
