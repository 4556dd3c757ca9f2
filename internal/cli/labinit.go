package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/session"
	"dyno/internal/lab/experiment"
)

// initFlags is the command line of dyno lab init.
type initFlags struct {
	helpFlag
	hurl string
}

func (f *initFlags) groups() []group {
	return []group{{"", []option{
		{"hurl", "", "FILE.hurl", "an experiment that runs this Hurl file", setText(&f.hurl)},
		{"help", "h", "", "this", setSwitch(&f.help)}}}}
}

// labInit is dyno lab init: it writes a file to begin with.
func labInit(s streams, args []string) int {
	var f initFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab init")
	}
	if faults := append(p.faults, p.extraWords(1)...); len(faults) > 0 {
		return s.refuseFlags("lab init", faults)
	}
	name := "experiment.yaml"
	if len(p.words) == 1 {
		name = p.words[0]
	}
	text := experiment.Starter()
	if f.hurl != "" {
		var err error
		if text, err = hurlStarter(name, f.hurl); err != nil {
			return s.refuseFlags("lab init", joinedErrors(err))
		}
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s is there already; give another name", name)
	}
	if err == nil {
		_, err = file.Write(text)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	return s.printText(fmt.Sprintf("wrote %s; now\n  dyno lab check %s\n  dyno lab run --quick %s\n",
		name, name, name))
}

// hurlStarter is an experiment file of that name to begin with, which runs a Hurl file.
func hurlStarter(name, hurlFile string) ([]byte, error) {
	if !strings.EqualFold(filepath.Ext(hurlFile), hurlEnding) {
		return nil, loadplan.Flaw{Setting: "--hurl", Problem: "the file does not end in " + hurlEnding}
	}
	text, err := readHurl(hurlFile)
	if err != nil {
		return nil, err
	}
	parsed, err := hurl.Parse(hurlFile, text)
	if err != nil {
		return nil, err
	}
	const anywhere = "http://base.invalid"
	origin, err := session.ParseOrigin(anywhere)
	if err != nil {
		return nil, err
	}
	m, err := session.Compile(session.Config{Files: []*hurl.File{parsed}, Origin: origin,
		Variables: []session.Variable{{Name: session.BaseVariable, Value: anywhere}}, Read: readBeside,
		Unknown: true})
	if err != nil {
		return nil, err
	}
	from, err := filepath.Abs(filepath.Dir(name))
	if err == nil {
		hurlFile, err = filepath.Abs(hurlFile)
	}
	if err == nil {
		hurlFile, err = filepath.Rel(from, hurlFile)
	}
	return experiment.HurlStarter(filepath.ToSlash(hurlFile), m.Unknowns()), err
}
