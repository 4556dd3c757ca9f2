// Command hurl runs Hurl files with the real hurl and with dyno, against a server of its own, and
// compares what both send and whether both say that the file passes.
//
//	go run ./bench/hurl -hurl hurl -dyno ./dyno             the files of testdata
//	go run ./bench/hurl -hurl hurl -dyno ./dyno FILE...     other files
//	go run ./bench/hurl -hurl hurl -dyno ./dyno -parse FILE...
//	                                  only in which line both refuse a file
//	go run ./bench/hurl -hurl hurl -dyno ./dyno -listen localhost:8000 -server URL FILE...
//	                                  files that name localhost:8000, as Hurl's own tests do, whose
//	                                  server is at URL
//
// A file has the variables of variables.txt, and those of NAME.variables beside NAME.hurl.
//
// hurl is no part of dyno's tests, because Debian has no package of it. To install it, run
// cargo install --locked hurl.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// limit is how long one run of a file may take.
const limit = time.Minute

func main() {
	var c comparison
	flag.StringVar(&c.hurl, "hurl", "hurl", "the program hurl")
	flag.StringVar(&c.dyno, "dyno", "./dyno", "the program dyno")
	flag.StringVar(&c.folder, "files", "bench/hurl/testdata", "files, and variables.txt for them")
	flag.BoolVar(&c.parse, "parse", false, "compare only which files are refused, and where")
	flag.StringVar(&c.listen, "listen", "127.0.0.1:0", "where both programs send to")
	flag.StringVar(&c.behind, "server", "", "the server that answers; none: this program")
	flag.Parse()
	if err := c.compare(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "hurl:", err)
		os.Exit(1)
	}
}

// A comparison is what is compared.
type comparison struct {
	hurl, dyno, folder string
	parse              bool
	listen, behind     string
	base               string
	server             shop
	same, differ       int
	unsupported        map[string]int // files, by what dyno does not support
}

