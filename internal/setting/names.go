package setting

import (
	"cmp"
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
	"dyno/internal/fact"
)

// flagOf is what messages call a setting on the command line.
func (s *Setting) flagOf() string {
	if s.Name == "" {
		return s.Called
	}
	return "--" + s.Name
}

// ShortFlag is the flag as a command has it: the letter, if there is one.
func (s *Setting) ShortFlag() string {
	if s.Short != "" {
		return "-" + s.Short
	}
	return s.flagOf()
}

// Field is the setting of a field of the plan; nil if none is it.
func Field(name string) *Setting {
	return find(func(s *Setting) bool { return s.Field == name && name != "" })
}

// Keyed is the setting of a key of an experiment's file, as "level.pipeline", or of a path in it,
// as levels[2].pipeline; nil if there is none.
func Keyed(path string) *Setting {
	key := keyOf(path)
	return find(func(s *Setting) bool { return s.Key == key && key != "" })
}

// AtPath is the setting of a verb that sets what is at a path in an experiment's file, or around
// it; nil if there is none.
func AtPath(v Verbs, path string) (found *Setting) {
	key := keyOf(path)
	for _, g := range Groups(v) {
		for _, s := range g.Settings {
			rest, is := strings.CutPrefix(key, s.Key)
			if is && s.Key != "" && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				found = s
			}
		}
	}
	return found
}

// keyOf is the key of a path in an experiment's file: level.pipeline of levels[2].pipeline.
func keyOf(path string) string {
	if rest, is := strings.CutPrefix(path, "levels["); is {
		_, key, _ := strings.Cut(rest, "].")
		return "level." + key
	}
	return path
}

// Heard is a flaw in a voice that has no name ("") for some fields. What can be done is left out if
// it is about these.
func Heard(f loadplan.Flaw, name func(field string) string) loadplan.Flaw {
	unheard := false
	f = f.Named(func(field string) string {
		n := name(field)
		unheard = unheard || n == ""
		return n
	})
	if unheard {
		f.Mend = ""
	}
	return f
}

// InFlags is what a field of the plan is called on the command line. What is no field stays, for it
// is a flag already.
func InFlags(field string) string {
	if s := Field(field); s != nil {
		return s.flagOf()
	}
	return field
}

// InLabels is what a field of the plan is called in the form of a load; its flag, if that has it
// not.
func InLabels(field string) string {
	if s := Field(field); s != nil && s.Form != nil {
		return s.label()
	}
	return InFlags(field)
}

// InLibrary is what a field of the plan is called in the library; "" if it sets none.
func InLibrary(field string) string {
	if s := Field(field); s != nil {
		return s.Library
	}
	return ""
}

// InKeys is what a field of the plan is called in an experiment's file, as "level.pipeline"; "" if
// that has it not.
func InKeys(field string) string {
	if s := Field(field); s != nil {
		return s.Key
	}
	return ""
}

// What would change a fact is said in the voice of whoever described the load (say.Voice): which
// setting to raise, to lower or to give. A voice has no word for what cannot be set there.

// Flag is the voice of the command line.
func Flag(name, value string) string {
	return deedOr(name, value, func(d deed) string { return d.says }, advise, (*Setting).ShortFlag)
}

// Label is the voice of the form of a load, which names fields by their labels. A setting without a
// field can be set on the command line alone.
func Label(name, value string) string {
	hasField := true
	text := deedOr(name, value, func(d deed) string { return d.says }, settle,
		func(s *Setting) string {
			hasField = hasField && s.Form != nil
			return s.label()
		})
	if text == "" || hasField {
		return text
	}
	return "on the command line, " + Flag(name, value)
}

// Library is the voice of a program that uses the library: it names fields of dyno.Load.
func Library(name, value string) string {
	says := func(d deed) string { return cmp.Or(d.field, d.says) }
	return deedOr(name, value, says, settle, func(s *Setting) string { return s.Library })
}

// Key is the voice of an experiment's file.
func Key(name, value string) string {
	if d, has := deeds[fact.Remedy{Setting: name, Value: value}]; has {
		return d.key
	}
	s := Named(name)
	if s == nil || s.Key == "" {
		return ""
	}
	place, key, within := strings.Cut(s.Key, ".")
	switch {
	case !within: // a list
		return "add " + value + " to " + place
	case place == "design": // "design: {cpus: ...}"
		key, _, _ = strings.Cut(key, ".")
		return settle("design: {"+key+": ...}", value)
	case key == "variables":
		return "add " + strings.Replace(value, "=", ": ", 1) + " to the workload's variables"
	}
	return settle("the "+place+"'s "+key, value)
}

// Replay is the voice of the command line where requests have times: a replay has a speed in place
// of a rate.
func Replay(name, value string) string {
	if name == "rate" {
		return advise("the speed of the replay (dyno from access-log --replay)", value)
	}
	says := func(d deed) string { return cmp.Or(d.replay, d.says) }
	return deedOr(name, value, says, advise, (*Setting).ShortFlag)
}

// VoiceOf is the voice of the command line of a plan.
func VoiceOf(p *loadplan.Plan) func(name, value string) string {
	if p.Replay > 0 {
		return Replay
	}
	return Flag
}

// deedOr is the deed for a remedy, or else to raise, to lower or to give the setting. It is "" if
// the voice has no word for a setting that it names.
func deedOr(name, value string, says func(deed) string, advise func(name, value string) string,
	call func(*Setting) string) string {
	d, has := deeds[fact.Remedy{Setting: name, Value: value}]
	if !has {
		says = func(deed) string { return advise("{"+name+"}", value) }
	}
	text, isSaid := says(d), true
	for isSaid {
		before, rest, found := strings.Cut(text, "{")
		of, after, _ := strings.Cut(rest, "}")
		if !found {
			return text
		}
		called := ""
		if s := Named(of); s != nil {
			called = call(s)
		}
		word := wordBefore(before)
		if word != "" && strings.EqualFold(word, strings.Trim(called, "“”")) {
			before, called = strings.TrimSuffix(before, word+" ("), word
			after = strings.TrimPrefix(after, ")")
		}
		text, isSaid = before+called+after, called != ""
	}
	return ""
}

// wordBefore is the word before a parenthesis that opens at the end of a text; "": there is none.
func wordBefore(text string) string {
	text, opens := strings.CutSuffix(text, " (")
	if !opens {
		return ""
	}
	return text[strings.LastIndexByte(text, ' ')+1:]
}

// label is what the field of a form is called; the flag, if there is none.
func (s *Setting) label() string {
	if s.Form == nil {
		return s.ShortFlag()
	}
	return "“" + cmp.Or(s.Form.Label, s.Name) + "”"
}

// ShellQuote is a word as a shell reads it.
func ShellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:,=@%+", r)
	}
	if s != "" && !slices.ContainsFunc([]rune(s), func(r rune) bool { return !safe(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// settle is advise for what is a field, and not a flag.
func settle(name, value string) string {
	switch value {
	case fact.Some:
		return "set " + name
	case fact.Higher, fact.Lower, fact.Other, fact.None:
		return advise(name, value)
	}
	return "set " + name + " to " + value
}

// advise is what to do with a flag that is called so.
func advise(name, value string) string {
	switch value {
	case fact.Higher:
		return "raise " + name
	case fact.Lower:
		return "lower " + name
	case fact.Some:
		return "give " + name
	case fact.Other:
		return "give another " + name
	case fact.None:
		return "leave out " + name
	}
	return "give " + name + " " + ShellQuote(value)
}
