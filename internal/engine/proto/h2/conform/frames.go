package conform

import "strings"

// Beginnings are what a server may say before all else, when the client has sent
// its preface and no request yet. Want is as in a Case.
var Beginnings = []Case{
	{"3.4", "nothing", "", "closed"},
	{"3.4", "SETTINGS", Settings(), "closing"},
	{"3.4", "half a SETTINGS", Settings()[:5], "closed"},
	{"3.4", "HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n\r\n", "garbage"},
	{"3.4", "a client's preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "garbage"},
	{"3.4", "a TLS alert", "\x15\x03\x01\x00\x02\x02\x46", "garbage"},
	{"3.4", "another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "garbage"},
	{"3.4", "an acknowledgement first", Frame(typeSettings, ack, 0), "violation PROTOCOL_ERROR"},
	{"3.4", "PING first", Frame(typePing, 0, 0, "12345678"), "violation PROTOCOL_ERROR"},
	{"3.4", "WINDOW_UPDATE first", update(0, 1), "violation PROTOCOL_ERROR"},
	{"3.4", "GOAWAY first", goAway(0, 1), "violation PROTOCOL_ERROR"},
	{"3.4", "HEADERS first", reply(1), "violation PROTOCOL_ERROR"},
	{"3.4", "an unknown frame first", Frame(99, 0, 0), "violation PROTOCOL_ERROR"},
	{"4.2", "SETTINGS too large", "\x00\x40\x02\x04\x00\x00\x00\x00\x00",
		"framing FRAME_SIZE_ERROR"},
	{"6.5", "SETTINGS on a stream", Frame(typeSettings, 0, 1), "violation PROTOCOL_ERROR"},
	{"6.5", "SETTINGS of five bytes", Frame(typeSettings, 0, 0, "12345"),
		"framing FRAME_SIZE_ERROR"},
	{"6.5.2", "SETTINGS with a frame size of nothing", Settings(set(maxFrame, 0)),
		"violation PROTOCOL_ERROR"},
	{"5.1", "an answer to nothing", Settings() + reply(1), "violation PROTOCOL_ERROR"},
	{"6.8", "GOAWAY at once", Settings() + goAway(0, 1), "closing"},
}

// right are conversations in which nobody breaks a rule until the server closes.
var right = []Case{
	{"", "nothing at all", "", "closed"},
	{"", "all", reply(1) + bare(3, ":status: 200", "content-length: 5") + reply(5),
		"0:200 0+5 1:200 1+0 2:200 2+5 closing"},
	{"", "one of three", reply(1), "0:200 0+5 closed"},
	{"", "any order", reply(5) + reply(1), "2:200 2+5 0:200 0+5 closed"},
	{"", "interleaved", ok200(1) + head(5, ":status: 404") + more(1, "ab") + data(5, "x") +
		data(1, "cde"), "0:200 2:404 2+1 0+5 closed"},
	{"", "cut in a body", ok200(1) + more(1, "ab"), "0:200 0:truncated closed"},
	{"", "cut in a frame", ok200(1) + data(1, "abcdef")[:12], "0:200 0:truncated closed"},
	{"", "cut in a frame's header", "\x00\x00", "closed"},
	{"", "cut in HEADERS", reply(5) + ok200(1)[:9], "2:200 2+5 0:truncated closed"},
	{"", "cut after 1xx", head(1, ":status: 103"), "0:truncated closed"},
}

// frames are cases of RFC 9113's sections 4 and 5: what a frame is, and of which
// stream.
var frames = []Case{
	{"4.1", "unknown type", Frame(99, 0xff, 77, "what") + Frame(10, 0, 0, "h2=") + reply(1),
		"0:200 0+5 closed"},
	{"4.1", "unknown flags", Frame(typeHeaders, 0xd2|whole, 1, ok) + Frame(typeData, 0xf6|end, 1, "x"),
		"0:200 0+1 closed"},
	{"4.1", "flags without meaning", Frame(typeReset, 0xff, 3, u32(8)) +
		Frame(typeWindow, 0xff, 0, u32(1)) + Frame(typeGoAway, 0xff, 0, u32(5), u32(0)) + reply(1),
		"1:rst-cancel 0:200 0+5 closed"},
	{"4.1", "reserved bit of an id", Frame(typeHeaders, whole, 1|1<<31, ok) + data(1|1<<31, "x"),
		"0:200 0+1 closed"},
	{"4.1", "reserved bits in payloads", update(0, 1<<31|1) + goAway(1<<31|1, 0) + reply(1),
		"1:refused 2:refused 0:200 0+5 closing"},
	{"4.2", "DATA too large", "\x00\x40\x01\x00\x00\x00\x00\x00\x01", "framing FRAME_SIZE_ERROR"},
	{"4.2", "HEADERS too large", "\x00\x40\x01\x01\x04\x00\x00\x00\x01",
		"framing FRAME_SIZE_ERROR"},
	{"4.2", "SETTINGS too large", "\x00\x40\x02\x04\x00\x00\x00\x00\x00",
		"framing FRAME_SIZE_ERROR"},
	{"4.2", "unknown type too large", "\xff\xff\xff\x63\x00\x00\x00\x00\x00",
		"framing FRAME_SIZE_ERROR"},
	{"4.2", "a frame as large as may be", ok200(1) + data(1, strings.Repeat("x", frame)),
		"0:200 0+16384 closed"},

	{"4.3", "CONTINUATION", Frame(typeHeaders, 0, 1, ok) + Frame(typeContinuation, 0, 1) +
		Frame(typeContinuation, whole, 1, block("a: b")) + data(1, ""), "0:200 0+0 closed"},
	{"4.3", "CONTINUATION inside a field", Frame(typeHeaders, 0, 1, ok+"\x00\x03a") +
		Frame(typeContinuation, whole, 1, "bc\x01d") + data(1, ""), "0:200 0+0 closed"},
	{"4.3", "CONTINUATION ends the stream", Frame(typeHeaders, end, 1, "\x8d") +
		Frame(typeContinuation, whole, 1), "0:404 0+0 closed"},
	{"4.3", "a flag of CONTINUATION that ends nothing", Frame(typeHeaders, 0, 1, ok) +
		Frame(typeContinuation, whole|end, 1) + data(1, "x"), "0:200 0+1 closed"},
	{"4.3", "DATA inside a header", Frame(typeHeaders, 0, 1, ok) + data(1, "x"),
		"violation PROTOCOL_ERROR"},
	{"4.3", "another stream inside a header", Frame(typeHeaders, 0, 1, ok) +
		Frame(typeContinuation, whole, 3), "violation PROTOCOL_ERROR"},
	{"4.3", "PING inside a header", Frame(typeHeaders, 0, 1, ok) + Frame(typePing, 0, 0, "12345678"),
		"violation PROTOCOL_ERROR"},
	{"4.3", "SETTINGS inside a header", Frame(typeHeaders, 0, 1, ok) + Settings(),
		"violation PROTOCOL_ERROR"},
	{"4.3", "HEADERS inside a header", Frame(typeHeaders, 0, 1, ok) + ok200(1),
		"violation PROTOCOL_ERROR"},
	{"4.3", "RST_STREAM inside a header", Frame(typeHeaders, 0, 1, ok) + reset(1, 8),
		"violation PROTOCOL_ERROR"},
	{"4.3", "WINDOW_UPDATE inside a header", Frame(typeHeaders, 0, 1, ok) + update(0, 1),
		"violation PROTOCOL_ERROR"},
	{"4.3", "GOAWAY inside a header", Frame(typeHeaders, 0, 1, ok) + goAway(1, 0),
		"violation PROTOCOL_ERROR"},
	{"4.3", "cut inside a header", Frame(typeHeaders, 0, 1, ok), "0:truncated closed"},
	{"4.3", "a header of a stream that was reset is read all the same", head(1, "a: b") +
		raw(1, "\x48\x03418") + rawEnd(5, "\xbe"), "0:malformed 2:418 2+0 closed"},
	{"5.5", "unknown type inside a header", Frame(typeHeaders, 0, 1, ok) + Frame(99, 0, 0),
		"violation PROTOCOL_ERROR"},
	{"10.5.1", "endless header", Frame(typeHeaders, 0, 1, ok) +
		strings.Repeat(Frame(typeContinuation, 0, 1, strings.Repeat(ok, 16000)), 17),
		"oversized ENHANCE_YOUR_CALM"},
	{"10.5.1", "endless header of nothing", Frame(typeHeaders, 0, 1, ok) +
		strings.Repeat(Frame(typeContinuation, 0, 1), 30_000), "oversized ENHANCE_YOUR_CALM"},
	{"10.5.1", "a long list in a short block", raw(1, ok+"\x40\x01a\x7f\xe0\x1e"+
		strings.Repeat("x", 4063)+strings.Repeat("\xbe", 70)) + rawEnd(5, ok+"\xbe"),
		"0:oversized 2:200 2+0 closed"},

	{"5.1", "HEADERS on an idle stream", head(7, ":status: 200"), "violation PROTOCOL_ERROR"},
	{"5.1", "the beginning of HEADERS on an idle stream", Frame(typeHeaders, 0, 7, ok),
		"violation PROTOCOL_ERROR"},
	{"5.1", "DATA on an idle stream", data(7, "x"), "violation PROTOCOL_ERROR"},
	{"5.1", "RST_STREAM on an idle stream", reset(7, 8), "violation PROTOCOL_ERROR"},
	{"5.1", "WINDOW_UPDATE on an idle stream", update(7, 8), "violation PROTOCOL_ERROR"},
	{"5.1", "PRIORITY on an idle stream", Frame(typePriority, 0, 7, "\x00\x00\x00\x00\x00") + reply(1),
		"0:200 0+5 closed"},
	{"5.1", "DATA after the end", reply(1) + data(1, "x"), "0:200 0+5 violation STREAM_CLOSED"},
	{"5.1", "DATA of nothing after the end", reply(1) + more(1, ""),
		"0:200 0+5 violation STREAM_CLOSED"},
	{"5.1", "HEADERS after the end", reply(1) + reply(1), "0:200 0+5 violation STREAM_CLOSED"},
	{"5.1", "DATA after their RST_STREAM", reset(1, 8) + data(1, ""),
		"0:rst-cancel violation STREAM_CLOSED"},
	{"5.1", "HEADERS after their RST_STREAM", reset(1, 8) + ok200(1),
		"0:rst-cancel violation STREAM_CLOSED"},
	{"5.1", "what may follow the end", reply(1) + update(1, 9) + reset(1, 0) +
		Frame(typePriority, 0, 1, "\x00\x00\x00\x00\x00") + reply(5),
		"0:200 0+5 2:200 2+5 closed"},
	{"5.1", "what follows our RST_STREAM", head(1, "a: b") + reply(1) + update(1, 1) + reset(1, 8) +
		reply(5), "0:malformed 2:200 2+5 closed"},
	{"5.1", "what follows an answer that came before our request's end", reply(5) + more(5, "x") +
		update(5, 1) + reply(1), "2:200 2+5 0:200 0+5 closed"},
	{"5.1.1", "HEADERS on a server's stream", head(2, ":status: 200"), "violation PROTOCOL_ERROR"},
	{"5.1.1", "DATA on a server's stream", data(2, "x"), "violation PROTOCOL_ERROR"},
	{"5.1.1", "RST_STREAM on a server's stream", reset(2, 8), "violation PROTOCOL_ERROR"},
	{"5.1.1", "WINDOW_UPDATE on a server's stream", update(2, 8), "violation PROTOCOL_ERROR"},
	{"5.1.1", "HEADERS on stream 0", raw(0, ok), "violation PROTOCOL_ERROR"},
}
