package hole

import (
	"math/rand/v2"
	"strings"
)

// A maker makes templates at random, of the grammar, with a mistake here and there.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 1))} }

func (m maker) of(all ...string) string { return all[m.IntN(len(all))] }

// list is text with holes and conditions.
func (m maker) list(depth int) string {
	var b strings.Builder
	for range m.IntN(4) {
		switch m.IntN(5) {
		case 0:
			b.WriteString(m.of("a", " b ", "\n\t", "}}", "{", "é \r\n"))
		case 1, 2:
			b.WriteString(m.hole(m.command(2)))
		case 3:
			b.WriteString(m.of("{{/* c */}}", "{{- /* {{ */ -}}", "{{/*\n*/ -}}"))
		case 4:
			if depth > 0 {
				b.WriteString(m.condition(depth - 1))
			}
		}
	}
	return b.String()
}

func (m maker) condition(depth int) string {
	s := m.hole("if"+m.space()+m.command(2)) + m.list(depth)
	for m.IntN(3) == 0 {
		s += m.hole("else if"+m.space()+m.command(2)) + m.list(depth)
	}
	if m.IntN(2) == 0 {
		s += m.hole("else") + m.list(depth)
	}
	return s + m.hole("end")
}

// hole is what stands inside one, with spaces and trim markers.
func (m maker) hole(inside string) string {
	return "{{" + m.of("", "", " ", "- ", "-\n", "-  ") + inside + m.of("", "", " ", " -", "\t-", "  -") + "}}"
}

func (m maker) space() string { return m.of(" ", " ", "  ", "\t", "\n", " \r\n") }

func (m maker) command(depth int) string {
	switch m.IntN(8) {
	case 0, 1:
		return m.of("f", "g", "n", "zero", "fail", "port", `port "a"`, "port `b` \"c\"", "nobody")
	case 2:
		return m.operand(depth)
	case 3:
		return "printf" + m.space() + m.of(`"%v"`, `"%d-%s"`, "`%5q|%x`", `"%[2]v%[1]v"`, `""`, m.operand(depth)) + m.arguments(depth, 3)
	}
	return m.of("eq", "ne", "and", "or", "not", "eq") + m.arguments(depth, 1+m.IntN(3))
}

func (m maker) arguments(depth, most int) string {
	s := ""
	for range 1 + m.IntN(most) {
		s += m.space() + m.operand(depth)
	}
	return s
}

func (m maker) operand(depth int) string {
	if depth > 0 && m.IntN(3) == 0 {
		return "(" + m.of("", " ") + m.command(depth-1) + m.of("", " ") + ")"
	}
	return m.of("f", "g", "n", "zero", "port", `"x"`, `""`, `"}}"`, "`x`", "4", "0", "4.0", "-1", "1e2", "0x4", "true",
		"false", `"\u00e9\n"`)
}
