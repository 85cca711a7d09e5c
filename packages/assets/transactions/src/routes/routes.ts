import { hash } from 'node:crypto';
import type { Chain } from '@chainstead/chains';
import type { Clock } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type ApiContext, routesFor, textParameter } from '@chainstead/http';
import { committedBlock } from '@chainstead/node-reads/requests';
import type { AbiBooks } from '../abis/abi-books.ts';
import type { OnDemandReads } from '../on-demand-reads.ts';
import type { FoundBlock } from '../reading/read-block.ts';
import type { TrackedWallets } from '../wallets/tracked-wallets.ts';

/** What the program gives the routes of blocks and transactions. */
export interface TransactionServices {
  readonly onDemandReads: OnDemandReads;
  readonly abis: AbiBooks;
  readonly clock: Clock;
  readonly trackedWallets: TrackedWallets;
}

export const { defineRoute, defineListRoute } = routesFor<TransactionServices>();

const INTERNAL_TRANSACTIONS = 'internal_transactions';

export function asksInternal(include: string): boolean {
  return include === INTERNAL_TRANSACTIONS;
}

export const includeParameter = textParameter(INTERNAL_TRANSACTIONS, (text) =>
  text === '' || text === INTERNAL_TRANSACTIONS ? text : undefined,
)
  .default('')
  .openapi({
    type: 'string',
    enum: [INTERNAL_TRANSACTIONS],
    description:
      'Adds the internal transactions of each transaction. null if no node of the chain returns traces.',
  });

const KEPT_FOR = 60;

/** A final block changes only in confirmations, which the ETag leaves out, and labels. */
export function isNotModified(
  c: ApiContext,
  { confirmations: _, ...answer }: { readonly confirmations: number; readonly finalized: boolean },
): boolean {
  if (!answer.finalized) return false;
  const tag = `"${hash('sha256', JSON.stringify(answer), 'hex').slice(0, 32)}"`;
  // The request required a key: shared caches must not store it.
  c.header('cache-control', `private, max-age=${KEPT_FOR}`);
  c.header('etag', `W/${tag}`);
  const known = (c.req.header('if-none-match') ?? '').split(',').map((text) => text.trim().replace(/^W\//, ''));
  return known.includes(tag) || known.includes('*');
}

export const NOT_MODIFIED = { 304: { description: 'The cached response of the client is still valid' } } as const;

export interface Sourced extends Pick<FoundBlock, 'proof' | 'finalized'> {
  readonly source: 'indexed' | 'node';
}

export async function readConfirmations(reads: ReadDatabase, chain: Chain, number: number): Promise<number> {
  const newest = await committedBlock(reads, chain);
  // A block may be newer than the newest indexed one.
  return newest === null ? 0 : Math.max(0, newest.number - number);
}
