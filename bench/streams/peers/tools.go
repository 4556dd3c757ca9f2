//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A load is what a tool is to do.
type load struct {
	dir               string // for what it writes
	tokenizer         string
	url               string
	streams, requests int
}

// A reading is what a tool said of a load. Times are in ms.
type reading struct {
	p50, p99 float64
	requests int // that it completed
}

// A tool is a load generator.
type tool struct {
	name    string
	calls   string // what it calls the time to the first token
	path    func(b *bench) string
	command func(l load) ([]string, error)
	read    func(l load) (reading, error)
}

func inHome(file string) func(b *bench) string {
	return func(b *bench) string { return filepath.Join(b.home, file) }
}

var tools = []tool{
	{"dyno", "first event, from due", func(b *bench) string { return b.dyno }, dynoCommand, readDyno},
	{"aiperf", "Time to First Token", inHome("aiperf/bin/aiperf"), aiperfCommand, readAIPerf},
	{"guidellm", "TTFT", inHome("guidellm/bin/guidellm"), guidellmCommand, readGuideLLM},
	{"vllm", "TTFT", inHome("vllm/bin/vllm"), vllmCommand, readVLLM},
	{"k6", "http_req_waiting", inHome("k6/k6"), k6Command, readK6},
}

// writeTokenizer writes a tokenizer that knows one word, for tools that refuse to work without: the
// real ones come from a hub.
func writeTokenizer(dir string) error {
	to := tokenizerOf(dir)
	write := func(name, text string) error {
		return os.WriteFile(filepath.Join(to, name), []byte(text), 0o600)
	}
	return errors.Join(os.MkdirAll(to, 0o700),
		write("tokenizer.json", `{"version": "1.0", "truncation": null, "padding": null,
			"added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "Whitespace"},
			"post_processor": null, "decoder": null, "model": {"type": "WordLevel",
			"vocab": {"[UNK]": 0, "word": 1}, "unk_token": "[UNK]"}}`),
		write("tokenizer_config.json",
			`{"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]"}`))
}

func tokenizerOf(dir string) string { return filepath.Join(dir, "tokenizer") }

