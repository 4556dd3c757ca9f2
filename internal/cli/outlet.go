package cli

import (
	"fmt"
	"io"
	"strings"

	"dyno/internal/view/format"
)

// An outlet is stdout or stderr. All that dyno says may have words in it that a server, a
// certificate, an archive or an agent has chosen: they come out as they are, but for what a
// terminal would obey, which is shown. Such words come into messages in many places, one of which
// would be forgotten; here is the one place that all of them pass. Each Write has whole characters.
type outlet struct {
	to    io.Writer
	paint format.Paint // marks dyno's own colours
}

func (o outlet) Write(b []byte) (int, error) {
	if _, err := o.to.Write(format.Visible(b, o.paint)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// newOutlets returns the streams of a program, with outlets for stdout and stderr.
func newOutlets(stdin io.Reader, stdout, stderr io.Writer) streams {
	var paint format.Paint
	if isTerminal(stdout) && wantsColor() {
		paint = format.NewPaint()
	}
	return streams{in: stdin, out: outlet{stdout, paint}, err: outlet{stderr, ""}}
}

// behindOutlet is the stream behind an outlet. Only text without foreign parts, or not for people,
// may be written there. A test lists who may do so.
func behindOutlet(stream any) any {
	if o, is := stream.(outlet); is {
		return o.to
	}
	return stream
}

// pastOutlet is behindOutlet for a writer.
func pastOutlet(w io.Writer) io.Writer { return behindOutlet(w).(io.Writer) }

// writeLine writes exactly one line to stderr. A line break in a foreign text cannot forge a second
// one.
func (s streams) writeLine(format string, args ...any) {
	fmt.Fprintln(s.err, oneLine(fmt.Sprintf(format, args...)))
}

// oneLine is text on one line, in which no other line can be forged.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), " | ")
}
