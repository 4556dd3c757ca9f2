package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// A coding is what is done to a value before it is inserted.
type coding uint8

const (
	plain     coding = iota
	percent          // of URLs and forms, as curl does it
	basicAuth        // Base64
	quotable         // of a name in a part of a multipart form
	inURL            // bytes beyond ASCII are escaped, as curl does it
)

// A filler makes the value of one hole.
type filler struct {
	parts []part
	as    coding
	in    proto.Part
	at    hurl.Pos
}

// A draft is a request that is being compiled.
type draft struct {
	*scope
	entry   *entry
	request proto.Request
	written proto.Request // with the names of variables in place of values and holes
	text    []byte        // of the part that is being written
	shown   []byte        // likewise, of written
	holes   []proto.Hole
}

// begin begins a part of the request.
func (d *draft) begin() { d.text, d.shown, d.holes = nil, nil, nil }

func (d *draft) writeText(s string) { d.writeBytes([]byte(s)) }

func (d *draft) writeBytes(b []byte) {
	d.text, d.shown = append(d.text, b...), append(d.shown, b...)
}

// writeParts writes parts of a template, and leaves holes for what is not known.
func (d *draft) writeParts(all []part, as coding, in proto.Part) {
	for _, p := range all {
		d.show(p, as)
		if p.text != nil {
			d.text = appendEncoded(d.text, p.text, as)
			continue
		}
		d.writeHole(filler{parts: []part{p}, as: as, in: in, at: p.at})
	}
}

// show writes a part as people are shown it.
func (d *draft) show(p part, as coding) {
	if p.name != "" {
		d.shown = append(append(append(d.shown, "{{"...), p.name...), "}}"...)
	} else {
		d.shown = appendEncoded(d.shown, p.text, as)
	}
}

func (d *draft) write(t hurl.Template, as coding, in proto.Part) {
	d.writeParts(d.parts(t), as, in)
}

func (d *draft) writeHole(f filler) {
	d.holes = append(d.holes, proto.Hole{In: f.in, At: len(d.text), Value: d.valueOf(f)})
}

// valueOf is the number of the value that a hole has. Holes that are filled alike share one.
func (d *draft) valueOf(f filler) int {
	if len(f.parts) == 1 && f.parts[0].from.kind != newUUID {
		p := &f.parts[0]
		for i, g := range d.entry.fillers {
			if q := &g.parts[0]; len(g.parts) == 1 && g.as == f.as && g.in == f.in && q.in == p.in &&
				q.from.kind == p.from.kind && q.from.index == p.from.index && q.text == nil {
				return i
			}
		}
	}
	d.entry.fillers = append(d.entry.fillers, f)
	return len(d.entry.fillers) - 1
}

// addField adds what was written as a header field.
func (d *draft) addField(name string) {
	for _, h := range d.holes {
		h.In, h.Field = proto.InHeader, len(d.request.Header)
		d.request.Holes = append(d.request.Holes, h)
	}
	d.request.Header = append(d.request.Header, proto.Field{Name: name, Value: string(d.text)})
	d.written.Header = append(d.written.Header, proto.Field{Name: name, Value: string(d.shown)})
}

func (d *draft) has(name string) bool { return d.request.HasField(name) }

// writePair writes a parameter. As in hurl, its name is not encoded.
func (d *draft) writePair(kv hurl.KeyValue, in proto.Part) {
	name := plain
	if in == proto.InPath {
		name = inURL
	}
	d.write(kv.Key, name, in)
	d.writeText("=")
	d.write(kv.Value, percent, in)
}

// setHeader writes the header, but what the body says of itself.
func (d *draft) setHeader(r *hurl.Request) {
	for _, h := range r.Headers {
		name, ok := d.literal(h.Key, fact.HeaderName, "")
		if !ok {
			continue
		}
		d.begin()
		d.write(h.Value, plain, proto.InHeader)
		d.addField(name)
	}
	for _, o := range r.Options {
		if o.Name != "header" {
			continue
		}
		name, value, has := cutTemplate(o.Value, ':')
		if !has {
			d.wrong(o.Pos, fact.InScenario{Of: fact.HeaderForm})
			continue
		}
		d.begin()
		d.write(value, plain, proto.InHeader)
		d.addField(name)
	}
	d.setAuthorization(r)
	if d.entry.compressed && !d.has("Accept-Encoding") {
		d.begin()
		d.writeText("gzip, deflate, br")
		d.addField("Accept-Encoding")
	}
	if !d.has("Accept") { // as curl does
		d.begin()
		d.writeText("*/*")
		d.addField("Accept")
	}
}

