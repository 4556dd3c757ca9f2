package curl

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// An option is one of curl's that is understood.
type option struct {
	long, short string
	value       bool // it has one
	set         func(c *command, value string) error
}

// optionTable lists the options that are understood. All others are refused.
func optionTable() []option {
	return append(append(requestOptions(), transportOptions()...), localOptions()...)
}

// requestOptions are those that say what is sent.
func requestOptions() []option {
	return []option{
		{"request", "X", true, store(func(c *command) *string { return &c.method })},
		{"url", "", true, func(c *command, v string) error { c.urls = append(c.urls, v); return nil }},
		{"header", "H", true, (*command).addHeader},
		{"user-agent", "A", true, func(c *command, v string) error {
			if c.agent = v; v == "" {
				return errors.New("'': dyno always sends one")
			}
			return nil
		}},
		{"referer", "e", true, func(c *command, v string) error {
			c.referer, _, _ = strings.Cut(v, ";auto")
			return nil
		}},
		{"range", "r", true, store(func(c *command) *string { return &c.byteRange })},
		{"cookie", "b", true, (*command).addCookie},
		{"user", "u", true, (*command).setUser},
		{"basic", "", false, ignore},
		{"oauth2-bearer", "", true, func(c *command, v string) error {
			c.bearer = v
			return nil
		}},
		{"data", "d", true, data(plain)},
		{"data-ascii", "", true, data(plain)},
		{"data-binary", "", true, data(binary)},
		{"data-raw", "", true, data(raw)},
		{"data-urlencode", "", true, data(encoded)},
		{"json", "", true, data(asJSON)},
		{"get", "G", false, mark(func(c *command) *bool { return &c.get })},
		{"head", "I", false, mark(func(c *command) *bool { return &c.head })},
		{"form", "F", true, func(c *command, v string) error { return c.addForm(v, false) }},
		{"form-string", "", true, func(c *command, v string) error { return c.addForm(v, true) }},
		{"upload-file", "T", true, store(func(c *command) *string { return &c.upload })},
		{"url-query", "", true, (*command).addQuery},
		{"compressed", "", false, mark(func(c *command) *bool { return &c.compressed })},
		{"request-target", "", true, store(func(c *command) *string { return &c.target })},
		{"path-as-is", "", false, mark(func(c *command) *bool { return &c.pathAsIs })},
		{"globoff", "g", false, mark(func(c *command) *bool { return &c.globOff })},
	}
}

// transportOptions are those that say how it is sent, which dyno run has too.
func transportOptions() []option {
	return []option{
		{"insecure", "k", false, run("--insecure")},
		{"cacert", "", true, run("--cacert")},
		{"cert", "E", true, func(c *command, v string) error {
			if strings.Contains(v, ":") {
				return errors.New("with a password")
			}
			return run("--cert")(c, v)
		}},
		{"key", "", true, run("--key")},
		{"tlsv1", "1", false, run("--tls-min", "1.0")},
		{"tlsv1.0", "", false, run("--tls-min", "1.0")},
		{"tlsv1.1", "", false, run("--tls-min", "1.1")},
		{"tlsv1.2", "", false, run("--tls-min", "1.2")},
		{"tlsv1.3", "", false, run("--tls-min", "1.3")},
		{"tls-max", "", true, run("--tls-max")},
		{"http1.0", "0", false, run("--http", "1.0")},
		{"http1.1", "", false, run("--http", "1.1")},
		{"http2", "", false, run("--http", upgraded)},
		{"http2-prior-knowledge", "", false, run("--http", "2")},
		{"http3", "", false, run("--http", "3")},
		{"http3-only", "", false, run("--http", "3")},
		{"max-time", "m", true, run("--timeout")},
		{"connect-timeout", "", true, run("--connect-timeout")},
		{"interface", "", true, func(c *command, v string) error {
			if _, err := netip.ParseAddr(v); err != nil {
				return errors.New("with a name")
			}
			return run("--source")(c, v)
		}},
		{"resolve", "", true, (*command).setResolve},
		{"connect-to", "", true, (*command).setConnectTo},
		{"unix-socket", "", true, store(func(c *command) *string { return &c.unix })},
		{"location", "L", false, mark(func(c *command) *bool { return &c.followed })},
		{"location-trusted", "", false, mark(func(c *command) *bool { return &c.followed })},
		{"max-redirs", "", true, store(func(c *command) *string { return &c.most })},
		{"post301", "", false, mark(func(c *command) *bool { return &c.keepsPost })},
		{"post302", "", false, mark(func(c *command) *bool { return &c.keepsPost })},
		{"post303", "", false, mark(func(c *command) *bool { return &c.keepsPost })},
	}
}

