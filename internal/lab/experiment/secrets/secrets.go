package secrets

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"dyno/internal/hole"
	"dyno/internal/lab/experiment"
	"dyno/internal/redact"
	"dyno/internal/setting"
)

// A Lack is a secret that a stored experiment does not have: a mark stands in its place.
type Lack struct {
	Name, Mark string
	Spare      bool // it is the default of a variable that is set, so that nothing needs it
}

// Is reports whether that is the secret's name. Headers have names in any case.
func (l Lack) Is(name string) bool { return strings.EqualFold(l.Name, name) }

// Kept is what is stored of an experiment.
type Kept struct {
	Source  []byte          // the file; byte for byte, if there is no secret in it
	Plan    json.RawMessage // what was read, with its defaults
	Secrets []string        // what was taken out
}

// TakeOut is e without its secrets, of which keep says what stands in their place. What a file
// takes from the environment is not in it. Of a value that is also where a load goes, as that of
// X-Forwarded-For may be, the copies stay. A nil keep leaves all.
func TakeOut(e *experiment.Experiment, keep redact.Replacer) (k Kept, err error) {
	if k.Plan, err = json.Marshal(e); err != nil || keep == nil {
		k.Source = e.Source
		return k, err
	}
	public := experiment.Destinations(e)
	s := &sifter{replaced: map[string]string{}, comment: commentKeeper(e, keep)}
	s.replace = s.secret(func(name, value string, _ bool) string {
		kept := keep(name, value)
		if kept != value && !slices.ContainsFunc(public, func(s string) bool {
			return strings.Contains(s, value)
		}) {
			s.replaced[value] = kept // its copies are secret, too
		}
		return kept
	})
	if k.Source, err = s.sift(e.Source); err != nil {
		return k, err
	}
	doc, err := s.document(asYAML(k.Plan))
	if err != nil {
		return k, err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, doc.Content[0]); err != nil {
		return k, err
	}
	k.Plan = b.Bytes()
	for value := range s.replaced {
		k.Secrets = append(k.Secrets, value)
	}
	slices.Sort(k.Secrets)
	return k, nil
}

// ListMissing are the secrets that e was stored without, each mark of a name once.
func ListMissing(e *experiment.Experiment) (all []Lack) {
	text, err := json.Marshal(e)
	if err != nil || !redact.HasMark(string(text)) {
		return nil
	}
	s := new(sifter)
	s.replace = s.secret(func(name, value string, spare bool) string {
		if l := (Lack{name, value, spare}); redact.IsMark(value) && !slices.Contains(all, l) {
			all = append(all, l)
		}
		return value
	})
	s.document(asYAML(text)) // which was read before
	return all
}

// FillIn is e with secrets that it was stored without, from values, by their names in small
// letters. Where several have a name, each goes where its mark stands. missing are those of which
// there is no value; then e is not filled. others are those of which no value has the mark: they
// have the first value of their name.
func FillIn(e *experiment.Experiment, values map[string][]string,
	mark redact.Replacer) (filled *experiment.Experiment, missing, others []Lack, err error) {
	if len(ListMissing(e)) == 0 {
		return e, nil, nil, nil
	}
	s := &sifter{replaced: map[string]string{}}
	s.replace = s.secret(func(name, value string, spare bool) string {
		if !redact.IsMark(value) {
			return value
		}
		given, l := values[strings.ToLower(name)], Lack{name, value, spare}
		if len(given) == 0 {
			if !spare {
				missing = append(missing, l)
			}
			return value
		}
		for _, v := range given {
			for _, form := range writtenForms(v) {
				if mark(name, form) == value {
					s.replaced[value] = form
					return form
				}
			}
		}
		if value != redact.Plain && !slices.Contains(others, l) {
			others = append(others, l)
		}
		return given[0]
	})
	text, err := s.sift(e.Source)
	if err != nil || len(missing) > 0 {
		return e, missing, others, err
	}
	if filled, err = experiment.ReadBegun(e.File, bytes.NewReader(text)); err != nil {
		return e, nil, others, fmt.Errorf("with its secrets the experiment has faults: %w", err)
	}
	filled.Here = e.Here
	if len(others) == 0 {
		filled.Source = e.Source // what is stored of both is the same
	}
	return filled, nil, others, nil
}

// writtenForms are the ways in which a file may have a secret: as it is, in a URL, and in the
// quotes of a connection string.
func writtenForms(v string) []string {
	return []string{v, url.QueryEscape(v), url.PathEscape(v),
		strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v), strings.ReplaceAll(v, "'", "''"),
		strings.ReplaceAll(v, `"`, `""`)}
}

