package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/data"
	"dyno/internal/engine/hurl"
	"dyno/internal/engine/proto"
)

const (
	onceFile = "# dyno: once\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"GET {{base}}/a\nX-Token: {{token}}\nHTTP 200\n[Captures]\nown: body\n\nGET {{base}}/b?{{own}}\nHTTP 200\n"
	everyFile = "# dyno: every 2s\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"GET {{base}}/a\nX-Token: {{token}}\n"
	againFile = "# dyno: delay 5ms\n# dyno: once\n# dyno: again on 401\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"# dyno: delay 7ms\nGET {{base}}/a\nX-Token: {{token}}\n\nGET {{base}}/b\nX-Token: {{token}}\nHTTP 200\n"
	refreshFile = "# dyno: once\n# dyno: again on 401\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"# dyno: once\n# dyno: again on 401\n# dyno: again on 419\nPOST {{base}}/refresh\nX-Old: {{token}}\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"GET {{base}}/a\nX-Token: {{token}}\nHTTP 200\n"
	eachFile = "# dyno: again on 401\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"GET {{base}}/a\nX-Token: {{token}}\n[Options]\nrepeat: 2\nretry: 1\nHTTP 200\n"
)

const (
	rightFile = "# dyno: once\n# dyno: again on 401\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"GET {{base}}/a\nX-Token: {{token}}\nHTTP *\n[Asserts]\nbody == \"no\"\n"
	statusFile = "# dyno: once\n# dyno: again on 401\nPOST {{base}}/login\nHTTP 200\n[Captures]\ntoken: body\n\n" +
		"GET {{base}}/a\nX-Token: {{token}}\nHTTP *\n[Asserts]\nstatus < 400\n"
)

