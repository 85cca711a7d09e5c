import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, hexText, type Statement, where } from '@chainstead/db';
import { collectionStatement } from './collection-statement.ts';

/** What to read. */
export interface UniqueOwnersQuery {
  readonly contract: Address;
  /** Owners wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Owners strictly beyond this one; null for the first page. */
  readonly after: Address | null;
}

/** {@link uniqueOwnersStatement}'s columns. */
export interface UniqueOwnerRow {
  readonly owner: Address;
}

/** A first page is a range with a lower end too: without statistics the planner would read and sort the whole collection. */
const BEFORE_ALL = Buffer.alloc(0);

/** The statement behind a page of a collection's owners, by address: one range scan of the key of `nft_collection_owners`. */
export function uniqueOwnersStatement(chain: Chain, { contract, limit, after }: UniqueOwnersQuery): Statement {
  return collectionStatement(chain, contract, (bind, of) => ({
    columns: `${hexText('page.owner')} AS owner`,
    rows: `SELECT held.owner FROM nft_collection_owners AS held
  ${where([of('held'), `held.owner > ${bind(after === null ? BEFORE_ALL : addressBytes(after))}`])} ORDER BY held.owner LIMIT ${bind(limit + 1)}`,
    orderBy: 'page.owner',
  }));
}
