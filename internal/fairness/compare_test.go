package fairness

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// answer is what a server without flaws answers.
func answer() *Answer {
	opens := 0.0
	return &Answer{
		URL: "http://h:1/", Authority: "h:1", Exchanges: 40, Version: "HTTP/1.1", Status: 200,
		Reason: "OK",
		Header: []Line{{"Server", "one", 13}, {"Content-Length", "2", 19},
			{"Date", "Mon, 06 Jan 2025 10:00:00 GMT", 37}},
		HeaderBytes: Span{88, 88, 88}, BodyBytes: Span{2, 2, 2}, WireBytes: Span{90, 90, 90},
		Framing: ByLength, BodySHA256: "b1", BodyStart: "{}",
		Gzip: &Encoded{Status: 200, BodyBytes: 2}, Kept: &Kept{40, 40, EndAsked}, Date: DateAdvances,
		Unknown: &Unknown{Status: 404}, Opens: Opens{PerExchange: &opens},
	}
}

// changed is that server after a change.
func changed(change func(*Answer)) *Answer {
	a := answer()
	change(a)
	return a
}

// longer sets the bytes of a header that is n longer.
func longer(a *Answer, n int) {
	for _, s := range []*Span{&a.HeaderBytes, &a.WireBytes} {
		s.Min, s.Max, s.Mean = s.Min+int64(n), s.Max+int64(n), s.Mean+float64(n)
	}
}

func TestAllow(t *testing.T) {
	server := func(a *Answer) {
		a.Header[0] = Line{"server", "fourteen bytes", 24}
		longer(a, 11)
	}
	dateless := func(a *Answer) {
		a.Header, a.Date = a.Header[:2], DateAbsent
		longer(a, -37)
	}
	body := func(a *Answer) {
		a.Header[1], a.BodySHA256 = Line{"Content-Length", "22", 20}, "b2"
		longer(a, 1)
		a.BodyBytes = Span{22, 22, 22}
		a.WireBytes = Span{111, 111, 111}
	}
	chunks := func(a *Answer) {
		a.Header[1], a.Framing = Line{"Transfer-Encoding", "chunked", 28}, ByChunks
		longer(a, 9)
		a.WireBytes = Span{110, 110, 110}
	}
	for _, c := range []struct {
		change        func(*Answer)
		allow         string
		left, allowed string
	}{
		{server, "", "server header_bytes wire_bytes", ""},
		{server, "server", "", "server header_bytes wire_bytes"},
		{server, " SERVER ", "", "server header_bytes wire_bytes"},
		{server, "header_bytes", "server wire_bytes", "header_bytes"},
		{server, "header-bytes Wire-Bytes", "server", "header_bytes wire_bytes"},
		{server, "date", "server header_bytes wire_bytes", ""},
		{dateless, "", "header_names header_bytes wire_bytes date", ""},
		{dateless, "date", "", "header_names header_bytes wire_bytes date"},
		{body, "", "content-length header_bytes body body_bytes wire_bytes", ""},
		{body, "body", "", "content-length header_bytes body body_bytes wire_bytes"},
		{body, "body_bytes", "body", "content-length header_bytes body_bytes wire_bytes"},
		{chunks, "", "header_names content-length transfer-encoding header_bytes framing " +
			"wire_bytes", ""},
		{chunks, "framing", "", "header_names content-length transfer-encoding header_bytes framing " +
			"wire_bytes"},
		{func(a *Answer) { server(a); dateless(a) }, "server", "header_names header_bytes wire_bytes date",
			"server"},
		{func(a *Answer) { a.Varies = []string{"header etag"} }, "", "stability", ""},
		{func(a *Answer) { a.Varies = []string{"header etag"} }, "etag", "", "stability"},
		{func(a *Answer) { a.Reason = "Fine"; longer(a, 2) }, "reason", "",
			"reason header_bytes wire_bytes"},
	} {
		answers := []Asked{{"ref", answer()}, {"other", changed(c.change)}}
		table := Compare("ref", answers, strings.Fields(c.allow))
		got := map[State][]string{}
		for _, r := range table.Rows {
			if r.Cells[0].State != Equal {
				t.Errorf("%s of the reference is %s", r.Aspect, r.Cells[0].State)
			}
			got[r.Cells[1].State] = append(got[r.Cells[1].State], r.Aspect)
		}
		if !slices.Equal(got[Violating], strings.Fields(c.left)) ||
			!slices.Equal(got[Allowed], strings.Fields(c.allowed)) {
			t.Errorf("%q allowed: violations %q, allowed %q\nwant %q, %q", c.allow,
				got[Violating], got[Allowed], c.left, c.allowed)
		}
	}
}