// A sifter goes through an experiment file, and replaces its secrets.
type sifter struct {
	replace  redact.Replacer
	replaced map[string]string // values, and by what
	copies   bool              // it looks for copies of them
	comment  commenter         // what is kept of comments; nil: all
	actions  []string          // of the body that is looked at
	named    map[string]bool   // variables that holes in the place of secrets name
	changed  bool
}

// shortestCopy is how long a secret is of which copies elsewhere are replaced too: a shorter one
// may be there by chance.
const shortestCopy = 8

// sift is a file's text with its secrets replaced; the text itself if it has none.
func (s *sifter) sift(text []byte) ([]byte, error) {
	doc, err := s.document(text)
	if err != nil || !s.changed {
		return text, err
	}
	var b bytes.Buffer
	out := yaml.NewEncoder(&b)
	out.SetIndent(2)
	err = out.Encode(doc)
	return b.Bytes(), err
}

// asYAML is JSON without the characters that YAML only has as escapes, or takes for a line's end.
func asYAML(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		if r > unicode.MaxASCII && unicode.IsControl(r) ||
			strings.ContainsRune("\x7f\ufeff\ufffe\uffff", r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.Bytes()
}

// document is a file, parsed and sifted. JSON is YAML, too, but for some characters: see asYAML.
func (s *sifter) document(text []byte) (*yaml.Node, error) {
	doc := new(yaml.Node)
	if err := yaml.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), doc); err != nil ||
		len(doc.Content) == 0 {
		return nil, fmt.Errorf("looking for secrets in the experiment: %w", err)
	}
	s.copies = false
	s.experiment(doc.Content[0])
	if len(s.replaced) > 0 {
		s.copies = true
		s.experiment(doc.Content[0])
		s.comments(doc, s.copied)
	}
	if s.comment != nil {
		keep := s.comment(s.replaced)
		s.comments(doc, keep)
	}
	return doc, nil
}

func (s *sifter) experiment(n *yaml.Node) {
	pairs(n, func(key string, v *yaml.Node) {
		switch key {
		case "description":
			s.text(v)
		case "workload":
			pairs(v, func(key string, v *yaml.Node) {
				switch key {
				case "request":
					s.request(v)
				case "expect":
					s.expect(v)
				case "user":
					s.value(v, s.user)
				}
			})
		case "variants":
			pairs(v, func(_ string, v *yaml.Node) { s.variant(v) })
		case "levels":
			for _, one := range target(v).Content {
				pairs(one, s.ofLevel)
			}
		}
	})
	pairs(n, func(key string, v *yaml.Node) { // now it is known which of them stand where secrets do
		if key == "workload" {
			pairs(v, func(key string, v *yaml.Node) {
				if key == "variables" {
					pairs(v, s.variable)
				}
			})
		}
	})
}

// user is who sends requests, NAME:SECRET, of which the secret is one; if a variable may hold both,
// the whole text is.
func (s *sifter) user(text string) string {
	name, secret, has := strings.Cut(text, ":")
	if strings.Contains(name, "{{") || !has {
		return s.replace("user", text)
	}
	return name + ":" + s.replace("password", secret)
}

// variable is one that the holes of requests name. In a secret's place it is one, whatever its
// name.
func (s *sifter) variable(name string, v *yaml.Node) {
	s.value(v, func(t string) string {
		if s.named[name] {
			return s.replace(name, t)
		}
		return s.replace.Variable(name, t)
	})
}

func (s *sifter) variant(n *yaml.Node) {
	pairs(n, func(key string, v *yaml.Node) {
		switch key {
		case "description":
			s.text(v)
		case "files":
			pairs(v, func(_ string, v *yaml.Node) { s.text(v) })
		case "build", "processes":
			for _, one := range target(v).Content {
				s.job(one)
			}
		case "generator":
			s.job(v)
		case "request":
			s.request(v)
		case "expect":
			s.expect(v)
		default:
			s.ofJob(key, v)
		}
	})
}

// job is a process, a step, or whatever else is a command with an environment.
func (s *sifter) job(n *yaml.Node) { pairs(n, s.ofJob) }

func (s *sifter) ofJob(key string, v *yaml.Node) {
	switch key {
	case "env":
		pairs(v, func(name string, v *yaml.Node) {
			s.value(v, func(t string) string { return s.replace.Variable(name, t) })
		})
	case "cmd", "version":
		s.command(v)
	case "url", "pprof", "served":
		s.value(v, s.replace.URL)
	case "ready":
		pairs(v, s.ofReady)
	}
}

// ofLevel is a setting of a level. One that can have a secret is a URL.
func (s *sifter) ofLevel(key string, v *yaml.Node) {
	if row := setting.Keyed("level." + key); row != nil && row.Secret {
		s.value(v, s.replace.URL)
	}
}

