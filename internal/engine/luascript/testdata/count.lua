-- Each request has a number in its path and in a header.
local n = 0

function request()
   n = n + 1
   wrk.headers["X-Counter"] = n
   return wrk.format(nil, "/item/" .. n)
end
