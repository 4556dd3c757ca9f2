package imports

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/proto"
	"dyno/internal/hole"
	"dyno/internal/redact"
)

// A Secret is a value that is not in the requests file. A variable stands in its place.
type Secret struct {
	Variable string // its name, without the braces
	Where    string // what had it first: header Authorization
	Value    string // exactly as it stood in its place

	base string // Variable without the number that tells it from others
}

// A vault replaces secrets by variables. Equal values of one name are one variable.
type vault struct {
	secrets []Secret
	known   map[[2]string]int // by base and value, an index of secrets
	where   string            // what is being read
	before  int               // secrets of the texts before
}

// open and shut are around the index of a secret in a text that is not complete. No text that has
// one of them is searched for secrets.
const open, shut = "\uf8d0", "\uf8d1"

// replace is a redact.Replacer. What it returns names a secret until finish makes it a variable.
func (v *vault) replace(name, value string) string {
	if value == "" {
		return ""
	}
	return open + strconv.Itoa(v.indexOf(name, value)) + shut
}

// indexOf is the index of the secret of that name and value.
func (v *vault) indexOf(name, value string) int {
	variable := variableName(name)
	key := [2]string{variable, value}
	if i, known := v.known[key]; known {
		return i
	}
	unique := variable
	taken := func(s Secret) bool { return s.Variable == unique }
	for n := 2; slices.ContainsFunc(v.secrets, taken); n++ {
		unique = variable + "_" + strconv.Itoa(n)
	}
	if v.known == nil {
		v.known = map[[2]string]int{}
	}
	v.secrets = append(v.secrets, Secret{unique, v.where, value, variable})
	v.known[key] = len(v.secrets) - 1
	return len(v.secrets) - 1
}

// functions of requests files are no names of variables, nor is that of the host in a Hurl file.
var functions = []string{"uuid", "int", "hex", "seq", "now", "json", "env", BaseVariable}

// variableName is a name in small letters, with _ between its words: X-API-Key is x_api_key.
func variableName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	s := strings.Join(words, "_")
	if s == "" || slices.Contains(functions, s) || s[0] >= '0' && s[0] <= '9' {
		s = strings.TrimSuffix("secret_"+s, "_")
	}
	return s
}

// Path is what is written of a path and query.
func (v *vault) path(path string) string {
	v.where = "URL"
	return v.finish(path, redact.Replacer(v.replace).URL)
}

// header is what is written of a header's value. The scheme of credentials is kept.
func (v *vault) header(f proto.Field) proto.Field {
	v.where = "header " + f.Name
	value := v.finish(f.Value, func(s string) string {
		scheme, rest, found := strings.Cut(s, " ")
		if found && strings.HasSuffix(strings.ToLower(f.Name), "authorization") {
			return scheme + " " + v.replace(f.Name, rest)
		}
		return redact.Replacer(v.replace).AnswerField(f.Name, s)
	})
	return proto.Field{Name: f.Name, Value: value}
}

// body is what is written of a text that is a body of a kind. It is not ok if the body cannot be a
// text with variables in it.
func (v *vault) body(kind string, body []byte, parts bool) (text string, ok bool) {
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		return "", false
	}
	v.where = "body"
	text = v.finish(string(body), func(s string) string {
		if parts {
			return v.parts(s)
		}
		return v.exact(s, string(redact.Replacer(v.replace).AnswerBody(kind, []byte(s))))
	})
	return text, true
}

// parts replaces the values of secret fields of a form in parts.
func (v *vault) parts(body string) string {
	line, _, _ := strings.Cut(body, "\r\n")
	pieces := strings.Split(body, line)
	for i, piece := range pieces {
		head, value, found := strings.Cut(piece, "\r\n\r\n")
		_, name, named := strings.Cut(head, `; name="`)
		name, _, _ = strings.Cut(name, `"`)
		value, end := strings.CutSuffix(value, "\r\n")
		if found && named && end && redact.Secret(name) && !strings.Contains(head, "filename=") {
			pieces[i] = head + "\r\n\r\n" + v.replace(name, value) + "\r\n"
		}
	}
	return strings.Join(pieces, line)
}