// What a user sends in iterations that begin each second: an answer has a status, and its number as
// its body. Each request is shown with the token that it has.
func TestRecurrences(t *testing.T) {
	for _, test := range []struct {
		name, file    string
		statuses      string // of the answers, in their order; 200 behind the last
		sent          string // of each iteration
		ended         string // "+" or "-" of each iteration
		errors, again int
	}{
		{"once", onceFile, "", "login a1 b | a1 b | a1 b | a1 b", "++++", 0, 0},
		{"once fails", onceFile, "500", "login | login a2 b | a2 b | a2 b", "-+++", 1, 0},
		{"once, and another fails", onceFile, "200 500", "login a1 | a1 b | a1 b | a1 b", "-+++", 1, 0},
		{"every", everyFile, "", "login a1 | a1 | login a4 | a4", "++++", 0, 0},
		{"every fails", everyFile, "200 200 200 500", "login a1 | a1 | login | login a5", "++-+", 1, 0},
		{"again", againFile, "200 200 401", "login a1 b1 login b4 | a4 b4 | a4 b4 | a4 b4", "++++", 0, 1},
		{"again, of no response section", againFile, "200 401", "login a1 login a3 b3 | a3 b3 | a3 b3 | a3 b3", "++++", 0, 1},
		{"again, twice in an iteration", againFile, "200 401 200 200 401", "login a1 login a3 b3 login b6 | a6 b6 | a6 b6 | a6 b6", "++++", 0, 2},
		{"a second 401", againFile, "200 401 200 401", "login a1 login a3 | a3 b3 | a3 b3 | a3 b3", "-+++", 1, 1},
		{"the login fails", againFile, "200 401 500", "login a1 login | a1 b1 | a1 b1 | a1 b1", "-+++", 1, 1},
		{"the login is answered 401", againFile, "200 401 401", "login a1 login | a1 b1 | a1 b1 | a1 b1", "-+++", 1, 1},
		{"another status", againFile, "200 403", "login a1 | a1 b1 | a1 b1 | a1 b1", "-+++", 1, 0},
		{"refresh", refreshFile, "200 200 401", "login refresh1 a2 refresh2 a4 | a4 | a4 | a4", "++++", 0, 1},
		{"refresh by another status", refreshFile, "200 200 419", "login refresh1 a2 refresh2 a4 | a4 | a4 | a4", "++++", 0, 1},
		{"the refresh has expired", refreshFile, "200 200 401 401", "login refresh1 a2 refresh2 login refresh5 a6 | a6 | a6 | a6", "++++", 0, 2},
		{"nothing helps", refreshFile, "200 200 401 401 200 401", "login refresh1 a2 refresh2 login refresh5 | a5 | a5 | a5", "-+++", 1, 2},
		{"sent elsewhere to log in", strings.ReplaceAll(againFile, "401", "302"), "200 200 302", "login a1 b1 login b4 | a4 b4 | a4 b4 | a4 b4", "++++", 0, 1},
		{"sent elsewhere, and nothing says that this is wrong", strings.ReplaceAll(againFile, "401", "302"), "200 302", "login a1 b1 | a1 b1 | a1 b1 | a1 b1", "++++", 0, 0},
		{"in each iteration", eachFile, "200 200 401", "login a1 a1 login a4 | login a6 a6 | login a9 a9 | login a12 a12", "++++", 0, 1},
		{"each repetition once", eachFile, "200 401 200 200 401", "login a1 login a3 a3 login a6 | login a8 a8 | login a11 a11 | login a14 a14", "++++", 0, 2},
		{"another fault has the status", rightFile, "200 401 200 401", "login a1 | a1 | a1 | a1", "----", 4, 0},
		{"an assert refuses the status", statusFile, "200 401", "login a1 login a3 | a3 | a3 | a3", "++++", 0, 1},
		{"retry behind it", eachFile, "200 401 200 401", "login a1 login a3 a3 a3 | login a7 a7 | login a10 a10 | login a13 a13", "++++", 0, 1},
	} {
		var statuses []int
		for _, s := range strings.Fields(test.statuses) {
			n := 0
			fmt.Sscan(s, &n)
			statuses = append(statuses, n)
		}
		d, got := sentEachSecond(t, mustCompile(t, test.file, nil), 4, answering(statuses...))
		ended := ""
		for _, why := range d.ended {
			ended += map[bool]string{true: "+", false: "-"}[why == ""]
		}
		if got != test.sent || ended != test.ended {
			t.Errorf("%s: sent %s, ended %s\nwant %s, %s", test.name, got, ended, test.sent, test.ended)
		}
		if d.again != test.again || d.errors != test.errors {
			t.Errorf("%s: %d errors and %d again, want %d and %d", test.name, d.errors, d.again, test.errors, test.again)
		}
	}
}

// The first success of a login is a user's first, and each further one is a later one, whyever it runs: it is due, its time has
// passed, a status asks for it, or it is in each iteration.
func TestLoginsAreCounted(t *testing.T) {
	for _, test := range []struct {
		file     string
		statuses []int
		logins   [2]int // in four iterations
	}{
		{onceFile, nil, [2]int{1, 0}}, {onceFile, []int{500, 500}, [2]int{1, 0}}, {everyFile, nil, [2]int{1, 1}},
		{againFile, []int{200, 200, 401}, [2]int{1, 1}}, {refreshFile, nil, [2]int{2, 0}},
		{eachFile, nil, [2]int{1, 3}}, {eachFile, []int{200, 401}, [2]int{1, 4}}, {eachFile, []int{500}, [2]int{1, 2}},
	} {
		d, sent := sentEachSecond(t, mustCompile(t, test.file, nil), 4, answering(test.statuses...))
		if d.logins != test.logins {
			t.Errorf("%v logins, not %v, of %s", d.logins, test.logins, sent)
		}
	}
	// What another file's first request did is no login of this one.
	two := mustCompile(t, "GET {{base}}/a\nHTTP 200\n", func(c *Config) {
		f, err := hurl.Parse("login.hurl", eachFile)
		if err != nil {
			t.Fatal(err)
		}
		c.Files = append(c.Files, f)
	})
	if d, sent := sentEachSecond(t, two, 4, answering()); d.logins != [2]int{1, 1} {
		t.Errorf("%v logins of two files, of %s", d.logins, sent)
	}
}

