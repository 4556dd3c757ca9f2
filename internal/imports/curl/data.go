package curl

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// A dataKind is how an option of curl adds to the body.
type dataKind int

const (
	plain   dataKind = iota // text, or @FILE without the ends of its lines
	binary                  // text, or @FILE as it is
	raw                     // text, even one that begins with @
	encoded                 // percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE, NAME@FILE
	asJSON                  // like binary, and appended as it is
)

// addData adds to the body.
func (c *command) addData(kind dataKind, s string) error {
	piece, err := dataOf(kind, s)
	if err != nil {
		return err
	}
	if c.body != nil && kind != asJSON {
		c.body = append(c.body, '&')
	}
	if c.body = append(c.body, piece...); c.body == nil {
		c.body = []byte{}
	}
	c.isJSON = c.isJSON || kind == asJSON
	return nil
}

func dataOf(kind dataKind, s string) ([]byte, error) {
	name, isFile := strings.CutPrefix(s, "@")
	switch {
	case kind == encoded:
		return encodedData(s)
	case !isFile || kind == raw:
		return []byte(s), nil
	}
	b, err := readFile(name)
	if kind == plain {
		b = slices.DeleteFunc(b, func(c byte) bool { return c == '\r' || c == '\n' || c == 0 })
	}
	return b, err
}

// encodedData is the piece of a --data-urlencode.
func encodedData(s string) ([]byte, error) {
	i := strings.IndexAny(s, "=@")
	name, content := "", s
	if i >= 0 {
		name, content = s[:i], s[i+1:]
		if s[i] == '@' {
			b, err := readFile(content)
			if err != nil {
				return nil, err
			}
			content = string(b)
		}
	}
	if name != "" {
		name += "="
	}
	return []byte(name + url.QueryEscape(content)), nil
}

// addQuery adds to the URL's query: +TEXT as it is, everything else as --data-urlencode.
func (c *command) addQuery(s string) error {
	if text, is := strings.CutPrefix(s, "+"); is {
		c.query = append(c.query, text)
		return nil
	}
	piece, err := encodedData(s)
	c.query = append(c.query, string(piece))
	return err
}

// A formField is one of --form.
type formField struct {
	name, value, file, kind string
	hasFile                 bool
}

// addForm adds the field of a --form, or of a --form-string, which is text as it is.
func (c *command) addForm(s string, literal bool) error {
	name, value, found := strings.Cut(s, "=")
	if !found {
		return fmt.Errorf("%.60q, which is no field", s)
	}
	f := formField{name: name, value: value}
	if literal {
		c.fields = append(c.fields, f)
		return nil
	}
	sign := ""
	if value != "" && (value[0] == '@' || value[0] == '<') {
		sign, value = value[:1], value[1:]
	}
	word, rest, err := formWord(value)
	if err != nil {
		return err
	}
	f.value = word
	for typed := false; rest != ""; { // whether a type was last, whose parameters may follow
		key, after, _ := strings.Cut(rest[1:], "=")
		var v string
		if v, rest, err = formWord(after); err != nil {
			return err
		}
		part, inKind := after, typed
		typed = false
		switch strings.TrimSpace(key) {
		case "type":
			f.kind, typed = v, true
		case "filename":
			f.file, f.hasFile = v, true
		default:
			if !inKind {
				return fmt.Errorf("with ;%s", key)
			}
			f.kind, typed = f.kind+";"+key+"="+strings.TrimSuffix(part, rest), true
		}
	}
	if err := f.readContent(sign); err != nil {
		return err
	}
	c.fields = append(c.fields, f)
	return nil
}

// formWord takes a word off a field's value, up to a semicolon. In quotes it may have one.
func formWord(s string) (word, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if !strings.HasPrefix(s, `"`) {
		i := strings.IndexByte(s+";", ';')
		return strings.TrimRight(s[:i], " \t"), s[i:], nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '"'):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			if rest = s[i+1:]; rest != "" && rest[0] != ';' {
				return "", "", errors.New("with something behind quotes")
			}
			return b.String(), rest, nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("with quotes that do not end")
}

// readContent reads the file of a field: @FILE is an upload, and <FILE is the value.
func (f *formField) readContent(sign string) error {
	if sign == "" {
		return nil
	}
	if strings.Contains(f.value, ",") {
		return errors.New("with several files")
	}
	name := f.value
	b, err := readFile(name)
	if err != nil {
		return err
	}
	if f.value = string(b); sign == "@" {
		if !f.hasFile {
			f.file, f.hasFile = path.Base(name), true
		}
		if f.kind == "" {
			f.kind = kindOf(f.file)
		}
	}
	return nil
}

// kindOf is the type that curl gives to a file of that name.
func kindOf(name string) string {
	known := map[string]string{".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
		".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html",
		".html": "text/html", ".pdf": "application/pdf", ".xml": "application/xml"}
	if kind := known[strings.ToLower(path.Ext(name))]; kind != "" {
		return kind
	}
	return "application/octet-stream"
}

// encodeForm is a form in parts, and its type with the boundary between them, which follows from
// the fields. As in curl, a type that is given gets the boundary, too, and if it is not that of a
// form, its parts are attachments.
func encodeForm(fields []formField, given string) (body []byte, kind string, err error) {
	kind, disposition := cmp.Or(given, "multipart/form-data"), "form-data"
	if !strings.HasPrefix(strings.ToLower(kind), "multipart/form-data") {
		disposition = "attachment"
	}
	var all []byte
	for _, f := range fields {
		all = fmt.Appendf(all, "%q %q %q %q\n", f.name, f.value, f.file, f.kind)
	}
	sum := sha256.Sum256(all)
	boundary := strings.Repeat("-", 24) + hex.EncodeToString(sum[:8])
	quote := strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A")
	var b bytes.Buffer
	for _, f := range fields {
		if strings.Contains(f.value, boundary) {
			return nil, "", errors.New("a field of the form contains its boundary")
		}
		b.WriteString("--" + boundary + "\r\nContent-Disposition: " + disposition + "; ")
		fmt.Fprintf(&b, `name="%s"`, quote.Replace(f.name))
		if f.hasFile {
			fmt.Fprintf(&b, `; filename="%s"`, quote.Replace(f.file))
		}
		b.WriteString("\r\n")
		if f.kind != "" {
			fmt.Fprintf(&b, "Content-Type: %s\r\n", f.kind)
		}
		fmt.Fprintf(&b, "\r\n%s\r\n", f.value)
	}
	fmt.Fprintf(&b, "--%s--\r\n", boundary)
	return b.Bytes(), kind + "; boundary=" + boundary, nil
}
