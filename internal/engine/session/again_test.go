package session

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/scenario"
)

// redirectTo is a reply that redirects.
func redirectTo(status int, location string) reply {
	return reply{status: status, header: []string{"Location: " + location, "Set-Cookie: hop=1"}}
}

// Redirects of the run's origin are followed: as GET without the body if the status says so, and
// each a step of its own.
func TestRedirects(t *testing.T) {
	m := mustCompile(t, "POST {{base}}/a?x={{v}}\nX-Key: {{v}}\n[Options]\nlocation: true\n[Form]\nb: {{newUuid}}\nHTTP 200\n"+
		"[Captures]\nlast: url\n[Asserts]\nredirects count == 3\nredirects nth 1 location == \""+base+"/c/e?f\"\n\n"+
		"GET {{base}}/next\nX-Last: {{last}}\n", nil, "v=1")
	answers := []reply{redirectTo(307, "/c/d"), redirectTo(308, base+"/c/e?f"), redirectTo(302, "g#part"), {}, {}}
	n := 0
	d := run(t, m, 1, func(proto.Request) reply { n++; return answers[n-1] })
	var lines []string
	for _, s := range d.sent {
		line, rest, _ := strings.Cut(s, "\n")
		lines = append(lines, line)
		keeps := strings.HasPrefix(line, "POST")
		if got := strings.Contains(rest, "x-www-form-urlencoded\n") && strings.Contains(rest, "\nb="); got != keeps {
			t.Errorf("%q", s)
		}
		if !strings.Contains(rest, "X-Key: 1") && len(lines) < 5 {
			t.Errorf("%q has not the header", s)
		}
		if want := len(lines) > 1; strings.Contains(rest, "Cookie: hop=1") != want {
			t.Errorf("%q: a cookie is %v", s, !want)
		}
	}
	want := []string{"POST /a?x=1", "POST /c/d", "POST /c/e?f", "GET /c/g", "GET /next"}
	if !slices.Equal(lines, want) || len(d.failed) > 0 || d.ended[0] != "" {
		t.Errorf("sent %q, want %q; failed %q, ended %q", lines, want, d.failed, d.ended)
	}
	if !strings.Contains(d.sent[4], "X-Last: "+base+"/c/g\n") {
		t.Errorf("%q", d.sent[4])
	}
	if body := func(s string) string { _, b, _ := strings.Cut(s, "\n\n"); return b }; body(d.sent[0]) != body(d.sent[2]) {
		t.Errorf("bodies %q and %q of one request", body(d.sent[0]), body(d.sent[2]))
	}
	if want := []string{"POST /a?x={{v}}", "redirect of POST /a?x={{v}}", "GET /next"}; !reflect.DeepEqual(m.Steps, want) {
		t.Errorf("steps %q, want %q", m.Steps, want)
	}
}

// A redirect elsewhere, too many of them, and one that cannot be sent end the iteration.
func TestRedirectsThatEnd(t *testing.T) {
	for location, want := range map[string]string{
		"http://other.test/":          "test.hurl:3:1: the redirect to \"http://other.test/\" leads to an origin that the command line does not name",
		"https://shop.test:8080/":     "test.hurl:3:1: the redirect to \"https://shop.test:8080/\" leads to an origin",
		"//other.test/x":              "test.hurl:3:1: the redirect to \"//other.test/x\" leads to an origin",
		"http://shop.test:8080@evil/": "test.hurl:3:1: the redirect to \"http://shop.test:8080@evil/\" leads to an origin",
		"mailto:a@b":                  "test.hurl:3:1: the redirect to \"mailto:a@b\" leads to an origin",
		"/again":                      "test.hurl:3:1: the request was redirected more than 4 times, which is the most that the option \"max-redirs\" allows",
		"http://shop.test:8080/%zz":   "test.hurl:3:1: the redirect to \"http://shop.test:8080/%zz\" is no URL",
	} {
		m := mustCompile(t, "GET {{base}}/\n[Options]\nlocation: true\nmax-redirs: 4\nHTTP 200", nil)
		d := run(t, m, 1, func(proto.Request) reply { return redirectTo(302, location) })
		if !strings.HasPrefix(d.ended[0], want) {
			t.Errorf("%s: %q\nwant %q", location, d.ended[0], want)
		}
		if n := len(d.sent); n != 1 && (location != "/again" || n != 5) {
			t.Errorf("%s: %d requests", location, n)
		}
	}
}

