import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A body that nobody reads is received up to this length, so that the connection can go on. Bytes. */
const UNREAD_BYTES_MAX = 65_536;
/** How long a client has to read an answer that came before its body was read. */
const READ_ANSWER_MS = 1_000;

/**
 * Closes the connection with the answer where more body may follow than is worth receiving: behind a long one that was not
 * read to its end, and behind one that waits for `100 Continue`, which the client may or may not send after the answer.
 */
export function closeUnlessRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding, expect } = incoming.headers;
  const isShort = encoding === undefined && (length === undefined || Number(length) <= UNREAD_BYTES_MAX);
  if (isShort && expect === undefined) return;
  const { socket } = incoming;
  const { shouldKeepAlive } = outgoing;
  const { destroySoon } = socket;
  outgoing.shouldKeepAlive = false;
  // Once Node has set out to receive and drop the rest, which the pause ends.
  socket.destroySoon = () => process.nextTick(closeUnread, socket);
  incoming.once('end', () => {
    outgoing.shouldKeepAlive = shouldKeepAlive;
    socket.destroySoon = destroySoon;
  });
}

/** Tells a client that waits for `100 Continue` to send its body, once something reads it: not before its key and route are checked. */
export function continueOnceRead(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const read = incoming._read;
  incoming._read = (size) => {
    incoming._read = read;
    // After the answer, Node reads what is left to drop it.
    if (!outgoing.headersSent) outgoing.writeContinue();
    incoming._read(size);
  };
}

/** A connection that is closed with bytes unread is reset, and the reset may overtake the answer: the client gets time to read it. */
function closeUnread(socket: Socket): void {
  socket.pause();
  socket.end();
  const timer = setTimeout(() => socket.destroy(), READ_ANSWER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