// answering answers with the statuses in turn, and then with 200; each answer's body is its number.
func answering(statuses ...int) func(proto.Request) reply {
	n := 0
	return func(proto.Request) reply {
		n++
		if n <= len(statuses) {
			return reply{status: statuses[n-1], body: fmt.Sprint(n)}
		}
		return reply{body: fmt.Sprint(n)}
	}
}

// sentEachSecond is what a user sends in iterations that begin each second, shortly.
func sentEachSecond(t *testing.T, m *Maker, iterations int, answer func(proto.Request) reply) (d *drive, sent string) {
	t.Helper()
	s, u := makeOne(t, m)
	d = &drive{}
	var all []string
	for range iterations {
		from := len(d.sent)
		d.iterate(t, m, u, s, answer)
		var these []string
		for _, r := range d.sent[from:] {
			these = append(these, shortly(r))
		}
		all = append(all, strings.Join(these, " "))
		u.Due += int64(time.Second)
	}
	return d, strings.Join(all, " | ")
}

// cookiesOf are the cookies of each request.
func cookiesOf(d *drive) string {
	var all []string
	for _, r := range d.sent {
		_, cookie, _ := strings.Cut(r, "Cookie: ")
		all = append(all, strings.TrimSpace(cookie))
	}
	return strings.Join(all, "|")
}

// shortly is a request as the name of its path and the token that it has.
func shortly(r string) string {
	path, _, _ := strings.Cut(strings.TrimPrefix(strings.Fields(r)[1], "/"), "?")
	for _, name := range []string{"X-Token: ", "X-Old: "} {
		if _, rest, has := strings.Cut(r, name); has {
			path += strings.Fields(rest)[0]
		}
	}
	return path
}

// Nobody thinks between an answer and the login that it needs, nor before the request is repeated.
func TestRecurrenceThinks(t *testing.T) {
	for _, test := range []struct {
		file     string
		statuses []int
		want     string
	}{
		{againFile, []int{200, 401, 200, 200, 200}, "[5ms 7ms 0s 0s 0s]"},
		{strings.ReplaceAll(eachFile, "retry: 1", "retry: 3\nretry-interval: 9ms\ndelay: 3ms"), []int{200, 500, 401, 200, 500, 500, 200, 200},
			"[0s 3ms 9ms 0s 0s 9ms 9ms 3ms]"},
	} {
		d := run(t, mustCompile(t, test.file, nil), 1, answering(test.statuses...))
		if got := fmt.Sprint(d.thinks); got != test.want {
			t.Errorf("thinks %s, want %s", got, test.want)
		}
	}
}

// What a request is made of is made anew when it is sent after a login: also the option variable. It
// does not wait for the interval of a retry, and a retry behind it does, and sends the same.
func TestRecurrenceSetsVariables(t *testing.T) {
	m := mustCompile(t, "# dyno: once\n# dyno: again on 401\nPOST {{base}}/login\n[Options]\nretry: 1\nretry-interval: 3ms\nHTTP 200\n[Captures]\ntoken: body\n\n"+
		"GET {{base}}/a\nX-Token: {{both}}\n[Options]\nvariable: both={{token}}-{{newUuid}}\nretry: 3\nretry-interval: 9ms\nHTTP 200\n", nil)
	d := run(t, m, 1, answering(200, 503, 401, 500, 200, 503, 200))
	if got, want := fmt.Sprint(d.thinks), "[0s 0s 9ms 0s 3ms 0s 9ms]"; got != want || d.ended[0] != "" {
		t.Errorf("thinks %s, want %s; ended %q", got, want, d.ended)
	}
	var tokens, ids []string
	for _, r := range d.sent {
		if _, both, has := strings.Cut(r, "X-Token: "); has {
			token, id, _ := strings.Cut(strings.TrimSpace(both), "-")
			tokens, ids = append(tokens, token), append(ids, id)
		}
	}
	if got := strings.Join(tokens, " "); got != "1 1 5 5" || ids[0] != ids[1] || ids[2] != ids[3] || ids[1] == ids[2] {
		t.Errorf("tokens %s, with %q", got, ids)
	}
}