// A request that fails is sent again, after the interval and not more often than the file says. Only
// the checks of the last try count.
func TestRetry(t *testing.T) {
	for _, test := range []struct {
		fails, sent, failed int
		ended               string
	}{{0, 2, 0, ""}, {1, 3, 0, ""}, {2, 4, 0, ""}, {3, 3, 1, "failed"}} {
		m := mustCompile(t, "GET {{base}}/{{id}}\n[Options]\nvariable: id={{newUuid}}\nretry: 2\nretry-interval: 30ms\ndelay: 7ms\n"+
			"HTTP 200\n[Captures]\nx: body\n\nGET {{base}}/{{x}}\n", nil)
		n := 0
		d := run(t, m, 1, func(proto.Request) reply {
			if n++; n <= test.fails {
				return reply{status: 503, body: "no"}
			}
			return reply{body: "yes"}
		})
		if len(d.sent) != test.sent || len(d.failed) != test.failed || d.ended[0] != test.ended {
			t.Errorf("%d fail: %d sent, %q failed, ended %q", test.fails, len(d.sent), d.failed, d.ended)
		}
		for i := 1; i <= min(test.fails, 2); i++ {
			if d.sent[i] != d.sent[0] || d.thinks[i] != 30*time.Millisecond || d.thinks[0] != 7*time.Millisecond {
				t.Errorf("%d fail: try %d is %q after %v, the first %q", test.fails, i, d.sent[i], d.thinks[i], d.sent[0])
			}
		}
	}
}