// readJSON reads a file that a tool wrote.
func readJSON(l load, file string, into any) error {
	text, err := os.ReadFile(filepath.Join(l.dir, file))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func dynoCommand(l load) ([]string, error) {
	return []string{"run", "--no-save", "-q", "-c", strconv.Itoa(l.streams), "-n",
		strconv.Itoa(l.requests), "--drain", "1m", "--stream", "openai", "--json", "result.json",
		"-b", `{"model": "model", "stream": true, "stream_options": {"include_usage": true}, ` +
			`"messages": [{"role": "user", "content": "word"}]}`, "-H", "Content-Type: application/json",
		l.url + "/v1/chat/completions"}, nil
}

func readDyno(l load) (reading, error) {
	var r struct {
		Requests struct{ Completed int }
		Stream   struct {
			First struct {
				P50 float64 `json:"p50_us"`
				P99 float64 `json:"p99_us"`
			} `json:"first_event"`
		}
	}
	err := readJSON(l, "result.json", &r)
	return reading{r.Stream.First.P50 / 1e3, r.Stream.First.P99 / 1e3, r.Requests.Completed}, err
}

func aiperfCommand(l load) ([]string, error) {
	return []string{"profile", "-m", "model", "--url", l.url, "--endpoint-type", "chat", "--streaming",
		"--tokenizer", l.tokenizer, "--use-server-token-count", "--concurrency",
		strconv.Itoa(l.streams), "--request-count", strconv.Itoa(l.requests), "--isl", "8",
		"--artifact-dir", l.dir, "--export-level", "summary", "--ui", "none"}, nil
}

func readAIPerf(l load) (reading, error) {
	var r struct {
		Count struct{ Avg float64 }      `json:"request_count"`
		First struct{ P50, P99 float64 } `json:"time_to_first_token"`
	}
	err := readJSON(l, "profile_export_aiperf.json", &r)
	return reading{r.First.P50, r.First.P99, int(r.Count.Avg)}, err
}

func guidellmCommand(l load) ([]string, error) {
	var prompts strings.Builder
	for i := range l.requests {
		fmt.Fprintf(&prompts, "{\"prompt\": \"word word word %d\"}\n", i)
	}
	file := filepath.Join(l.dir, "prompts.jsonl")
	return []string{"run", "--backend", "kind=openai_http,model=model,target=" + l.url,
			"--profile", fmt.Sprintf("kind=concurrent,streams=%d", l.streams),
			"--constraint", fmt.Sprintf("kind=max_requests,count=%d", l.requests),
			"--data", "kind=json_file,path=" + file, "--tokenizer", "kind=hf_auto,model=" + l.tokenizer,
			"--output", "kind=json,path=out.json", "--disable-console"},
		os.WriteFile(file, []byte(prompts.String()), 0o600)
}

func readGuideLLM(l load) (r reading, err error) {
	var out struct {
		Benchmarks []struct {
			Metrics struct {
				Totals struct{ Successful int } `json:"request_totals"`
				First  struct {
					Successful struct {
						Percentiles struct{ P50, P99 float64 }
					}
				} `json:"time_to_first_token_ms"`
			}
		}
	}
	if err := readJSON(l, "out.json", &out); err != nil {
		return r, err
	}
	if len(out.Benchmarks) != 1 {
		return r, fmt.Errorf("%d benchmarks in its report", len(out.Benchmarks))
	}
	m := out.Benchmarks[0].Metrics
	first := m.First.Successful.Percentiles
	return reading{first.P50, first.P99, m.Totals.Successful}, nil
}

func vllmCommand(l load) ([]string, error) {
	return []string{"bench", "serve", "--backend", "openai-chat", "--base-url", l.url, "--endpoint",
		"/v1/chat/completions", "--model", "model", "--tokenizer", l.tokenizer, "--dataset-name",
		"random", "--random-input-len", "4", "--random-output-len", strconv.Itoa(law.Events),
		"--max-concurrency", strconv.Itoa(l.streams), "--num-prompts", strconv.Itoa(l.requests),
		"--save-result", "--result-dir", l.dir, "--result-filename", "result.json",
		"--percentile-metrics", "ttft", "--metric-percentiles", "50,99", "--disable-tqdm"}, nil
}

func readVLLM(l load) (reading, error) {
	var r struct {
		Completed int
		P50       float64 `json:"p50_ttft_ms"`
		P99       float64 `json:"p99_ttft_ms"`
	}
	err := readJSON(l, "result.json", &r)
	return reading{r.P50, r.P99, r.Completed}, err
}

// k6Command has k6 read each answer to its end: it knows no events, and times the first byte.
func k6Command(l load) ([]string, error) {
	const script = `import http from "k6/http";
const messages = [{role: "user", content: "word"}];
const body = JSON.stringify({model: "model", stream: true, messages});
const params = {headers: {"Content-Type": "application/json"}, timeout: "120s"};
export default function () { http.post(__ENV.TARGET + "/v1/chat/completions", body, params); }
`
	file := filepath.Join(l.dir, "script.js")
	return []string{"run", "--no-usage-report", "--quiet", "--vus", strconv.Itoa(l.streams),
		"--iterations", strconv.Itoa(l.requests), "-e", "TARGET=" + l.url,
		"--summary-trend-stats", "p(50),p(99)", "--summary-export", "result.json", file,
	}, os.WriteFile(file, []byte(script), 0o600)
}

func readK6(l load) (reading, error) {
	var r struct {
		Metrics struct {
			Iterations struct{ Count int }
			Waiting    struct {
				P50 float64 `json:"p(50)"`
				P99 float64 `json:"p(99)"`
			} `json:"http_req_waiting"`
		}
	}
	err := readJSON(l, "result.json", &r)
	return reading{r.Metrics.Waiting.P50, r.Metrics.Waiting.P99, r.Metrics.Iterations.Count}, err
}