// compare compares files, or those of the folder.
func (c *comparison) compare(files []string) error {
	if len(files) == 0 {
		var err error
		if files, err = filepath.Glob(filepath.Join(c.folder, "*.hurl")); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	if c.behind != "" {
		if c.server.behind, err = newForwarder(c.behind); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: &c.server, ReadHeaderTimeout: limit}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	if c.base = "http://" + c.listen; strings.HasSuffix(c.listen, ":0") {
		c.base = "http://" + listener.Addr().String()
	}
	c.unsupported = map[string]int{}
	for _, f := range files {
		if c.parse {
			err = c.compareRefusal(f)
		} else {
			err = c.compareRun(f)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
	}
	fmt.Printf("%d files: %d are the same, %d differ\n", len(files), c.same, c.differ)
	for _, what := range slices.Sorted(maps.Keys(c.unsupported)) {
		fmt.Printf("  %d not compared: %s\n", c.unsupported[what], what)
	}
	if c.differ > 0 {
		return errors.New("there are differences")
	}
	return nil
}

// An outcome is what a program did with a file.
type outcome struct {
	code   int
	output string
	sent   []string
}

// run runs a program.
func (c *comparison) run(program string, args ...string) (o outcome, err error) {
	c.server.take()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	b, err := command.CombinedOutput()
	o = outcome{output: string(b), sent: c.server.take()}
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		o.code, err = exit.ExitCode(), nil
	}
	return o, err
}

// variables are the arguments that both programs take with a file.
func (c *comparison) variables(of string) []string {
	args := []string{"--variable", "base=" + c.base}
	own := strings.TrimSuffix(of, ".hurl") + ".variables"
	for _, file := range []string{filepath.Join(c.folder, "variables.txt"), own} {
		if exists(file) {
			args = append(args, "--variables-file", file)
		}
	}
	return args
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// notSupported finds what dyno says that it does not support.
var notSupported = regexp.MustCompile(`(the [a-z]+ ?\S* .*|\S.*?) (?:is|are) not supported`)

// compareRun compares what both programs send for a file, and whether it passes.
func (c *comparison) compareRun(file string) error {
	theirs, err := c.run(c.hurl, append(c.variables(file), "--no-color", "--test", file)...)
	if err != nil {
		return err
	}
	command := []string{"scenario", "run", "--timeout", limit.String(), file}
	ours, err := c.run(c.dyno, append(command, c.variables(file)...)...)
	if err != nil {
		return err
	}
	if m := notSupported.FindStringSubmatch(ours.output); m != nil && ours.code == dynoRefused {
		what := regexp.MustCompile(`^.*:\d+:\d+: `).ReplaceAllString(m[1], "")
		c.unsupported[what]++
		return nil
	}
	if theirs.code != 0 && ours.code == dynoRefused {
		c.unsupported["(both refuse it, hurl perhaps while it runs)"]++
		return nil
	}
	var a, b []int
	if theirs.code == hurlAsserts {
		a, b = theirs.failedLines(hurlFailed), ours.failedLines(dynoFailed)
	}
	if passed := theirs.code == 0; passed == (ours.code == 0) && sameLines(a, b) &&
		slices.Equal(theirs.sent, ours.sent) {
		c.same++
		return nil
	}
	c.differ++
	fmt.Printf("DIFFERENT %s: hurl exits with %d, dyno with %d; %d and %d requests; lines that "+
		"fail: %v and %v\n", file, theirs.code, ours.code, len(theirs.sent), len(ours.sent), a, b)
	for i := range max(len(theirs.sent), len(ours.sent)) {
		a, b := at(theirs.sent, i), at(ours.sent, i)
		if a != b {
			fmt.Printf("request %d of hurl:\n%s\nof dyno:\n%s\n", i+1, indented(a), indented(b))
		}
	}
	if (theirs.code == 0) != (ours.code == 0) || !sameLines(a, b) {
		fmt.Printf("hurl:\n%s\ndyno:\n%s\n", indented(theirs.output), indented(ours.output))
	}
	return nil
}

func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

func indented(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// failedLines are the lines of what fails, each once.
func (o outcome) failedLines(place *regexp.Regexp) (lines []int) {
	for _, m := range place.FindAllStringSubmatch(o.output, -1) {
		n, _ := strconv.Atoi(m[place.SubexpIndex("line")]) // digits
		if m[place.SubexpIndex("body")] != "" {
			n = ofBody
		}
		if !slices.Contains(lines, n) {
			lines = append(lines, n)
		}
	}
	slices.Sort(lines)
	return lines
}

// ofBody stands for the line of a body that differs: hurl names that of the first difference, and
// dyno that where the body begins.
const ofBody = 0

// sameLines reports whether the same lines fail. For hurl a body that cannot be decoded is another
// error than one that differs.
func sameLines(theirs, ours []int) bool {
	if slices.Equal(theirs, ours) {
		return true
	}
	others := slices.DeleteFunc(slices.Clone(ours), func(n int) bool { return n == ofBody })
	missing := slices.ContainsFunc(others, func(n int) bool { return !slices.Contains(theirs, n) })
	return !missing && len(others) < len(ours) && len(theirs) == len(ours)
}

// hurlFailed and dynoFailed find where an assert or a capture fails, hurlPlace and dynoPlace where
// a program refuses a file.
var (
	hurlFailed = regexp.MustCompile(`(?P<body>error: Assert body value\n\s+)?` +
		`--> .*?:(?P<line>\d+):\d+`)
	dynoFailed = regexp.MustCompile(`FAILED [^\s:]+(?: line |:)(?P<line>\d+)` +
		`(?P<body>: body:)?`)

	hurlPlace = regexp.MustCompile(`--> .*?:(\d+):\d+`)
	dynoPlace = regexp.MustCompile(`:(\d+):\d+: `)
)

// dynoRefused is dyno's exit code if it cannot read a file, or knows that it will fail.
const dynoRefused = 2

// hurlRefused and hurlAsserts are hurl's exit codes if it cannot read a file, and if an assert or a
// capture fails.
const (
	hurlRefused = 2
	hurlAsserts = 4
)

// compareRefusal compares in which line both programs refuse a file. hurl sends nothing if it can
// read one: the proxy is a port where nobody listens.
func (c *comparison) compareRefusal(file string) error {
	theirs, err := c.run(c.hurl, "--proxy", "http://127.0.0.1:9", "--to-entry", "1", file)
	if err != nil {
		return err
	}
	if theirs.code != hurlRefused {
		c.unsupported["(hurl takes the file)"]++
		return nil
	}
	ours, err := c.run(c.dyno, "scenario", "check", file)
	if err != nil {
		return err
	}
	a, b := "", ""
	if m := hurlPlace.FindStringSubmatch(theirs.output); m != nil {
		a = m[1]
	}
	if m := dynoPlace.FindStringSubmatch(ours.output); m != nil && ours.code == dynoRefused {
		b = m[1]
	}
	if a == b || a == "" && b != "" { // hurl names no line of a file that is not UTF-8
		c.same++
		return nil
	}
	c.differ++
	fmt.Printf("DIFFERENT %s: hurl refuses line %q, dyno line %q\n%s\n%s\n", file, a, b,
		indented(theirs.output), indented(ours.output))
	return nil
}
