import { ChainsteadError } from '@chainstead/core';
import { isOutage } from '@chainstead/db';
import type { Claim } from '@chainstead/jobs';
import { readJsonDocument } from './fetch-document.ts';
import type { MetadataContext } from './read-due-collection.ts';
import { documentRetryDelay, nodeRetryDelay } from './retry-delay.ts';
import { type DueToken, type FoundUri, failToken, saveToken } from './token-rows.ts';

const NODE_MS_MAX = 20_000;

export async function readDueToken(
  context: MetadataContext,
  claim: Claim<DueToken>,
  signal: AbortSignal,
): Promise<void> {
  const { database } = context;
  let found: FoundUri = { uri: null, isRequested: false };
  try {
    found = await findUri(context, claim.row, signal);
    const { uri } = found;
    const text = uri === null ? null : readJsonDocument(await context.documents.read(uri, signal)).text;
    await saveToken(database, claim, { ...found, text });
    context.count('token', text === null ? 'none' : 'known');
  } catch (error) {
    if (signal.aborted || isOutage(error)) throw error;
    context.count('token', found.uri === null ? 'failed' : 'document-failed');
    if (!(error instanceof ChainsteadError)) throw error;
    const { retryable } = error;
    const retrySeconds =
      found.uri === null ? nodeRetryDelay(claim.attempts) : documentRetryDelay(claim.attempts, { retryable });
    await failToken(database, claim, { ...found, error, retrySeconds });
  }
}

async function findUri(
  { contracts }: MetadataContext,
  { address, tokenId, tokenUri, fromKnownUri }: DueToken,
  signal: AbortSignal,
): Promise<FoundUri> {
  if (fromKnownUri && tokenUri !== null) return { uri: tokenUri, isRequested: false };
  const uri = await contracts.readTokenUri(
    address,
    tokenId,
    AbortSignal.any([signal, AbortSignal.timeout(NODE_MS_MAX)]),
  );
  return { uri: uri === null || uri.trim() === '' ? null : uri, isRequested: true };
}
