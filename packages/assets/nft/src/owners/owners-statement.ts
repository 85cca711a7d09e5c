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
import { type ReadingSources, readBuilt } from '@chainstead/pages';
import { type ChangePlace, MARK_LENGTH, unshownChanges } from '../records/change-pages.ts';
import type { RecordKey } from '../records/nft-record.ts';
import type { TokenHolders } from '../single-nfts/token-holders.ts';
import { withAmountsNow } from '../token-state/held-readers.ts';
import { changeBlockOf } from '../transfers/moved-amounts.ts';
import {
  type CollectionServices,
  type CollectionState,
  collectionStatement,
  type RequestedCollection,
  readCollectionRows,
} from './collection-subjects.ts';

export interface NftOwnersPlace extends ChangePlace {
  readonly tokenId: string;
  readonly owner: Address;
}

interface OwnersQuery {
  readonly contract: Address;
  /** Null: owners of all ids. */
  readonly tokenId: string | null;
  /** The owner of a single item is its last receiver. */
  readonly isSingle: boolean;
  readonly limit: number;
  readonly after: NftOwnersPlace | null;
}

interface OwnerOfNft {
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

type TokenOwner = RecordKey & { readonly owner: Address };

export interface OwnersFound extends CollectionState {
  readonly owners: readonly TokenOwner[];
  readonly places: readonly OwnerOfNft[];
  readonly hasNext: boolean;
}

/**
 * While the history is incomplete, ERC-1155 contracts report balances of accounts with a sum of
 * zero or less. Accounts without a result in time are left out.
 */
export async function getOwners(
  sources: ReadingSources,
  { subjects, holders, heldNow }: CollectionServices,
  requested: RequestedCollection,
  query: Omit<OwnersQuery, 'contract' | 'isSingle'>,
): Promise<OwnersFound> {
  const { chain, address: contract } = requested;
  const { tokenId, limit } = query;
  const collection = await subjects.open(requested);
  const isSingle = collection.contractType !== 'ERC1155';
  const statement = ownersStatement(chain, { ...query, contract, isSingle });
  const stored = await readBuilt(sources, (from) => readCollectionRows<OwnerOfNft>(from, chain, statement));
  const state = await subjects.stateOf(requested, collection, stored);
  if (isSingle && tokenId !== null && query.after === null && stored.rows.length === 0)
    return { ...state, owners: await ownerOfUnmoved(holders, requested, tokenId), places: [], hasNext: false };
  const places = stored.rows.slice(0, limit);
  const owners = places.map((row) => ({
    ...{ address: contract, tokenId: row.tokenId, owner: row.owner },
    ...{ amount: isSingle ? '1' : row.amount, blockNumber: changeBlockOf(row.block) },
  }));
  return {
    ...state,
    // A contract that is not an NFT counts as complete: its amounts may be below zero.
    owners:
      isSingle || state.indexed.complete
        ? owners.filter(({ amount }) => BigInt(amount) > 0n)
        : await withAmountsNow(heldNow, chain, owners),
    places,
    hasNext: stored.rows.length > limit,
  };
}

/** It may be in an unexpanded range, or have an owner without a transfer. */
async function ownerOfUnmoved(
  holders: TokenHolders,
  { chain, address }: RequestedCollection,
  tokenId: string,
): Promise<readonly TokenOwner[]> {
  if ((await holders.missingIndexes()).length > 0) return [];
  const [held] = await holders.find(chain, [{ address, tokenId }], new Map());
  if (held === null || held === undefined) return [];
  const { owner } = held;
  return owner === null ? [] : [{ ...held, owner }];
}
