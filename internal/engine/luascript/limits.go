package luascript

import "time"

// Limits of a script. Each is far above what a script of a load needs. Package luavm has those of a
// machine, and counts.
const (
	// callInstructions is how many instructions of Lua's machine one call of request, response or
	// delay may take: some tenths of a second. Functions of the libraries count their work as
	// instructions: the steps of a pattern, the values of a table, the bytes of a string.
	callInstructions = 10_000_000
	// DefaultSetup is the same of the script itself and of setup, init and done, which may make a
	// million requests beforehand: some tens of seconds.
	DefaultSetup = 500_000_000
	// DefaultMemory is by how many bytes the memory of all of a run's scripts together may grow.
	DefaultMemory = 1 << 30

	callTime  = 5 * time.Second // that one call of request, response or delay may take
	setupTime = time.Minute     // that one of the script itself, setup, init or done may take

	longestError = 1000 // bytes of an error that are shown
)
