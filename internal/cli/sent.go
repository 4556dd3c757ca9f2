package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/requests"
	"dyno/internal/engine/template"
	"dyno/internal/fault"
	"dyno/internal/hole"
	"dyno/internal/setting"
)

// This file is about flags that say what is sent in the words of curl and HTTPie.

// addHeader adds the header of a --header, or those of a file.
func (f *runFlags) addHeader(s string) error {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		name, _, _ := strings.Cut(s, ":")
		return f.addField(s, "--header "+name, 1)
	}
	if name == "" || name == "-" {
		return fmt.Errorf("%q names no file; write @FILE", s)
	}
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	r, err := limitDevice(in)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return f.readHeaders(name, r)
}

// addField adds a header that is a line of a file, or the value of a flag.
func (f *runFlags) addField(s, file string, line int) error {
	field, err := requests.Field(s)
	if err == nil {
		_, value, _ := strings.Cut(s, ":")
		before := len(s) - len(value) + strings.Index(value, field.Value)
		at := template.Position{File: file, Line: line, Column: before + 1}
		f.defaults.Header, f.headerAt = append(f.defaults.Header, field), append(f.headerAt, at)
	}
	return err
}

// readHeaders adds the headers of a file, one a line. Empty lines and those that begin with # say
// nothing.
func (f *runFlags) readHeaders(name string, r io.Reader) error {
	list := fault.List{File: name}
	lines, n, had := bufio.NewScanner(r), 0, len(f.defaults.Header)
	for lines.Scan() {
		n++
		line := lines.Text()
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		if err := f.addField(line, name, n); err != nil {
			list.Add(n, 1, "%v", err)
		}
	}
	if err := lines.Err(); err != nil {
		list.Add(n+1, 0, "%v", err)
	} else if len(f.defaults.Header) == had && list.Err() == nil {
		list.Add(0, 0, "has no header; write 'Name: value', one a line")
	}
	return list.Err()
}

// setUser sets who asks.
func (f *runFlags) setUser(s string) error {
	var named loadplan.Plan
	if err := setting.Named("user").Set(&named, s); err != nil {
		return err
	}
	if template.HasHoles(s) && !f.filling.names.Literal {
		return errors.New("is encoded as a whole, so that it can have no {{holes}}; write what the " +
			"server gets, as -H 'Authorization: Basic {{credentials}}'")
	}
	f.user, f.sender = requests.BasicAuth(s), named.User
	return requests.Unmarked("it", s)
}

// A form is the fields of --form.
type form struct {
	fields []formField
	files  bool // one of them is a file
}

// A formField is a field and its value, or the file that is uploaded.
type formField struct {
	name, value, file string
}

// addField adds the field of a --form.
func (m *form) addField(s string) error {
	name, value, found := strings.Cut(s, "=")
	if !found || name == "" {
		return fmt.Errorf("%.60q is not a field; write NAME=VALUE, or NAME=@FILE", s)
	}
	file, isFile := strings.CutPrefix(value, "@")
	if isFile {
		if file == "" || file == "-" {
			return fmt.Errorf("%.60q names no file; write NAME=@FILE", s)
		}
		m.files, value = true, ""
	}
	if !isFile {
		file = ""
	}
	m.fields = append(m.fields, formField{name, value, file})
	return requests.Unmarked("field "+name, value)
}

// encode returns the body of the form, and its type: as browsers and HTTPie do, one of fields
// percent-encoded, and one with a file, or whose given type is that of parts, in parts. As in curl,
// a given type gets the boundary between them, unless it has one. Holes stay as they are.
func (m *form) encode(given string) (body []byte, kind string, err error) {
	media, parameters, _ := mime.ParseMediaType(given)
	if !m.files && media != "multipart/form-data" {
		var pairs []string
		for _, f := range m.fields {
			pairs = append(pairs, escapeField(f.name)+"="+escapeField(f.value))
		}
		return []byte(strings.Join(pairs, "&")), "application/x-www-form-urlencoded", nil
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	boundary := cmp.Or(parameters["boundary"], formBoundary)
	if err := w.SetBoundary(boundary); err != nil {
		return nil, "", fmt.Errorf("the boundary of its Content-Type, %.80q: %w", boundary, err)
	}
	for _, f := range m.fields {
		if f.file == "" {
			err = errors.Join(err, w.WriteField(f.name, f.value))
			continue
		}
		err = errors.Join(err, addUpload(w, f, m.holes()))
	}
	if kind = given; given == "" {
		kind = "multipart/form-data"
	}
	if parameters["boundary"] == "" {
		kind += "; boundary=" + boundary
	}
	if b.Len() > requests.MaxFile {
		err = errors.Join(err, fmt.Errorf("the form is larger than %d GiB", requests.MaxFile>>30))
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), kind, err
}

// holes reports whether a field has some.
func (m *form) holes() bool {
	return slices.ContainsFunc(m.fields, func(f formField) bool {
		return template.HasHoles(f.name) || template.HasHoles(f.value)
	})
}

// formBoundary parts the fields of a form with files. It is the same in all runs, so that their
// plans are the same.
const formBoundary = "dyno-form-5f1c0d6b9a7e4c23"

// addUpload adds a file to a form; holes says whether other fields have some.
func addUpload(w *multipart.Writer, f formField, holes bool) error {
	in, err := os.Open(f.file)
	if err != nil {
		return err
	}
	defer in.Close()
	content, err := readWhole(in)
	if err != nil {
		return err
	}
	if holes && (bytes.Contains(content, []byte("{{")) || !utf8.Valid(content)) {
		return fmt.Errorf("%s is no text or has {{, and other fields have {{holes}}; a form has one of "+
			"the two", f.file)
	}
	if bytes.Contains(content, []byte(w.Boundary())) {
		return fmt.Errorf("%s contains the line that parts the fields, %s", f.file, w.Boundary())
	}
	quote := strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A")
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", fmt.Sprintf(`form-data; name="%s"; filename="%s"`,
		quote.Replace(f.name), quote.Replace(filepath.Base(f.file))))
	header.Set("Content-Type", "application/octet-stream")
	part, err := w.CreatePart(header)
	if err == nil {
		_, err = part.Write(content)
	}
	return err
}

