package secrets

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"dyno/internal/lab/experiment"
	"dyno/internal/redact"
)

// A commenter makes, of the secrets that were replaced in a file, what keeps its comments.
type commenter func(replaced map[string]string) func(comment string) string

// commentKeeper keeps comments without the secrets of the file, the values that e takes from the
// environment, and what a comment itself calls a secret, as "# password: x" does.
func commentKeeper(e *experiment.Experiment, keep redact.Replacer) commenter {
	return func(replaced map[string]string) func(string) string {
		values := slices.Sorted(maps.Keys(replaced))
		for _, v := range experiment.Expand(e) {
			values = append(values, v.Environment()...)
		}
		known := redact.NewKnown(keep, values, experiment.Destinations(e)...)
		return func(comment string) string { return known.Text(keep.Comment(comment)) }
	}
}

// comments replaces what there is to be replaced in the comments of a node and all below it.
func (s *sifter) comments(n *yaml.Node, keep func(string) string) {
	for _, c := range []*string{&n.HeadComment, &n.LineComment, &n.FootComment} {
		if *c == "" {
			continue
		}
		if kept := keep(*c); kept != *c {
			*c, s.changed = kept, true
		}
	}
	for _, child := range n.Content {
		s.comments(child, keep)
	}
}
