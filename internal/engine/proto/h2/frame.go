package h2

import "encoding/binary"

// HTTP/2's names of frames, flags and settings.
const (
	frameData         = 0
	frameHeaders      = 1
	framePriority     = 2
	frameReset        = 3
	frameSettings     = 4
	framePush         = 5
	framePing         = 6
	frameGoAway       = 7
	frameWindow       = 8
	frameContinuation = 9

	flagEnd        = 1
	flagAck        = 1
	flagEndHeaders = 4
	flagPadded     = 8
	flagPriority   = 32

	headerTableSize      = 1
	enablePush           = 2
	maxConcurrentStreams = 3
	initialWindowSize    = 4
	maxFrameSize         = 5
	maxHeaderListSize    = 6

	frameHeader = 9 // bytes before a frame's payload
)

func appendFrame(b []byte, n int, kind, flags byte, id uint32) []byte {
	return append(b, byte(n>>16), byte(n>>8), byte(n), kind, flags,
		byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

func appendWindow(b []byte, id uint32, n int64) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, 4, frameWindow, 0, id), uint32(n))
}
