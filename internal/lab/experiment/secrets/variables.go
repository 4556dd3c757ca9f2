package secrets

import (
	"os"
	"strconv"
	"strings"

	"dyno/internal/hole"
	"dyno/internal/lab/experiment"
	"dyno/internal/lazyregexp"
	"dyno/internal/redact"
)

// What stands around {{env}} in a secret that is the environment's: the name of a scheme or of a
// cookie.
var glue = lazyregexp.New(`^(?i:(bearer|basic|digest|token|apikey|key)\s+|[\w.-]+=|[;,:]\s*)*$`)

// fromEnvironment reports whether all that is secret in a text comes from the environment, or is
// what comes in its place.
func fromEnvironment(text string) bool {
	return experiment.HasEnv(text) &&
		glue().MatchString(experiment.ReplaceEnv(text, func(string, hole.Env) string { return "" }))
}

// A sift is told of a secret of a file, and returns what stands in its place. spare says that it
// is the default of a variable that is set.
type sift func(name, value string, spare bool) string

// secret is a Replacer that has each secret replaced by to. Of what comes from the environment
// only the defaults are in the file: the rest is kept as it is.
func (s *sifter) secret(to sift) redact.Replacer {
	s.named = map[string]bool{}
	r := redact.Replacer(func(name, value string) string {
		shown := s.shown(value)
		switch {
		case !fromEnvironment(shown):
			return to(name, value, false)
		case shown == value:
			return defaults(name, value, to)
		}
		for i, action := range s.actions {
			if strings.Contains(value, held(i)) {
				s.actions[i] = defaults(name, action, to)
			}
		}
		return value
	})
	return r.KeepHoles(s.named)
}

// defaults replaces the defaults of the variables in a text.
func defaults(name, text string, to sift) string {
	return experiment.ReplaceEnv(text, func(action string, e hole.Env) string {
		if e.Default == "" {
			return action
		}
		kept := to(name, e.Default, os.Getenv(e.Name) != "")
		if kept == e.Default {
			return action // as it is spelled
		}
		return action[:e.At] + strconv.Quote(kept) + action[e.At+e.Length:]
	})
}
