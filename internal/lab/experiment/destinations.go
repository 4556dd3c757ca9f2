package experiment

import "strings"

// Destinations are where the loads of e go: scheme, host and port of each variant's URL, as the
// file has them, without a user.
func Destinations(e *Experiment) (all []string) {
	for _, v := range e.Variants {
		scheme, rest, found := strings.Cut(string(v.Value.URL), "://")
		if !found {
			continue
		}
		rest = rest[:strings.IndexAny(rest+"/", "/?#")]
		all = append(all, scheme+"://"+rest[strings.LastIndexByte(rest, '@')+1:])
	}
	return all
}
