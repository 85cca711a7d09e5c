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
  /** Whether an id is one thing, whose owner is who received it last. */
  readonly isSingle: boolean;
}

/** Of an id so many are asked about that gave all that they are known to have received, or more. */
const GIVERS_MAX = 10;

/** {@link contractNftsStatement}'s columns. */
export interface ContractNftRow {
  readonly token_id: string;
  readonly token_hash: string;
  readonly supply: string;
  /** Whether somebody is known to hold it. */
  readonly is_held: boolean;
  /** Of one that nobody is known to hold: addresses of those who may all the same, the newest change first. */
  readonly givers: readonly string[] | null;
  /** Block of the newest change of who has how much of it. */
  readonly last_block: number;
  /** Who received it last; null for ERC-1155. */
  readonly receiver: Address | null;
}

/**
 * The statement behind a page of a collection's existing ids, highest token hash first: one range of `nft_collection_ids_by_hash`, read backwards,
 * that stops after limit + 1 ids (owners-statements.explain.test.ts). While transfers of an ERC-1155 are missing, ids that nobody is known to hold are
 * among them, a range of `nft_collection_ids_given_by_hash`: who gave away what is known may hold what came before.
 */
export function contractNftsStatement(chain: Chain, query: ContractNftsQuery): Statement {
  return collectionStatement(chain, query.contract, (bind, of, isPartial) => {
    const { after, range } = query;
    const bounds = [
      of('ids'),
      ...(after === null ? [] : [`ids.token_hash < ${bind(hexBytes(after))}`]),
      ...(range === null ? [] : [`ids.token_hash >= ${bind(range.from)}`]),
      ...(range === null || range.to === null ? [] : [`ids.token_hash < ${bind(range.to)}`]),
    ];
    const limit = `LIMIT ${bind(query.limit + 1)}`;
    const rowsWhere = (givers: string, ...conditions: readonly string[]): string =>
      `SELECT ids.token_id, ids.token_hash, ids.supply, ids.is_held, ids.last_block, ids.receiver, ${givers} AS givers FROM nft_collection_ids AS ids
  ${where([...conditions, ...bounds])} ORDER BY ids.token_hash DESC ${limit}`;
    const held = rowsWhere('NULL::text[]', 'ids.is_held');
    const given = rowsWhere(giversOf(of), 'NOT ids.is_held', 'ids.receiver IS NULL', isPartial);
    return {
      columns: `page.token_id::text AS token_id, encode(page.token_hash, 'hex') AS token_hash, page.supply::text AS supply, page.is_held, page.givers, page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: query.isSingle
        ? held
        : `SELECT either.* FROM ((${held}) UNION ALL (${given})) AS either ORDER BY either.token_hash DESC ${limit}`,
      orderBy: 'page.token_hash DESC',
    };
  });
}

/** The first of `nft_collection_balances_given_by_id`, read backwards. */
function giversOf(of: (alias: string) => string): string {
  return `ARRAY(SELECT ${hexText('giver.owner')} FROM nft_collection_balances AS giver
    WHERE ${of('giver')} AND giver.token_id = ids.token_id AND giver.amount <= 0 AND giver.is_sum ORDER BY giver.last_block DESC, giver.owner DESC LIMIT ${GIVERS_MAX})`;
}