// Cookies of an entry that stays are kept once it has succeeded, those of its redirects, too. Until
// then they are sent, and are gone in the next iteration.
func TestRecurrenceCookiesOfFailures(t *testing.T) {
	m := mustCompile(t, "# dyno: once\nPOST {{base}}/login\n[Options]\nlocation: true\nretry: 1\nHTTP 200\n\nGET {{base}}/a\n", nil)
	answers := []reply{{status: 500, header: []string{"Set-Cookie: try=1"}}, {status: 500, header: []string{"Set-Cookie: bad=1"}},
		redirectTo(302, "/home"), {header: []string{"Set-Cookie: sid=1"}}, {}, {}}
	n := 0
	d := run(t, m, 3, func(proto.Request) reply { n++; return answers[n-1] })
	if got, want := cookiesOf(d), "|try=1||hop=1|hop=1; sid=1|hop=1; sid=1"; got != want {
		t.Errorf("cookies %s\nwant %s", got, want)
	}
}

// Cookies of an entry that stays are there in later iterations, also with a value that another gives
// them, until they are deleted. Others are gone.
func TestRecurrenceCookies(t *testing.T) {
	m := mustCompile(t, "# dyno: once\nPOST {{base}}/login\n\nGET {{base}}/a\n\nGET {{base}}/b\n", nil)
	sets := map[string][]string{"/login": {"Set-Cookie: sid=1", "Set-Cookie: lang=de"}}
	next := map[int][]string{2: {"Set-Cookie: own=x"}, 4: {"Set-Cookie: sid=2"}, 6: {"Set-Cookie: lang=; Max-Age=0"}}
	n := 0
	d := run(t, m, 4, func(r proto.Request) reply {
		n++
		return reply{header: append(sets[r.Path], next[n]...)}
	})
	want := "|lang=de; sid=1|lang=de; sid=1; own=x|lang=de; sid=1|lang=de; sid=2|lang=de; sid=2|sid=2|sid=2|sid=2"
	if got := cookiesOf(d); got != want {
		t.Errorf("cookies %q\nwant %q", got, want)
	}
}

// A user logs in once for each file, and a file that keeps nothing has its own values.
func TestRecurrenceFiles(t *testing.T) {
	m := mustCompile(t, onceFile, func(c *Config) {
		for name, text := range map[string]string{"again.hurl": againFile, "plain.hurl": "GET {{base}}/plain\n"} {
			f, err := hurl.Parse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			c.Files = append(c.Files, f)
		}
	})
	d := run(t, m, 6, answering())
	logins := map[string]int{}
	for _, r := range d.sent {
		logins[shortly(r)]++
	}
	if logins["login"] != 2 || logins["plain"] != 2 {
		t.Errorf("sent %v", logins)
	}
}

// What stays is of the row of the user's first iteration.
func TestRecurrenceRows(t *testing.T) {
	table, err := data.Read("u.csv", strings.NewReader("user,item\nann,1\nbob,2\neve,3\n"), data.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	text := "# dyno: every 2s\nPOST {{base}}/login/{{user}}\n\nGET {{base}}/%s\n"
	m := mustCompile(t, fmt.Sprintf(text, "{{item}}"), func(c *Config) { c.Data = table })
	if _, got := sentEachSecond(t, m, 4, answering()); got != "login/ann 1 | 2 | login/ann 3 | 1" {
		t.Errorf("sent %s", got)
	}
	both := fmt.Sprintf(text, "{{user}}")
	for order, want := range map[data.Order]string{data.PerUser: "", data.InOrder: "test.hurl:4:16: the request of line 2 is " +
		"not sent in every iteration, so that its {{user}} may be an older one than that of the other requests: give --data-order per-user"} {
		_, err := compiled(both, func(c *Config) { c.Data, c.Order = table, order })
		if fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%v: %v\nwant %s", order, err, want)
		}
	}
}

