import { type Address, ChainsteadError, errorText } from '@chainstead/core';
import { type CollectionFields, readCollectionFields } from './collection-fields.ts';
import {
  type CollectionReading,
  type DueCollection,
  failCollection,
  refuseCollection,
  releaseCollection,
  saveCollection,
  takeDueCollection,
} from './collection-rows.ts';
import { readJsonDocument } from './json-document.ts';
import { failureOf, type ReadingContext } from './reading-context.ts';
import { documentRetryDelay, nodeRetryDelay } from './retry-delay.ts';

/** For all calls of one contract. Milliseconds. */
const NODE_MS_MAX = 20_000;
/** What is asked for again while it is read is read again at once, so often. */
const ROUNDS_MAX = 3;

/** Reads a collection if it is due, and stores what came of it. @throws what is a fault of this program, or the signal's reason */
export async function readDueCollection(context: ReadingContext, address: Address, signal: AbortSignal): Promise<void> {
  const { database, chain } = context;
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const due = await takeDueCollection(database, chain.id, address);
    if (due === null) return;
    try {
      const work = { kind: 'collection', keys: [`${chain.id} ${address}`] } as const;
      await context.journal.run(work, () => readTaken(context, address, due, signal));
    } catch (error) {
      if (signal.aborted) {
        await releaseCollection(database, chain.id, address, due.lease);
        throw signal.reason;
      }
      const { code, message } = failureOf(error);
      context.count('collection', 'failed');
      await failCollection(database, chain.id, address, due.lease, {
        code,
        message,
        retrySeconds: nodeRetryDelay(due.attempts),
      });
      if (!(error instanceof ChainsteadError)) throw error;
      context.logger.warn(
        { chain: chain.key, token: address, code, err: error },
        'Collection could not be read, will be tried again',
      );
    }
  }
}

async function readTaken(
  context: ReadingContext,
  address: Address,
  due: DueCollection,
  signal: AbortSignal,
): Promise<void> {
  const { database, chain } = context;
  const contract = await context.contracts.readCollection(
    address,
    due.seen,
    AbortSignal.any([signal, AbortSignal.timeout(NODE_MS_MAX)]),
  );
  const { standard } = contract;
  if (standard === null || !contract.isContract) {
    const refusal = contract.isContract ? 'not-nft' : 'not-contract';
    await refuseCollection(database, chain.id, address, refusal);
    context.count('collection', refusal);
    return;
  }
  const { document, failure } = await readDocument(context, contract.contractUri, due.attempts, signal);
  await saveCollection(database, chain.id, address, due.lease, {
    contract: { ...contract, standard },
    document,
    failure,
  });
  context.count('collection', failure === null ? 'known' : 'document-failed');
  if (failure !== null)
    context.logger.debug({ chain: chain.key, token: address, code: failure.code }, 'Collection has no usable document');
  if (due.isFirst) await announce(context, address, due.requestedBy);
}

/** A contract without `contractURI` has said everything; a document that can't be read leaves what an earlier one said. */
async function readDocument(
  { documents }: ReadingContext,
  uri: string | null,
  attempts: number,
  signal: AbortSignal,
): Promise<Pick<CollectionReading, 'document' | 'failure'>> {
  const nothing: CollectionFields = readCollectionFields({});
  if (uri === null || uri.trim() === '') return { document: nothing, failure: null };
  try {
    const { fields } = readJsonDocument(await documents.read(uri, signal));
    return { document: readCollectionFields(fields), failure: null };
  } catch (error) {
    if (!(error instanceof ChainsteadError)) throw error;
    const { code, message, retryable } = failureOf(error);
    return { document: null, failure: { code, message, retrySeconds: documentRetryDelay(attempts, { retryable }) } };
  }
}

async function announce(
  { chain, logger, onCollection }: ReadingContext,
  address: Address,
  requestedBy: string | null,
): Promise<void> {
  try {
    await onCollection?.(chain, address, requestedBy);
  } catch (error) {
    logger.warn(
      { chain: chain.key, token: address, error: errorText(error) },
      'What follows a newly found collection could not be started',
    );
  }
}
