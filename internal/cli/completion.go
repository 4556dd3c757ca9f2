package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dyno/internal/dynohome"
	"dyno/internal/lab"
	"dyno/internal/lab/experiment"
	"dyno/internal/lazyregexp"
	"dyno/internal/setting"
)

// The scripts of the shells ask dyno itself, by the hidden verb complete, for completions of a
// command line. So all shells give the same answers, and scripts never become outdated. Each line
// of the output is a candidate, a tab and a description; or wantFiles, where a file name can
// follow, and behind it the endings of names that are offered, as " .hurl .lua" (none: all names).
// Folders are always offered.
const wantFiles = ":files"

// bashScript does not need the package bash-completion, and works in the bash of macOS. bash splits
// COMP_WORDS also at =, : and @, so the script joins what no blank separates. For a candidate bash
// expects only the part after the last split, which $2 begins with.
const bashScript = `_dyno() {
  local line file ends rest=${COMP_LINE:0:COMP_POINT} program=${COMP_WORDS[0]/#\~/$HOME} i n=0
  local -a words=("")
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $rest == [[:blank:]]* ]]; then
      rest=${rest#"${rest%%[![:blank:]]*}"}
      words[++n]=
    fi
    [ $i = $COMP_CWORD ] && words[n]+=$rest || words[n]+=${COMP_WORDS[i]}
    rest=${rest#"${COMP_WORDS[i]}"}
  done
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ` + wantFiles + `* ]]; then
      ends=${line#` + wantFiles + `}
      compopt -o filenames 2>/dev/null
      while IFS= read -r file; do
        if [[ -z $ends || " $ends " == *" .${file##*.} "* || -d ${file/#\~/$HOME} ]]; then
          COMPREPLY+=("${2%"${2#@}"}$file")
        fi
      done < <(compgen -f -- "${2#@}")
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"${words[n]%"$2"}"}")
    fi
  done < <("$program" complete "${words[@]:1}" 2>/dev/null)
}
complete -F _dyno dyno
`

const zshScript = `#compdef dyno
_dyno() {
  local line files= ends=
  local -a all
  for line in "${(@f)$(${~words[1]} complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ` + wantFiles + `* ]]; then
      files=yes ends=${(j:|:)${=line#` + wantFiles + `}#.}
    elif [[ $line == *$'\t'* ]]; then
      all+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    elif [[ -n $line ]]; then
      all+=("${line//:/\\:}")
    fi
  done
  (( $#all )) && _describe 'dyno' all
  if [[ -n $files ]]; then
    [[ $PREFIX != --*=* ]] || compset -P '*='
    if [[ -n $ends ]]; then
      _files -g "*.($ends)(-.)"
    else
      _files
    fi
  fi
}
if [[ $funcstack[1] == _dyno ]]; then
  _dyno "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _dyno dyno
fi
`

const fishScript = `function __dyno_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in ($words[1] complete $words[2..] "$current" 2>/dev/null)
    if string match -q -- '` + wantFiles + `*' $line
      set -l ends (string split -n ' ' -- $line)[2..]
      set -l flag (string match -r -- '^--[^=]*=' $current)
      for file in (__fish_complete_path (string replace -r -- '^--[^=]*=' '' $current))
        set -l name (string replace -r -- '\t.*' '' $file)
        set -l end (string match -r -- '\.[^.]*$' $name)
        if test (count $ends) = 0; or string match -q -- '*/' $name; or contains -- "$end" $ends
          echo "$flag$file"
        end
      end
    else
      echo $line
    end
  end
end
complete -c dyno -f -a '(__dyno_complete)'
`

// printCompletion is dyno completion.
func printCompletion(s streams, args []string) int {
	scripts := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	script, is := scripts[strings.Join(args, " ")]
	if !is {
		return s.refuseFlags("completion",
			[]error{fmt.Errorf("%q is not a shell; there are bash, zsh, fish",
				strings.Join(args, " "))})
	}
	return s.printText(script)
}

