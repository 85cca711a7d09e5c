import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, rawSql, type Sql, sql, where } from '@chainstead/db';
import { collectionStatement } from './collection-statement.ts';

export interface ContractNftsQuery {
  readonly contract: Address;
  readonly limit: number;
  readonly after: string | null;
  readonly range: HashRange | null;
  readonly isSingle: boolean;
}

const GIVERS_MAX = 10;

export interface StoredNft {
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly supply: string;
  /** If false, `givers` may still hold it: newest change first, at most {@link GIVERS_MAX}. */
  readonly isHeld: boolean;
  readonly givers: readonly string[] | null;
  readonly lastBlock: number;
  readonly receiver: Address | null;
}

/** One range backwards. While ERC-1155 transfers are missing, also ids without a known holder. */
export function contractNftsStatement(chain: Chain, query: ContractNftsQuery): Sql {
  return collectionStatement(chain, query.contract, (of, isPartial) => {
    const { after, range } = query;
    const bounds = [
      of('ids'),
      ...(after === null ? [] : [sql`ids.token_hash < ${hexBytes(after)}`]),
      ...(range === null ? [] : [sql`ids.token_hash >= ${range.from}`]),
      ...(range === null || range.to === null ? [] : [sql`ids.token_hash < ${range.to}`]),
    ];
    const limit = sql`LIMIT ${query.limit + 1}`;
    const rowsWhere = (accounts: Sql, ...conditions: readonly Sql[]): Sql =>
      sql`SELECT ids.token_id, ids.token_hash, ids.supply, ids.is_held, ids.last_block, ids.receiver, ${accounts} AS givers FROM nft_collection_ids AS ids
  ${where([...conditions, ...bounds])} ORDER BY ids.token_hash DESC ${limit}`;
    const held = rowsWhere(sql`NULL::text[]`, sql`ids.is_held`);
    // The first of `nft_collection_balances_given_by_id`, read backwards.
    const givers = sql`ARRAY(SELECT ${hexText('giver.owner')} FROM nft_collection_balances AS giver
    WHERE ${of('giver')} AND giver.token_id = ids.token_id AND giver.amount <= 0 AND giver.is_sum ORDER BY giver.last_block DESC, giver.owner DESC LIMIT ${rawSql(GIVERS_MAX)})`;
    const given = rowsWhere(givers, sql`NOT ids.is_held`, sql`ids.receiver IS NULL`, isPartial);
    return {
      columns: sql`page.token_id::text, encode(page.token_hash, 'hex') AS "tokenHash", page.supply::text AS supply,
        page.is_held, page.givers, page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: query.isSingle
        ? held
        : sql`SELECT either.* FROM ((${held}) UNION ALL (${given})) AS either ORDER BY either.token_hash DESC ${limit}`,
      orderBy: sql`page.token_hash DESC`,
    };
  });
}

/** From inclusive, to exclusive. 16 bytes each; null: to the end. */
export interface HashRange {
  readonly from: Buffer;
  readonly to: Buffer | null;
}

const HASHES = 2n ** 128n;

/** Part `range` (from 1) of `totalRanges` equal parts. */
export function hashRange({
  range,
  totalRanges,
}: {
  readonly range: number;
  readonly totalRanges: number;
}): HashRange {
  const end = (part: number): bigint => (BigInt(part) * HASHES + BigInt(totalRanges) - 1n) / BigInt(totalRanges);
  const bytesOf = (hash: bigint) => Buffer.from(hash.toString(16).padStart(32, '0'), 'hex');
  return { from: bytesOf(end(range - 1)), to: range === totalRanges ? null : bytesOf(end(range)) };
}
