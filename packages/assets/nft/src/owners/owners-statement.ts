import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  expectedTrue,
  hexText,
  joinSql,
  rawSql,
  rowsAfter,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { type ChangePlace, MARK_LENGTH, unshownChanges } from '../records/change-pages.ts';
import { collectionStatement } from './collection-statement.ts';

export interface NftOwnersPlace extends ChangePlace {
  readonly tokenId: string;
  readonly owner: Address;
}

export interface OwnersQuery {
  readonly contract: Address;
  /** Null: owners of all ids. */
  readonly tokenId: string | null;
  /** The owner of a single item is its last receiver. */
  readonly isSingle: boolean;
  readonly limit: number;
  readonly after: NftOwnersPlace | null;
}

export interface OwnerOfNft {
  readonly tokenId: string;
  readonly owner: Address;
  readonly amount: string;
  readonly block: number;
  readonly mark: string;
}

/**
 * One range backwards (owners-statements.explain.test.ts). While ERC-1155 transfers are missing,
 * also accounts whose sum is zero or less.
 */
export function ownersStatement(chain: Chain, query: OwnersQuery): Sql {
  const { table, owner, amount, held } = query.isSingle ? IDS : BALANCES;
  return collectionStatement(chain, query.contract, (of, isPartial) => {
    const bounds = [
      of('held'),
      ...(query.tokenId === null ? [] : [sql`held.token_id = ${query.tokenId}::numeric`]),
      ...(query.after === null ? [] : behind(query.after, query, owner)),
    ];
    const limit = sql`LIMIT ${query.limit + 1}`;
    const byOwner = rawSql(query.isSingle ? '' : ', held.owner DESC');
    const rowsWhere = (...conditions: readonly Sql[]): Sql =>
      sql`SELECT held.token_id, ${owner} AS owner, ${amount} AS amount, held.last_block, ${markOf(owner)} AS mark FROM ${table} AS held
  ${where([...conditions, ...bounds])} ORDER BY held.last_block DESC, held.token_id DESC${byOwner} ${limit}`;
    const given = query.isSingle ? [] : [rowsWhere(sql`held.amount <= 0`, sql`held.is_sum`, isPartial)];
    return {
      columns: sql`page.token_id::text, ${hexText('page.owner')} AS owner, page.amount::text AS amount, page.last_block AS block, page.mark`,
      rows: newestOf([rowsWhere(...held), ...given], limit),
      orderBy: sql`page.last_block DESC, page.token_id DESC, page.owner DESC`,
    };
  });
}

function newestOf(ranges: readonly Sql[], limit: Sql): Sql {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) return only;
  const parts = ranges.map((range) => sql`(${range})`);
  return sql`SELECT either.* FROM (${joinSql(parts, ' UNION ALL ')}) AS either
  ORDER BY either.last_block DESC, either.token_id DESC, either.owner DESC ${limit}`;
}

const IDS = {
  table: sql`nft_collection_ids`,
  owner: sql`held.receiver`,
  amount: sql`1`,
  held: [sql`held.is_held`, expectedTrue(sql`held.receiver IS NOT NULL`)],
};
const BALANCES = {
  table: sql`nft_collection_balances`,
  owner: sql`held.owner`,
  amount: sql`held.amount`,
  held: [sql`held.amount > 0`],
};

function markOf(owner: Sql): Sql {
  return sql`left(md5(held.token_id::text || encode(${owner}, 'hex')), ${rawSql(MARK_LENGTH)})`;
}

function behind(
  place: NftOwnersPlace,
  { tokenId, isSingle }: Pick<OwnersQuery, 'tokenId' | 'isSingle'>,
  owner: Sql,
): readonly Sql[] {
  const key = {
    'held.last_block': sql`${place.block}::integer`,
    ...(tokenId === null && { 'held.token_id': sql`${place.tokenId}::numeric` }),
    ...(!isSingle && { 'held.owner': sql`${addressBytes(place.owner)}::bytea` }),
  };
  const beyond = rowsAfter('DESC', Object.keys(key), Object.values(key));
  return unshownChanges(place, { block: 'held.last_block', mark: markOf(owner), beyond });
}