// A candidate is a completion of the last word, and its description.
type candidate struct{ word, does string }

// completeWord is the hidden verb that the shells' scripts call. Its last argument is the word to
// complete, which may be empty.
func completeWord(s streams, args []string) int {
	if len(args) == 0 {
		args = []string{""}
	}
	all, files := candidates(args)
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintln(&b, strings.TrimRight(c.word+"\t"+firstLine(c.does), "\t"))
	}
	if files.possible {
		fmt.Fprintln(&b, strings.Join(append([]string{wantFiles}, files.endings...), " "))
	}
	return s.printText(b.String())
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// A fileChoice is whether a file name is possible, and with which endings: none means any.
type fileChoice struct {
	possible bool
	endings  []string // as ".lua"
}

// namedEndings finds the endings of names in a synopsis, as in FILE.hurl...|FILE.lua.
var namedEndings = lazyregexp.New(`FILE(\.[a-z]+)?`)

// filesIn is what file names a synopsis wants. One of its names without an ending allows any file.
func filesIn(synopsis string) (f fileChoice) {
	anything := strings.Contains(synopsis, "DIR") || strings.Contains(synopsis, "PATH")
	for _, m := range namedEndings().FindAllStringSubmatch(synopsis, -1) {
		f.possible, anything = true, anything || m[1] == ""
		f.endings = append(f.endings, m[1])
	}
	if anything {
		return fileChoice{possible: true}
	}
	return f
}

// candidates are the completions of the last of args, and what file names are possible.
func candidates(args []string) (all []candidate, files fileChoice) {
	before, current := args[:len(args)-1], args[len(args)-1]
	v, rest, whole := splitVerb(before)
	if !whole && !strings.HasPrefix(current, "-") {
		all = verbsAfter(before)
		if v.name == "" {
			return withPrefix(all, "", current), files
		}
	}
	if v.name == "" {
		return nil, files
	}
	flag, value, joined := strings.Cut(current, "=")
	switch o, open := pendingFlag(v, rest); {
	case open:
		words, files := valuesOf(o)
		return withPrefix(words, "", current), files
	case joined && strings.HasPrefix(flag, "--"):
		o, _ := findFlag(v, flag)
		words, files := valuesOf(o)
		return withPrefix(words, flag+"=", value), files
	case strings.HasPrefix(current, "-"):
		return withPrefix(flagsOf(v), "", current), files
	}
	words, files := operandValues(v, rest)
	return withPrefix(append(all, words...), "", current), files
}

// withPrefix returns the candidates that begin with what was typed, with prefix put before them.
func withPrefix(all []candidate, prefix, typed string) (some []candidate) {
	for _, c := range all {
		if strings.HasPrefix(c.word, typed) {
			some = append(some, candidate{prefix + c.word, c.does})
		}
	}
	return some
}

// splitVerb returns the verb that words begin with, what follows it, and whether no longer verb
// begins so: history may become history note.
func splitVerb(words []string) (v verb, rest []string, whole bool) {
	for n := min(2, len(words)); n > 0; n-- {
		if v, found := findVerb(strings.Join(words[:n], " ")); found {
			rest = words[n:]
			return v, rest, len(rest) > 0 || len(verbsAfter(words[:n])) == 0
		}
	}
	isURL := len(words) > 0 && strings.ContainsAny(words[0], ":/.-")
	if isURL {
		v, _ = findVerb("run") // dyno URL
		return v, words, true
	}
	return verb{}, nil, len(words) > 1
}

// verbsAfter are the words that continue words to a verb.
func verbsAfter(words []string) (all []candidate) {
	head := strings.Join(append(slices.Clone(words), ""), " ")
	for _, v := range verbs() {
		tail, is := strings.CutPrefix(v.name, head)
		if !is {
			continue
		}
		word, more, several := strings.Cut(tail, " ")
		c := candidate{word, v.does}
		if several {
			c.does = word + " " + more + " and others"
		}
		known := slices.ContainsFunc(all, func(o candidate) bool { return o.word == word })
		if !known {
			all = append(all, c)
		}
	}
	return all
}

