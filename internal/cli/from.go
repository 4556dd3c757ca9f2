package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dyno/internal/atomicfile"
	"dyno/internal/engine/loadplan"
	"dyno/internal/imports"
	"dyno/internal/imports/accesslog"
	"dyno/internal/imports/curl"
	"dyno/internal/imports/har"
	"dyno/internal/imports/vegeta"
	"dyno/internal/view/format"
)

const fromNotes = `The requests file has paths and no host: dyno run is given the URL of the host.
With --base, requests for other hosts are left out and listed; --host takes those of
another host instead, as of a page that was recorded elsewhere. In the place of a
secret is a variable, {{name}}, of which dyno run wants the value: by --variable, or
by --data and the file of --secrets. What was left out and replaced, and how to run
the file, is written to stderr.
`

const logNotes = `Without --format, the lines say whether it is a combined or common log of nginx or
Apache, perhaps with the host before or fields behind, or JSON, whose fields are known by
their names (Caddy, Traefik, Envoy, nginx with escape=json, and others). A format is
written as in nginx's log_format, '$remote_addr [$time_local] "$request" $status', or as
in Apache's LogFormat, '%h %t "%r" %>s'; it may end before the line does. A line of
another form is left out, counted and shown. Equal requests become one line
with a weight. With --replay, each request keeps its own time, and dyno run sends it then.
A log has no bodies and no headers.
` + fromNotes

// fromFlags is the command line of dyno from.
type fromFlags struct {
	helpFlag
	source  string // what the verb reads
	base    string
	options imports.Options
	output  string
	secrets string
	format  *accesslog.Format
}

func (f *fromFlags) groups() []group {
	all := []option{
		{"base", "", "URL", "where the requests will be sent, as http://127.0.0.1:8080; those for\n" +
			"other hosts are left out", f.setBase},
		{"host", "", "HOST", "take the requests for this host, not for that of --base",
			storeParsed(&f.options.Host, imports.ParseHost)},
	}
	if f.source == "access-log" {
		all = append(all,
			option{"format", "", "FORMAT", "the form of a line, as in nginx's log_format or Apache's\n" +
				"LogFormat (found by the first line)", f.setFormat},
			option{"replay", "", "SPEED", "keep the times: 1x as they were, 10x ten times as fast",
				storeParsed(&f.options.Speed, parseSpeed)})
	}
	return []group{{"Flags", append(all,
		option{"output", "o", "FILE|-", f.outputHelp(), setText(&f.output)},
		option{"secrets", "", "FILE.jsonl", "write the values of secrets there, as a row for --data;\n" +
			"only you can read it (they are not written)", setText(&f.secrets)},
		option{"help", "h", "", "this", setSwitch(&f.help)})}}
}

// outputHelp is the help of -o.
func (f *fromFlags) outputHelp() string {
	if f.source == "access-log" {
		return "write the requests file there (stdout)"
	}
	return "write the requests file there, or, if FILE ends in .hurl, a\nHurl file (stdout)"
}

func (f *fromFlags) setBase(s string) error {
	h, err := imports.ParseBase(s)
	if err == nil {
		f.base = s
	}
	if f.options.Host == (imports.Host{}) {
		f.options.Host = h
	}
	return err
}

func (f *fromFlags) setFormat(s string) error {
	parsed, err := accesslog.ParseFormat(s)
	f.format = &parsed
	return err
}

// parseSpeed parses how many times as fast a log is replayed: 2x, 0.5x or 2.
func parseSpeed(s string) (float64, error) {
	speed, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(speed >= 0.001 && speed <= 1e6) {
		return 0, fmt.Errorf("%q is not a speed from 0.001x to 1000000x, as 1x or 10x", s)
	}
	return speed, nil
}

// An imported is what an import found, besides the requests.
type imported struct {
	notes []string
	run   []string // flags of dyno run
	url   string   // of a socket; "": that of the requests
}

// fromVerb is dyno from SOURCE. read gives the requests to the collector.
func fromVerb(source string, read func(*fromFlags, streams, string, *imports.Collector) (imported,
	error)) func(streams, []string) int {
	return func(s streams, args []string) int {
		f := &fromFlags{source: source}
		var command []string
		if source == "curl" {
			args, command = splitCommand(args)
		}
		p := parseOptions(args, f.groups())
		if f.help {
			return s.printHelp("from " + source)
		}
		faults := p.faults
		switch {
		case command != nil:
			faults = append(faults, p.extraWords(0)...)
		case len(p.words) == 0:
			faults = append(faults, errors.New(missingSource(source)))
		default:
			faults = append(faults, p.extraWords(1)...)
		}
		if f.secrets != "" && !strings.HasSuffix(f.secrets, ".jsonl") {
			faults = append(faults, loadplan.Flaw{Setting: "--secrets", Problem: "FILE ends in .jsonl"})
		}
		if len(faults) > 0 {
			return s.refuseFlags("from "+source, faults)
		}
		name := joinWords(command)
		if command == nil {
			name = p.words[0]
		}
		f.options.Jar = f.writesHurl()
		c := &imports.Collector{Options: f.options}
		found, err := read(f, s, name, c)
		if err != nil {
			return s.failWith(exitUsage, err)
		}
		return s.writeRequests(f, c, found)
	}
}