// Behind a redirect, too, the whole entry is sent again if it fails, whatever in it fails, with its
// other options as they are without redirects.
func TestRetryBehindRedirects(t *testing.T) {
	const none = -1
	for _, test := range []struct {
		options, response string
		answers           []int // statuses: 302 leads to the next path; the last one is of the rest
		sent              string
		thinks            string // in ms
		ended             string
	}{
		{"", "HTTP 200", []int{302, none, 302, none, 302, 200}, "/ /1 / /1 / /1 /last", "0 0 9 0 9 0 0", ""},
		{"", "HTTP 200", []int{302, none, none, 302, 302, 200}, "/ /1 / / /1 /2 /last", "0 0 9 9 0 0 0", ""},
		{"", "HTTP 200", []int{302, 503, 302, 200}, "/ /1 / /1 /last", "0 0 9 0 0", ""},
		{"", "HTTP 200", []int{302, none}, "/ /1 / /", "0 0 9 9", "failed"},
		{"", "HTTP 200", []int{302, 500, 302, 500, 302, 500}, "/ /1 / /1 / /1", "0 0 9 0 9 0", "failed"},
		{"", "HTTP 302", []int{302, 200, 302, 200, 302, 200}, "/ /1 / /1 / /1", "0 0 9 0 9 0", "failed"},
		{"", "HTTP *", []int{302, 500}, "/ /1 /last", "0 0 0", ""},
		{"", "", []int{302, none, 302, 200}, "/ /1 / /1 /last", "0 0 9 0 0", ""},
		{"", "", []int{302, 500}, "/ /1", "0 0", "failed"},
		{"max-redirs: 1", "HTTP 200", []int{302, 302, 302, 200}, "/ /1 / /1 /last", "0 0 9 0 0", ""},
		{"max-redirs: 0", "HTTP 200", []int{302, 200}, "/ / /last", "0 9 0", ""},
		{"max-redirs: 0", "HTTP 200", []int{302}, "/ / /", "0 9 9", "test.hurl:3:1: the request was redirected more than 0 times, which is the most that the option \"max-redirs\" allows"},
		{"delay: 4ms", "HTTP 200", []int{302, none, 302, 200}, "/ /1 / /1 /last", "4 0 9 0 0", ""},
		{"repeat: 2\ndelay: 4ms", "HTTP 200", []int{302, none, 302, 200, 302, none, none, 302, 200}, "/ /1 / /1 / /1 / / /1 /last",
			"4 0 9 0 4 0 9 9 0 0", ""},
		{"skip: true", "HTTP 200", []int{200}, "/last", "0", ""},
		{"", "HTTP 200\n[Captures]\nx: body\n[Asserts]\nredirects count == 1\nurl endsWith \"/1\"", []int{302, 200}, "/ /1 /last", "0 0 0", ""},
		{"", "HTTP 200\n[Asserts]\nredirects count == 2", []int{302, 200, 302, 302, 200}, "/ /1 / /1 /2 /last", "0 0 9 0 0 0", ""},
	} {
		m := mustCompile(t, "GET {{base}}/\n[Options]\nlocation: true\nretry: 2\nretry-interval: 9ms\n"+test.options+"\n"+test.response+
			"\n\nGET {{base}}/last\n", nil)
		n := 0
		d := run(t, m, 1, func(r proto.Request) reply {
			if r.Path == "/last" {
				return reply{}
			}
			n++
			if status := test.answers[min(n, len(test.answers))-1]; status != 302 {
				return reply{status: status}
			}
			hop, _ := strconv.Atoi(r.Path[1:])
			return redirectTo(302, fmt.Sprint("/", hop+1))
		})
		var sent, thinks []string
		for i, s := range d.sent {
			sent = append(sent, strings.Fields(s)[1])
			thinks = append(thinks, fmt.Sprint(d.thinks[i].Milliseconds()))
		}
		if got := strings.Join(sent, " "); got != test.sent || strings.Join(thinks, " ") != test.thinks || d.ended[0] != test.ended {
			t.Errorf("%s, %s, %v:\nsent %s after %v, ended %q\nwant %s after %s, %q", test.options, test.response, test.answers, got,
				thinks, d.ended[0], test.sent, test.thinks, test.ended)
		}
	}
}

// A request that gets no response is sent again, too. A status of which the file says nothing is no
// reason to.
func TestRetryWithoutResponse(t *testing.T) {
	for text, tries := range map[string]int{"HTTP 200\n": 3, "": 3} {
		m := mustCompile(t, "GET {{base}}/\n[Options]\nretry: 2\n"+text, nil)
		s, u := makeOne(t, m)
		step, n := s.Start(u), 0
		for !step.End {
			if n++; step.KeepGoing != (n < tries) {
				t.Errorf("%q: try %d keeps going: %v", text, n, step.KeepGoing)
			}
			if !step.KeepGoing {
				break // load ends the iteration
			}
			step = s.Next(u, &scenario.Response{Failed: "timeout"})
		}
		if n != tries {
			t.Errorf("%q: %d tries, want %d", text, n, tries)
		}
	}
	s, u := makeOne(t, mustCompile(t, "GET {{base}}/\n[Options]\nretry: 2\n", nil))
	s.Start(u)
	if step := s.Next(u, &scenario.Response{Status: 500, Failed: "expect"}); !step.End || !step.Failed {
		t.Errorf("%+v", step)
	}
}

// What is told of a request is what it sent, and nothing of the one before.
func TestObservedRequest(t *testing.T) {
	var bodies []string
	m := mustCompile(t, "POST {{base}}/{{newUuid}}\n{\"a\": \"{{newUuid}}\"}\n\nGET {{base}}/plain\n", func(c *Config) {
		c.Observe = func(o Observation) { bodies = append(bodies, string(o.Request.Body)) }
	})
	run(t, m, 1, func(proto.Request) reply { return reply{} })
	if len(bodies) != 2 || !strings.HasPrefix(bodies[0], `{"a": "`) || bodies[1] != "" {
		t.Errorf("bodies %q", bodies)
	}
}
