package luascript

import (
	"testing"

	"dyno/internal/engine/scenario"
)

const countScript = `local n = 0
function request() n = n + 1; return wrk.format(nil, wrk.path .. "?n=" .. n) end`

const lookScript = `n = 0
function response(status, headers, body)
	if status == 200 and headers["Content-Type"] and #body > 0 then n = n + 1 end
end`

// What one request, and one response, costs the worker's thread.
func BenchmarkRequest(b *testing.B) { benchmark(b, countScript) }

func BenchmarkResponse(b *testing.B) { benchmark(b, lookScript) }

// A script without functions calls no Lua.
func BenchmarkStatic(b *testing.B) { benchmark(b, `wrk.method = "POST"`) }

func benchmark(b *testing.B, source string) {
	m, err := Compile(configOf("http://127.0.0.1:1", source, nil))
	if err != nil {
		b.Fatal(err)
	}
	s, err := m.Make(scenario.Share{Users: 1})
	if err != nil {
		b.Fatal(err)
	}
	u, r := &scenario.User{}, answer()
	b.ReportAllocs()
	for b.Loop() {
		if step := s.Start(u); step.Fault != nil {
			b.Fatal(step.Fault)
		}
		s.Next(u, r)
	}
}

// answer is a response as a small server sends it.
func answer() *scenario.Response {
	r := &scenario.Response{Status: 200, Body: []byte("hello, world"), BodyBytes: 12}
	for _, f := range [][2]string{{"server", "nginx/1.26"}, {"date", "Mon, 06 Jan 2025 10:00:00 GMT"},
		{"content-type", "text/plain"}, {"content-length", "12"}, {"x-y", "abcdefghijkl"}} {
		r.AddField([]byte(f[0]), []byte(f[1]), false)
	}
	return r
}

// A script without functions costs nothing while the load runs: no call of Lua, no memory.
func TestStaticCostsNothing(t *testing.T) {
	m, err := Compile(configOf("http://127.0.0.1:1", `wrk.method = "POST"`, nil))
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Make(scenario.Share{Users: 1})
	if err != nil {
		t.Fatal(err)
	}
	u, r := &scenario.User{}, answer()
	w := s.(*worker)
	left := w.Left()
	if n := testing.AllocsPerRun(100, func() { s.Start(u); s.Next(u, r) }); n > 0 || w.Left() != left {
		t.Errorf("%v allocations, %d instructions", n, left-w.Left())
	}
}