// missingSource is the fault of a command line without what to read.
func missingSource(source string) string {
	if source == "curl" {
		return "no command is given; write one in quotes, as dyno from curl 'curl http://localhost/'"
	}
	return "no file is given; - is stdin"
}

// splitCommand parts a command line at a command that is not quoted: dyno from curl curl URL.
func splitCommand(args []string) (flags, command []string) {
	i := slices.IndexFunc(args, func(a string) bool { return path.Base(a) == "curl" })
	if i < 0 {
		return args, nil
	}
	return args[:i], args[i:]
}

// openSource opens the file that an import reads.
func openSource(name string, stdin io.Reader) (io.ReadCloser, string, error) {
	if name == "-" {
		return io.NopCloser(stdin), "stdin", nil
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	return in, name, nil
}

// readFrom has parse read the file of that name.
func readFrom(s streams, name string, parse func(file string, r io.Reader) error) error {
	in, file, err := openSource(name, s.in)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := limitDevice(in)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return parse(file, r)
}

// fromCurl reads a command: the word itself, or with - stdin.
func fromCurl(_ *fromFlags, s streams, text string, c *imports.Collector) (i imported, err error) {
	file := "the command"
	if text == "-" {
		err = readFrom(s, text, func(name string, r io.Reader) error {
			b, err := imports.ReadAll(name, r)
			text, file = string(b), name
			return err
		})
	}
	if err != nil {
		return i, err
	}
	words, err := curl.Words(file, text)
	if err != nil {
		return i, err
	}
	command, err := curl.Parse(words)
	if err != nil {
		return i, fmt.Errorf("%s: %w", file, err)
	}
	for _, r := range command.Requests {
		if err := c.Add(r); err != nil {
			return i, fmt.Errorf("%s: %w", file, err)
		}
	}
	return imported{notes: command.Notes, run: command.Run, url: command.URL}, nil
}

func fromHAR(_ *fromFlags, s streams, name string, c *imports.Collector) (i imported, err error) {
	err = readFrom(s, name, func(file string, r io.Reader) error {
		archive, err := har.Read(file, r, c.Add, c.Drop)
		if archive.Cached > 0 {
			i.notes = append(i.notes, fmt.Sprintf("%s came from the browser's cache and not over "+
				"the network", format.Plural(int64(archive.Cached), "entry")))
		}
		for _, name := range archive.Nameless {
			i.notes = append(i.notes, fmt.Sprintf("left out: the header %.60q, which is none", name))
		}
		if archive.Changed > 0 {
			i.notes = append(i.notes, fmt.Sprintf("of %s the file has not the whole body: it lacks bytes "+
				"that are no text, or the files of a form", format.Plural(int64(archive.Changed), "request")))
		}
		return err
	})
	return i, err
}

func fromLog(f *fromFlags, s streams, name string, c *imports.Collector) (i imported, err error) {
	c.Merge = true
	err = readFrom(s, name, func(file string, r io.Reader) error {
		log, err := accesslog.Read(file, r, f.format, c.Add)
		note := func(format string, args ...any) {
			i.notes = append(i.notes, fmt.Sprintf(format, args...))
		}
		if log.Format != "" {
			note("%s in the form: %s", format.Plural(int64(log.Lines), "line"), log.Format)
		}
		if log.Odd > 0 {
			note("%s of another form left out, the first is %s", format.Plural(int64(log.Odd), "line"),
				log.FirstOdd)
		}
		if log.Skipped > 0 {
			note("%s without a request that HTTP has, the first is line %d",
				format.Plural(int64(log.Skipped), "line"), log.First)
		}
		if log.Bodiless > 0 {
			note("%s had a body, perhaps; the log does not have it, and it is sent empty",
				format.Plural(int64(log.Bodiless), "POST, PUT or PATCH"))
		}
		if len(log.Failed) > 0 {
			failed, n := slices.Collect(maps.Keys(log.Failed)), 0
			for _, times := range log.Failed {
				n += times
			}
			expect := imports.Expected(failed)
			note("%s had the status %s, which counts as an error; --expect %s takes it for right",
				format.Plural(int64(n), "request"), strings.TrimPrefix(expect, "2xx,3xx,"), expect)
		}
		return err
	})
	return i, err
}

func fromVegeta(_ *fromFlags, s streams, name string, c *imports.Collector) (imported, error) {
	note := "vegeta asks for gzip and follows redirects, which the targets do not say; dyno run " +
		"does so with -H 'Accept-Encoding: gzip' --follow 10"
	return imported{notes: []string{note}}, readFrom(s, name, func(file string, r io.Reader) error {
		return vegeta.Read(file, r, c.Add)
	})
}

// writeRequests writes the requests file, and to stderr what there is to know of it.
func (s streams) writeRequests(f *fromFlags, c *imports.Collector, found imported) int {
	for _, n := range found.notes {
		s.writeLine("%s", n)
	}
	for _, d := range c.Dropped {
		s.writeLine("left out: %s, %s (%s)", d.Host, format.Plural(int64(d.Count), "request"),
			format.Clip(d.First, 120))
	}
	if c.Requests() == 0 {
		s.writeLine("dyno: no request is left%s", f.hostHint(c))
		return exitUnreachable
	}
	var b bytes.Buffer
	if f.writesHurl() {
		if err := c.WriteHurl(&b); err != nil {
			return s.failWith(exitUsage, err)
		}
	} else if err := c.Write(&b); err != nil {
		return s.failWith(exitFault, err)
	}
	if err := s.writeSecrets(f, c.Secrets()); err != nil {
		return s.failWith(exitUsage, err)
	}
	file := f.output
	if file == "" || file == "-" {
		file = "-"
		if code := s.printText(b.String()); code != exitOK {
			return code
		}
	} else if err := writeFile(file, atomicfile.ContentWriter(b.Bytes())); err != nil {
		return s.failWith(exitUsage, err)
	}
	s.writeLine("%s; to send them:", format.Plural(int64(c.Requests()), "request"))
	s.writeLine("  %s", f.runLine(c, file, found))
	return exitOK
}

// writesHurl reports whether the output is a Hurl file.
func (f *fromFlags) writesHurl() bool {
	return strings.EqualFold(filepath.Ext(f.output), hurlEnding)
}

// hostHint is what to do if all requests were for other hosts.
func (f *fromFlags) hostHint(c *imports.Collector) string {
	if len(c.Dropped) == 0 {
		return ""
	}
	return "; if those of " + c.Dropped[0].Host + " are meant, add --host " +
		strings.TrimPrefix(strings.TrimPrefix(c.Dropped[0].Host, "http://"), "https://")
}

// writeSecrets names the secrets, and writes their values if that is wanted.
func (s streams) writeSecrets(f *fromFlags, all []imports.Secret) error {
	row := map[string]string{}
	for _, secret := range all {
		s.writeLine("a secret: {{%s}} is in the place of that of the %s", secret.Variable, secret.Where)
		row[secret.Variable] = secret.Value
	}
	if f.secrets == "" {
		return nil
	}
	b, err := json.Marshal(row)
	if err != nil {
		return err
	}
	return atomicfile.Replace(f.secrets, 0o600, atomicfile.ContentWriter(append(b, '\n')))
}

// runLine is the command that sends the requests of a file.
func (f *fromFlags) runLine(c *imports.Collector, file string, found imported) string {
	words := append([]string{"dyno", "run", "--requests-file", file}, found.run...)
	if f.writesHurl() {
		words = append([]string{"dyno", "run", file}, found.run...)
	}
	if f.secrets != "" && len(c.Secrets()) > 0 {
		words = append(words, "--data", f.secrets)
	} else {
		for _, secret := range c.Secrets() {
			words = append(words, "--variable", secret.Variable+"=VALUE")
		}
	}
	url := cmp.Or(f.base, found.url, c.Origin().String(), "URL")
	if f.writesHurl() {
		return joinWords(append(words, "--variable", imports.BaseVariable+"="+url))
	}
	return joinWords(append(words, url))
}

// joinWords is a command line of words, quoted for a shell where they need it.
func joinWords(words []string) string {
	var quoted []string
	for _, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'\\$`&|;<>()*?[]{}~#!^") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}

// fromVerbs are the verbs that import requests.
func fromVerbs() []verb {
	one := func(source, args, does, more string, read func(*fromFlags, streams, string,
		*imports.Collector) (imported, error), examples ...string) verb {
		return verb{name: "from " + source, args: "[flags] " + args, does: does,
			run: fromVerb(source, read), groups: (&fromFlags{source: source}).groups, more: more,
			examples: examples}
	}
	return []verb{
		one("curl", "COMMAND|-", "make a requests file of a command of curl", fromNotes, fromCurl,
			`dyno from curl 'curl -X PUT -d a=1 http://127.0.0.1:8080/item' -o item.jsonl`),
		one("har", "FILE|-", "make a requests file of a HAR file of a browser", fromNotes, fromHAR,
			"dyno from har page.har --base http://127.0.0.1:8080 -o page.jsonl",
			"dyno from har page.har --base http://127.0.0.1:8080 -o page.hurl"),
		one("access-log", "FILE|-", "make a requests file of a server's access log", logNotes, fromLog,
			"dyno from access-log access.log -o mix.jsonl",
			"dyno from access-log access.log --replay 10x -o replay.jsonl"),
		one("vegeta", "FILE|-", "make a requests file of vegeta's targets", fromNotes, fromVegeta,
			"dyno from vegeta targets.txt --base http://127.0.0.1:8080 -o targets.jsonl"),
	}
}
