//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// captureZsh runs an interactive zsh in a pseudo-terminal of zsh's own, has it complete a line by
// the Tab key, and prints what its completion system was given: a line each.
const captureZsh = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; stty -echo; autoload -Uz compinit; compinit -u -d $ZDOTDIR/dump; source $ZDOTDIR/script
bindkey "^I" complete-word; bindkey "^M" accept-line
mark() { print -r -- "<marked>" }
compprefuncs=(mark); comppostfuncs=(mark)
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a hits
  builtin compadd -A hits "$@"
  (( $#hits )) && print -r -l -- $hits
  builtin compadd "$@"
}
print "<re""ady>"'
zpty -r z out '*<ready>*'
zpty -w -n z "$1"$'\t'
zpty -r z out '*<marked>*<marked>*'
print -r -- "$out"
zpty -d z
`

// bashAsks has an interactive bash complete a line by the Tab key, and prints what its completion
// was given. The newline that follows would run the line: dyno does nothing then.
const bashAsks = `printf '%s\n' 'source "$SCRIPT"' \
  '[[ $(complete -p dyno) == *"-F _dyno"* ]] || echo nothing is registered > asked' \
  'asked() { _dyno "$@"; printf "%s\n" "${COMPREPLY[@]}" > asked; COMPREPLY=(); }' \
  'complete -F asked dyno' 'dyno() { [ "$1" != complete ] || command dyno "$@"; }' \
  "$1"$'\t' | INPUTRC=/dev/null bash --norc --noprofile -i > log 2>&1
cat asked || cat log
`

// bashBecomes has an interactive bash complete a line by the Tab key and run it, and prints the
// words that dyno then gets.
const bashBecomes = `printf '%s\n' 'source "$SCRIPT"' \
  'dyno() { [ "$1" = complete ] && command dyno "$@" || printf "%s\n" "$@" > became; }' \
  "$1"$'\t' | INPUTRC=/dev/null bash --norc --noprofile -i > log 2>&1
cat became || cat log
`

// What the shells offer for a command line, asked of the shells themselves.
func TestCompletion(t *testing.T) {
	for _, shell := range []struct{ name, code string }{
		{"bash", bashAsks}, {"zsh", captureZsh}, {"fish", `source $SCRIPT; complete -C $argv[1]`},
	} {
		t.Run(shell.name, func(t *testing.T) {
			path := lookUpCommand(shell.name)
			if path == "" {
				t.Skipf("%s is not installed (see e2e/install.sh)", shell.name)
			}
			dir := completionDir(t, shell.name)
			if out, err := exec.Command(path, "-n", filepath.Join(dir, "script")).CombinedOutput(); err != nil {
				t.Fatalf("the script is no %s: %v\n%s", shell.name, err, out)
			}
			for _, c := range completions {
				got := offeredWords(t, dir, path, shell.code, c.line)
				for _, w := range strings.Fields(c.offers) {
					if !slices.Contains(got, w) {
						t.Errorf("%q offers %q; %s is missing", c.line, got, w)
					}
				}
				for _, w := range strings.Fields(c.not) {
					if slices.Contains(got, w) {
						t.Errorf("%q offers %s", c.line, w)
					}
				}
			}
		})
	}
}

var completions = []struct{ line, offers, not string }{
	{"dyno ru", "run", "report"},
	{"dyno ", "run lab history completion", "supervise complete"},
	{"dyno run --ar", "--arrival", "--rate --ar"},
	{"dyno run --arrival p", "poisson", "constant"},
	{"dyno run -c 5 --ring u", "uring", "epoll"},
	{"dyno run --tls-resume o", "on off", ""},
	{"dyno lab r", "run rerun", "list"},
	{"dyno lab run he", "hello", "redirects"},
	{"dyno history ", "note rm gc", "run"},
	{"dyno history --ma", "--machine", "--metric"},
	{"dyno history --machine a", "all", "this"},
	{"dyno report 2026", "20261123-061349-dc7c", "last"},
	{"dyno run --urls pa", "paths.txt", "run"},
	{"dyno import ", "paths.txt", ""},
	{"dyno run --script ", "visit.lua", "shop.hurl paths.txt"},
	{"dyno run --script scripts/", "", "notes.md scripts/notes.md"},
	{"dyno run ", "shop.hurl", "visit.lua paths.txt"},
	{"dyno find --slo p99<20ms ", "shop.hurl", "visit.lua paths.txt"},
	{"dyno vs ", "shop.hurl", "paths.txt"},
	{"dyno scenario check ", "shop.hurl visit.lua", "paths.txt"},
	{"dyno scenario run ", "shop.hurl visit.lua", "paths.txt"},
	{"dyno lab init --hurl s", "shop.hurl", "visit.lua"},
	{"dyno lab init --script ", "visit.lua", "shop.hurl paths.txt"},
	{"dyno wrk -s ", "visit.lua", ""},
	{"dyno history rm 2026", "20261123-061349-dc7c 20261123-070000-hello", "20261123-080000-other"},
	{"dyno export 2026", "20261123-061349-dc7c 20261123-070000-hello", ""},
	{"dyno completion ", "bash zsh fish", "paths.txt"},
	{"dyno http://127.0.0.1:8080/ --st", "--streams --stage", ""},
	{"dyno http://127.0.0.1:8080/ --ring u", "uring", "epoll"},
	{"dyno https://user@localhost:8080/ --method P", "PUT", "GET"},
}

// What a line becomes in bash, which cuts words at =, : and @.
func TestCompletionInBash(t *testing.T) {
	path := lookUpCommand("bash")
	if path == "" {
		t.Skip("bash is not installed (see e2e/install.sh)")
	}
	dir := completionDir(t, "bash")
	for line, want := range map[string]string{
		"dyno run --ring=ur":              "run --ring=uring",
		"dyno run --urls=pa":              "run --urls=paths.txt",
		"dyno run -b @pa":                 "run -b @paths.txt",
		"dyno  http://[::1]:80/ --connec": "http://[::1]:80/ --connect", // several begin so
		"dyno run --urls bodies":          "run --urls bodies",          // not bodies1.txt, which bodies[1].txt matches
		"dyno http://[::1]:80/ --pipe":    "http://[::1]:80/ --pipeline",
		"dyno report 2026":                "report 20261123-061349-dc7c",
	} {
		if got := strings.Join(offeredWords(t, dir, path, bashBecomes, line), " "); got != want {
			t.Errorf("%q becomes %q, want %q", line, got, want)
		}
	}
}

// completionDir makes a folder with a dyno to complete, files that it can find, and the shell's
// script.
func completionDir(t *testing.T, shell string) (dir string) {
	dir = t.TempDir()
	script, err := exec.Command(binary, "completion", shell).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"script": string(script), "paths.txt": "/\n",
		"shop.hurl": "", "visit.lua": "", "scripts/more.lua": "", "scripts/notes.md": "",
		"home/experiments/20261123-070000-hello/experiment.json": "{}",
		"home/experiments/20261123-080000-other/notes":           "",
		"bodies1.txt": "", "bodies[1].txt": "",
		"home/results/20261123-061349-dc7c.json": "{}"}
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(binary, filepath.Join(dir, "dyno")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// offeredWords returns the words that a shell offers for a command line.
func offeredWords(t *testing.T, dir, shell, code, line string) (words []string) {
	args := []string{"-c", code, "ask", line}
	if filepath.Base(shell) == "fish" { // whose arguments begin with the first
		args = []string{"--no-config", "-c", code, line}
	}
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SCRIPT="+dir+"/script",
		"DYNO_HOME="+dir+"/home", "HOME="+dir, "ZDOTDIR="+dir, "TERM=dumb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	for l := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimRight(l, "\r\n"), "\t")
		words = append(words, word)
	}
	return words
}
