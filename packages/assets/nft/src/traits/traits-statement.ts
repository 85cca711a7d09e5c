import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { expectedTrue, hexBytes, hexText, rawSql, type Sql, sql, where } from '@chainstead/db';
import { collectionStatement } from '../owners/collection-subjects.ts';
import { type Trait, traitKey } from '../records/trait.ts';

export interface TraitsStateColumns {
  /** With a holder; null if nothing ever moved. */
  readonly ids: number | null;
  /** Null while none is shown, like the columns below. */
  readonly generation: number | null;
  readonly tokens: number | null;
  readonly fromBlock: number | null;
  readonly toBlock: number | null;
  readonly isComplete: boolean | null;
  readonly isTooLarge: boolean | null;
  readonly isWorking: boolean | null;
  /** The stored request time is old. */
  readonly isOld: boolean | null;
}

const REQUESTED_AGAIN = sql`interval '6 hours'`;

const STATE = sql`counts.ids, traits.generation, traits.tokens, traits.indexed_from AS from_block, traits.indexed_to AS to_block, traits.is_complete,
    traits.is_too_large, traits.work IS NOT NULL AS is_working, traits.asked_at < now() - ${REQUESTED_AGAIN} AS is_old`;
const STATE_COLUMNS = sql`page.ids, page.generation, page.tokens, page.from_block, page.to_block, page.is_complete, page.is_too_large, page.is_working, page.is_old`;

interface Content {
  readonly columns: Sql;
  readonly rows: Sql;
  readonly orderBy: Sql;
}

/** One row without a generation's rows if there are none. */
function traitsStatement(chain: Chain, contract: Address, write: (of: (alias: string) => Sql) => Content): Sql {
  return collectionStatement(chain, contract, (of) => {
    const { columns, rows, orderBy } = write(of);
    return {
      columns: sql`${STATE_COLUMNS}, coalesce(page.is_found, false) AS is_found, ${columns}`,
      rows: sql`SELECT ${STATE}, content.*
  FROM (SELECT true AS is_asked) AS requested
    LEFT JOIN nft_collection_counts AS counts ON ${of('counts')}
    LEFT JOIN nft_collection_traits AS traits ON ${of('traits')}
    LEFT JOIN LATERAL (${rows}) AS content ON true`,
      orderBy,
    };
  });
}

export interface StoredTrait {
  readonly place: number;
  readonly traitType: string;
  readonly traitValue: string;
  readonly count: number;
}

interface TraitListQuery {
  readonly contract: Address;
  readonly limit: number;
  readonly order: 'ASC' | 'DESC';
  readonly after: number | null;
}

/** Positions have no gaps: a page reads only its rows under any plan. */
export function traitListStatement(chain: Chain, { contract, limit, order, after }: TraitListQuery): Sql {
  return traitsStatement(chain, contract, (of) => {
    const rows = sql`${limit + 1}`;
    const begin = after === null ? rawSql(order === 'ASC' ? '-1' : 'traits.traits') : sql`${after}::int`;
    const places =
      order === 'ASC'
        ? [sql`shown.place > ${begin}`, sql`shown.place <= ${begin} + ${rows}::int`]
        : [sql`shown.place < ${begin}`, sql`shown.place >= ${begin} - ${rows}::int`];
    return {
      columns: sql`page.place, page.trait_type, page.trait_value, page.count`,
      rows: sql`SELECT true AS is_found, shown.place, shown.trait_type, shown.trait_value, shown.count FROM nft_trait_counts AS shown
      ${where([of('shown'), sql`shown.generation = traits.generation`, ...places])} ORDER BY shown.place ${rawSql(order)} LIMIT ${rows}`,
      orderBy: sql`page.place ${rawSql(order)}`,
    };
  });
}

export interface NftWithTraits {
  readonly tokenId: string;
  readonly tokenHash: string;
  readonly supply: string;
  readonly lastBlock: number;
  readonly receiver: Address | null;
}

export interface TokensByTraitsQuery {
  readonly contract: Address;
  readonly traits: readonly Trait[];
  readonly limit: number;
  readonly after: string | null;
}

/** A range of the rarest trait, with lookups (traits-statements.explain.test.ts). */
export function tokensByTraitsStatement(chain: Chain, query: TokensByTraitsQuery): Sql {
  const { contract, traits, limit, after } = query;
  return traitsStatement(chain, contract, (of) => {
    const requested = sql`FROM nft_trait_counts AS counts
        WHERE ${expectedTrue(sql`${of('counts')} AND counts.generation = traits.generation`)} AND counts.trait_key = ANY(${traits.map((trait) => traitKey(contract, trait))}::bytea[])`;
    const wanted = sql`${traits.length}::int`;
    const bounds = [
      of('first'),
      sql`first.generation = traits.generation`,
      sql`first.place = (SELECT CASE WHEN count(*) = ${wanted} THEN min(counts.place) END ${requested})`,
      ...(after === null ? [] : [sql`first.token_hash < ${hexBytes(after)}`]),
      // Statistics can't turn it into a join of everything.
      expectedTrue(sql`(SELECT count(*) FROM unnest(ARRAY(SELECT counts.place ${requested})) AS other(place) CROSS JOIN LATERAL (
          SELECT FROM nft_trait_tokens AS has WHERE ${of('has')} AND has.generation = traits.generation AND has.place = other.place
            AND has.token_hash = first.token_hash AND has.token_id = first.token_id LIMIT 1) AS found) = ${wanted}`),
    ];
    return {
      columns: sql`page.token_id::text, encode(page.token_hash, 'hex') AS "tokenHash", page.supply::text AS supply,
        page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: sql`SELECT true AS is_found, first.token_id, first.token_hash, held.supply, held.last_block, held.receiver
      FROM nft_trait_tokens AS first
      CROSS JOIN LATERAL (
        SELECT ids.supply, ids.last_block, ids.receiver FROM nft_collection_ids AS ids
        ${where([of('ids'), sql`ids.token_id = first.token_id`, expectedTrue(sql`ids.is_held`)])} LIMIT 1
      ) AS held
      ${where(bounds)} ORDER BY first.token_hash DESC LIMIT ${limit + 1}`,
      orderBy: sql`page.token_hash DESC`,
    };
  });
}