// exact has the variables of kept, which is body without its secrets, stand for exactly what was
// there: of a string in JSON as it was escaped, and of a number without quotes.
func (v *vault) exact(body, kept string) string {
	if !json.Valid([]byte(body)) {
		return kept
	}
	var b strings.Builder
	at := 0 // in body
	for {
		before, rest, found := strings.Cut(kept, open)
		if !found {
			return b.String() + kept
		}
		index, after, _ := strings.Cut(rest, shut)
		i, err := strconv.Atoi(index)
		outside := strings.TrimSuffix(before, `"`)
		if err != nil || i >= len(v.secrets) || !strings.HasPrefix(body[at:], outside) {
			return kept // which finish finds not to be the body
		}
		at += len(outside)
		n := len(v.secrets[i].Value)
		switch quoted := len(before) > len(outside) && strings.HasPrefix(after, `"`); {
		case quoted && strings.HasPrefix(body[at:], `"`):
			n = stringLength(body[at+1:])
			i = v.rewrite(i, body[at+1:at+1+n])
			at++
		case quoted: // a number
			before, after = outside, after[1:]
		default:
			at += len(before) - len(outside)
		}
		b.WriteString(before + open + strconv.Itoa(i) + shut)
		at, kept = min(at+n, len(body)), after
	}
}

// stringLength is how long the string of JSON is whose inside a text begins with.
func stringLength(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// rewrite is the index of a secret like i whose value is written as it stands in its place.
func (v *vault) rewrite(i int, written string) int {
	s := &v.secrets[i]
	if _, known := v.known[[2]string{s.base, written}]; known || i < v.before {
		return v.indexOf(s.base, written)
	}
	delete(v.known, [2]string{s.base, s.Value})
	v.known[[2]string{s.base, written}] = i
	s.Value = written
	return i
}

// finish is text as hide leaves it, with variables, and with its own {{ escaped. If the variables'
// values do not make it the same text again, all of it becomes a variable.
func (v *vault) finish(text string, hide func(string) string) string {
	v.before = len(v.secrets)
	if strings.Contains(text, open) || strings.Contains(text, shut) {
		return v.whole(text)
	}
	done, expanded, ok := v.variables(hide(text))
	if ok && expanded == text {
		v.forgetUnused(v.before, done)
		return done
	}
	v.forget(v.before)
	return v.whole(text)
}

// whole is a variable in the place of all of a text.
func (v *vault) whole(text string) string {
	return "{{" + v.secrets[v.indexOf(v.where, text)].Variable + "}}"
}

// variables is a text with its secrets' names as variables, and with the values of these. It is
// not ok if a name was changed.
func (v *vault) variables(hidden string) (done, expanded string, ok bool) {
	var b, e strings.Builder
	for {
		before, rest, found := strings.Cut(hidden, open)
		e.WriteString(before)
		if !found {
			return b.String() + hole.Verbatim(before), e.String(), true
		}
		index, after, _ := strings.Cut(rest, shut)
		i, err := strconv.Atoi(index)
		if err != nil || i < 0 || i >= len(v.secrets) {
			return "", "", false
		}
		b.WriteString(hole.VerbatimBeforeHole(before) + "{{" + v.secrets[i].Variable + "}}")
		e.WriteString(v.secrets[i].Value)
		hidden = after
	}
}

// forgetUnused removes the newest secrets that a text does not name.
func (v *vault) forgetUnused(had int, done string) {
	for n := len(v.secrets); n > had; n-- {
		if strings.Contains(done, "{{"+v.secrets[n-1].Variable+"}}") {
			return
		}
		v.forget(n - 1)
	}
}

// forget removes all secrets but the first n.
func (v *vault) forget(n int) {
	for key, i := range v.known {
		if i >= n {
			delete(v.known, key)
		}
	}
	v.secrets = v.secrets[:n]
}
