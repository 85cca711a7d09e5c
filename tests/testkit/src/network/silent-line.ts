import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A line to a TCP server that can fall silent: nothing gets through any more, without a notice to either side, as when a cable is pulled. */
export interface SilentLine {
  readonly port: number;
  /** Also of connections that are opened from now on. */
  fallSilent(): void;
  /** What was held back arrives; connections that one side ended meanwhile end on the other, too. */
  resume(): void;
  close(): Promise<void>;
}

export async function openSilentLine(target: {
  readonly host: string;
  readonly port: number;
}): Promise<SilentLine> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer({ allowHalfOpen: false, pauseOnConnect: true }, (client) => {
    const upstream = connect(target.port, target.host);
    join(client, upstream);
    join(upstream, client);
    if (!isSilent) client.resume();
  });
  const join = (from: Socket, to: Socket): void => {
    sockets.add(from);
    if (isSilent) from.pause();
    from.on('data', (data) => to.write(data));
    from.on('error', () => from.destroy());
    from.on('close', () => {
      sockets.delete(from);
      if (isSilent) waiting.push(to);
      else to.destroy();
    });
    if (isSilent) from.pause();
  };
  let waiting: Socket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('A listening TCP server has no port');
  return {
    port: address.port,
    fallSilent() {
      isSilent = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isSilent = false;
      for (const socket of waiting) socket.destroy();
      waiting = [];
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
