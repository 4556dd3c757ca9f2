local n = 0

function request()
   n = n + 1
   return wrk.format("GET", n % 4 == 0 and "/status-some" or "/json", {["X-Count"] = n})
end

function response(status, headers, body)
   dyno.check("is JSON", (headers["Content-Type"] or ""):match("json") ~= nil or status ~= 200)
   dyno.counter("status " .. status):add()
end
