import type { IncomingMessage } from 'node:http';
import type { BodyBudget } from '@chainstead/http';

export interface BodyLimits {
  /** Largest body. Bytes. */
  readonly bytesMax: number;
  readonly budget: BodyBudget;
  /** Whose share of the budget it takes. */
  readonly keyId: string;
}

/** What is told of a body: one of these, once. The rest of a refused body is not read. */
export interface BodyReader {
  /** It is whole. What it took of the budget is given back when this returns. */
  onBody(body: Buffer): void;
  onTooLarge(): void;
  /** Too many bodies are being received. */
  onNoRoom(): void;
  /** The client went away. */
  onAborted(): void;
}

/** Reads a body without promises, which a small one would feel. */
export function readBody(incoming: IncomingMessage, { bytesMax, budget, keyId }: BodyLimits, reader: BodyReader): void {
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) {
    reader.onTooLarge();
    return;
  }
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let size = 0;

  function stop(): void {
    incoming.off('data', onData).off('end', onEnd).off('close', onClose);
  }

  function refuse(tell: () => void): void {
    stop();
    incoming.pause();
    budget.give(keyId, size);
    tell();
  }

  function onData(chunk: Buffer): void {
    if (size + chunk.length > bytesMax) {
      refuse(() => reader.onTooLarge());
      return;
    }
    if (!budget.take(keyId, chunk.length)) {
      refuse(() => reader.onNoRoom());
      return;
    }
    size += chunk.length;
    if (first === null) first = chunk;
    else {
      rest ??= [first];
      rest.push(chunk);
    }
  }

  function onEnd(): void {
    stop();
    try {
      reader.onBody(rest === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest, size));
    } finally {
      budget.give(keyId, size);
    }
  }

  function onClose(): void {
    refuse(() => reader.onAborted());
  }

  incoming.on('data', onData).on('end', onEnd).on('close', onClose);
}
