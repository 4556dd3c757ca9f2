package proto

// A MessageCopy is a copy of a message, in memory that is used again for the next one.
type MessageCopy struct {
	Message   Message
	BodyBytes int64 // of the message's own body, also of what is not copied; 0: it has none

	fill Fill
	own  Request
	text []byte // of the values
	body []byte
}

// Copy makes k a copy of m, with at most so many bytes of its own body.
func (k *MessageCopy) Copy(m Message, bodyMost int) {
	k.Message, k.BodyBytes = m, 0
	if m.Fill == nil {
		return
	}
	k.Message.Fill = &k.fill
	k.text, k.fill.Values = k.text[:0], k.fill.Values[:0]
	for _, v := range m.Fill.Values {
		from := len(k.text)
		k.text = append(k.text, v...)
		k.fill.Values = append(k.fill.Values, k.text[from:])
	}
	if m.Fill.Own == nil {
		k.fill.Own, k.fill.Body = nil, k.copyBody(m.Fill.Body, bodyMost)
		return
	}
	header := append(k.own.Header[:0], m.Fill.Own.Header...)
	k.own, k.fill.Own = *m.Fill.Own, &k.own
	k.own.Header, k.own.Body = header, k.copyBody(k.own.Body, bodyMost)
}

// copyBody is a copy of a body's beginning; nil of no body.
func (k *MessageCopy) copyBody(b []byte, most int) []byte {
	if b == nil {
		return nil
	}
	k.BodyBytes = int64(len(b))
	k.body = append(k.body[:0], b[:min(len(b), most)]...)
	return k.body
}
