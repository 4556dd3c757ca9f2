package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/luascript"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/fault"
	"dyno/internal/lab/experiment"
	"dyno/internal/lab/versus"
	"dyno/internal/setting"
)

// vsFlags is the command line of dyno vs. What is sent, and how, it has from dyno run.
type vsFlags struct {
	*runFlags
	secrets secretFlags

	compared       versus.Comparison
	path           string
	git            bool
	build, command string
	output         string
	conducted      bool // by a dashboard, which shows what is in the folder
}

func newVsFlags() *vsFlags { return &vsFlags{runFlags: newRunFlags()} }

func (f *vsFlags) groups() []group {
	c, all := &f.compared, f.readers()
	maps.Copy(all, readers{
		"url": setText(&c.Address), "ready": setText(&c.Ready), "path": setText(&f.path),
		"names": f.setNames,
		"git":   setSwitch(&f.git), "build": setText(&f.build), "run": setText(&f.command),
		"allow": f.addAllowed, "margin": f.setShare(&c.Margin),
		"max-regression": f.setShare(&c.Regression),

		"max-time": f.setTime(&c.Limits.Total), "precision": f.setShare(&c.Limits.Precision),
		"rounds": storeParsed(&c.Limits.Rounds, parseRounds), "duration": f.setTime(&c.Limits.Window),
		"warmup": f.setWarmup,

		"output": setText(&f.output), "show-secrets": setSwitch(&f.secrets.show),
	})
	return tableGroups(setting.Vs, &f.plan, all)
}

func (f *vsFlags) setShare(to *experiment.Share) func(string) error {
	return func(s string) error {
		err := to.UnmarshalText([]byte(s))
		if err == nil && *to <= 0 {
			err = fmt.Errorf("%q is nothing; write a percentage above 0, as 2%%", s)
		}
		return err
	}
}

func (f *vsFlags) setTime(to *time.Duration) func(string) error {
	return storeParsed(to, func(s string) (time.Duration, error) {
		d, err := setting.ParseDuration(s)
		if err == nil && d <= 0 {
			err = fmt.Errorf("%q is no time", s)
		}
		return d, err
	})
}

// setWarmup sets the warm-up, which may be 0.
func (f *vsFlags) setWarmup(s string) error {
	d, err := setting.ParseDuration(s)
	if err == nil && d == 0 {
		d = -1
	}
	f.compared.Limits.Warmup = d
	return err
}

func (f *vsFlags) setNames(s string) error {
	f.compared.Names = strings.Split(s, ",")
	return nil
}

// addAllowed adds headers and aspects in which answers may differ.
func (f *vsFlags) addAllowed(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return setting.ErrNoValue
		}
		f.compared.Allow = append(f.compared.Allow, name)
	}
	return nil
}

// parseRounds reads a number of rounds.
func parseRounds(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > roundsMax {
		return 0, fmt.Errorf("%q is not a number of rounds from 1 to %d", s, roundsMax)
	}
	return n, nil
}

// readVs reads the command line. The comparison is complete if there are no faults.
func readVs(ctx context.Context, args []string) (*vsFlags, []error) {
	f := newVsFlags()
	typed := args
	args, old := oldFlags(args, f.groups())
	p := parseOptions(args, f.groups())
	if f.help {
		return f, nil
	}
	err := unquotedFault(typed, f.groups(), newMarks(f.secrets.show))
	if err != nil && !f.git {
		return f, []error{err}
	}
	faults := append(append(old, p.faults...), contradictions(p.given)...)
	f.setSender()
	faults = append(faults, f.takeLevel(p.given)...)
	f.script.takeArgs(&p)
	faults = append(faults, f.takeWorkload(&p)...)
	dir, err := os.Getwd()
	if err != nil {
		return f, append(faults, fmt.Errorf("finding this folder: %w", err))
	}
	for i, w := range p.words {
		p.words[i] = requests.FullURL(w)
	}
	f.compared.Dir, f.compared.Servers = dir, p.words
	if long := f.compared.Overrun(len(p.words)); long > 0 {
		faults = append(faults, loadplan.Flaw{Setting: "--max-time", Problem: fmt.Sprintf("%v is too "+
			"short: a verdict needs six rounds, which take about %v with all else; give that or more",
			f.compared.Limits.Total, long)})
	}
	if !f.git {
		if f.build != "" || f.command != "" {
			faults = append(faults, errors.New("--build and --run are for revisions; add --git"))
		}
		return f, faults
	}
	if len(faults) > 0 {
		return f, faults
	}
	f.compared.Git, err = versus.OpenGit(ctx, dir, p.words)
	if err == nil {
		f.compared.Git.Build, f.compared.Git.Run = f.build, f.command
	}
	return f, append(faults, joinedErrors(err)...)
}