// flagsOf are the long flags of a verb, sorted.
func flagsOf(v verb) (all []candidate) {
	if v.groups == nil {
		return []candidate{{"--help", "this"}}
	}
	for _, g := range v.groups() {
		for _, o := range g.options {
			if o.long == "" { // another tool's
				all = append(all, candidate{"-" + o.short, o.help()})
				continue
			}
			all = append(all, candidate{o.flagName(), o.help()})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return all
}

// pendingFlag is the flag in the last of words, if its value comes next.
func pendingFlag(v verb, words []string) (o option, open bool) {
	if len(words) == 0 || !strings.HasPrefix(words[len(words)-1], "-") {
		return o, false
	}
	o, is := findFlag(v, words[len(words)-1])
	return o, is && o.value != ""
}

// findFlag returns a verb's flag by its name, which includes the dashes.
func findFlag(v verb, name string) (option, bool) {
	if v.groups == nil {
		return option{}, false
	}
	for _, g := range v.groups() {
		for _, o := range g.options {
			if name == o.flagName() || o.short != "" && name == "-"+o.short {
				return o, true
			}
		}
	}
	return option{}, false
}

// valuesOf are the values that a flag can have, and what file names are among them.
func valuesOf(o option) (all []candidate, files fileChoice) {
	if row := setting.Named(o.long); row != nil {
		for _, w := range row.Values {
			all = append(all, candidate{word: w})
		}
	}
	if o.long == "metric" || o.long == "metrics" {
		for _, m := range lab.Measures {
			all = append(all, candidate{m.Name, m.Unit})
		}
	}
	for w := range strings.SplitSeq(o.value, "|") {
		isWord := w == strings.ToLower(w) && w != "-" && strings.Contains(o.value, "|")
		if isWord && !strings.ContainsAny(w, "@'") {
			all = append(all, candidate{word: w})
		}
	}
	return all, filesIn(o.value)
}

// operandValues are the words that a verb accepts, according to its synopsis.
func operandValues(v verb, before []string) (all []candidate, files fileChoice) {
	switch v.name {
	case "completion", "schema":
		for w := range strings.SplitSeq(v.args, "|") {
			all = append(all, candidate{word: w})
		}
		return all, files
	case "help":
		return verbsAfter(before), files
	case "lab run":
		for _, l := range experiment.Shipped() {
			all = append(all, candidate{l.Name, l.Description})
		}
	case "report", "compare", "history note":
		all = storedIDs()
	case "chart", "export", "history rm":
		all = append(storedIDs(), storedExperiments()...)
	}
	files = filesIn(v.args)
	if strings.Contains(v.args, "RESULT") || v.name == "compare" {
		files = fileChoice{possible: true}
	}
	return all, files
}

// storedIDs are the IDs of all stored results, newest first, from file names only.
func storedIDs() []candidate {
	all := []candidate{{"last", "the newest result"}}
	home, err := dynohome.Dir()
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(filepath.Join(home, "results"))
	if errors.Is(err, fs.ErrNotExist) || len(entries) == 0 {
		return nil
	}
	for _, e := range slices.Backward(entries) {
		id, is := strings.CutSuffix(e.Name(), ".json")
		if is && !strings.HasPrefix(id, ".") {
			all = append(all, candidate{word: id})
		}
	}
	return all
}

// storedExperiments are the IDs of all stored experiments, newest first.
func storedExperiments() (all []candidate) {
	home, err := dynohome.Dir()
	if err != nil {
		return nil
	}
	dir := filepath.Join(home, dynohome.Experiments)
	entries, _ := os.ReadDir(dir) // it does not exist before the first experiment
	for _, e := range slices.Backward(entries) {
		if !strings.HasPrefix(e.Name(), ".") && lab.IsExperiment(filepath.Join(dir, e.Name())) {
			all = append(all, candidate{e.Name(), "an experiment"})
		}
	}
	return all
}
