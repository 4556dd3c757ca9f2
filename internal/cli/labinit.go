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
	"dyno/internal/lab"
	"dyno/internal/lab/experiment/starter"
	"dyno/internal/lab/judge"
	"dyno/internal/redact"
	"dyno/internal/setting"
)

// initFlags is the command line of dyno lab init.
type initFlags struct {
	helpFlag
	hurl   string
	script string
	from   string
}

func (f *initFlags) groups() []group {
	return []group{{"", []option{
		{"from", "", "DIR", "the experiment that follows the screening in this folder", setText(&f.from)},
		{"hurl", "", "FILE.hurl", "an experiment that runs this Hurl file", setText(&f.hurl)},
		{"script", "", "FILE.lua", "an experiment that runs this script; its arguments follow --",
			setText(&f.script)},
		{"help", "h", "", "this", setSwitch(&f.help)}}}}
}

// labInit is dyno lab init: it writes a file to begin with.
func labInit(s streams, args []string) int {
	var f initFlags
	p := parseOptions(args, f.groups())
	if f.help {
		return s.printHelp("lab init")
	}
	var scriptArgs []string
	if f.script != "" {
		n := len(p.words) - p.after
		scriptArgs, p.words, p.after = p.words[n:], p.words[:n], 0
	}
	faults := append(p.faults, p.extraWords(1)...)
	if given := f.kinds(); len(given) > 1 {
		faults = append(faults, fmt.Errorf("%s: each writes another experiment; give one",
			strings.Join(given, " and ")))
	}
	if len(faults) > 0 {
		return s.refuseFlags("lab init", faults)
	}
	if f.from != "" {
		return s.initFollowUp(f.from, p.words)
	}
	name := "experiment.yaml"
	if len(p.words) == 1 {
		name = p.words[0]
	}
	text := starter.Plain()
	switch {
	case f.hurl != "":
		var err error
		text, err = hurlStarter(name, f.hurl)
		faults = joinedErrors(err)
	case f.script != "":
		text, faults = scriptStarter(name, f.script, scriptArgs)
	}
	if len(faults) > 0 {
		return s.refuseFlags("lab init", faults)
	}
	return s.writeExperiment(name, text)
}

// kinds are the flags given that say which experiment is written.
func (f *initFlags) kinds() (given []string) {
	for _, one := range []struct{ flag, value string }{{"--from", f.from}, {"--hurl", f.hurl},
		{"--script", f.script}} {
		if one.value != "" {
			given = append(given, one.flag)
		}
	}
	return given
}

// writeExperiment writes a new experiment file, and says what to do with it.
func (s streams) writeExperiment(name string, text []byte) int {
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

// initFollowUp writes the experiment that follows the screening in dir. Relative paths in its file
// are those of the screening's file, so it is written into the same folder.
func (s streams) initFollowUp(dir string, words []string) int {
	r, err := judge.Open(dir)
	if err != nil {
		return s.failWith(exitUsage, err)
	}
	here := r.Experiment.Here
	name := filepath.Join(here, r.Name+"-follow-up.yaml")
	if len(words) == 1 {
		name = words[0]
		if at, err := filepath.Abs(filepath.Dir(name)); err != nil || at != here {
			return s.failWith(exitUsage, fmt.Errorf("%s: the files that the screening names are relative "+
				"to its folder; write it into %s", name, here))
		}
	}
	source, err := os.ReadFile(filepath.Join(dir, lab.SourceFile))
	if err == nil {
		source, err = judge.FollowUp(r, source)
	}
	if err != nil {
		return s.failWith(exitUsage, fmt.Errorf("%s: %w", dir, err))
	}
	code := s.writeExperiment(name, source)
	if code == exitOK && redact.HasMark(string(source)) {
		s.writeLine("dyno: secrets were not stored; write them into %s in place of (redacted…)", name)
	}
	return code
}

// hurlStarter is an experiment file of that name to begin with, which runs a Hurl file.
func hurlStarter(name, hurlFile string) ([]byte, error) {
	if !strings.EqualFold(filepath.Ext(hurlFile), hurlEnding) {
		return nil, loadplan.Flaw{Setting: "--hurl", Problem: "the file does not end in " + hurlEnding}
	}
	text, err := readText(hurlFile)
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
		Unknown: true, Voice: setting.Key})
	if err != nil {
		return nil, err
	}
	hurlFile, err = besideExperiment(name, hurlFile)
	return starter.Hurl(hurlFile, m.StreamFormat(), m.Unknowns()), err
}

// scriptStarter is an experiment file of that name to begin with, which runs a script with these
// arguments. It compiles the script, whose functions setup and init run.
func scriptStarter(name, script string, args []string) (text []byte, faults []error) {
	f := newScenarioFlags()
	f.script.file, f.script.args = script, args
	if faults = f.readScript(parsed{words: []string{unloadedURL}}); len(faults) > 0 {
		return nil, faults
	}
	script, err := besideExperiment(name, script)
	return starter.Script(script, f.plan.Stream.Format, args), joinedErrors(err)
}

// besideExperiment is a file as the experiment file of that name has it: relative to its folder.
func besideExperiment(name, file string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(name))
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err == nil {
		file, err = filepath.Rel(from, file)
	}
	return filepath.ToSlash(file), err
}
