import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type Claim, failureOf } from '@chainstead/jobs';
import { readCollectionFields } from './collection-fields.ts';
import {
  type CollectionReading,
  type DueCollection,
  readSeenEvents,
  refuseCollection,
  saveCollection,
} from './collection-rows.ts';
import { readJsonDocument } from './fetch-document.ts';
import type { ContractReader } from './read-contract.ts';
import type { DocumentReader } from './read-document.ts';
import { documentRetryDelay } from './retry-delay.ts';

const NODE_MS_MAX = 20_000;
export async function readDueCollection(
  context: MetadataContext,
  claim: Claim<DueCollection>,
  signal: AbortSignal,
): Promise<void> {
  const { database, chain } = context;
  const { address, isFirst, requestedBy } = claim.row;
  const seen = await readSeenEvents(database, chain.id, address);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(NODE_MS_MAX)]);
  const contract = await context.contracts.readCollection(address, seen, inTime).catch((error: unknown) => {
    if (!signal.aborted) context.count('collection', 'failed');
    throw error;
  });
  const { standard } = contract;
  if (standard === null || !contract.isContract) {
    const refusal = contract.isContract ? 'not-nft' : 'not-contract';
    await refuseCollection(database, claim, refusal);
    context.count('collection', refusal);
    return;
  }
  const { document, failure } = await readDocument(context, contract.contractUri, claim.attempts, signal);
  await saveCollection(database, chain.id, address, claim, {
    contract: { ...contract, standard },
    document,
    failure,
  });
  context.count('collection', failure === null ? 'known' : 'document-failed');
  if (failure !== null)
    context.logger.debug(
      { chain: chain.key, token: address, code: failure.code },
      'Collection has no usable document',
    );
  if (!isFirst) return;
  try {
    await context.onCollection?.(chain, address, requestedBy);
  } catch (error) {
    const facts = { chain: chain.key, token: address, error: errorText(error) };
    context.logger.warn(facts, 'What follows a newly found collection could not be started');
  }
}

async function readDocument(
  { documents }: MetadataContext,
  uri: string | null,
  attempts: number,
  signal: AbortSignal,
): Promise<Pick<CollectionReading, 'document' | 'failure'>> {
  if (uri === null || uri.trim() === '') return { document: readCollectionFields({}), failure: null };
  try {
    const { fields } = readJsonDocument(await documents.read(uri, signal));
    return { document: readCollectionFields(fields), failure: null };
  } catch (error) {
    if (!(error instanceof ChainsteadError)) throw error;
    const { code, message, retryable } = failureOf(error);
    return {
      document: null,
      failure: { code, message, retrySeconds: documentRetryDelay(attempts, { retryable }) },
    };
  }
}

export type OnCollection = (chain: Chain, address: Address, requestedBy: string | null) => Promise<void>;

export interface MetadataContext {
  readonly database: Database;
  readonly chain: Chain;
  readonly contracts: ContractReader;
  readonly documents: DocumentReader;
  readonly logger: Logger;
  readonly count: (kind: 'collection' | 'token', outcome: ReadingOutcome) => void;
  readonly onCollection: OnCollection | undefined;
}

export type ReadingOutcome = 'known' | 'document-failed' | 'not-nft' | 'not-contract' | 'none' | 'failed';
