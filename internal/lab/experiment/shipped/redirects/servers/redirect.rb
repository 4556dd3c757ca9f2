# One connection at a time, of which one line is read; that line is printed.
require 'socket'

server = TCPServer.new('127.0.0.1', Integer(ARGV.fetch(0)))
while (session = server.accept)
  puts session.gets
  session.print "HTTP/1.1 301\r\nContent-Type: text/html\r\nLocation: http://localhost:1024\r\n\r\n"
  session.close
end
