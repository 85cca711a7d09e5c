import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  hexTextOld,
  rowsAfterOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { type ChangePlace, MARK_LENGTH, unshownChanges } from '../records/change-pages.ts';
import { collectionStatement } from './collection-statement.ts';

/** The end of the previous page: its last row. */
export interface OwnersPlace extends ChangePlace {
  /** Decimal digits. */
  readonly tokenId: string;
  readonly owner: Address;
}

export interface OwnersQuery {
  readonly contract: Address;
  /** Decimal digits; null: owners of all ids. */
  readonly tokenId: string | null;
  /** Whether each id is a single item, whose owner is its last receiver. */
  readonly isSingle: boolean;
  /** Number of owners; one more is read to detect a next page. */
  readonly limit: number;
  /** Null for the first page. */
  readonly after: OwnersPlace | null;
}

/** {@link ownersStatement}'s columns. */
export interface OwnerRow {
  readonly token_id: string;
  readonly owner: Address;
  /** Decimal digits. */
  readonly amount: string;
  readonly last_block: number;
  /** For change-pages.ts. */
  readonly mark: string;
}

/**
 * Returns the statement for a page of owners with ids, newest change first. It reads one range backwards and stops
 * after limit + 1 owners (owners-statements.explain.test.ts). The index is `nft_collection_ids_by_change` if ids are
 * single items, otherwise `nft_collection_balances_by_change`. For one id it is the key of ids, or
 * `nft_collection_balances_by_id`. While transfers of an ERC-1155 are missing, a second range adds accounts whose sum
 * is zero or less: they may hold earlier tokens.
 */
export function ownersStatement(chain: Chain, query: OwnersQuery): Statement {
  const { table, owner, amount, held } = query.isSingle ? IDS : BALANCES;
  return collectionStatement(chain, query.contract, (bind, of, isPartial) => {
    const bounds = [
      of('held'),
      ...(query.tokenId === null ? [] : [`held.token_id = ${bind(query.tokenId)}::numeric`]),
      ...(query.after === null ? [] : behind(query.after, query, owner, bind)),
    ];
    const limit = `LIMIT ${bind(query.limit + 1)}`;
    const rowsWhere = (...conditions: readonly string[]): string =>
      `SELECT held.token_id, ${owner} AS owner, ${amount} AS amount, held.last_block, ${markOf(owner)} AS mark FROM ${table} AS held
  ${whereOld([...conditions, ...bounds])} ORDER BY held.last_block DESC, held.token_id DESC${query.isSingle ? '' : ', held.owner DESC'} ${limit}`;
    const given = query.isSingle ? [] : [rowsWhere('held.amount <= 0', 'held.is_sum', isPartial)];
    return {
      columns: `page.token_id::text AS token_id, ${hexTextOld('page.owner')} AS owner, page.amount::text AS amount, page.last_block, page.mark`,
      rows: newestOf([rowsWhere(...held), ...given], limit),
      orderBy: 'page.last_block DESC, page.token_id DESC, page.owner DESC',
    };
  });
}

/** Merges the rows of several ranges. */
function newestOf(ranges: readonly string[], limit: string): string {
  const [only] = ranges;
  if (only !== undefined && ranges.length === 1) return only;
  return `SELECT either.* FROM (${ranges.map((range) => `(${range})`).join(' UNION ALL ')}) AS either
  ORDER BY either.last_block DESC, either.token_id DESC, either.owner DESC ${limit}`;
}

const IDS = {
  table: 'nft_collection_ids',
  owner: 'held.receiver',
  amount: '1',
  // In contracts of both standards an id may not be a single item.
  held: ['held.is_held', expectedTrueOld('held.receiver IS NOT NULL')],
};
const BALANCES = {
  table: 'nft_collection_balances',
  owner: 'held.owner',
  amount: 'held.amount',
  held: ['held.amount > 0'],
};

function markOf(owner: string): string {
  return `left(md5(held.token_id::text || encode(${owner}, 'hex')), ${MARK_LENGTH})`;
}

function behind(
  place: OwnersPlace,
  { tokenId, isSingle }: Pick<OwnersQuery, 'tokenId' | 'isSingle'>,
  owner: string,
  bind: Bind,
): readonly string[] {
  const columns = {
    block: 'held.last_block',
    mark: markOf(owner),
    // Bound only if it is used: a parameter that the text does not mention has no type.
    beyond: (): string => {
      const key = {
        'held.last_block': `${bind(place.block)}::integer`,
        ...(tokenId === null && { 'held.token_id': `${bind(place.tokenId)}::numeric` }),
        ...(!isSingle && { 'held.owner': `${bind(addressBytes(place.owner))}::bytea` }),
      };
      return rowsAfterOld('DESC', Object.keys(key), Object.values(key));
    },
  };
  return unshownChanges(place, columns, bind);
}
