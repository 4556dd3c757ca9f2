//go:build linux

package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The programs of the shells get command lines as their arguments, and print for each of them
// sectionOf with the line, and then a word a line. One shell does all lines: to start it and its
// completion takes much longer than to complete.
const sectionOf = "<of> "

// captureZsh runs an interactive zsh in a pseudo-terminal of zsh's own, has it complete each line by
// the Tab key, and prints what its completion system was given. What else it writes is outside of the
// marks; it must not list or ask, for ^U then erases the line.
const captureZsh = `zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PROMPT=; stty -echo; autoload -Uz compinit; compinit -u -d $ZDOTDIR/dump; source $ZDOTDIR/script
bindkey -e; bindkey "^I" complete-word; bindkey "^M" accept-line; setopt noautolist noautomenu
first() { print -r -- "<marked>"; compprefuncs=(first) }; first
last() { print -r -- "<marked>"; comppostfuncs=(last) }; last
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a hits
  builtin compadd -A hits "$@"
  (( $#hits )) && print -r -l -- $hits
  builtin compadd "$@"
}
print "<re""ady>"'
zpty -r z out '*<ready>*'
for line; do
  zpty -w -n z "$line"$'\t'
  zpty -r z out '*<marked>*<marked>*'
  zpty -w -n z $'\025'
  out=${out#*<marked>}
  print -r -- "<of> $line"
  print -r -- "${out%<marked>*}"
done
zpty -d z
`

// bashAsks has an interactive bash complete each line by the Tab key, and prints what its completion
// was given. The newline that follows would run the line: dyno does nothing then.
const bashAsks = `{ printf '%s\n' 'source "$SCRIPT"' \
  '[[ $(complete -p dyno) == *"-F _dyno"* ]] || { echo nothing is registered > asked; exit; }' \
  'asked() { _dyno "$@"; printf "%s\n" "<of> $COMP_LINE" "${COMPREPLY[@]}" >> asked; COMPREPLY=(); }' \
  'complete -F asked dyno' 'dyno() { [ "$1" != complete ] || command dyno "$@"; }'
printf '%s\t\n' "$@"; } | INPUTRC=/dev/null bash --norc --noprofile -i > log 2>&1
cat asked || cat log
`

// bashBecomes has an interactive bash complete each line by the Tab key and run it, and prints the
// words that dyno then gets.
const bashBecomes = `for line; do
  printf '%s\n' "line=${line@Q}" >> typed
  printf '%s\t\n' "$line" >> typed
done
{ printf '%s\n' 'source "$SCRIPT"' \
  'dyno() { [ "$1" = complete ] && command dyno "$@" || printf "%s\n" "<of> $line" "$@" >> became; }'
cat typed; } | INPUTRC=/dev/null bash --norc --noprofile -i > log 2>&1
cat became || cat log
`

// What the shells offer for a command line, asked of the shells themselves.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []struct{ name, code string }{
		{"bash", bashAsks}, {"zsh", captureZsh},
		{"fish", `source $SCRIPT; for line in $argv; echo "<of> $line"; complete -C $line; end`},
	} {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			path := lookUpCommand(shell.name)
			if path == "" {
				t.Skipf("%s is not installed (see e2e/install.sh)", shell.name)
			}
			dir := completionDir(t, shell.name)
			if out, err := exec.Command(path, "-n", filepath.Join(dir, "script")).CombinedOutput(); err != nil {
				t.Fatalf("the script is no %s: %v\n%s", shell.name, err, out)
			}
			var lines []string
			for _, c := range completions {
				lines = append(lines, c.line)
			}
			offered := offeredWords(t, dir, path, shell.code, lines)
			for _, c := range completions {
				got := offered[c.line]
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
	t.Parallel()
	path := lookUpCommand("bash")
	if path == "" {
		t.Skip("bash is not installed (see e2e/install.sh)")
	}
	dir := completionDir(t, "bash")
	becomes := map[string]string{
		"dyno run --ring=ur":              "run --ring=uring",
		"dyno run --urls=pa":              "run --urls=paths.txt",
		"dyno run -b @pa":                 "run -b @paths.txt",
		"dyno  http://[::1]:80/ --connec": "http://[::1]:80/ --connect", // several begin so
		"dyno run --urls bodies":          "run --urls bodies",          // not bodies1.txt, which bodies[1].txt matches
		"dyno http://[::1]:80/ --pipe":    "http://[::1]:80/ --pipeline",
		"dyno report 2026":                "report 20261123-061349-dc7c",
	}
	became := offeredWords(t, dir, path, bashBecomes, slices.Sorted(maps.Keys(becomes)))
	for line, want := range becomes {
		if got := strings.Join(became[line], " "); got != want {
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

// offeredWords returns the words that a shell's program prints for each of the command lines. All of
// them must be there, in their order.
func offeredWords(t *testing.T, dir, shell, code string, lines []string) map[string][]string {
	t.Helper()
	args := append([]string{"-c", code, "ask"}, lines...)
	if filepath.Base(shell) == "fish" { // whose arguments begin with the first
		args = append([]string{"--no-config", "-c", code}, lines...)
	}
	cmd := exec.CommandContext(t.Context(), shell, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SCRIPT="+dir+"/script",
		"DYNO_HOME="+dir+"/home", "HOME="+dir, "ZDOTDIR="+dir, "TERM=dumb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", lines, err, out)
	}
	words, had := map[string][]string{}, []string{}
	for l := range strings.Lines(string(out)) {
		l = strings.TrimRight(l, "\r\n")
		if line, begins := strings.CutPrefix(l, sectionOf); begins {
			had = append(had, line)
		} else if n := len(had); n > 0 {
			word, _, _ := strings.Cut(l, "\t")
			words[had[n-1]] = append(words[had[n-1]], word)
		}
	}
	if !slices.Equal(had, lines) {
		t.Fatalf("asked for %q, it completed %q:\n%s", lines, had, out)
	}
	return words
}
