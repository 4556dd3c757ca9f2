package experiment

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"dyno/internal/hole"
)

// A Template is a text with holes, in which these stand for what a trial gives them, and each
// factor's name for its value:
//
//	port ["NAME"]           a free port, the same for the same name
//	socket ["NAME"]         path of a unix socket, likewise
//	address                 where to listen: 127.0.0.1 or, where clients are isolated, the
//	                        address at which they find the server
//	dir                     the private run directory of the trial, or within it that of
//	                        the process's user
//	build                   the directory for what build makes, kept for all trials
//	here                    the experiment file's folder
//	file "NAME"             path of one of the variant's files, as written there
//	env "NAME" ["DEFAULT"]  a variable of the environment of dyno
//	dyno                    path of the running dyno
//	cpus                    how many CPUs the server may use
//	connections             those of the level
//	threads                 of the generator, at the level
//
// There is {{if}} with eq, ne, and, or, not; and printf. There are no loops: a
// template ends. \{{ stands for {{.
type Template string

// verbs are the words of templates, with their number of arguments. Those of a trial are
// unknown while a variant is built.
var verbs = map[string]struct {
	least, most int
	trial       bool
}{
	"port": {0, 1, true}, "socket": {0, 1, true}, "file": {1, 1, true}, "dir": {0, 0, false},
	"build": {0, 0, false}, "here": {0, 0, false}, "env": {1, 2, false}, "dyno": {0, 0, false},
	"cpus": {0, 0, false}, "connections": {0, 0, true}, "threads": {0, 0, true},
	"address": {0, 0, true},
}

// mentions are the words in a template. Read reports faulty ones.
func (t Template) mentions() []hole.Mention {
	parsed, _ := hole.ParseTemplate(string(t))
	return parsed.Mentions
}

// renderWith renders t with words, and says how many bytes were made for that.
func (t Template) renderWith(words hole.Words) (s string, made int, err error) {
	parsed, faults := hole.ParseTemplate(string(t))
	if len(faults) > 0 {
		return "", 0, fmt.Errorf("template %q: %w", t, faults[0])
	}
	if s, made, err = parsed.Fill(words); err != nil {
		return "", 0, fmt.Errorf("template %q: %w", t, err)
	}
	return s, made, nil
}

// wordOf is the word with a verb's name, which calls get.
func wordOf[T any](verb string, get func(args []string) (T, error)) hole.Word {
	return hole.Word{Least: verbs[verb].least, Most: verbs[verb].most,
		Value: func(args []string) (any, error) { return get(args) }}
}

// environment is the value of a variable, or the default that is given behind its name.
func environment(args []string) (string, error) {
	value := os.Getenv(args[0])
	if value == "" && len(args) == 1 {
		return "", fmt.Errorf("the environment variable %s is not set", args[0])
	}
	return cmp.Or(value, strings.Join(args[1:], "")), nil
}
