-- Each thread is given one of the server's addresses.
local known

function setup(thread)
   known = known or wrk.lookup(wrk.host, wrk.port or wrk.scheme)
   assert(#known > 0 and wrk.connect(known[1]))
   thread.addr = known[math.random(#known)]
end

function init()
   assert(string.format("%s", wrk.thread.addr):match("^127%.0%.0%.1:%d+$"))
end
