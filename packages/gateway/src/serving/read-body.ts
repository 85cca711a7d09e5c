import type { IncomingMessage } from 'node:http';

/** What receives a body: whole, or the word that it is too large (the rest is not read). */
export interface BodyReader {
  onBody(body: Buffer): void;
  onTooLarge(): void;
}

/** Reads a body without promises, which a small one would feel. A client that goes away is told to nobody. */
export function readBody(incoming: IncomingMessage, bytesMax: number, reader: BodyReader): void {
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) {
    reader.onTooLarge();
    return;
  }
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let size = 0;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > bytesMax) {
      incoming.removeAllListeners('data').removeAllListeners('end');
      reader.onTooLarge();
    } else if (first === null) first = chunk;
    else {
      rest ??= [first];
      rest.push(chunk);
    }
  });
  incoming.on('end', () => reader.onBody(rest === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest, size)));
}
