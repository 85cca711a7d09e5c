import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { hexBytes, hexText, rawSql, type Sql, sql, where } from '@chainstead/db';
import { collectionStatement } from './collection-statement.ts';
import type { HashRange } from './hash-range.ts';

export interface ContractNftsQuery {
  readonly contract: Address;
  /** Number of ids; one more is read to detect a next page. */
  readonly limit: number;
  /** Token hashes strictly below this one, 32 hexadecimal digits; null for the first page. */
  readonly after: string | null;
  /** Restricts ids to this range; null: all. */
  readonly range: HashRange | null;
  /** Whether each id is a single item, whose owner is its last receiver. */
  readonly isSingle: boolean;
}

/** Maximum number of accounts checked per id that gave away at least as much as they are known to have received. */
const GIVERS_MAX = 10;

/** {@link contractNftsStatement}'s columns. */
export interface ContractNftRow {
  readonly token_id: string;
  readonly token_hash: string;
  readonly supply: string;
  /** Whether it has a known holder. */
  readonly is_held: boolean;
  /** For an id without a known holder: accounts that may still hold it, newest change first. */
  readonly givers: readonly string[] | null;
  /** Block of the newest change in its holdings. */
  readonly last_block: number;
  /** Its last receiver; null for ERC-1155. */
  readonly receiver: Address | null;
}

/**
 * Returns the statement for a page of a collection's existing ids, highest token hash first. It reads one range of
 * `nft_collection_ids_by_hash` backwards and stops after limit + 1 ids (owners-statements.explain.test.ts). While
 * transfers of an ERC-1155 are missing, it includes ids without a known holder, from a range of
 * `nft_collection_ids_given_by_hash`: an account that gave away its known amount may hold earlier tokens.
 */
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
    const rowsWhere = (givers: Sql, ...conditions: readonly Sql[]): Sql =>
      sql`SELECT ids.token_id, ids.token_hash, ids.supply, ids.is_held, ids.last_block, ids.receiver, ${givers} AS givers FROM nft_collection_ids AS ids
  ${where([...conditions, ...bounds])} ORDER BY ids.token_hash DESC ${limit}`;
    const held = rowsWhere(sql`NULL::text[]`, sql`ids.is_held`);
    const given = rowsWhere(giversOf(of), sql`NOT ids.is_held`, sql`ids.receiver IS NULL`, isPartial);
    return {
      columns: sql`page.token_id::text AS token_id, encode(page.token_hash, 'hex') AS token_hash, page.supply::text AS supply, page.is_held, page.givers, page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: query.isSingle
        ? held
        : sql`SELECT either.* FROM ((${held}) UNION ALL (${given})) AS either ORDER BY either.token_hash DESC ${limit}`,
      orderBy: sql`page.token_hash DESC`,
    };
  });
}

/** The first of `nft_collection_balances_given_by_id`, read backwards. */
function giversOf(of: (alias: string) => Sql): Sql {
  return sql`ARRAY(SELECT ${hexText('giver.owner')} FROM nft_collection_balances AS giver
    WHERE ${of('giver')} AND giver.token_id = ids.token_id AND giver.amount <= 0 AND giver.is_sum ORDER BY giver.last_block DESC, giver.owner DESC LIMIT ${rawSql(GIVERS_MAX)})`;
}
