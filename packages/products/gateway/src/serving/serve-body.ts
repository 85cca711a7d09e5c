import { type ReadRequest, readRequests } from '../protocol/read-requests.ts';
import { BATCH_TOO_LARGE, errorText, resultHead } from '../protocol/rpc-errors.ts';
import type { Answered, AnswerRequest } from './answer-request.ts';
import type { AnswerPart, Reply } from './exchange.ts';
import { OpenScope, type RequestContext, type ServedChain } from './open-scope.ts';

export type ServeBody = (body: Buffer, reply: Reply, served: ServedChain) => Promise<void> | undefined;

export interface ServeBodyOptions {
  readonly answerRequest: AnswerRequest;
  readonly timeoutMs: number;
}

type Pending = Item | Promise<Item>;

interface Item {
  readonly id: string | null;
  readonly answered: Answered;
}

export function createServeBody({ answerRequest, timeoutMs }: ServeBodyOptions): ServeBody {
  function answerItem(request: ReadRequest, context: RequestContext): Pending {
    const { id } = request;
    const answered = answerRequest(request, context);
    return answered instanceof Promise ? answered.then((settled) => itemOf(id, settled)) : itemOf(id, answered);
  }

  return (body, reply, served) => {
    const read = readRequests(body.toString());
    if (read.kind === 'batch-too-large') {
      reply.sendRefusal(400, BATCH_TOO_LARGE.message, errorText('null', BATCH_TOO_LARGE));
      return undefined;
    }
    const scope = new OpenScope(served.chain, timeoutMs);
    const context = { served, scope, keyId: reply.keyId, subscriber: reply.subscriber };
    if (read.kind === 'batch') {
      const items = read.requests.map((request) => answerItem(request, context));
      return sendBatch(items, reply, scope);
    }
    const item = answerItem(read.request, context);
    if (!(item instanceof Promise) && !isStream(item)) {
      sendWhole(item, reply);
      return undefined;
    }
    return whileConnected(sendSingle(item, reply, scope), reply, scope);
  };
}

function itemOf(id: string | null, answered: Answered): Item {
  const { outcome } = answered;
  // An unread stream would occupy an upstream connection until the timeout.
  if (id === null && outcome.ok && !Buffer.isBuffer(outcome.result))
    void outcome.result[Symbol.asyncIterator]().return?.();
  return { id, answered };
}

async function sendSingle(pending: Pending, reply: Reply, scope: OpenScope): Promise<void> {
  const item = await pending;
  if (!isStream(item)) {
    sendWhole(item, reply);
    return;
  }
  scope.end();
  await reply.sendStream(oneByOne(partsOf(item).slice(1)));
}

function sendWhole({ id, answered }: Item, reply: Reply): void {
  const { outcome, refusal } = answered;
  if (!outcome.ok && refusal === 'rate-limited') {
    const seconds = Math.max(1, Math.ceil(answered.retryAfterMs / 1_000));
    reply.sendText(429, errorText(id ?? 'null', outcome.error), ['retry-after', String(seconds)]);
  }
  // As geth: executed, with an empty response.
  else if (id === null) reply.sendText(200, '');
  else if (!outcome.ok) reply.sendText(200, errorText(id, outcome.error));
  else if (Buffer.isBuffer(outcome.result)) {
    answered.addBytes(outcome.result.length);
    reply.sendResult(resultHead(id), outcome.result, '}');
  }
}

function sendBatch(items: readonly Pending[], reply: Reply, scope: OpenScope): Promise<void> | undefined {
  const ready = items.filter((item): item is Item => !(item instanceof Promise));
  if (ready.length === items.length && !ready.some(isStream)) {
    sendBuffered(ready.flatMap(partsOf).filter(isWhole), reply);
    return undefined;
  }
  return whileConnected(sendInOrder(items, reply, scope), reply, scope);
}

/** Sends at the first stream: an unread one occupies connections that later calls may need. */
async function sendInOrder(items: readonly Pending[], reply: Reply, scope: OpenScope): Promise<void> {
  const parts: (string | Buffer)[] = [];
  for (const [index, pending] of items.entries()) {
    const item = await pending;
    if (isStream(item)) {
      const rest = [item, ...items.slice(index + 1)];
      scope.end();
      return reply.sendStream(joinBatch(parts, rest));
    }
    parts.push(...partsOf(item).filter(isWhole));
  }
  return sendBuffered(parts, reply);
}

function sendBuffered(parts: readonly (string | Buffer)[], reply: Reply): void {
  // As geth: a batch of notifications gets no response, not even an empty array.
  if (parts.length === 0) reply.sendText(200, '');
  else reply.sendParts(['[', ...parts.slice(1), ']']);
}

async function* joinBatch(
  before: readonly (string | Buffer)[],
  rest: readonly Pending[],
): AsyncGenerator<AnswerPart> {
  yield '[';
  yield* before.slice(1);
  let isFirst = before.length === 0;
  for (const pending of rest) {
    const parts = partsOf(await pending);
    yield* isFirst ? parts.slice(1) : parts;
    isFirst &&= parts.length === 0;
  }
  yield ']';
}

/** Begins with a comma; nothing for a notification. */
function partsOf({ id, answered }: Item): AnswerPart[] {
  if (id === null) return [];
  const { outcome } = answered;
  if (!outcome.ok) return [',', errorText(id, outcome.error)];
  if (!Buffer.isBuffer(outcome.result)) return [',', resultHead(id), measured(outcome.result, answered), '}'];
  answered.addBytes(outcome.result.length);
  return [',', resultHead(id), outcome.result, '}'];
}

async function* measured(pieces: AsyncIterable<Buffer>, answered: Answered): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      yield piece;
    }
  } finally {
    answered.addBytes(bytes);
  }
}

async function* oneByOne(parts: readonly AnswerPart[]): AsyncGenerator<AnswerPart> {
  yield* parts;
}

function isWhole(part: AnswerPart): part is string | Buffer {
  return typeof part === 'string' || Buffer.isBuffer(part);
}

function isStream({ id, answered }: Item): boolean {
  if (id === null || !answered.outcome.ok) return false;
  return !Buffer.isBuffer(answered.outcome.result);
}

async function whileConnected(work: Promise<void> | undefined, reply: Reply, scope: OpenScope): Promise<void> {
  const stopListening = reply.onGone(() => scope.abort());
  try {
    await work;
  } catch (error) {
    scope.abort();
    throw error;
  } finally {
    stopListening();
    scope.end();
  }
}
