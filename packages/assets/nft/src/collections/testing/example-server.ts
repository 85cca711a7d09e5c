import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server on this machine, for tests. */
export interface ExampleServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Requested paths, in order. */
  readonly requests: string[];
  close(): Promise<void>;
}

type Answer = string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

/** Serves responses by path (without the query); 404 for others. */
export async function serveExample(answers: Readonly<Record<string, Answer>>): Promise<ExampleServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    requests.push(path);
    const answer = answers[path.split('?')[0] ?? ''];
    if (typeof answer === 'function') answer(request, response);
    else response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