// escapeField is a name or a value of a form, percent-encoded but for its holes.
func escapeField(s string) string {
	var b strings.Builder
	for p := range hole.Pieces(s) {
		meant, quoted := hole.Unquote(p.Inside())
		switch {
		case p.Kind == hole.Literal:
			b.WriteString(url.QueryEscape(p.Text))
		case p.Kind == hole.Escaped:
			b.WriteString(url.QueryEscape("{{"))
		case quoted:
			b.WriteString(url.QueryEscape(meant))
		default: // the fault of one that is open is reported where holes are checked
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// setTyped adds a Content-Type, unless the user gave one.
func (f *runFlags) setTyped(kind string) {
	if !slices.ContainsFunc(f.defaults.Header, isContentType) {
		f.defaults.Header = append(f.defaults.Header, proto.Field{Name: "Content-Type", Value: kind})
	}
}

func isContentType(f proto.Field) bool { return strings.EqualFold(f.Name, "Content-Type") }

// checkJSON reports where the body of a --json-body is no JSON. Its holes, and braces that are
// meant as they are, count as digits, which may stand for a value and within a string.
func checkJSON(name string, body []byte) error {
	plain := make([]byte, 0, len(body))
	for p := range hole.Pieces(string(body)) {
		if p.Kind != hole.Literal {
			p.Text = strings.Repeat("1", len(p.Text))
		}
		plain = append(plain, p.Text...)
	}
	var v json.RawMessage
	err := json.Unmarshal(plain, &v)
	if err == nil {
		return nil
	}
	line, column, problem := 0, 0, err.Error()
	if s, is := errors.AsType[*json.SyntaxError](err); is {
		before := plain[:max(min(int(s.Offset), len(plain))-1, 0)]
		line = bytes.Count(before, []byte("\n")) + 1
		column = len(before) - bytes.LastIndexByte(before, '\n')
	}
	return fault.Fault{File: name, Line: line, Column: column, Problem: "is no JSON: " + problem}
}

// readJSON returns the body of --json-body.
func (f *runFlags) readJSON(name string, r io.Reader) ([]byte, error) {
	body, err := readWhole(r)
	if err != nil {
		return nil, err
	}
	if err = f.checkText(name, body); err == nil {
		err = checkJSON(name, body)
	}
	f.setTyped("application/json")
	return body, err
}

// formBody returns the body of --form.
func (f *runFlags) formBody() ([]byte, []error) {
	at := slices.IndexFunc(f.defaults.Header, isContentType)
	given := ""
	if at >= 0 {
		given = f.defaults.Header[at].Value
	}
	body, kind, err := f.form.encode(given)
	switch {
	case err != nil:
		return nil, []error{loadplan.Flaw{Setting: "--form", Problem: fault.Text(err)}}
	case at < 0:
		f.setTyped(kind)
	case strings.HasPrefix(kind, given): // perhaps with a boundary
		f.defaults.Header[at].Value = kind
	}
	f.defaults.RawBody = !f.form.holes()
	return body, nil
}

// checkText reports the faults of the holes of a file that is a body. One that is not UTF-8 has
// none.
func (f *runFlags) checkText(name string, text []byte) error {
	if !bytes.Contains(text, []byte("{{")) || !utf8.Valid(text) {
		return nil
	}
	_, err := f.filling.names.Parse(string(text), template.Position{File: name, Line: 1, Column: 1})
	return err
}
