import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, type Statement, where } from '@chainstead/db';
import { collectionStatement } from './collection-statement.ts';
import type { HashRange } from './hash-range.ts';

/** What to read. */
export interface ContractNftsQuery {
  readonly contract: Address;
  /** Ids wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Token hashes strictly below this one, 32 hexadecimal digits; null for the first page. */
  readonly after: string | null;
  /** Only those within; null: all. */
  readonly range: HashRange | null;
}

/** {@link contractNftsStatement}'s columns. */
export interface ContractNftRow {
  readonly token_id: string;
  readonly token_hash: string;
  readonly supply: string;
  /** Block of the newest change of who has how much of it. */
  readonly last_block: number;
  /** Who received it last; null for ERC-1155. */
  readonly receiver: Address | null;
}

/**
 * The statement behind a page of a collection's existing ids, highest token hash first: one range of `nft_collection_ids_by_hash`, read backwards,
 * that stops after limit + 1 ids (owners-statements.explain.test.ts).
 */
export function contractNftsStatement(chain: Chain, query: ContractNftsQuery): Statement {
  return collectionStatement(chain, query.contract, (bind, of) => {
    const { after, range } = query;
    const bounds = [
      of('ids'),
      'ids.is_held',
      ...(after === null ? [] : [`ids.token_hash < ${bind(hexBytes(after))}`]),
      ...(range === null ? [] : [`ids.token_hash >= ${bind(range.from)}`]),
      ...(range === null || range.to === null ? [] : [`ids.token_hash < ${bind(range.to)}`]),
    ];
    return {
      columns: `page.token_id::text AS token_id, encode(page.token_hash, 'hex') AS token_hash, page.supply::text AS supply, page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: `SELECT ids.token_id, ids.token_hash, ids.supply, ids.last_block, ids.receiver FROM nft_collection_ids AS ids
  ${where(bounds)} ORDER BY ids.token_hash DESC LIMIT ${bind(query.limit + 1)}`,
      orderBy: 'page.token_hash DESC',
    };
  });
}
