// Serves film.html, and buys its films: the access token stays here. Start it with REGISTRY, ACCESS_TOKEN and PORT.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const { REGISTRY = 'http://localhost:3000', ACCESS_TOKEN, PORT = '8080' } = process.env;
const page = await readFile(new URL('film.html', import.meta.url));

createServer(async (request, response) => {
  if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(page);
  // Check here who signed in, and what they may buy. No page of another site can send this content type.
  if (request.headers['content-type'] !== 'application/json') return response.writeHead(415).end();
  try {
    const { prompt } = await json(request);
    const answer = await fetch(`${REGISTRY}/proxy/video-provider/text2video`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ACCESS_TOKEN}`,
        'content-type': 'application/json',
        'idempotency-key': String(request.headers['idempotency-key']),
      },
      body: JSON.stringify({ model: 'vidq3-pro', prompt }),
    });
    for (const name of ['content-type', 'link', 'retry-after'])
      if (answer.headers.has(name)) response.setHeader(name, answer.headers.get(name));
    response.writeHead(answer.status).end(await answer.text());
  } catch {
    response.writeHead(502).end('{}');
  }
}).listen(Number(PORT), 'localhost');
