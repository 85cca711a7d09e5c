import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { type Bind, expectedTrue, hexBytes, hexText, type Statement, where } from '@chainstead/db';
import { collectionStatement } from '../owners/collection-statement.ts';
import { type Trait, traitKey } from '../records/trait.ts';

/** Columns of every row: where the traits of the collection stand. */
export interface TraitsStateColumns {
  /** Ids that somebody holds; null where nothing ever moved. */
  readonly ids: number | null;
  /** The generation that is shown; null while there is none, as what is said of it. */
  readonly generation: number | null;
  readonly tokens: number | null;
  readonly from_block: number | null;
  readonly to_block: number | null;
  readonly is_complete: boolean | null;
  readonly is_too_large: boolean | null;
  /** Whether the next generation is worked on. */
  readonly is_working: boolean | null;
  /** Whether it was last written down long ago that somebody asks about them. */
  readonly is_old: boolean | null;
}

/** That somebody asks is written down so often: what nobody asks about is forgotten after weeks. */
const ASKED_AGAIN = "interval '6 hours'";

const STATE = `counts.ids, traits.generation, traits.tokens, traits.indexed_from AS from_block, traits.indexed_to AS to_block, traits.is_complete,
    traits.is_too_large, traits.work IS NOT NULL AS is_working, traits.asked_at < now() - ${ASKED_AGAIN} AS is_old`;
const STATE_COLUMNS =
  'page.ids, page.generation, page.tokens, page.from_block, page.to_block, page.is_complete, page.is_too_large, page.is_working, page.is_old';

interface Content {
  /** Of `page`. */
  readonly columns: string;
  /** A query of `traits.generation`'s rows, which have `is_found`. */
  readonly rows: string;
  readonly orderBy: string;
}

/** Where the traits of a collection stand, with rows of the generation that is shown: one row without them where there are none. */
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
  FROM (SELECT true AS is_asked) AS asked
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

/** What to read of a collection's traits. */
export interface TraitListQuery {
  readonly contract: Address;
  /** Traits wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** By count, type and value, all of them. */
  readonly order: 'ASC' | 'DESC';
  /** Places strictly beyond this one; null for the first page. */
  readonly after: number | null;
}

/**
 * The statement behind traits: so many places of `nft_trait_counts`' key, which are all taken, from either end: a page reads no more than its rows by
 * whatever plan (traits-statements.explain.test.ts).
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
      ${where([of('shown'), 'shown.generation = traits.generation', ...places])} ORDER BY shown.place ${order} LIMIT ${rows}`,
      orderBy: `page.place ${order}`,
    };
  });
}

/** {@link tokensByTraitsStatement}'s columns, of rows that are found. */
export interface TraitTokenRow {
  readonly token_id: string;
  readonly token_hash: string;
  readonly supply: string;
  /** Block of the newest change of who has how much of it. */
  readonly last_block: number;
  /** Who received it last; null for ERC-1155. */
  readonly receiver: Address | null;
}

/** What to read of ids by their traits. */
export interface TokensByTraitsQuery {
  readonly contract: Address;
  /** All of which an id must have. */
  readonly traits: readonly Trait[];
  /** Ids wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Token hashes strictly below this one, 32 hexadecimal digits; null for the first page. */
  readonly after: string | null;
}

/**
 * The statement behind ids by traits, highest token hash first: of the rarest of these traits a range of `nft_trait_tokens`' key, and for each
 * id a probe of that key for each of the traits, and one of the ids' key (traits-statements.explain.test.ts).
 */
export function tokensByTraitsStatement(chain: Chain, query: TokensByTraitsQuery): Statement {
  const { contract, traits, limit, after } = query;
  return traitsStatement(chain, contract, (bind, of) => {
    const asked = `FROM nft_trait_counts AS counts
        WHERE ${expectedTrue(`${of('counts')} AND counts.generation = traits.generation`)} AND counts.trait_key = ANY(${bind(traits.map((trait) => traitKey(contract, trait)))}::bytea[])`;
    const wanted = bind(traits.length);
    const bounds = [
      of('first'),
      'first.generation = traits.generation',
      // Places ascend with counts.
      `first.place = (SELECT CASE WHEN count(*) = ${wanted}::int THEN min(counts.place) END ${asked})`,
      ...(after === null ? [] : [`first.token_hash < ${bind(hexBytes(after))}`]),
      // A probe for each trait, which statistics can't turn into a join of everything.
      expectedTrue(`(SELECT count(*) FROM unnest(ARRAY(SELECT counts.place ${asked})) AS other(place) CROSS JOIN LATERAL (
          SELECT FROM nft_trait_tokens AS has WHERE ${of('has')} AND has.generation = traits.generation AND has.place = other.place
            AND has.token_hash = first.token_hash AND has.token_id = first.token_id LIMIT 1) AS found) = ${wanted}::int`),
    ];
    return {
      columns: `page.token_id::text AS token_id, encode(page.token_hash, 'hex') AS token_hash, page.supply::text AS supply, page.last_block, ${hexText('page.receiver')} AS receiver`,
      rows: `SELECT true AS is_found, first.token_id, first.token_hash, held.supply, held.last_block, held.receiver
      FROM nft_trait_tokens AS first
      CROSS JOIN LATERAL (
        SELECT ids.supply, ids.last_block, ids.receiver FROM nft_collection_ids AS ids
        ${where([of('ids'), 'ids.token_id = first.token_id', expectedTrue('ids.is_held')])} LIMIT 1
      ) AS held
      ${where(bounds)} ORDER BY first.token_hash DESC LIMIT ${bind(limit + 1)}`,
      orderBy: 'page.token_hash DESC',
    };
  });
}
