import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Bind, expectedTrueOld, hexBytes, hexTextOld, type Statement, whereOld } from '@chainstead/db';
import { collectionStatement } from '../owners/collection-statement.ts';
import { type Trait, traitKey } from '../records/trait.ts';

/** Columns of every row: the state of the collection's traits. */
export interface TraitsStateColumns {
  /** Ids with a holder; null if nothing ever moved. */
  readonly ids: number | null;
  /** The generation that is shown. Null while there is none, like its other columns. */
  readonly generation: number | null;
  readonly tokens: number | null;
  readonly from_block: number | null;
  readonly to_block: number | null;
  readonly is_complete: boolean | null;
  readonly is_too_large: boolean | null;
  /** Whether the next generation is being computed. */
  readonly is_working: boolean | null;
  /** Whether the stored time of the last request is old. */
  readonly is_old: boolean | null;
}

/** Update interval of the stored request time: traits without requests are deleted after weeks. */
const REQUESTED_AGAIN = "interval '6 hours'";

const STATE = `counts.ids, traits.generation, traits.tokens, traits.indexed_from AS from_block, traits.indexed_to AS to_block, traits.is_complete,
    traits.is_too_large, traits.work IS NOT NULL AS is_working, traits.asked_at < now() - ${REQUESTED_AGAIN} AS is_old`;
const STATE_COLUMNS =
  'page.ids, page.generation, page.tokens, page.from_block, page.to_block, page.is_complete, page.is_too_large, page.is_working, page.is_old';

interface Content {
  /** Columns of `page`. */
  readonly columns: string;
  /** A query of `traits.generation`'s rows, which have `is_found`. */
  readonly rows: string;
  readonly orderBy: string;
}

/** The state of a collection's traits, with rows of the shown generation; one row without them if there are none. */
function traitsStatement(
  chain: Chain,
  contract: Address,
  write: (bind: Bind, of: (alias: string) => string) => Content,
): Statement {
  return collectionStatement(chain, contract, (bind, of) => {
    const { columns, rows, orderBy } = write(bind, of);
    return {
      columns: `${STATE_COLUMNS}, coalesce(page.is_found, false) AS is_found, ${columns}`,
      rows: `SELECT ${STATE}, content.*
  FROM (SELECT true AS is_asked) AS requested
    LEFT JOIN nft_collection_counts AS counts ON ${of('counts')}
    LEFT JOIN nft_collection_traits AS traits ON ${of('traits')}
    LEFT JOIN LATERAL (${rows}) AS content ON true`,
      orderBy,
    };
  });
}

/** {@link traitListStatement}'s columns, of rows that are found. */
export interface TraitRow {
  readonly place: number;
  readonly trait_type: string;
  readonly trait_value: string;
  readonly count: number;
}

/** Selects a collection's traits. */
export interface TraitListQuery {
  readonly contract: Address;
  /** Number of traits; one more is read to detect a next page. */
  readonly limit: number;
  /** By count, type and value, all of them. */
  readonly order: 'ASC' | 'DESC';
  /** Positions strictly after this one; null for the first page. */
  readonly after: number | null;
}

/**
 * Returns the statement for traits: a range of positions from either end of `nft_trait_counts`' key. Positions have no
 * gaps, so a page reads only its rows under any plan (traits-statements.explain.test.ts).
 */
export function traitListStatement(chain: Chain, query: TraitListQuery): Statement {
  const { contract, limit, order, after } = query;
  return traitsStatement(chain, contract, (bind, of) => {
    const rows = bind(limit + 1);
    const begin = after === null ? null : `${bind(after)}::int`;
    const places =
      order === 'ASC'
        ? [`shown.place > ${begin ?? '-1'}`, `shown.place <= ${begin ?? '-1'} + ${rows}::int`]
        : [`shown.place < ${begin ?? 'traits.traits'}`, `shown.place >= ${begin ?? 'traits.traits'} - ${rows}::int`];
    return {
      columns: 'page.place, page.trait_type, page.trait_value, page.count',
      rows: `SELECT true AS is_found, shown.place, shown.trait_type, shown.trait_value, shown.count FROM nft_trait_counts AS shown
      ${whereOld([of('shown'), 'shown.generation = traits.generation', ...places])} ORDER BY shown.place ${order} LIMIT ${rows}`,
      orderBy: `page.place ${order}`,
    };
  });
}

/** {@link tokensByTraitsStatement}'s columns, of rows that are found. */
export interface TraitTokenRow {
  readonly token_id: string;
  readonly token_hash: string;
  readonly supply: string;
  /** Block of the newest change in its holdings. */
  readonly last_block: number;
  /** Its last receiver; null for ERC-1155. */
  readonly receiver: Address | null;
}

/** Selects ids by their traits. */
export interface TokensByTraitsQuery {
  readonly contract: Address;
  /** An id must have all of them. */
  readonly traits: readonly Trait[];
  /** Number of ids; one more is read to detect a next page. */
  readonly limit: number;
  /** Token hashes strictly below this one, 32 hexadecimal digits; null for the first page. */
  readonly after: string | null;
}

/**
 * Returns the statement for ids by traits, highest token hash first. It reads a range of `nft_trait_tokens`' key for
 * the rarest of these traits. Each id takes one lookup in that key per trait, and one in the ids' key
 * (traits-statements.explain.test.ts).
 */
export function tokensByTraitsStatement(chain: Chain, query: TokensByTraitsQuery): Statement {
  const { contract, traits, limit, after } = query;
  return traitsStatement(chain, contract, (bind, of) => {
    const requested = `FROM nft_trait_counts AS counts
        WHERE ${expectedTrueOld(`${of('counts')} AND counts.generation = traits.generation`)} AND counts.trait_key = ANY(${bind(traits.map((trait) => traitKey(contract, trait)))}::bytea[])`;
    const wanted = bind(traits.length);
    const bounds = [
      of('first'),
      'first.generation = traits.generation',
      // Positions ascend with counts.
      `first.place = (SELECT CASE WHEN count(*) = ${wanted}::int THEN min(counts.place) END ${requested})`,
      ...(after === null ? [] : [`first.token_hash < ${bind(hexBytes(after))}`]),
      // One lookup per trait, which statistics can't turn into a join of everything.
      expectedTrueOld(`(SELECT count(*) FROM unnest(ARRAY(SELECT counts.place ${requested})) AS other(place) CROSS JOIN LATERAL (
          SELECT FROM nft_trait_tokens AS has WHERE ${of('has')} AND has.generation = traits.generation AND has.place = other.place
            AND has.token_hash = first.token_hash AND has.token_id = first.token_id LIMIT 1) AS found) = ${wanted}::int`),
    ];
    return {
      columns: `page.token_id::text AS token_id, encode(page.token_hash, 'hex') AS token_hash, page.supply::text AS supply, page.last_block, ${hexTextOld('page.receiver')} AS receiver`,
      rows: `SELECT true AS is_found, first.token_id, first.token_hash, held.supply, held.last_block, held.receiver
      FROM nft_trait_tokens AS first
      CROSS JOIN LATERAL (
        SELECT ids.supply, ids.last_block, ids.receiver FROM nft_collection_ids AS ids
        ${whereOld([of('ids'), 'ids.token_id = first.token_id', expectedTrueOld('ids.is_held')])} LIMIT 1
      ) AS held
      ${whereOld(bounds)} ORDER BY first.token_hash DESC LIMIT ${bind(limit + 1)}`,
      orderBy: 'page.token_hash DESC',
    };
  });
}