// takeLevel has the experiment's level from the flags that are given.
func (f *vsFlags) takeLevel(given map[string]bool) (faults []error) {
	if given["rounds"] && given["precision"] {
		faults = append(faults, loadplan.Flaw{Setting: "--rounds and --precision", Problem: "both say " +
			"when it ends; give one of them"})
	}
	faults = append(faults, f.loadFaults(given)...)
	l, taken := experiment.Default[experiment.Level](), maps.Clone(given)
	if !given["rate"] {
		delete(taken, "arrival") // constant, which is so
	}
	if err := l.Take(&f.plan, taken); err != nil {
		faults = append(faults, joinedErrors(err)...)
	}
	f.compared.Level = l
	return faults
}

// loadFaults are what the engine says of the settings that are given, whatever server they are for.
func (f *vsFlags) loadFaults(given map[string]bool) (faults []error) {
	p := f.plan
	p.Users = 0 // the requests that users send are not made yet
	for _, flaw := range p.SettingFlaws() {
		for field := range strings.SplitSeq(flaw.Setting, ", ") {
			if row := setting.Field(field); row != nil && given[row.Name] {
				faults = append(faults, setting.Heard(flaw, inVs))
				break
			}
		}
	}
	return faults
}

// inVs is the flag of a field of the plan; "" if dyno vs has none.
func inVs(field string) string {
	if row := setting.Field(field); row == nil || row.On&setting.Vs == 0 {
		return ""
	}
	return setting.InFlags(field)
}

// takeWorkload has the experiment's workload from the flags, and takes a Hurl file from the words.
func (f *vsFlags) takeWorkload(p *parsed) (faults []error) {
	w := &f.compared.Workload
	for _, in := range []struct {
		flag, file string
		to         *string
	}{
		{"--requests-file", f.requestsFile, &w.RequestsFile}, {"--urls", f.urls, &w.URLs},
		{"--data", f.filling.file, &w.Data}, {"FILE.hurl", f.takeHurlFile(p), &w.Hurl},
		{"--script", f.script.file, &w.Script},
	} {
		if in.file != "" {
			faults = append(faults, setFilePath(in.flag, in.file, in.to)...)
		}
	}
	if len(f.hurlFiles) > 0 {
		faults = append(faults, hurlFaults(p.given)...)
	}
	w.ScriptArgs = f.script.args
	for _, name := range slices.Sorted(maps.Keys(f.filling.variables)) {
		w.Variables = append(w.Variables,
			experiment.Entry[string]{Name: name, Value: f.filling.variables[name]})
	}
	if p.given["data-order"] {
		w.DataOrder = f.filling.order.String()
		if w.DataOrder == experiment.Once {
			faults = append(faults, loadplan.Flaw{Setting: "--data-order", Problem: "once is for a " +
				"number of requests, and dyno vs measures for a time; give another order"})
		}
	}
	taken := maps.Clone(p.given)
	delete(taken, "expect") // whose "any" is five classes of statuses
	delete(taken, "user")   // whose Text is a placeholder; it is set below
	w.User = f.plan.User
	if p.given["stream"] && !p.given["stall"] {
		w.Stream.SetDefaults()
	}
	w.Expect.Status = experimentStatuses(f.plan.Expect)
	if err := w.Take(&f.plan, taken); err != nil {
		faults = append(faults, joinedErrors(err)...)
	}
	if format := f.markedFormat(); format != "" && w.Stream.Format == "" {
		w.Stream.SetDefaults()
		w.Stream.Format = format
	}
	return append(faults, f.takeRequest(p.given)...)
}

