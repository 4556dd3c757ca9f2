package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/setting"
)

// importedOption is --imported of what runs a stored experiment again.
func importedOption(to *bool) option {
	return option{"imported", "", "", "run an experiment that was imported: commands of who sent\n" +
		"it, which dyno lists without this flag", setSwitch(to)}
}

// refuseImported says what an imported experiment would run here, and load, and does none of it.
func (s streams) refuseImported(dir string, e *experiment.Experiment) int {
	s.writeLine("dyno: %s was imported: others wrote what it would run here", dir)
	for _, v := range e.Variants {
		for _, c := range commandsOf(v.Value) {
			s.writeLine("  %s: %s", v.Name, c)
		}
	}
	s.writeError(fmt.Sprintf("read %s; if you trust it all, give --imported",
		setting.ShellQuote(filepath.Join(dir, lab.SourceFile))))
	return exitUsage
}

// folderOfFile is the folder of an experiment's file; "" of one that ships with dyno.
func folderOfFile(p parsed) string {
	if len(p.words) == 0 || isShipped(p.words[0]) {
		return ""
	}
	return filepath.Dir(p.words[0])
}

// commandsOf are the commands that a variant executes, and the URL that is loaded.
func commandsOf(d experiment.Definition) (all []string) {
	add := func(what string, c experiment.Command) {
		if len(c) == 0 {
			return
		}
		words := make([]string, len(c))
		for i, w := range c {
			words[i] = setting.ShellQuote(string(w))
		}
		all = append(all, what+" "+strings.Join(words, " "))
	}
	for _, step := range d.Build {
		add("builds with", step.Cmd)
	}
	add("asks for its version with", d.Version)
	for _, p := range d.Processes {
		add("starts", p.Cmd)
	}
	if d.Generator != nil {
		add("is loaded by", d.Generator.Cmd)
	}
	return append(all, fmt.Sprintf("is loaded at %s", d.URL))
}
