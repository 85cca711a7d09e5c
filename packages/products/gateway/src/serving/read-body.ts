import type { IncomingMessage } from 'node:http';
import { JsonBoundsError } from '@chainstead/core';
import { type ByteBudget, bytesOfValues } from '@chainstead/http/server';
import { measureBody, type ReadRequest, readRequests } from '../protocol/read-requests.ts';
import { BATCH_TOO_LARGE, errorText, type RpcErrorObject } from '../protocol/rpc-errors.ts';
import type { Reply } from './exchange.ts';

interface BodyLimits {
  readonly bytesMax: number;
  readonly budget: ByteBudget;
  readonly keyId: string;
}

/** One is called, once. The rest of a refused body is not read. */
interface BodyReader {
  onBody(body: Buffer): Promise<void> | undefined;
  onTooLarge(): void;
  onTooManyValues(message: string): void;
  onNoRoom(): void;
  onAborted(): void;
}

/** Promises would slow down small bodies. */
export function readBody(
  incoming: IncomingMessage,
  { bytesMax, budget, keyId }: BodyLimits,
  reader: BodyReader,
): void {
  if (Number(incoming.headers['content-length'] ?? 0) > bytesMax) {
    reader.onTooLarge();
    return;
  }
  let first: Buffer | null = null;
  let rest: Buffer[] | null = null;
  let size = 0;
  let taken = 0;

  function take(bytes: number): boolean {
    if (!budget.take(keyId, bytes)) return false;
    taken += bytes;
    return true;
  }

  function giveBack(): void {
    budget.give(keyId, taken);
    taken = 0;
  }

  function stop(): void {
    incoming.off('data', onData).off('end', onEnd).off('close', onClose);
  }

  function refuse(report: () => void): void {
    stop();
    incoming.pause();
    giveBack();
    report();
  }

  function onData(chunk: Buffer): void {
    if (size + chunk.length > bytesMax) {
      refuse(() => reader.onTooLarge());
      return;
    }
    if (!take(chunk.length)) {
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
    const body = rest === null ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest, size);
    first = null;
    rest = null;
    let values: number;
    try {
      values = measureBody(body);
    } catch (error) {
      if (!(error instanceof JsonBoundsError)) throw error;
      refuse(() => reader.onTooManyValues(error.message));
      return;
    }
    if (!take(bytesOfValues(values, size))) {
      refuse(() => reader.onNoRoom());
      return;
    }
    const answered = reader.onBody(body);
    if (answered === undefined) giveBack();
    else void answered.finally(giveBack);
  }

  function onClose(): void {
    refuse(() => reader.onAborted());
  }

  incoming.on('data', onData).on('end', onEnd).on('close', onClose);
}

export function refuseBody(body: Buffer, reply: Reply, error: RpcErrorObject): void {
  const read = readRequests(body.toString());
  if (read.kind === 'batch-too-large') {
    reply.sendRefusal(400, BATCH_TOO_LARGE.message, errorText('null', BATCH_TOO_LARGE));
    return;
  }
  if (read.kind === 'single') {
    reply.sendText(200, answerTo(read.request, error));
    return;
  }
  const answers = read.requests.map((request) => answerTo(request, error)).filter((answer) => answer !== '');
  reply.sendText(200, answers.length === 0 ? '' : `[${answers.join(',')}]`);
}

function answerTo(request: ReadRequest, error: RpcErrorObject): string {
  if ('error' in request) return errorText(request.id, request.error);
  return request.id === null ? '' : errorText(request.id, error);
}
