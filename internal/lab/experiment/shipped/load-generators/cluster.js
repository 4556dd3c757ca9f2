// A Node.js cluster, one worker for each CPU that it may use, that answers a small page.
// Its argument is --listen=HOST:PORT, of which port 0 is any that is free; its first line
// on stdout says where it listens. GET /.dyno/served tells how many requests all workers
// together have answered, uncounted.
'use strict';
const cluster = require('node:cluster');
const http = require('node:http');
const os = require('node:os');

const page = '<!doctype html><title>hello</title>\n';

function primary() {
  const workers = Array.from({ length: os.availableParallelism() }, () => cluster.fork());
  const asked = new Map(); // question → { from, waiting, served }
  let listening = 0;
  cluster.on('listening', (_, address) => {
    if (++listening === workers.length) {
      console.log(`listening on http://${address.address}:${address.port}`);
    }
  });
  cluster.on('message', (worker, message) => {
    if (message.ask !== undefined) {
      const question = `${worker.id}.${message.ask}`;
      asked.set(question, { from: worker, waiting: workers.length, served: 0 });
      workers.forEach((w) => w.send({ count: question }));
      return;
    }
    const sum = asked.get(message.question);
    sum.served += message.served;
    if (--sum.waiting === 0) {
      asked.delete(message.question);
      sum.from.send({ answer: Number(message.question.split('.')[1]), served: sum.served });
    }
  });
  cluster.on('exit', (worker, code, signal) => {
    console.error(`worker ${worker.id} ended: ${signal || code}`);
    process.exit(1);
  });
}

function worker(host, port) {
  const waiting = new Map(); // ask → response
  let served = 0;
  let asks = 0;
  process.on('message', (message) => {
    if (message.count !== undefined) {
      process.send({ question: message.count, served });
      return;
    }
    waiting.get(message.answer).end(JSON.stringify({ served: message.served }));
    waiting.delete(message.answer);
  });
  http.createServer((request, response) => {
    if (request.url === '/.dyno/served') {
      waiting.set(++asks, response);
      process.send({ ask: asks });
      return;
    }
    served++;
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': page.length });
    response.end(page);
  }).listen(port, host);
}

if (cluster.isPrimary) {
  primary();
} else {
  const [, host, port] = /^--listen=(.+):(\d+)$/.exec(process.argv[2]);
  worker(host, Number(port));
}
