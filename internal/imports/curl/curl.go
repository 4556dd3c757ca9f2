// Package curl reads command lines of curl, as people paste them and browsers copy them. What a
// command sends is the same request that curl sends, byte for byte but for the order of its
// headers, the boundary of a form and, unless it is given, the User-Agent: dyno says its own name.
// Nor does dyno send Expect: 100-continue, which curl does with large bodies, and a POST without a
// body has the length 0.
//
// What cannot be sent so is refused: an option that is not known may change the request. Options
// of how to connect become flags of dyno run.
//
//	ansi.go      quotes of the shell: $'…'
//	curl.go      a command becomes a request
//	data.go      -d, --data-urlencode, -F, --json
//	options.go   options of curl: which are known, which become flags
//	url.go       URLs, --resolve, --connect-to
//	words.go     splits commands into words, of bash and of Windows
package curl

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/imports"
)

// A Command is what a command line of curl sends.
type Command struct {
	Requests []imports.Request
	Run      []string // flags of dyno run that say how to connect
	Notes    []string // what curl does and dyno does not, without changing the requests
}

// Parse reads a command, in words. The first word is the program.
func Parse(words []string) (Command, error) {
	if len(words) == 0 {
		return Command{}, errors.New("has no command")
	}
	name := path.Base(strings.ReplaceAll(words[0], `\`, "/"))
	if strings.TrimSuffix(name, ".exe") != "curl" {
		return Command{}, fmt.Errorf("%.40q is not curl", words[0])
	}
	var all Command
	for rest, first := words[1:], true; first || len(rest) > 0; first = false {
		c := command{}
		var err error
		if rest, err = c.parseOptions(rest); err != nil {
			return all, err
		}
		if len(c.urls) == 0 {
			return all, errors.New("has no URL")
		}
		for _, u := range c.urls {
			r, err := c.request(u)
			if err != nil {
				return all, err
			}
			all.Requests = append(all.Requests, r)
		}
		if !first && !slices.Equal(c.run, all.Run) {
			return all, unsupported{"--next", "with other options of the connection"}
		}
		all.Run, all.Notes = c.run, append(all.Notes, c.notes...)
	}
	return all, nil
}

// A command is the options of one, up to --next.
type command struct {
	urls     []string
	method   string
	headers  []string // as they were given
	cookies  []string
	login    string // USER:PASSWORD
	bearer   string
	body     []byte // nil: there is none
	isJSON   bool
	fields   []formField
	query    []string
	upload   string
	target   string
	unix     string
	resolves []string // HOST:PORT of --resolve
	run      []string
	notes    []string

	get, head, compressed, pathAsIs, globOff, http2 bool
}

func (c *command) note(text string) {
	if !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// request is what the command sends to a URL.
func (c *command) request(text string) (r imports.Request, err error) {
	u, err := c.parseURL(text)
	if err != nil {
		return r, err
	}
	contents := 0
	for _, has := range []bool{c.body != nil && !c.get, len(c.fields) > 0, c.upload != "", c.head} {
		if has {
			contents++
		}
	}
	if contents > 1 {
		return r, errors.New("asks for several kinds of request at once, which curl refuses")
	}
	r.Method = "GET"
	var fields []proto.Field
	switch {
	case c.upload != "":
		r.Method = "PUT"
		if u.path, err = c.readUpload(&r, u.path); err != nil {
			return r, err
		}
	case len(c.fields) > 0:
		r.Method, r.Parts = "POST", true
		var boundary string
		if r.Body, boundary, err = encodeForm(c.fields); err != nil {
			return r, err
		}
		kind := "multipart/form-data; boundary=" + boundary
		fields = append(fields, proto.Field{Name: "Content-Type", Value: kind})
	case c.body != nil && !c.get:
		r.Method, r.Body = "POST", c.body
		kind := "application/x-www-form-urlencoded"
		if c.isJSON {
			kind = "application/json"
		}
		fields = append(fields, proto.Field{Name: "Content-Type", Value: kind})
	case c.head:
		r.Method = "HEAD"
	}
	if c.method != "" {
		r.Method = c.method
	}
	r.URL = u.origin + c.pathOf(u)
	if c.target != "" {
		r.URL = u.origin + c.target
		if !strings.HasPrefix(c.target, "/") {
			return r, unsupported{"--request-target", "that is no path"}
		}
	}
	r.Header, err = c.header(u, fields)
	return r, err
}

// pathOf is the path and query of a URL with what options add to the query.
func (c *command) pathOf(u target) string {
	query := c.query
	if c.get && c.body != nil {
		query = append(slices.Clone(query), string(c.body))
	}
	p := u.path
	for _, q := range query {
		switch before, has := strings.CutSuffix(p, "?"); {
		case q == "":
		case has:
			p = before + "?" + q
		case strings.Contains(p, "?"):
			p += "&" + q
		default:
			p += "?" + q
		}
	}
	return p
}

// header is the headers: those that curl adds, unless the command replaces or removes them, and
// then the command's own.
func (c *command) header(u target, own []proto.Field) (all []proto.Field, err error) {
	add := func(name, value string) { own = append(own, proto.Field{Name: name, Value: value}) }
	if login := c.login; login != "" || u.login != "" && c.bearer == "" {
		if login == "" {
			login = u.login
		}
		add("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
	} else if c.bearer != "" {
		add("Authorization", "Bearer "+c.bearer)
	}
	accept := "*/*"
	if c.isJSON {
		accept = "application/json"
	}
	add("Accept", accept)
	if c.compressed {
		add("Accept-Encoding", "deflate, gzip, br, zstd")
	}
	if len(c.cookies) > 0 {
		add("Cookie", strings.Join(c.cookies, ";"))
	}
	if u.host != "" {
		add("Host", u.host)
	}
	given := map[string]bool{}
	var custom []proto.Field
	for _, h := range c.headers {
		f, send, err := parseHeader(h)
		if err != nil {
			return nil, err
		}
		given[strings.ToLower(f.Name)] = true
		if send {
			custom = append(custom, f)
		}
	}
	for _, f := range own {
		if lower := strings.ToLower(f.Name); !given[lower] || lower == "cookie" {
			all = append(all, f)
		}
	}
	return append(all, custom...), nil
}

// parseHeader reads the value of a --header. A header without a value is not sent, and replaces
// one of curl's own; with a semicolon in place of the colon it is sent empty.
func parseHeader(s string) (f proto.Field, send bool, err error) {
	name, value, found := strings.Cut(s, ":")
	value = strings.Trim(value, " \t\r\n")
	if !found {
		name, empty := strings.CutSuffix(s, ";")
		if !empty {
			return f, false, nil // curl ignores it
		}
		return proto.Field{Name: name}, true, nil
	}
	f = proto.Field{Name: strings.TrimRight(name, " \t"), Value: value}
	switch lower := strings.ToLower(f.Name); {
	case value == "" && (lower == "host" || lower == "user-agent"):
		return f, false, unsupported{"--header", fmt.Sprintf("'%s:': dyno always sends one", f.Name)}
	case lower == "content-length" || lower == "transfer-encoding":
		return f, false, unsupported{"--header", fmt.Sprintf("'%s: …'", f.Name)}
	}
	return f, value != "", nil
}

// addHeader adds the header of a --header, or those of a file.
func (c *command) addHeader(s string) error {
	name, isFile := strings.CutPrefix(s, "@")
	if !isFile {
		c.headers = append(c.headers, s)
		return nil
	}
	text, err := readFile(name)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			c.headers = append(c.headers, line)
		}
	}
	return err
}

func (c *command) addCookie(s string) error {
	if !strings.Contains(s, "=") {
		return errors.New("with a file")
	}
	c.cookies = append(c.cookies, s)
	return nil
}

func (c *command) setUser(s string) error {
	if !strings.Contains(s, ":") {
		return errors.New("without a password, for which curl would ask")
	}
	c.login = s
	return nil
}

// readUpload sets the body of an upload. A URL that ends in / gets the file's name.
func (c *command) readUpload(r *imports.Request, p string) (string, error) {
	if c.upload == "-" || c.upload == "." {
		return p, unsupported{"--upload-file", "with stdin"}
	}
	body, err := readFile(c.upload)
	if err != nil {
		return p, fmt.Errorf("--upload-file: %w", err)
	}
	r.Body = body
	before, query, has := strings.Cut(p, "?")
	if strings.HasSuffix(before, "/") {
		before += strings.ReplaceAll(url.QueryEscape(path.Base(c.upload)), "+", "%20")
	}
	if has {
		before += "?" + query
	}
	return before, nil
}

// readFile reads a file that the command sends.
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return nil, errors.New("with stdin")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := imports.ReadAll(name, f)
	if b == nil {
		b = []byte{}
	}
	return b, err
}
