import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

interface LineTarget {
  readonly host: string;
  readonly port: number;
}

/** A line to one of several TCP servers, as a proxy before a database is: new connections lead to the one that it was switched to last. */
export interface SwitchedLine {
  readonly port: number;
  /**
   * Treatment of connections to the former server. `cut`: both sides of them are closed. `hang`: nothing gets through any more, without
   * a notice to the client, whatever becomes of the server.
   */
  switchTo(target: LineTarget, former: 'cut' | 'hang'): void;
  /** How many clients are connected to a server that is not the present one. */
  readonly hanging: number;
  close(): Promise<void>;
}

export async function openSwitchedLine(first: LineTarget): Promise<SwitchedLine> {
  const lines = new Set<Line>();
  let target = first;
  const server = createServer((client) => {
    const line: Line = { client, upstream: connect(target.port, target.host), isHanging: false };
    lines.add(line);
    join(line, () => lines.delete(line));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return {
    port: address.port,
    get hanging() {
      return [...lines].filter(({ isHanging }) => isHanging).length;
    },
    switchTo(next, former) {
      target = next;
      for (const line of lines) (former === 'cut' ? cut : hang)(line);
    },
    async close() {
      for (const line of lines) cut(line);
      server.close();
      await once(server, 'close');
    },
  };
}

interface Line {
  readonly client: Socket;
  readonly upstream: Socket;
  isHanging: boolean;
}

function join(line: Line, ended: () => void): void {
  const { client, upstream } = line;
  client.pipe(upstream);
  upstream.pipe(client);
  // What broke is closed next.
  for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
  client.on('close', () => {
    upstream.destroy();
    ended();
  });
  upstream.on('close', () => {
    if (!line.isHanging) client.destroy();
  });
}

function cut({ client, upstream }: Line): void {
  client.destroy();
  upstream.destroy();
}

function hang(line: Line): void {
  line.isHanging = true;
  line.client.unpipe(line.upstream);
  line.upstream.unpipe(line.client);
  // Read, and lost: an unread socket would not report that its client has gone.
  line.client.resume();
  line.upstream.resume();
}