// That is so for a column of which the file has another value further down, too: until it has.
func TestRecurrenceRowsOfChangedColumns(t *testing.T) {
	table, err := data.Read("u.csv", strings.NewReader("user,item\nann,1\nbob,2\neve,3\n"), data.MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	const text = "# dyno: every 2s\nPOST {{base}}/login/{{user}}\n\nGET {{base}}/%s\n\nGET {{base}}/x/{{item}}\n[Options]\nvariable: user=me\n\nGET {{base}}/{{user}}\n"
	m := mustCompile(t, fmt.Sprintf(text, "{{item}}"), func(c *Config) { c.Data = table })
	if _, got := sentEachSecond(t, m, 3, answering()); got != "login/ann 1 x/1 me | 2 x/2 me | login/ann 3 x/3 me" {
		t.Errorf("sent %s", got)
	}
	const own = "\nHTTP 200\n[Asserts]\nvariable \"user\" == \"ann\""
	for used, want := range map[string]string{"{{user}}": "test.hurl:4:16: the request of line 2 is not",
		own: "test.hurl:7:1: the request of line 2 is not", "": ""} {
		_, err := compiled(fmt.Sprintf(text, used), func(c *Config) { c.Data, c.Order = table, data.InOrder })
		if !strings.HasPrefix(fmt.Sprint(err), want) || want == "" && err != nil {
			t.Errorf("%q: %v, want %s", used, err, want)
		}
	}
}

// What makes no sense is refused where it stands.
func TestRecurrenceFaults(t *testing.T) {
	for text, want := range map[string]string{
		"# dyno: once\nGET {{base}}/\n":                                                                       `test.hurl:1:1: each request has the comment "# dyno: once" or "# dyno: every ...", so that later iterations would have no request: remove it from at least one`,
		"GET {{base}}/\n\n# dyno: every 1s\nGET {{base}}/\n[Options]\nskip: true\n":                           "",
		"# dyno: every 1s\nGET {{base}}/\n\nGET {{base}}/\n[Options]\nskip: true\n":                           `test.hurl:1:1: each request has the comment "# dyno: once" or`,
		"GET {{base}}/\n\n# dyno: again on 401\nGET {{base}}/\n":                                              `test.hurl:3:1: "# dyno: again on" has no effect at the last request`,
		"# dyno: once\nGET {{base}}/\n\nGET {{base}}/{{x}}\n\nGET {{base}}/\nHTTP 200\n[Captures]\nx: body\n": "test.hurl:4:16: {{x}} has no value here",
	} {
		_, err := compiled(text, nil)
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) || want == "" && err != nil {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// What is told of an answer after which a login runs names it, and the iteration goes on.
func TestRecurrenceObserved(t *testing.T) {
	var told []string
	m := mustCompile(t, againFile, func(c *Config) {
		c.Observe = func(o Observation) { told = append(told, fmt.Sprint(o.Step, " ", o.Failed, " ", o.Again)) }
	})
	d := run(t, m, 1, answering(200, 401, 200, 401))
	want := "POST /login false |GET /a true POST /login|POST /login false |GET /a true "
	if got := strings.Join(told, "|"); got != want || d.ended[0] != "failed" {
		t.Errorf("told %q, ended %q\nwant %q", got, d.ended, want)
	}
}

// A step that stays allocates no more in later iterations than others do.
func TestRecurrenceAllocates(t *testing.T) {
	m := mustCompile(t, onceFile, nil)
	s, u := makeOne(t, m)
	answer := reply{header: []string{"Set-Cookie: sid=1"}, body: "x"}.response()
	iterate := func() {
		for step := s.Start(u); !step.End; step = s.Next(u, answer) {
			_ = step
		}
	}
	for range 100 {
		iterate()
	}
	if n := testing.AllocsPerRun(1000, iterate); n > 0 {
		t.Errorf("%v allocations in an iteration", n)
	}
}
