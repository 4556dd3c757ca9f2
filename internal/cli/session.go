package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
	"dyno/internal/engine/proto/h1"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/session"
	"dyno/internal/lab/versus"
	"dyno/internal/setting"
)

// This file is about Hurl files: dyno run login.hurl --variable base=URL.

// hurlEnding is how the name of a Hurl file ends.
const hurlEnding = ".hurl"

// takeHurl takes the Hurl files off the command line. In place of them it puts the URL of the
// server, which a variable names. A form of the dashboard names no files.
func (f *runFlags) takeHurl(p *parsed) (faults []error) {
	if f.purpose == formPurpose {
		return nil
	}
	isHurl := func(w string) bool {
		return strings.EqualFold(filepath.Ext(w), hurlEnding) && !versus.IsURL(w)
	}
	if !slices.ContainsFunc(p.words, isHurl) {
		return nil
	}
	for _, w := range p.words {
		if isHurl(w) {
			f.hurlFiles = append(f.hurlFiles, w)
		} else {
			faults = append(faults, loadplan.Flaw{Setting: "URL", Problem: fmt.Sprintf("%.60q stands "+
				"beside a Hurl file, whose server is --variable base=URL; leave it out", w)})
		}
	}
	if p.words = nil; f.filling.variables[session.BaseVariable] != "" {
		p.words = []string{f.filling.variables[session.BaseVariable]}
	}
	return append(faults, hurlFaults(p.given)...)
}

// hurlFaults are the flags that a Hurl file leaves no room for.
func hurlFaults(given map[string]bool) (faults []error) {
	for _, flag := range setting.SaidByHurl {
		if given[flag] {
			faults = append(faults, loadplan.Flaw{Setting: "--" + flag, Problem: "the Hurl file says " +
				"what is sent and expected; write it there"})
		}
	}
	if given["user"] && !given["auth"] {
		faults = append(faults, loadplan.Flaw{Setting: "--user", Problem: "the Hurl file says who " +
			`sends a request: write [BasicAuth] or the option "user" there, or give --auth`})
	}
	return faults
}

// addVariables adds those of a --variables-file: NAME=VALUE, one a line, as hurl has them. Empty
// lines and those that begin with # say nothing.
func (v *filling) addVariables(file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := limitDevice(in)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if err := v.addVariable(line); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return lines.Err()
}

// setSession gives the plan the scenario of the Hurl files.
func (f *runFlags) setSession() (faults []error) {
	m, faults := f.compileHurl(nil)
	if m == nil || len(faults) > 0 { // without a base, which was reported
		return faults
	}
	format := m.StreamFormat()
	if faults = f.otherFormat(format, "Hurl file", "# dyno: stream "+format); len(faults) > 0 {
		return faults
	}
	m.SetPlan(&f.plan)
	return nil
}

// otherFormat is the fault of --stream beside a file that says of single answers, by a mark, that
// they are streams of another format; "": it says nothing of streams.
func (f *runFlags) otherFormat(format, file, mark string) []error {
	if given := f.plan.Stream.Format; format == "" || given == "" || given == format {
		return nil
	}
	return []error{loadplan.Flaw{Setting: "--stream", Problem: fmt.Sprintf("the %s says which "+
		"answers are streams, by %s; leave one of the two out", file, mark)}}
}

// compileHurl reads and compiles the Hurl files.
func (f *runFlags) compileHurl(change func(*session.Config)) (m *session.Maker, faults []error) {
	base := f.filling.variables[session.BaseVariable]
	origin, err := session.ParseOrigin(base)
	if err != nil && base != "" {
		faults = append(faults, loadplan.Flaw{Setting: "--variable " + session.BaseVariable,
			Problem: err.Error()})
	}
	c := session.Config{Origin: origin, Data: f.filling.table, Order: f.filling.order,
		Read: readBeside, Check: f.checkSendable, User: f.plan.User,
		Voice: setting.Flag}
	for _, v := range f.plan.Variables {
		c.Variables = append(c.Variables, session.Variable(v))
	}
	for _, name := range f.hurlFiles {
		text, err := readText(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		file, err := hurl.Parse(name, text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		c.Files = append(c.Files, file)
	}
	if len(faults) > 0 || base == "" {
		return nil, faults
	}
	if change != nil {
		change(&c)
	}
	m, err = session.Compile(c)
	return m, joinedErrors(err)
}

// readText is the text of a Hurl file or a script.
func readText(name string) (string, error) {
	in, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	r, err := limitDevice(in)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

// readBeside reads a file that a Hurl file names. As in hurl, it is in the folder of the Hurl file,
// or below it.
func readBeside(hurlFile, name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(hurlFile))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	in, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w; it has to be in the folder of the Hurl file, or below it", err)
	}
	defer in.Close()
	return readWhole(in)
}

// checkSendable reports why the protocol cannot send a request.
func (f *runFlags) checkSendable(r proto.Request) error {
	if err := requests.Method(r.Method); err != nil {
		return err
	}
	if f.defaults.HTTP2 {
		return fields.Check(r)
	}
	return h1.Check(r)
}