// cutTemplate cuts a template at a byte in its first text. Spaces around it are left out.
func cutTemplate(t hurl.Template, at byte) (before string, after hurl.Template, found bool) {
	if len(t.Pieces) == 0 || t.Pieces[0].Expr != nil {
		return "", t, false
	}
	before, rest, found := strings.Cut(t.Pieces[0].Text, string(at))
	after = hurl.Template{Pos: t.Pos, Pieces: slices.Clone(t.Pieces)}
	after.Pieces[0].Text = strings.TrimLeft(rest, " ")
	return strings.TrimSpace(before), after, found
}

// setAuthorization writes the header of [BasicAuth], or of the option user.
func (d *draft) setAuthorization(r *hurl.Request) {
	var all []part
	for _, kv := range r.BasicAuth {
		all = append(d.parts(kv.Key), part{text: []byte(":")})
		all = append(all, d.parts(kv.Value)...)
	}
	own := len(all) > 0 || d.has("Authorization")
	if d.entry.auth != "" && !own { // whose user may be that of the run
		d.request.Auth = d.entry.auth
	}
	for _, o := range r.Options {
		if o.Name == "user" && len(all) == 0 && !own {
			all = d.parts(o.Value)
			d.checkSigner(all, o.Value.Pos)
		}
	}
	if len(all) == 0 {
		if d.request.Auth != "" && d.User == "" && !d.Unknown {
			d.wrong(r.Pos, fact.InScenario{Of: fact.SignerNone},
				fact.Remedy{Setting: "auth", Value: fact.Some})
		}
		return
	}
	as := plain
	if d.begin(); d.request.Auth == "" {
		d.writeText("Basic ")
		as = basicAuth
	}
	d.writeTogether(all, as, proto.InHeader, r.Pos)
	d.addField("Authorization")
}

// checkSigner checks who signs the request, if that is known.
func (d *draft) checkSigner(all []part, at hurl.Pos) {
	var known []byte
	for _, p := range all {
		if known = append(known, p.text...); p.text == nil {
			return
		}
	}
	user, password, has := strings.Cut(string(known), ":")
	_, _, signs := loadplan.SigV4(d.request.Auth)
	if d.request.Auth != "" && (!has || user == "" || signs && password == "") {
		d.wrong(at, fact.InScenario{Of: fact.SignerPartial})
	}
}

// writeTogether writes parts that are encoded as a whole.
func (d *draft) writeTogether(all []part, as coding, in proto.Part, at hurl.Pos) {
	var known []byte
	for _, p := range all {
		d.show(p, plain)
		known = append(known, p.text...)
	}
	if slices.ContainsFunc(all, func(p part) bool { return p.text == nil }) {
		d.writeHole(filler{parts: all, as: as, in: in, at: at})
		return
	}
	d.text = appendEncoded(d.text, known, as)
}

// setCookies writes the header Cookie: of the jar if the entry can have such, and of [Cookies].
func (d *draft) setCookies(r *hurl.Request) {
	for i, c := range r.Cookies {
		if i > 0 {
			d.entry.cookies = append(d.entry.cookies, part{text: []byte("; ")})
		}
		d.entry.cookies = append(d.entry.cookies, d.parts(c.Key)...)
		d.entry.cookies = append(d.entry.cookies, part{text: []byte("=")})
		d.entry.cookies = append(d.entry.cookies, d.parts(c.Value)...)
	}
	d.begin()
	d.shown = []byte("{{cookies}}")
	for i, p := range d.entry.cookies {
		if i == 0 {
			d.shown = append(d.shown, "; "...)
		}
		d.show(p, plain)
	}
	d.holes = []proto.Hole{{In: proto.InHeader, Value: d.entry.jarValue}}
	d.addField("Cookie")
}

// setBody writes the body and its type.
func (d *draft) setBody(r *hurl.Request) {
	kinds := 0
	for _, is := range []bool{len(r.Form) > 0, len(r.Multipart) > 0, r.Body != nil} {
		if is {
			kinds++
		}
	}
	if kinds > 1 {
		d.wrong(r.Pos, fact.NotInLoad{What: fact.TwoBodies})
		return
	}
	d.begin()
	contentType := ""
	switch {
	case len(r.Form) > 0:
		contentType = "application/x-www-form-urlencoded"
		for i, kv := range r.Form {
			if i > 0 {
				d.writeText("&")
			}
			d.writePair(kv, proto.InBody)
		}
	case len(r.Multipart) > 0:
		contentType = "multipart/form-data"
		d.writeMultipart(r)
	case r.Body != nil:
		switch r.Body.Kind {
		case hurl.JSONBody:
			contentType = "application/json"
		case hurl.XMLBody:
			contentType = "application/xml"
		}
		d.writeBody(r.Body)
	}
	if len(d.text) > 0 || len(d.holes) > 0 {
		d.request.Body, d.written.Body = append([]byte{}, d.text...), d.shown
		d.request.Holes = append(d.request.Holes, d.holes...)
	}
	if contentType != "" && !d.has("Content-Type") {
		d.begin()
		d.writeText(contentType)
		d.addField("Content-Type")
	}
	if len(r.Multipart) > 0 {
		d.addBoundary(r)
	}
}

