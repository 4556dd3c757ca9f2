package versus

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// longestName is how many characters a name in an experiment file may have, and longestPart those
// of a name that is derived here.
const (
	longestName = 64
	longestPart = 32
)

// names are those of the variants: as given, or derived.
func (c *Comparison) names() ([]string, error) {
	var sources []string
	switch {
	case c.Git != nil:
		for _, r := range c.Git.Revisions {
			sources = append(sources, r.Name)
		}
	default:
		sources = c.Servers
	}
	if c.Names == nil && c.Git != nil {
		return distinct(sources, sources), nil
	}
	if c.Names == nil {
		return deriveNames(sources), nil
	}
	if len(c.Names) != len(sources) {
		return nil, fmt.Errorf("--names: %d are given for %d servers", len(c.Names), len(sources))
	}
	for i, name := range c.Names {
		if at := indexFold(c.Names[:i], name); at >= 0 && c.Names[at] != name {
			return nil, fmt.Errorf("--names: %q and %q differ in capitals alone, and their files would be "+
				"the same on macOS and Windows", c.Names[at], name)
		} else if at >= 0 {
			return nil, fmt.Errorf("--names: %q is given twice", name)
		}
		if name != safeName(name) {
			return nil, fmt.Errorf("--names: %q is not a name; write 1 to %d letters, digits and . _ + -",
				name, longestPart)
		}
	}
	return c.Names, nil
}

// description is what is sent, and by how many, so that two reports of the same servers have
// different titles: "login.hurl, 50 users". It has no query, which may be secret.
func (c *Comparison) description() string {
	w, what := &c.Workload, c.request()
	if file := cmp.Or(w.Hurl, w.Script, w.RequestsFile, w.URLs); file != "" {
		what = path.Base(file)
	}
	count := func(n float64, of string) {
		if n > 0 {
			what += ", " + strconv.FormatFloat(n, 'f', -1, 64) + of
		}
	}
	if count(float64(c.Level.Rate), "/s"); w.Users == 0 && (w.Hurl == "" || c.Level.Pipeline > 1) {
		count(float64(c.Level.Connections), " connections")
		return what
	}
	count(float64(cmp.Or(w.Users, int(c.Level.Connections))), " users")
	return what
}

// request is the method and the path that are asked for, or the method alone if the URLs of the
// servers differ in their path.
func (c *Comparison) request() string {
	r := &c.Workload.Request
	asked, _, _ := strings.Cut(r.Path, "?")
	return strings.TrimSpace(cmp.Or(r.Method, "GET") + " " + cmp.Or(asked, c.commonPath()))
}

// commonPath is the path of the URLs of all servers, and "" if they differ in it.
func (c *Comparison) commonPath() string {
	common := ""
	for i := range max(len(c.Servers), 1) { // revisions have one URL
		at := c.address()
		if c.Git == nil && i < len(c.Servers) && IsURL(c.Servers[i]) {
			at = c.Servers[i]
		}
		own := pathOf(at)
		if i > 0 && own != common {
			return ""
		}
		common = own
	}
	return common
}

// pathOf is the path of a URL, which may have templates; "" if the URL is of a socket's file, or if
// its path has a template.
func pathOf(at string) string {
	scheme, rest, _ := strings.Cut(at, "://")
	if strings.HasSuffix(scheme, "unix") {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	_, own, _ := strings.Cut(rest, "/")
	if strings.Contains(own, "{{") {
		return ""
	}
	return "/" + own
}

// deriveNames are short names for commands and URLs: programs and hosts, or else the words in which
// they differ.
func deriveNames(servers []string) []string {
	short := make([]string, len(servers))
	words := make([][]string, len(servers))
	for i, s := range servers {
		short[i], words[i] = nameParts(s)
	}
	for i := range short {
		if countOf(short, short[i]) > 1 {
			return distinct(differences(words, short), short)
		}
	}
	return distinct(short, short)
}

// nameParts is a short name for a server, and the words in which it may differ from others.
func nameParts(server string) (short string, words []string) {
	if u, err := url.Parse(server); IsURL(server) && err == nil {
		return u.Host, []string{u.Scheme, u.Hostname(), u.Port(), u.RequestURI()}
	}
	s, err := splitCommand(server)
	if err != nil {
		return "", nil
	}
	for i := 0; i < len(s.env); i += 2 {
		words = append(words, s.env[i]+"="+s.env[i+1])
	}
	if words = append(words, s.words...); s.words[0] == "sh" && len(s.words) == 3 {
		return "sh", append(words[:len(words)-1], strings.Fields(s.words[2])...)
	}
	return path.Base(s.words[0]), words
}

// differences are the words of each that not all others have too, or its short name if there are
// none.
func differences(words [][]string, short []string) []string {
	all := make([]string, len(words))
	for i, own := range words {
		var some []string
		for _, w := range own {
			everywhere := true
			for _, other := range words {
				everywhere = everywhere && slices.Contains(other, w)
			}
			if !everywhere && !namesPort(w) {
				some = append(some, w)
			}
		}
		if all[i] = strings.Join(some, "-"); len(some) == 0 {
			all[i] = short[i]
		}
	}
	return all
}

// indexFold is where a name is, in any capitals; -1: nowhere.
func indexFold(all []string, name string) int {
	return slices.IndexFunc(all, func(other string) bool { return strings.EqualFold(other, name) })
}

// distinct are the texts as names, each with a number if it is there before, in any capitals.
func distinct(texts, otherwise []string) (names []string) {
	for i, text := range texts {
		name := safeName(text)
		if name == "" {
			name = safeName(otherwise[i])
		}
		if name == "" {
			name = "server"
		}
		of := name
		for n := 2; indexFold(names, name) >= 0; n++ {
			name = fmt.Sprintf("%s-%d", of, n)
		}
		names = append(names, name)
	}
	return names
}

// safeName is a text as the name of a variant; "" if nothing of it can be in one.
func safeName(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			strings.ContainsRune("._+", c):
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.TrimLeft(b.String(), "._+-")
	return strings.TrimRight(name[:min(len(name), longestPart)], "-")
}

func countOf(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}
