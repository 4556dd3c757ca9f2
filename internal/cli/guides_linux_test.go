package cli

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// guides are the pages that answer one question each. Pages about one verb have tests of their own.
var guides = []string{twoServers, "install.md", "first-load.md", "open-or-closed.md", "reading-a-report.md", "is-my-result-real.md",
	"how-much.md", "compare-two-builds.md", "scenarios.md", "ci.md", "faq.md", "troubleshooting.md"}

// An instruction is a command of a page and the lines of output that the page shows.
type instruction struct {
	command string
	shown   []string
}

// instructionsOf are the commands in the blocks of a page that show a console.
func instructionsOf(page string) (all []instruction) {
	for _, block := range strings.Split(page, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			line = strings.TrimRight(line, "\n")
			if command, is := strings.CutPrefix(line, "$ "); is {
				all = append(all, instruction{command: command})
			} else if n := len(all); n > 0 && line != "" {
				all[n-1].shown = append(all[n-1].shown, line)
			}
		}
	}
	return all
}

// Labels of lines: "  latency  p50 …" of a report, and the words at the beginning of other lines.
var lineLabel = regexp.MustCompile(`^(?: {2}([a-z]+)(?: |$)|(\S+))`)

// afterNumber are the words that follow the number with which a line begins.
var afterNumber = regexp.MustCompile(`^[\d.,]+( [a-z/]+ [a-z]+)`)

// checkShown checks that an output has a line with the label of each line that is shown.
func checkShown(t *testing.T, line string, shown []string, got string) {
	t.Helper()
	for _, want := range shown {
		m := lineLabel.FindStringSubmatch(want)
		if m == nil { // it continues the line before
			continue
		}
		label := regexp.QuoteMeta(m[1] + m[2])
		if unit := afterNumber.FindStringSubmatch(want); unit != nil { // any number of the same
			label = `[\d.,]+` + regexp.QuoteMeta(unit[1])
		}
		if !regexp.MustCompile(`(?m)^ *` + label).MatchString(got) {
			t.Errorf("%s: the page shows a line %q, and the output has none:\n%s", line, label, got)
		}
	}
}

// Every command of the guides does what it says, in the order of its page, and the lines that a page
// shows are there.
func TestGuides(t *testing.T) {
	t.Parallel()
	for _, name := range guides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == twoServers {
				tryTwoServers(t, readGuide(t, name))
				return
			}
			tryGuide(t, name)
		})
	}
}