func (d *draft) writeBody(b *hurl.Body) {
	switch b.Kind {
	case hurl.BytesBody:
		d.writeBytes(b.Bytes)
	case hurl.FileBody:
		d.writeBytes(d.readFile(b.Text))
	default:
		d.write(b.Text, plain, proto.InBody)
	}
}

// readFile is what the file has whose name a template is.
func (s *scope) readFile(name hurl.Template) []byte {
	file, ok := s.literal(name, fact.FileName, "")
	if !ok {
		return nil
	}
	of := s.read[s.file.Name]
	if i := slices.IndexFunc(of, func(b loadplan.Beside) bool { return b.Name == file }); i >= 0 {
		return of[i].Content
	}
	b, err := s.Read(s.file.Name, file)
	if err != nil {
		s.fault(name.Pos, "%v", err)
		return nil
	}
	s.read[s.file.Name] = append(of, loadplan.Beside{Name: file, Content: b})
	return b
}

// boundary separates the parts of a multipart form. It is the same in every run, and does not
// occur in what is known of the body.
func (d *draft) boundary(r *hurl.Request) string {
	sum := sha256.Sum256([]byte(d.file.Name + r.URL.Source() + fmt.Sprint(r.Pos)))
	return "------------------------" + hex.EncodeToString(sum[:8])
}

// addBoundary adds the boundary to the Content-Type.
func (d *draft) addBoundary(r *hurl.Request) {
	for i := range d.request.Header {
		if strings.EqualFold(d.request.Header[i].Name, "Content-Type") {
			d.request.Header[i].Value += "; boundary=" + d.boundary(r)
			d.written.Header[i].Value += "; boundary=" + d.boundary(r)
			return
		}
	}
}

// fileTypes are the types of files by the ends of their names.
var fileTypes = map[string]string{".gif": "image/gif", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain", ".htm": "text/html",
	".html": "text/html", ".pdf": "application/pdf", ".xml": "application/xml"}

func (d *draft) writeMultipart(r *hurl.Request) {
	boundary, kind := d.boundary(r), "form-data"
	for _, f := range d.request.Header { // as curl does it
		if strings.EqualFold(f.Name, "Content-Type") &&
			!strings.HasPrefix(f.Value, "multipart/form-data") {
			kind = "attachment"
		}
	}
	for _, p := range r.Multipart {
		d.writeText("--" + boundary + "\r\nContent-Disposition: " + kind + "; name=\"")
		d.write(p.Key, quotable, proto.InBody)
		d.writeText(`"`)
		if !p.File {
			d.writeText("\r\n\r\n")
			d.write(p.Value, plain, proto.InBody)
			d.writeText("\r\n")
			continue
		}
		content := d.readFile(p.Value)
		name, _ := d.literal(p.Value, fact.FileName, "")
		d.writeText(`; filename="`)
		d.writeBytes(appendEncoded(nil, []byte(name), quotable))
		d.writeText("\"\r\nContent-Type: ")
		if len(p.Type.Pieces) > 0 {
			d.write(p.Type, plain, proto.InBody)
		} else if kind, known := fileTypes[path.Ext(name)]; known {
			d.writeText(kind)
		} else {
			d.writeText("application/octet-stream")
		}
		d.writeText("\r\n\r\n")
		d.writeBytes(content)
		d.writeText("\r\n")
	}
	d.writeText("--" + boundary + "--\r\n")
}

// appendEncoded appends a value in a coding.
func appendEncoded(to, v []byte, as coding) []byte {
	switch as {
	case percent:
		return appendPercent(to, v, "-._~")
	case inURL:
		const digits = "0123456789abcdef"
		for _, c := range v {
			if c < 0x80 {
				to = append(to, c)
			} else {
				to = append(to, '%', digits[c>>4], digits[c&15])
			}
		}
		return to
	case basicAuth:
		return base64.StdEncoding.AppendEncode(to, v)
	case quotable:
		for _, c := range v {
			switch c {
			case '"':
				to = append(to, "%22"...)
			case '\r':
				to = append(to, "%0D"...)
			case '\n':
				to = append(to, "%0A"...)
			default:
				to = append(to, c)
			}
		}
		return to
	}
	return append(to, v...)
}

// appendPercent appends a value in which all bytes are escaped but letters, digits and some.
func appendPercent(to, v []byte, except string) []byte {
	const digits = "0123456789ABCDEF"
	for _, c := range v {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(except, c) >= 0 {
			to = append(to, c)
		} else {
			to = append(to, '%', digits[c>>4], digits[c&15])
		}
	}
	return to
}
