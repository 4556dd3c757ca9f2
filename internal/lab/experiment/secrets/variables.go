package secrets

import (
	"os"
	"regexp"
	"strings"

	"dyno/internal/lab/experiment"
	"dyno/internal/redact"
)

// What stands around {{env}} in a secret that is the environment's: the name of a scheme or of a
// cookie.
var glue = regexp.MustCompile(`^(?i:(bearer|basic|digest|token|apikey|key)\s+|[\w.-]+=|[;,:]\s*)*$`)

// fromEnvironment reports whether all that is secret in a text comes from the environment, or is
// what comes in its place.
func fromEnvironment(text string) bool {
	return experiment.EnvAction.MatchString(text) &&
		glue.MatchString(experiment.EnvAction.ReplaceAllString(text, ""))
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
	return experiment.EnvAction.ReplaceAllStringFunc(text, func(action string) string {
		at := experiment.EnvAction.FindStringSubmatchIndex(action)
		if at[4] < 0 || at[5]-at[4] <= len(`""`) {
			return action
		}
		spare := os.Getenv(strings.Trim(action[at[2]:at[3]], `"`)) != ""
		return action[:at[4]+1] + to(name, action[at[4]+1:at[5]-1], spare) + action[at[5]-1:]
	})
}
