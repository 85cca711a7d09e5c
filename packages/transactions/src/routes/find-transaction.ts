import type { Chain } from '@chainstead/chains';
import { parseHash } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type ApiContext, NotFoundError, requesterOf, textParameter } from '@chainstead/http';
import { findStoredTransaction } from '../indexed/find-stored-transaction.ts';
import { readInternalTransactions } from '../internal-transactions.ts';
import type { OnDemandReads } from '../on-demand-reads.ts';
import { type FoundTransaction, transactionKind } from '../reading/transaction-reader.ts';
import type { InternalTransactionRecord } from '../records/internal-transaction-record.ts';

export interface SourcedTransaction extends FoundTransaction {
  readonly source: 'indexed' | 'node';
}

/** From the index if complete there, else from a node. @throws NotFoundError, and as {@link OnDemandReads.read} */
export async function findTransaction(
  { reads, onDemandReads }: { readonly reads: ReadDatabase; readonly onDemandReads: OnDemandReads },
  c: ApiContext,
  chain: Chain,
  hash: string,
): Promise<SourcedTransaction> {
  const stored = await findStoredTransaction(reads, chain, parseHash(hash));
  if (stored !== null) return { ...stored, source: 'indexed' };
  const { found } = await onDemandReads.read({
    chain,
    kind: transactionKind,
    question: { hash },
    isLasting: (answer) => answer.found?.finalized === true,
    requester: requesterOf(c),
  });
  if (found === null) throw new NotFoundError('Transaction not found');
  return { ...found, source: 'node' };
}

/** Null: no node of the chain provides traces. @throws as {@link OnDemandReads.read} */
export async function internalOf(
  onDemandReads: OnDemandReads,
  c: ApiContext,
  chain: Chain,
  found: FoundTransaction,
): Promise<readonly InternalTransactionRecord[] | null> {
  const traced = await readInternalTransactions({ onDemandReads, chain, requester: requesterOf(c) }, [found]);
  return traced?.get(found.transaction.hash) ?? null;
}

const HASH = 'a transaction hash (0x and 64 hexadecimal digits)';

export const hashParameter = textParameter(HASH, (text) =>
  /^0x[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined,
).openapi({
  type: 'string',
  pattern: '^0x[0-9a-fA-F]{64}$',
  example: '0x012b9b98e21664117ec0b499d726a39f492ac8bd402cca8bebcbd163b9f75760',
});