// localOptions are those that change nothing of what is sent: what curl shows, and writes.
func localOptions() (all []option) {
	const switches = `-s --silent -S --show-error -v --verbose -i --include -N --no-buffer -f --fail
		--fail-with-body --fail-early --no-progress-meter --progress-bar -# -O --remote-name
		--remote-name-all -J --remote-header-name -R --remote-time --create-dirs -Z --parallel
		--parallel-immediate --trace-time --styled-output --no-styled-output --tcp-nodelay
		--keepalive --no-keepalive -q --disable --ssl-no-revoke --no-sessionid --retry-connrefused
		--retry-all-errors --http0.9 -j --junk-session-cookies --no-clobber --show-headers --xattr
		--remove-on-error --skip-existing --suppress-connect-headers --tcp-fastopen --trace-ids`
	const values = `-o --output -w --write-out -D --dump-header -c --cookie-jar --stderr --trace
		--trace-ascii --output-dir --retry --retry-delay --retry-max-time --keepalive-time
		--expect100-timeout --noproxy -Y --speed-limit -y --speed-time --max-filesize
		--parallel-max --happy-eyeballs-timeout-ms --proto --proto-redir --create-file-mode
		--trace-config`
	for i, list := range []string{switches, values} {
		for name := range strings.FieldsSeq(list) {
			o := option{value: i == 1, set: ignore}
			if o.long = strings.TrimPrefix(name, "--"); o.long == name {
				o.long, o.short = name, name[1:]
			}
			all = append(all, o)
		}
	}
	return all
}

func ignore(*command, string) error { return nil }

// mostFollowed is how many redirects of a request dyno run follows at most.
const mostFollowed = 100

// setRedirects has dyno follow redirects if curl does: 50 of a request, unless told otherwise.
func (c *command) setRedirects() error {
	if !c.followed {
		return nil
	}
	n, err := strconv.Atoi(cmp.Or(c.most, "50"))
	if err != nil || n < -1 {
		return fmt.Errorf("%.40q is no number of redirects for --max-redirs", c.most)
	}
	if n == 0 {
		c.note("curl fails at a redirect (--max-redirs 0), and dyno takes one for an answer")
		return nil
	}
	if n < 0 || n > mostFollowed {
		n = mostFollowed
	}
	c.note("dyno follows redirects to another server only where --follow-to names it")
	if again := c.method; c.keepsPost || again != "" && again != "GET" && again != "HEAD" {
		c.note("behind a redirect with 301, 302 or 303 curl sends " + cmp.Or(again, "POST") +
			" again, and dyno a GET as browsers do")
	}
	return run("--follow", strconv.Itoa(n))(c, "")
}

// data is an option that adds to the body.
func data(kind dataKind) func(*command, string) error {
	return func(c *command, value string) error { return c.addData(kind, value) }
}

// store keeps a value, of which the last counts.
func store(to func(*command) *string) func(*command, string) error {
	return func(c *command, value string) error {
		*to(c) = value
		return nil
	}
}

// mark is a switch.
func mark(to func(*command) *bool) func(*command, string) error {
	return func(c *command, _ string) error {
		*to(c) = true
		return nil
	}
}

