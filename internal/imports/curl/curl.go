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
	"strconv"
	"strings"

	"dyno/internal/engine/proto"
	"dyno/internal/imports"
)

// A Command is what a command line of curl sends.
type Command struct {
	Requests []imports.Request
	URL      string   // of a socket, which dyno run is to be given; "": that of the requests
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
		if err := c.check(); err != nil {
			return all, err
		}
		if err := c.setRedirects(); err != nil {
			return all, err
		}
		secure := false
		for _, u := range c.urls {
			r, err := c.request(u)
			if err != nil {
				return all, err
			}
			secure = secure || strings.HasPrefix(r.URL, "https:")
			all.Requests = append(all.Requests, r)
		}
		run, url := flagsOf(c.run, secure), ""
		if c.unix != "" {
			url = "http+unix://" + c.unix + ":/"
		}
		if !first && (!slices.Equal(run, all.Run) || url != all.URL) {
			return all, unsupported{"--next", "with other options of the connection"}
		}
		all.Run, all.URL, all.Notes = run, url, append(all.Notes, c.notes...)
	}
	return all, nil
}

// check reports what no URL can make good.
func (c *command) check() error {
	switch {
	case len(c.urls) == 0:
		return errors.New("has no URL")
	case c.upload != "" && len(c.urls) > 1:
		return unsupported{"--upload-file", "with several URLs"}
	case c.unix != "" && !strings.HasPrefix(c.unix, "/"):
		return unsupported{"--unix-socket", "with a path that does not begin with /"}
	}
	return nil
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
	run      []setting
	notes    []string

	ownFields
	length string // of the body
	redirects

	get, head, compressed, pathAsIs, globOff bool
}

// ownFields are the header fields that have options of their own.
type ownFields struct{ agent, referer, byteRange string }

// redirects are what a command says of them.
type redirects struct {
	followed  bool
	most      string // of one request; "": 50
	keepsPost bool   // some of them keep a POST, which others make a GET
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
	fields, err := c.setContent(&r, &u)
	if err != nil {
		return r, err
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
	c.length = strconv.Itoa(len(r.Body))
	if r.Header, err = c.header(u, fields); err != nil {
		return r, err
	}
	c.setLength(&r)
	return r, nil
}

// setContent sets the method and the body, and returns the headers that say what it is.
func (c *command) setContent(r *imports.Request, u *target) (fields []proto.Field, err error) {
	contents := 0
	for _, has := range []bool{c.body != nil && !c.get, len(c.fields) > 0, c.upload != "", c.head} {
		if has {
			contents++
		}
	}
	if contents > 1 {
		return nil, errors.New("asks for several kinds of request at once, which curl refuses")
	}
	r.Method = "GET"
	switch {
	case c.upload != "":
		r.Method = "PUT"
		u.path, err = c.readUpload(r, u.path)
	case len(c.fields) > 0:
		r.Method, r.Parts = "POST", true
		var kind string
		r.Body, kind, err = encodeForm(c.fields, c.given("Content-Type"))
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
	if c.byteRange != "" {
		if r.Body != nil {
			return nil, unsupported{"--range", "with a body"}
		}
		fields = append(fields, proto.Field{Name: "Range", Value: "bytes=" + fullRange(c.byteRange)})
	}
	return fields, err
}

// fullRange is a range with the dash that curl adds to a number.
func fullRange(s string) string {
	if !strings.Contains(s, "-") {
		s += "-"
	}
	return s
}

// given is the last value of --header with that name; "" if there is none.
func (c *command) given(name string) (value string) {
	for _, h := range c.headers {
		if n, v, _ := strings.Cut(h, ":"); strings.EqualFold(strings.TrimSpace(n), name) {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// setLength has an empty body's length sent as curl sends it, with any method. With one that
// usually has a body, dyno sends the length in any case.
func (c *command) setLength(r *imports.Request) {
	sends := (&proto.Request{Method: r.Method}).SendsLength()
	switch {
	case r.Body == nil && sends:
		c.note(fmt.Sprintf("dyno sends Content-Length: 0 with a %s without a body, as RFC 9110 8.6 "+
			"wants; curl sends none", r.Method))
	case r.Body != nil && len(r.Body) == 0 && !sends:
		r.Header = append(r.Header, proto.Field{Name: "Content-Length", Value: "0"})
	}
}

// pathOf is the path and query of a URL with what options add to the query.
func (c *command) pathOf(u target) string {
	query := c.query
	if c.get && c.body != nil {
		query = []string{string(c.body)} // curl leaves --url-query out then
	}
	p := u.path
	for _, q := range query {
		switch before, has := strings.CutSuffix(p, "?"); {
		case q == "":
		case has:
			p = before + "?" + q
		case strings.Contains(p, "?") && strings.HasSuffix(p, "&"):
			p += q
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
	if c.agent != "" {
		add("User-Agent", c.agent)
	}
	if c.referer != "" {
		add("Referer", c.referer)
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
		f, send, err := c.parseHeader(h)
		if err != nil {
			return nil, err
		}
		if len(c.fields) > 0 && strings.EqualFold(f.Name, "Content-Type") {
			continue // that of the form has its value
		}
		given[strings.ToLower(f.Name)] = true
		if send {
			custom = append(custom, f)
		}
	}
	for _, f := range own {
		if !given[strings.ToLower(f.Name)] {
			all = append(all, f)
		}
	}
	return append(all, custom...), nil
}

// parseHeader reads the value of a --header. A header without a value is not sent, and replaces
// one of curl's own; with a semicolon in place of the colon it is sent empty.
func (c *command) parseHeader(s string) (f proto.Field, send bool, err error) {
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
	case lower == "content-length" && value != "" && value == c.length:
		return f, false, nil // dyno sends it itself
	case lower == "content-length",
		lower == "transfer-encoding" && !strings.EqualFold(value, "chunked"):
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
