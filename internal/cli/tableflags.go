package cli

import (
	"slices"

	"dyno/internal/engine/loadplan"
	"dyno/internal/setting"
)

// This file makes flags of the table of settings.

// readers store what the values of flags say, by their names: of flags that set nothing in the plan
// itself.
type readers map[string]func(string) error

// tableGroups are the flags of a verb. Those without a reader set the plan p.
func tableGroups(v setting.Verbs, p *loadplan.Plan, own readers) (all []group) {
	for _, g := range setting.Groups(v) {
		one := group{title: g.Title}
		for _, s := range g.Settings {
			set := own[s.Name]
			if set == nil {
				set = func(text string) error { return s.Set(p, text) }
			}
			one.options = append(one.options, option{s.Name, s.Short, s.Value, s.Help(v), set})
		}
		all = append(all, one)
	}
	return all
}

// pickOptions are the options of some names, in the order of the names.
func pickOptions(all []group, long ...string) (some []option) {
	for _, name := range long {
		o, _ := findOption(all, func(o option) bool { return o.long == name })
		some = append(some, o)
	}
	return some
}

// titled is the group of a title.
func titled(all []group, title string) group {
	return all[slices.IndexFunc(all, func(g group) bool { return g.title == title })]
}

// saying is an option whose help is another, because a verb has another use for it.
func (o option) saying(does string) option {
	o.does = does
	return o
}
