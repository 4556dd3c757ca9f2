package stream

// A preset is what the streams of a known kind of server have.
var presets = map[string]struct {
	framing
	Spec
}{
	SSE:    {framing: bySSE},
	NDJSON: {framing: byLine},
	Chunks: {framing: byArrival},
	OpenAI: {bySSE, Spec{
		Count: []string{"$.choices[*].delta.content", "$.choices[*].delta.reasoning_content",
			"$.choices[*].delta.tool_calls", "$.choices[*].text"},
		Tokens: "$.usage.completion_tokens", End: "[DONE]", Error: "$.error"}},
	Anthropic: {bySSE, Spec{
		Count:  []string{"$.delta.text", "$.delta.thinking", "$.delta.partial_json"},
		Tokens: "$.usage.output_tokens", End: "$.type==message_stop", Error: "$.error"}},
	Ollama: {byLine, Spec{
		Count:  []string{"$.response", "$.message.content", "$.message.thinking", "$.message.tool_calls"},
		Tokens: "$.eval_count", End: "$.done", Error: "$.error"}},
}

// TellsTokens reports whether streams tell their number of tokens.
func (s Spec) TellsTokens() bool {
	full, _ := s.filled()
	return full.Tokens != ""
}

// filled is a Spec in which the format's own settings stand where it has none.
func (s Spec) filled() (Spec, framing) {
	own := presets[s.Format]
	if len(s.Count) == 0 {
		s.Count = own.Count
	}
	fill := func(field *string, of string) {
		if *field == "" {
			*field = of
		}
	}
	fill(&s.Tokens, own.Tokens)
	fill(&s.End, own.End)
	fill(&s.Error, own.Error)
	return s, own.framing
}