// What each aspect makes of two answers.
func TestAspects(t *testing.T) {
	number := func(f float64) Opens { return Opens{PerExchange: &f} }
	kept := func(served int, end End) func(*Answer) {
		return func(a *Answer) { a.Kept = &Kept{40, served, end} }
	}
	same := func(*Answer) {}
	for _, c := range []struct {
		aspect   string
		one, two func(*Answer)
		want     State
	}{
		{"new_connections", same, func(a *Answer) { a.Opens = number(0.2) }, Equal},
		{"new_connections", same, func(a *Answer) { a.Opens = number(1.02) }, Violating},
		{"new_connections", func(a *Answer) { a.Opens = number(1) },
			func(a *Answer) { a.Opens = number(2) }, Violating},
		{"new_connections", same, func(a *Answer) { a.Opens = Opens{Problem: "noise"} }, Unseen},
		{"keep_alive", same, kept(17, EndTime), Equal},
		{"keep_alive", same, kept(17, EndSilent), Violating},
		{"keep_alive", kept(17, EndAnnounced), kept(17, EndAnnounced), Equal},
		{"keep_alive", kept(17, EndAnnounced), kept(18, EndAnnounced), Violating},
		{"keep_alive", kept(17, EndAnnounced), kept(17, EndSilent), Violating},
		{"keep_alive", kept(17, EndAnnounced), kept(16, EndTime), Unseen},
		{"keep_alive", kept(17, EndAnnounced), kept(17, EndTime), Violating},
		{"keep_alive", same, func(a *Answer) { a.Kept = nil }, Violating},
		{"keep_alive", same, kept(1, EndCut), Unseen},
		{"gzip", same, func(a *Answer) { a.Gzip = &Encoded{Problem: "closed"} }, Violating},
		{"gzip", func(a *Answer) { a.Gzip = &Encoded{Problem: "closed"} },
			func(a *Answer) { a.Gzip = &Encoded{Problem: "late"} }, Unseen},
		{"unknown_path", same, func(a *Answer) { a.Unknown = &Unknown{Problem: "late"} }, Violating},
		{"gzip", same, func(a *Answer) { a.Gzip = nil }, Unseen},
		{"unknown_path", same, func(a *Answer) { a.Unknown = nil }, Unseen},
		{"date", same, func(a *Answer) { a.Date = DateFrozen }, Violating},
		{"date", same, func(a *Answer) { a.Date = DateUnasked }, Unseen},
		{"date", func(a *Answer) { a.Date = DateAbsent },
			func(a *Answer) { a.Date = DateUnasked }, Violating},
		{"tls", same, func(a *Answer) { a.TLS = &Secrecy{Version: "TLS 1.3"} }, Violating},
		{"body", same, func(a *Answer) { a.BodyCut = true }, Violating},
		{"body", func(a *Answer) { a.BodySHA256, a.BodyNeutral = "b2", "n" },
			func(a *Answer) { a.BodySHA256, a.BodyNeutral = "b3", "n" }, Equal},
		{"body", same, func(a *Answer) { a.BodyNeutral = "b1" }, Equal},
		{"header_bytes", func(a *Answer) { a.HeaderBytes = Span{80, 88, 84} },
			func(a *Answer) { a.HeaderBytes = Span{88, 90, 89} }, Equal},
		{"header_bytes", func(a *Answer) { a.HeaderBytes = Span{80, 88, 84} },
			func(a *Answer) { a.HeaderBytes = Span{89, 90, 89} }, Violating},
		{"wire_bytes", func(a *Answer) { a.WireBytes = Span{100000, 100000, 1e5} },
			func(a *Answer) { a.WireBytes = Span{100100, 100100, 100100} }, Violating},
		{"wire_bytes", func(a *Answer) { a.Framing, a.WireBytes = ByChunks, Span{100000, 100000, 1e5} },
			func(a *Answer) { a.Framing, a.WireBytes = ByChunks, Span{100100, 100100, 1e5} }, Equal},
		{"wire_bytes", func(a *Answer) { a.Framing, a.WireBytes = ByChunks, Span{100000, 100000, 1e5} },
			func(a *Answer) { a.Framing, a.WireBytes = ByChunks, Span{100101, 100101, 1e5} }, Violating},
		{"server", func(a *Answer) { a.Varies = []string{"header server"} },
			func(a *Answer) { a.Header[0].Value, a.Varies = "two", []string{"header server"} }, Equal},
		{"server", same, func(a *Answer) { a.Varies = []string{"header server"} }, Violating},
		{"server", func(a *Answer) { a.Header[0].Value = "h:1" },
			func(a *Answer) { a.Header[0].Value, a.Authority = "h:2", "h:2" }, Equal},
	} {
		table := Compare("", []Asked{{"one", changed(c.one)}, {"two", changed(c.two)}}, nil)
		i := slices.IndexFunc(table.Rows, func(r Row) bool { return r.Aspect == c.aspect })
		if got := table.Rows[i].Cells; got[1].State != c.want {
			t.Errorf("%s: %q against %q is %s, want %s", c.aspect, got[0].Value, got[1].Value,
				got[1].State, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	answers := []Asked{
		{"first", changed(func(a *Answer) { longer(a, 4); a.Header[0].Value = "sixteen" })},
		{"ref", answer()},
		{"gone", nil},
	}
	table := Compare("ref", answers, []string{"server"})
	var values []string
	for _, r := range table.Rows {
		if len(r.Cells) != 3 || strings.HasPrefix(r.Why, "a newer dyno") {
			t.Fatalf("%+v", r)
		}
		if slices.Contains([]string{"answer", "server", "header_bytes", "date"}, r.Aspect) {
			for _, c := range r.Cells {
				values = append(values, c.Value+" "+string(c.State))
			}
		}
	}
	want := []string{
		"yes equal", "yes equal", "none violation",
		"sixteen (7 bytes) allowed", "one (3 bytes) equal", " unknown",
		"92 violation", "88 equal", " unknown", // the line does not say that it has grown
		"advances equal", "advances equal", " unknown",
	}
	if !slices.Equal(values, want) {
		t.Errorf("got  %q\nwant %q", values, want)
	}
	i := slices.IndexFunc(table.Rows, func(r Row) bool { return r.Aspect == "header_bytes" })
	if p := table.Rows[i].Cells[0].Percent; p == nil || *p != 4.55 {
		t.Errorf("92 of 88 are %v percent more", p)
	}
	violations := table.Violations()
	if v := violations[0]; v.Aspect != "answer" || v.Variant != "gone" || v.Reference != "yes" ||
		v.Value != "none" || v.Why == "" {
		t.Errorf("%+v", v)
	}
	one, _ := json.Marshal(table)
	for range 20 {
		if two, _ := json.Marshal(Compare("ref", answers, []string{"server"})); string(one) != string(two) {
			t.Fatal("the same answers give different tables")
		}
	}
	var back Table
	if err := json.Unmarshal(one, &back); err != nil || !reflect.DeepEqual(&back, table) {
		t.Errorf("stored and read again it is another: %v", err)
	}
	if empty := Compare("ref", nil, nil); len(empty.Rows) != 0 || empty.Violations() != nil {
		t.Error("nothing compared, and something found")
	}
	if got := Compare("none", answers, nil).Reference; got != "first" {
		t.Errorf("an unknown reference is %q", got)
	}
}

func TestSame(t *testing.T) {
	if got := Differences(answer(), answer()); got != nil {
		t.Errorf("%+v", got)
	}
	later := changed(func(a *Answer) { a.Header[2].Value = "Tue, 07 Jan 2025 10:00:00 GMT" })
	if got := Differences(answer(), later); got != nil {
		t.Errorf("time has passed, and: %+v", got)
	}
	got := Differences(answer(), changed(func(a *Answer) { a.Status = 502 }))
	if want := []Difference{{"status", "200", "502"}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, want := Differences(answer(), nil), []Difference{{"answer", "yes", "none"}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A server half of whose answers are errors differs in its status, and in nothing that follows from
// that: one name allows it.
func TestStatusThatVaries(t *testing.T) {
	half := changed(func(a *Answer) {
		a.Statuses = map[int]int{200: 25, 503: 15}
		a.Varies = []string{"reason", "status"}
		a.Unknown = &Unknown{Status: 503}
	})
	other := changed(func(a *Answer) {
		a.Status, a.Reason, a.Statuses = 503, "Service Unavailable", map[int]int{200: 10, 503: 30}
		a.Varies = []string{"reason", "status"}
	})
	for _, c := range []struct {
		a    *Answer
		want []string
	}{{half, []string{"status"}}, {other, []string{"status"}}, {answer(), nil}} {
		asked := []Asked{{"ref", answer()}, {"a", c.a}}
		if got, ok := Fewest("ref", "a", asked, nil); !ok || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v", c.a.Statuses, got, ok)
		}
	}
	// The body follows from the status; alone it would have to be allowed.
	bodies := changed(func(a *Answer) {
		a.Statuses = map[int]int{200: 20, 503: 20}
		a.Varies = []string{"body", "header content-length", "reason", "status"}
	})
	if got, ok := Fewest("ref", "a", []Asked{{"ref", answer()}, {"a", bodies}}, nil); !ok || !slices.Equal(got, []string{"status"}) {
		t.Errorf("with another body: %v, %v", got, ok)
	}
	bodies.Statuses, bodies.Varies = nil, []string{"body"}
	asked := []Asked{{"ref", answer()}, {"a", bodies}}
	if got, ok := Fewest("ref", "a", asked, []string{"status"}); !ok || !slices.Equal(got, []string{"body"}) {
		t.Errorf("only another body: %v, %v", got, ok)
	}
	for _, v := range Compare("ref", asked, nil).Violations() {
		if v.Aspect == "body" && !strings.HasPrefix(v.Value, "several bodies, the first sha256 ") {
			t.Errorf("%q beside %q", v.Value, v.Reference)
		}
	}
	shown := Compare("ref", []Asked{{"ref", answer()}, {"a", half}}, nil).Rows[0].Cells[1].Value
	if want := "200 in 25 of 40 answers, 503 in 15 of 40 answers"; shown != want {
		t.Errorf("%q", shown)
	}
	if row := Compare("a", []Asked{{"a", half}, {"b", other}}, nil).Rows[0]; row.Cells[1].State != Equal {
		t.Errorf("how often each status comes is chance: %+v", row)
	}
}
