package stream

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// reader makes the reader of a spec.
func reader(t testing.TB, s Spec) *Reader {
	t.Helper()
	r, err := NewReader(s, 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read reads a body in the pieces that cut says: after each byte for which it is true.
func read(r *Reader, body string, cut func(int) bool) (all Count, s *State) {
	s = &State{}
	s.Begin()
	add := func(n Count) {
		all.Events += n.Events
		all.Counted += n.Counted
		all.KeepAlives += n.KeepAlives
	}
	from := 0
	for i := range body {
		if cut(i) {
			add(r.Read(s, []byte(body[from:i])))
			from = i
		}
	}
	add(r.Read(s, []byte(body[from:])))
	add(r.Finish(s))
	r.Judge(s, int64(all.Counted))
	return all, s
}

func told(n Count, s *State) string {
	return fmt.Sprintf("%d of %d, %d kept alive, %q %q, tokens %d", n.Counted, n.Events,
		n.KeepAlives, s.Fault, strings.ToValidUTF8(string(s.detail), "�"), s.Tokens)
}

const chat = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}

data: {"choices":[{"delta":{"content":"Hel"}}]}

: ping

data: {"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"completion_tokens":7}}

data: [DONE]

`

var bodies = []struct {
	name string
	Spec
	body string
	want string
}{
	// What the WHATWG's tests of event streams have (format-*).
	{"bom", Spec{Format: SSE}, "\uFEFFdata:1\n\n\uFEFFdata:2\n\ndata:3\n\n", `2 of 2, 0 kept alive, "" "", tokens -1`},
	{"two boms", Spec{Format: SSE}, "\uFEFF\uFEFFdata:1\n\ndata:2\n\n", `1 of 1, 0 kept alive, "" "", tokens -1`},
	{"comments", Spec{Format: SSE}, "data:1\r:\x00\n:\r\ndata:2\n:" + strings.Repeat("x", 2048) + "\rdata:3\n:data:fail\r:" + "\ndata:4\n\n", `1 of 1, 5 kept alive, "" "", tokens -1`},
	{"data before the final empty line", Spec{Format: SSE}, "retry:1000\ndata:test1\n\nid:test\ndata:test2", `1 of 1, 0 kept alive, "" "", tokens -1`},
	{"data without a colon", Spec{Format: SSE}, "data:\n\ndata\ndata\n\ndata:test\n\n", `2 of 2, 1 kept alive, "" "", tokens -1`},
	{"an empty event", Spec{Format: SSE}, "event: \ndata:data\n\n", `1 of 1, 0 kept alive, "" "", tokens -1`},
	{"field parsing", Spec{Format: SSE}, "data:\x00\ndata:  2\rData:1\ndata\x00:2\ndata:1\r\x00data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n", `1 of 1, 0 kept alive, "" "", tokens -1`},
	{"leading space", Spec{Format: SSE}, "data:\ttest\rdata: \ndata:test\n\n", `1 of 1, 0 kept alive, "" "", tokens -1`},
	{"line ends", Spec{Format: SSE}, "data:test\r\ndata\ndata:test\r\n\r\n", `1 of 1, 0 kept alive, "" "", tokens -1`},
	{"carriage returns", Spec{Format: SSE}, "data:a\r\rdata:b\r\r\ndata:c\n\r", `3 of 3, 0 kept alive, "" "", tokens -1`},
	{"no data", Spec{Format: SSE}, "event: x\nid: 7\n\n\n\n", `0 of 0, 0 kept alive, "no-event" "", tokens -1`},
	{"an error", Spec{Format: SSE}, "data: 1\n\nevent: error\ndata: out of memory\n\n", `1 of 2, 0 kept alive, "error-event" "out of memory", tokens -1`},
	{"an end", Spec{Format: SSE, End: "bye"}, "data: 1\n\ndata: bye\n\n", `1 of 2, 0 kept alive, "" "", tokens -1`},
	{"no end", Spec{Format: SSE, End: "bye"}, "data: 1\n\ndata: bye\n", `1 of 1, 0 kept alive, "no-end" "", tokens -1`},
	{"counted", Spec{Format: SSE, Count: []string{"$.a", "$.b[1].c"}}, "data: {\"a\":\"\",\"b\":[]}\n\ndata: {\"a\":0}\n\ndata: {\"b\":[1,{\"c\":[2]}],\"a\":null}\n\ndata: {\n\n",
		`2 of 4, 0 kept alive, "malformed" "{", tokens -1`},
	{"chat", Spec{Format: OpenAI}, chat, `2 of 5, 1 kept alive, "" "", tokens 7`},
	{"chat without end", Spec{Format: OpenAI}, strings.TrimSuffix(chat, "data: [DONE]\n\n"), `2 of 4, 1 kept alive, "no-end" "", tokens 7`},
	{"chat fails", Spec{Format: OpenAI}, "data: {\"error\":{\"message\":\"dead\"}}\n\ndata: [DONE]\n\n", `0 of 2, 0 kept alive, "error-event" "{\"message\":\"dead\"}", tokens -1`},
	{"chat with another end", Spec{Format: OpenAI, End: "$.choices[*].finish_reason"}, chat, `2 of 5, 1 kept alive, "" "", tokens 7`},
	{"chat without another end", Spec{Format: OpenAI, End: "bye"}, chat, `2 of 5, 1 kept alive, "no-end" "", tokens 7`},
	{"messages with another end", Spec{Format: Anthropic, End: "[DONE]"}, "data: {\"delta\":{\"text\":\"a\"}}\n\ndata: {\"type\":\"message_stop\"}\n\ndata: [DONE]\n\n", `1 of 3, 0 kept alive, "" "", tokens -1`},
	{"messages", Spec{Format: Anthropic}, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"output_tokens\":1}}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n" +
		"event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", `1 of 5, 0 kept alive, "" "", tokens 15`},
	{"lines", Spec{Format: NDJSON}, "{\"a\":1}\r\n\n{\"a\":2}\n{\"a\":3}", `3 of 3, 1 kept alive, "" "", tokens -1`},
	{"ollama", Spec{Format: Ollama}, "{\"response\":\"The\",\"done\":false}\n{\"response\":\"\",\"done\":true,\"eval_count\":290}\n", `1 of 2, 0 kept alive, "" "", tokens 290`},
	{"ollama cut", Spec{Format: Ollama}, "{\"response\":\"The\",\"done\":false}\n{\"response\":\"sk", `1 of 2, 0 kept alive, "malformed" "{\"response\":\"sk", tokens -1`},
	{"chat ends twice", Spec{Format: OpenAI}, chat + "data: [DONE]\n\n", `2 of 6, 1 kept alive, "" "", tokens 7`},
	{"chat in JSON", Spec{Format: OpenAI}, `{"error":{"message":"no such model"}}`, `0 of 0, 0 kept alive, "no-event" "", tokens -1`},
	{"comments alone", Spec{Format: OpenAI}, strings.Repeat(": ping\n\n", 50), `0 of 0, 50 kept alive, "no-event" "", tokens -1`},
	{"deep", Spec{Format: NDJSON, Count: []string{"$.a"}}, strings.Repeat("[", 10_001) + "\n", `0 of 1, 0 kept alive, "malformed" "` + strings.Repeat("[", detailMost) + `", tokens -1`},
	{"half a rune", Spec{Format: SSE, Error: "$.e"}, "data: {\"e\":\"\xc3\"}\n\n", `0 of 1, 0 kept alive, "error-event" "\"�\"", tokens -1`},
}

// What a body means does not depend on how it is split.
func TestRead(t *testing.T) {
	for _, b := range bodies {
		r := reader(t, b.Spec)
		if got := told(read(r, b.body, func(int) bool { return false })); got != b.want {
			t.Errorf("%s: %s\nwant %s", b.name, got, b.want)
		}
		if got := told(read(r, b.body, func(int) bool { return true })); got != b.want {
			t.Errorf("%s, byte by byte: %s\nwant %s", b.name, got, b.want)
		}
		for cut := range b.body {
			if cut > 300 {
				break
			}
			if got := told(read(r, b.body, func(i int) bool { return i == cut })); got != b.want {
				t.Fatalf("%s, cut at %d: %s\nwant %s", b.name, cut, got, b.want)
			}
		}
	}
}

// A line or an event that never ends costs no more memory than is allowed.
func TestOversized(t *testing.T) {
	for _, line := range []string{"data: %s", "data: %s\n", ": %s", "%s"} {
		for _, format := range []string{SSE, NDJSON} {
			r, err := NewReader(Spec{Format: format}, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			var s State
			s.Begin()
			for range 1000 {
				r.Read(&s, fmt.Appendf(nil, line, strings.Repeat("x", 1000)))
			}
			if endless := format == SSE || !strings.Contains(line, "\n"); s.Fault != Oversized && endless {
				t.Errorf("%s of %s: fault %q", line, format, s.Fault)
			}
			if n := cap(s.line) + cap(s.data); n > 4*LeastEvent {
				t.Errorf("%s of %s: %d bytes are kept", line, format, n)
			}
		}
	}
}

// A million empty events, and a line of 100 MB in small pieces, take no more memory than one event
// may have, and each is what it is.
func TestMuchOfLittle(t *testing.T) {
	r := reader(t, Spec{Format: SSE})
	var s State
	s.Begin()
	var n Count
	add := func(piece []byte, times int) {
		for range times {
			more := r.Read(&s, piece)
			n.Events, n.Counted, n.KeepAlives = n.Events+more.Events, n.Counted+more.Counted, n.KeepAlives+more.KeepAlives
		}
	}
	add([]byte("data:\n\n"), 1e6)
	if n != (Count{KeepAlives: 1e6}) || s.Fault != "" {
		t.Errorf("%+v, fault %q", n, s.Fault)
	}
	add([]byte("data: x\n\n"), 1)
	add([]byte("data: "), 1)
	add([]byte(strings.Repeat("y", 10_000)), 10_000)
	if n != (Count{Events: 1, Counted: 1, KeepAlives: 1e6}) || s.Fault != Oversized || cap(s.line)+cap(s.data) > 4*MaxEvent {
		t.Errorf("%+v, fault %q, %d bytes are kept", n, s.Fault, cap(s.line)+cap(s.data))
	}
}

// What follows an event that is too long ends nothing, wherever it is cut.
func TestOversizedEnds(t *testing.T) {
	r, err := NewReader(Spec{Format: SSE}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", LeastEvent-10)
	for _, body := range []string{"data: x\n" + long + long + "\n\ndata: y\n\n", "data: " + long + "\ndata: " + long + "\n\n"} {
		for cut := 1; cut < len(body); cut += 97 {
			n, s := read(r, body, func(i int) bool { return i%cut == 0 })
			if s.Fault != Oversized || n.Counted > 1 {
				t.Fatalf("in pieces of %d: %+v, %q", cut, n, s.Fault)
			}
		}
	}
}

func TestSpecs(t *testing.T) {
	for want, s := range map[string]Spec{
		`Format: "sss" is not sse, ndjson, chunks, openai, anthropic or ollama`:                             {Format: "sss"},
		`Format: chunks have no JSON that could be looked at: use sse or ndjson`:                            {Format: Chunks, End: "x"},
		`Count: "$..a" has ..["a"]: write names, indices and * only`:                                        {Format: SSE, Count: []string{"$..a"}},
		`Count: 14 paths are given; 13 are possible`:                                                        {Format: SSE, Count: slices.Repeat([]string{"$.a"}, 14)},
		`Count: 17 JSON paths are given; 16 are possible`:                                                   {Format: SSE, Count: make([]string, 17)},
		`Error: "$` + strings.Repeat(".a", 17) + `" has more than 16 steps`:                                 {Format: SSE, Error: "$" + strings.Repeat(".a", 17)},
		`End: "$[" is no JSON path, as $.choices[*].delta: jsonpath: unexpected eof at position 3`:          {Format: SSE, End: "$["},
		`Tokens: "x" is no JSON path, as $.choices[*].delta: jsonpath: unexpected identifier at position 1`: {Format: SSE, Tokens: "x"},
	} {
		var got []string
		s.Check(func(field string, err error) { got = append(got, field+": "+err.Error()) })
		if len(got) == 0 || got[0] != want {
			t.Errorf("%+v: %q\nwant %s", s, got, want)
		}
	}
	for _, format := range Formats {
		(&Spec{Format: format}).Check(func(field string, err error) { t.Error(format, field, err) })
	}
}

// Any split of any body gives the same events.
func FuzzRead(f *testing.F) {
	for _, b := range bodies {
		f.Add(b.body, uint64(len(b.body)))
	}
	var all []*Reader
	for _, s := range []Spec{{Format: SSE}, {Format: SSE, End: "$.a==1", Count: []string{"$.b[*].c", "$[0]"}},
		{Format: OpenAI}, {Format: Ollama}, {Format: NDJSON}} {
		all = append(all, reader(f, s))
	}
	f.Fuzz(func(t *testing.T, body string, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 1))
		for i, r := range all {
			whole := told(read(r, body, func(int) bool { return false }))
			if got := told(read(r, body, func(int) bool { return random.IntN(4) == 0 })); got != whole {
				t.Errorf("reader %d: %s, and in pieces %s", i, whole, got)
			}
		}
	})
}

// Reading allocates nothing once a stream's memory is there.
func TestReadingAllocatesNothing(t *testing.T) {
	r := reader(t, Spec{Format: OpenAI})
	var s State
	body, half := []byte(chat), len(chat)/2
	n := testing.AllocsPerRun(100, func() {
		s.Begin()
		r.Read(&s, body[:half])
		r.Read(&s, body[half:])
		r.Finish(&s)
	})
	if n > 0 || s.Tokens != 7 {
		t.Errorf("%v allocations; %d tokens", n, s.Tokens)
	}
}

// BenchmarkEvent reads an event of 250 bytes.
func BenchmarkEvent(b *testing.B) {
	event := []byte(`data: {"id":"chatcmpl-9f8a7b6c5d4e3f2a1b0c","object":"chat.completion.chunk","created":1790000000,` +
		`"model":"meta-llama/Llama-3.1-8B","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,` +
		`"finish_reason":null}],"usage":null}` + "\n\n")
	for _, format := range []string{SSE, OpenAI} {
		b.Run(format, func(b *testing.B) {
			r := reader(b, Spec{Format: format})
			var s State
			s.Begin()
			b.SetBytes(int64(len(event)))
			for range b.N {
				if r.Read(&s, event).Counted != 1 {
					b.Fatal("no event")
				}
			}
		})
	}
}