// markedFormat is the format of the streams that the Hurl file or the script marks; "" if there is
// none, or if the file has faults, which are reported when the experiment is checked.
func (f *vsFlags) markedFormat() (format string) {
	for _, name := range f.hurlFiles {
		if text, err := readText(name); err == nil {
			if file, err := hurl.Parse(name, text); err == nil {
				format = file.StreamFormat()
			}
		}
	}
	if f.script.file != "" {
		if text, err := readText(f.script.file); err == nil {
			format, _ = luascript.StreamFormat(f.script.file, text)
		}
	}
	return format
}

// takeHurlFile takes the first Hurl file from the words; "" if there is none.
func (f *vsFlags) takeHurlFile(p *parsed) (name string) {
	i := slices.IndexFunc(p.words, func(w string) bool {
		return strings.EqualFold(filepath.Ext(w), hurlEnding) && !strings.ContainsAny(w, " \t") &&
			!versus.IsURL(w)
	})
	if i >= 0 {
		name, p.words = p.words[i], slices.Delete(slices.Clone(p.words), i, i+1)
		f.hurlFiles = []string{name}
	}
	return name
}

// takeRequest has the request from the flags, if they say anything of one.
func (f *vsFlags) takeRequest(given map[string]bool) (faults []error) {
	r := experiment.Request{Method: f.defaults.Method, Path: f.path}
	body, isFile := strings.CutPrefix(f.body, "@")
	switch {
	case isFile:
		faults = setFilePath("--body", body, &r.BodyFile)
	default:
		r.Body = f.body
	}
	if f.hasBody && r.Method == "" {
		r.Method = "POST"
	}
	header := slices.Clone(f.defaults.Header)
	if f.user != "" {
		header = append(header, proto.Field{Name: "Authorization", Value: f.user})
	}
	for i, h := range header {
		same := func(other proto.Field) bool { return strings.EqualFold(other.Name, h.Name) }
		if slices.ContainsFunc(header[:i], same) {
			faults = append(faults, fmt.Errorf("--header %s: is given twice; an experiment sends each "+
				"header once", h.Name))
			continue
		}
		r.Headers = append(r.Headers, experiment.Entry[string](h))
	}
	asked := given["method"] || given["path"] || given["header"] || f.user != "" || given["body"]
	if asked {
		f.compared.Workload.Request = r
	}
	if w := f.compared.Workload; asked && (w.RequestsFile != "" || w.URLs != "") {
		faults = append(faults, errors.New("--requests-file and --urls say what is asked for; leave out "+
			"--method, --path, --header, --user and --body"))
	}
	return faults
}

// setFilePath sets the absolute path of a file that the experiment names, which is read again
// whenever it is run.
func setFilePath(flag, name string, to *string) []error {
	if name == "-" {
		return []error{loadplan.Flaw{Setting: flag, Problem: "stdin can be read once, and an " +
			"experiment is run again; name a file"}}
	}
	full, err := filepath.Abs(name)
	if err == nil {
		_, err = os.Stat(name) // as the user wrote it
	}
	if err != nil {
		return []error{loadplan.Flaw{Setting: flag, Problem: fault.Text(err)}}
	}
	*to = filepath.ToSlash(full)
	return nil
}

// experimentStatuses are statuses as experiments have them.
func experimentStatuses(all []loadplan.Statuses) (as experiment.Statuses) {
	for _, s := range all {
		if s != loadplan.AnyStatus() {
			as = append(as, experiment.Status{From: int(s.From), To: int(s.To)})
			continue
		}
		for class := 100; class <= 500; class += 100 {
			as = append(as, experiment.Status{From: class, To: class + 99})
		}
	}
	return as
}
