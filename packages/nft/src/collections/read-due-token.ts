import { ChainsteadError } from '@chainstead/core';
import { readJsonDocument } from './json-document.ts';
import { failureOf, type ReadingContext } from './reading-context.ts';
import { documentRetryDelay, nodeRetryDelay } from './retry-delay.ts';
import {
  type DueToken,
  type FoundUri,
  failToken,
  releaseToken,
  saveToken,
  type TokenKey,
  takeDueToken,
} from './token-rows.ts';

/** For all calls of one token. Milliseconds. */
const NODE_MS_MAX = 20_000;

/** Reads a token's document if it is due, and stores what came of it. @throws what is a fault of this program, or the signal's reason */
export async function readDueToken(context: ReadingContext, token: TokenKey, signal: AbortSignal): Promise<void> {
  const { database, chain } = context;
  const due = await takeDueToken(database, chain.id, token);
  if (due === null) return;
  let found: FoundUri = { uri: null, isAsked: false };
  try {
    // One contract names the documents of all of its tokens.
    const contract = `${chain.id} ${token.address}`;
    const work = { kind: 'token', keys: [`${contract} ${token.tokenId}`], origin: contract } as const;
    await context.journal.run(work, async () => {
      found = await findUri(context, token, due, signal);
      const { uri } = found;
      const text = uri === null ? null : readJsonDocument(await context.documents.read(uri, signal)).text;
      await saveToken(database, chain.id, token, due.lease, { ...found, text });
      context.count('token', text === null ? 'none' : 'known');
    });
  } catch (error) {
    if (signal.aborted) {
      await releaseToken(database, chain.id, token, due.lease);
      throw signal.reason;
    }
    const { code, message, retryable } = failureOf(error);
    context.count('token', found.uri === null ? 'failed' : 'document-failed');
    const retrySeconds =
      found.uri === null ? nodeRetryDelay(due.attempts) : documentRetryDelay(due.attempts, { retryable });
    await failToken(database, chain.id, token, due.lease, { ...found, code, message, retrySeconds });
    if (!(error instanceof ChainsteadError)) throw error;
  }
}

async function findUri(
  { contracts }: ReadingContext,
  token: TokenKey,
  due: DueToken,
  signal: AbortSignal,
): Promise<FoundUri> {
  if (due.fromKnownUri && due.tokenUri !== null) return { uri: due.tokenUri, isAsked: false };
  const uri = await contracts.readTokenUri(
    token.address,
    token.tokenId,
    AbortSignal.any([signal, AbortSignal.timeout(NODE_MS_MAX)]),
  );
  return { uri: uri === null || uri.trim() === '' ? null : uri, isAsked: true };
}