func (s *sifter) ofReady(key string, v *yaml.Node) {
	switch key {
	case "http":
		s.value(v, s.replace.URL)
	case "log":
		s.value(v, s.replace.Line)
	}
}

func (s *sifter) command(n *yaml.Node) {
	n = target(n)
	if n.Kind == yaml.ScalarNode {
		s.value(n, s.replace.Line)
		return
	}
	var words []string
	for _, word := range n.Content {
		words = append(words, target(word).Value)
	}
	for i, kept := range s.replace.Words(words) {
		s.value(n.Content[i], func(string) string { return kept })
	}
}

func (s *sifter) request(n *yaml.Node) {
	kind := ""
	pairs(n, func(key string, v *yaml.Node) {
		if key != "headers" {
			return
		}
		pairs(v, func(name string, v *yaml.Node) {
			if strings.EqualFold(name, "Content-Type") && kind == "" {
				kind = target(v).Value
			}
			s.value(v, func(t string) string { return s.replace.Header(name, t) })
		})
	})
	pairs(n, func(key string, v *yaml.Node) {
		switch key {
		case "path":
			s.value(v, s.replace.URL)
		case "body":
			s.value(v, func(t string) string { return s.body(kind, t) })
		}
	})
}

// expect is what answers must be: a check can have what a request has.
func (s *sifter) expect(n *yaml.Node) {
	pairs(n, func(key string, v *yaml.Node) {
		if key != "body" && key != "header" {
			return
		}
		all := []*yaml.Node{v}
		if list := target(v); list.Kind == yaml.SequenceNode {
			all = list.Content
		}
		for _, check := range all {
			s.value(check, s.replace.Check)
		}
	})
}

// body is what becomes of a body. An action has quotes, which JSON around it does not understand;
// so others stand for all of them meanwhile.
func (s *sifter) body(kind, text string) string {
	s.actions = nil
	text = experiment.ReplaceEnv(text, func(action string, _ hole.Env) string {
		s.actions = append(s.actions, action)
		return held(len(s.actions) - 1)
	})
	return s.shown(string(s.replace.TemplateBody(kind, []byte(text))))
}

// shown is a text with the actions that body took out.
func (s *sifter) shown(text string) string {
	for i, action := range s.actions {
		text = strings.ReplaceAll(text, held(i), action)
	}
	return text
}

// held is what stands for an action meanwhile.
func held(i int) string { return fmt.Sprintf("\ue000%d\ue001", i) }

// text is a value in which nothing but copies is looked for.
func (s *sifter) text(n *yaml.Node) { s.value(n, func(t string) string { return t }) }

// value replaces what there is to be replaced in a text.
func (s *sifter) value(n *yaml.Node, keep func(string) string) {
	n = target(n)
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		return
	}
	var kept string
	if s.copies {
		kept = s.copied(n.Value)
	} else {
		kept = keep(n.Value)
	}
	if kept != n.Value {
		s.changed = true
		n.SetString(kept)
	}
}

// copied is a text with the copies of secrets replaced.
func (s *sifter) copied(text string) string {
	all := slices.SortedFunc(maps.Keys(s.replaced), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) // one may begin as another
	})
	for _, value := range all {
		if len(value) >= shortestCopy {
			text = strings.ReplaceAll(text, value, s.replaced[value])
		}
	}
	return text
}

// target is a node, or what it is an alias of.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// pairs calls each with all keys of a mapping and their values, those that << merges into it too.
func pairs(n *yaml.Node, each func(key string, value *yaml.Node)) {
	n = target(n)
	if n.Kind == yaml.SequenceNode { // of what is merged
		for _, one := range n.Content {
			pairs(one, each)
		}
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key, value := n.Content[i], n.Content[i+1]; key.ShortTag() == "!!merge" {
			pairs(value, each)
		} else {
			each(key.Value, value)
		}
	}
}

// writeJSON writes a node that was JSON.
func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		brackets := "{}"
		if n.Kind == yaml.SequenceNode {
			brackets = "[]"
		}
		b.WriteByte(brackets[0])
		for i, child := range n.Content {
			switch {
			case i == 0:
			case n.Kind == yaml.MappingNode && i%2 == 1:
				b.WriteByte(':')
			default:
				b.WriteByte(',')
			}
			if err := writeJSON(b, child); err != nil {
				return err
			}
		}
		b.WriteByte(brackets[1])
	default:
		if n.ShortTag() != "!!str" {
			b.WriteString(n.Value)
			return nil
		}
		text, err := json.Marshal(n.Value)
		b.Write(text)
		return err
	}
	return nil
}
