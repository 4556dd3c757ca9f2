-- The first response has a token, which all further requests send.
local token

function request()
   if not token then
      return wrk.format("GET", "/login")
   end
   return wrk.format("GET", "/items", {["X-Token"] = token})
end

function response(status, headers)
   token = token or headers["X-Token"]
   if dyno then -- not in wrk
      dyno.check("has a token", token ~= nil)
   end
end