// run is an option that dyno run has too: its flag, and its value if that is not curl's. The last
// one of a flag counts.
func run(flag string, fixed ...string) func(*command, string) error {
	return func(c *command, value string) error {
		s := setting{flag: flag, value: value}
		if len(fixed) > 0 {
			s.value = fixed[0]
		}
		c.run = slices.DeleteFunc(c.run, func(other setting) bool { return other.flag == flag })
		c.run = append(c.run, s)
		return nil
	}
}

// A setting is a flag of dyno run; a switch has no value.
type setting struct{ flag, value string }

// upgraded is the version of --http2: over TLS it is agreed on, as dyno run does by itself.
const upgraded = "2 if both know it"

// flagsOf are the flags of dyno run for a command of which some URL has TLS, or none. As in curl,
// what is about TLS means nothing without it, and --insecure trusts more than --cacert.
func flagsOf(all []setting, secure bool) (flags []string) {
	has := func(flag string) bool {
		return slices.ContainsFunc(all, func(s setting) bool { return s.flag == flag })
	}
	for _, s := range all {
		switch s.flag {
		case "--insecure", "--cert", "--key", "--tls-min", "--tls-max":
			if !secure {
				continue
			}
		case "--cacert":
			if !secure || has("--insecure") {
				continue
			}
		}
		if s.value == upgraded {
			continue
		}
		if flags = append(flags, s.flag); s.value != "" {
			flags = append(flags, s.value)
		}
		if s.flag == "--cert" && !has("--key") { // curl looks for it there
			flags = append(flags, "--key", s.value)
		}
	}
	return flags
}

// unsupported is the error of what dyno cannot send as curl does.
type unsupported struct{ flag, why string }

func (u unsupported) Error() string {
	return strings.TrimSpace("not supported: " + u.flag + " " + u.why)
}

// parseOptions reads the options of a command up to its end, or to --next. It returns what follows
// that.
func (c *command) parseOptions(words []string) (rest []string, err error) {
	table := optionTable()
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case word == "--next" || word == "-:":
			return words, nil
		case word == "--":
			c.urls = append(c.urls, words...)
			return nil, nil
		case len(word) < 2 || word[0] != '-':
			c.urls = append(c.urls, word)
			continue
		}
		found, value, has, err := readOption(word, table)
		if err != nil {
			return nil, err
		}
		for i, o := range found {
			v := ""
			if o.value && i == len(found)-1 {
				if v = value; !has {
					if len(words) == 0 {
						return nil, fmt.Errorf("%s needs a value", word)
					}
					v, words = words[0], words[1:]
				}
			}
			if err := o.set(c, v); err != nil {
				return nil, unsupportedBy(o, err)
			}
		}
	}
	return nil, nil
}

// unsupportedBy is the error of an option that is understood, and of a value that is not. Files
// that cannot be read are errors of their own.
func unsupportedBy(o option, err error) error {
	if _, is := errors.AsType[*os.PathError](err); is {
		return fmt.Errorf("--%s: %w", o.long, err)
	}
	if _, is := errors.AsType[unsupported](err); is {
		return err
	}
	return unsupported{"--" + o.long, err.Error()}
}

// readOption reads a word that begins with a dash: a long option, or one or more short ones, of
// which the last may have its value behind it.
func readOption(word string, table []option) (found []option, value string, has bool, err error) {
	find := func(is func(option) bool) (option, bool) {
		for _, o := range table {
			if is(o) {
				return o, true
			}
		}
		return option{}, false
	}
	if strings.HasPrefix(word, "--") {
		o, known := find(func(o option) bool { return "--"+o.long == word })
		if !known {
			return nil, "", false, unsupported{word, ""}
		}
		return []option{o}, "", false, nil
	}
	for i := 1; i < len(word); i++ {
		o, known := find(func(o option) bool { return o.short == word[i:i+1] })
		if !known {
			return nil, "", false, unsupported{"-" + word[i:i+1], ""}
		}
		found = append(found, o)
		if o.value {
			return found, word[i+1:], i+1 < len(word), nil
		}
	}
	return found, "", false, nil
}
