// Package attack tests dyno against attackers, which are programs. Each test starts dyno as a user
// would, with an attacker beside it, and checks what the attacker got. It counts the attempts, so a
// test in which nothing was attacked fails.
//
// To see an attack work, point a test at a dyno that knows no defence:
//
//	DYNO_E2E_BINARY=/path/to/an/old/dyno go test -run Neighbour ./e2e/attack
package attack
