package fairness

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/stream"
)

const eventHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// eventChunk is a chunk with that text.
func eventChunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

// speaking streams tokens, some in each event, and what else stands at the end. No two answers have
// the same text.
func speaking(tokens, together int, ends ...string) life {
	var texts atomic.Int64
	return answering(func(int, *http.Request) string {
		var b strings.Builder
		b.WriteString(eventHead)
		for n := 0; n < tokens; n += together {
			b.WriteString(eventChunk(fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":\"%d\"}}]}\n\n", texts.Add(7919))))
		}
		for _, end := range ends {
			b.WriteString(eventChunk("data: " + end + "\n\n"))
		}
		return b.String() + "0\r\n\r\n"
	})
}

func usage(tokens int) string {
	return fmt.Sprintf(`{"choices":[],"usage":{"completion_tokens":%d}}`, tokens)
}

// Streams are alike if they have as many events and tokens and end in the same way, whatever their
// text is.
func TestStreamPairs(t *testing.T) {
	const done = "[DONE]"
	one := speaking(12, 1, usage(12), done)
	for _, c := range []struct {
		name   string
		two    life
		broken []string
	}{
		{"the same with other words", speaking(12, 1, usage(12), done), nil},
		{"tokens in pairs", speaking(12, 2, usage(12), done), []string{"events"}},
		{"fewer tokens", speaking(11, 1, usage(11), done), []string{"events", "tokens"}},
		{"tokens untold", speaking(12, 1, done), []string{"tokens"}},
		{"no end", speaking(12, 1, usage(12)), []string{"stream_end"}},
		{"an error", speaking(12, 1, usage(12), `{"error":{"message":"out of memory"}}`), []string{"stream_end"}},
		{"no stream", always(plain()), []string{"header_names", "content-type", "transfer-encoding", "content-length",
			"header_bytes", "events", "tokens", "stream_end", "framing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var answers [2]*Answer
			for i, l := range []life{one, c.two} {
				q := asking{URL: serve(t, l), Timeout: time.Minute}.question()
				q.Stream = &loadplan.Stream{Spec: stream.Spec{Format: stream.OpenAI}}
				a, err := Ask(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				answers[i] = a
			}
			if a := answers[0].Stream; a.Events != (Span{12, 12, 12}) || *a.Tokens != a.Events || a.Fault != "" ||
				answers[0].Exchanges != 4 {
				t.Errorf("%+v, %d exchanges", a, answers[0].Exchanges)
			}
			got, want := broken(answers[0], answers[1]), slices.Clone(c.broken)
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Errorf("broken: %q\nwant    %q", got, want)
			}
		})
	}
}

// What a server answers to other questions than the load's is seen in the head: nobody waits for a
// stream that does not end.
func TestStreamHeads(t *testing.T) {
	t.Parallel()
	whole, begun := atomic.Int64{}, atomic.Int64{}
	endless := func(c net.Conn, r *bufio.Reader) {
		for {
			q, err := next(r)
			if err != nil {
				return
			}
			if q.URL.Path == "/" && q.Header.Get("Accept-Encoding") == "" {
				whole.Add(1)
				io.WriteString(c, eventHead+eventChunk("data: a\n\n")+"0\r\n\r\n")
				continue
			}
			begun.Add(1)
			io.WriteString(c, eventHead+eventChunk("data: a\n\n"))
			io.Copy(io.Discard, r)
			return
		}
	}
	for _, brief := range []bool{false, true} {
		whole.Store(0)
		q := asking{URL: serve(t, endless), Brief: brief, Timeout: time.Minute}.question()
		q.Stream = &loadplan.Stream{Spec: stream.Spec{Format: stream.SSE}}
		a, err := Ask(t.Context(), q)
		want := map[bool]int64{false: 4, true: 1}[brief]
		if err != nil || whole.Load() != want || begun.Load() != 2 || a.Stream.Events.Mean != 1 {
			t.Fatalf("%v, %d whole streams, %d begun: %+v", err, whole.Load(), begun.Load(), a)
		}
		if !brief && (a.Gzip.Problem != "" || a.Unknown.Status != 200 || showUnknown(a) != "200") {
			t.Errorf("%+v, %+v", a.Gzip, a.Unknown)
		}
	}
}

// Users who leave a stream before its end take as much of it, and no more is asked for. What came
// of the next event is none, and no fault.
func TestStreamsThatAreLeft(t *testing.T) {
	t.Parallel()
	ticking := func(c net.Conn, r *bufio.Reader) {
		next(r)
		io.WriteString(c, eventHead)
		for {
			if _, err := io.WriteString(c, eventChunk("data: a\n\ndata: b\n\n")); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	halves := func(c net.Conn, r *bufio.Reader) {
		next(r)
		io.WriteString(c, strings.Replace(eventHead, "event-stream", "x-ndjson", 1)+
			eventChunk("{\"response\":\"a\",\"done\":false}\n{\"response\":\"b\",\"done\":false}\n{\"respo"))
		next(r) // the user closes
	}
	q := asking{URL: serve(t, halves), Timeout: time.Minute}.question()
	q.Stream = &loadplan.Stream{Spec: stream.Spec{Format: stream.Ollama}, Take: "2"}
	if a, err := Ask(t.Context(), q); err != nil || a.Stream.Events.Mean != 2 || a.Stream.Fault != "" {
		t.Errorf("%v, %+v", err, a.Stream)
	}
	for take, events := range map[string]float64{"7": 7, "30ms": 0} {
		q := asking{URL: serve(t, ticking), Timeout: time.Minute}.question()
		q.Stream = &loadplan.Stream{Spec: stream.Spec{Format: stream.SSE, End: "[DONE]"}, Take: take}
		a, err := Ask(t.Context(), q)
		if err != nil || a.Stream.Events.Mean != events || a.Stream.Fault != "" || a.Kept != nil || a.Exchanges != 2 ||
			a.hasEvents() != (events > 0) {
			t.Errorf("%s: %v, %+v", take, err, a)
		}
	}
}