func readGuide(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// writeSession writes the session of a page, and the rows of its users.
func writeSession(t *testing.T, dir, page string) {
	t.Helper()
	for name, language := range map[string]string{"login.hurl": "hurl", "users.csv": "csv"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(fenced(t, page, language)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func tryGuide(t *testing.T, name string) {
	page, dir, served := readGuide(t, name), t.TempDir(), new(atomic.Int64)
	server := httptest.NewServer(unhurried(answer(served)))
	if strings.Contains(page, "```hurl\n") {
		writeSession(t, dir, page)
		server.Close()
		shop := newShop(t)
		server = shop.Server
		defer func() {
			if shop.wrong.Load() > 0 || shop.bought.Load() == 0 {
				t.Errorf("%d requests were wrong, %d bought", shop.wrong.Load(), shop.bought.Load())
			}
		}()
	}
	t.Cleanup(server.Close)
	all := instructionsOf(page)
	if len(all) == 0 {
		t.Error("the page has no command")
	}
	for _, i := range all {
		line := strings.ReplaceAll(i.command, "http://127.0.0.1:8080", server.URL)
		switch {
		case strings.HasPrefix(line, "dyno target"): // ours is there already
		case strings.HasPrefix(line, "dyno find"):
			if found := tryFind(t, dir, line); found != "" {
				checkShown(t, line, i.shown, found)
			}
		case strings.HasPrefix(line, "dyno vs"):
			tryVs(t, line, server.URL)
		default:
			tryInstruction(t, dir, line, i.shown)
		}
	}
}

// tryInstruction runs a command for a short time. It may miss an objective, reach nobody, or not trust
// itself, as the pages show; it may not be wrong.
func tryInstruction(t *testing.T, dir, line string, shown []string) {
	t.Helper()
	if !strings.HasPrefix(line, "dyno ") {
		t.Errorf("%s: only dyno's commands are tested", line)
		return
	}
	if strings.HasPrefix(line, "dyno run") {
		line = timed.ReplaceAllString(line, " -d 300ms")
		line = strings.Replace(line, "-R 1200", "-R 600", 1)
	}
	out, errs, code := runLine(t, dir, line)
	fine := []int{exitOK, exitMissed, exitUntrusted}
	longer := strings.Replace(line, " -d 300ms", " -d 10s", 1)
	switch {
	case strings.Contains(strings.Join(shown, " "), "UNREACHABLE"):
		fine = []int{exitUnreachable}
	case code == exitUnreachable && longer != line: // on a busy machine the time is over before an answer
		t.Logf("%s: again, for longer:\n%s\n%s", line, out, errs)
		line = longer
		out, errs, code = runLine(t, dir, line)
	}
	if !slices.Contains(fine, code) {
		t.Errorf("%s: exit code %d\n%s\n%s", line, code, out, errs)
	}
	checkShown(t, line, shown, out)
}

// runLine runs a command line, and returns what it wrote to stdout and stderr and its exit code.
func runLine(t *testing.T, dir, line string) (out, errs string, code int) {
	t.Helper()
	c := shell(t, dir, line)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.Output()
	if exit, failed := errors.AsType[*exec.ExitError](err); failed {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return string(stdout), stderr.String(), code
}

// Every command of dyno in the tables for users of other tools is one that dyno takes, and loads.
func TestComingFrom(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "coming-from.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir, served := t.TempDir(), new(atomic.Int64)
	server := httptest.NewServer(unhurried(answer(served)))
	t.Cleanup(server.Close)
	for name, content := range map[string]string{"users.csv": "id\n1\n2\n",
		"body.json": "{}", "urls.txt": "/1\n/2\n",
		"script.lua": "function request() return wrk.format(nil, '/x') end\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	span := regexp.MustCompile("`(dyno run [^`]*URL[^`]*)`")
	shorter := regexp.MustCompile(` (-d \S+|-n \S+|-c 1000)`)
	ran := 0
	for line := range strings.Lines(string(text)) {
		for _, m := range span.FindAllStringSubmatch(line, -1) {
			ran++
			command := strings.Replace(shorter.ReplaceAllString(m[1], ""), "URL", server.URL+"/", 1)
			command = strings.NewReplacer("--stage 10s:", "--stage 100ms:", "--stage 20s:", "--stage 200ms:").Replace(command)
			if !strings.Contains(command, "--stage") {
				command = strings.Replace(command, "dyno run", "dyno run -n 120", 1)
			}
			out, err := shell(t, dir, command).CombinedOutput()
			exit, failed := errors.AsType[*exec.ExitError](err)
			missed := failed && exit.ExitCode() == exitMissed && strings.Contains(command, "--slo")
			if err != nil && !missed || served.Swap(0) == 0 {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
		}
	}
	for _, tool := range []string{"wrk", "wrk2", "ab", "hey", "oha", "go-meter"} {
		if _, is := findVerb(tool); !is {
			t.Errorf("dyno %s is not a verb", tool)
		}
	}
	if ran < 18 {
		t.Errorf("the page has %d commands", ran)
	}
}

// The index names every guide, and every link of a guide or of the index leads to a file.
func TestIndexOfDocs(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	index, err := os.ReadFile(filepath.Join(docs, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(docs, "*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatal(pages, err)
	}
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range pages {
		base := filepath.Base(page)
		if !slices.Contains(append([]string{"README.md", "coming-from.md"}, guides...), base) {
			continue
		}
		if base != "README.md" && !strings.Contains(string(index), "("+base+")") {
			t.Errorf("the index has no %s", base)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(docs, m[1])); err != nil {
				t.Errorf("%s: %v", base, err)
			}
		}
	}
}
