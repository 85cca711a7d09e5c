import { asSql, joinSql, rawSql, type Sql, sql } from '@chainstead/db';
import { COLLECTION_COLUMNS } from './collection-fields.ts';

/**
 * One row for a LATERAL join: each field from the first source with it. A scam list always counts.
 * Lookups have a LIMIT, so that no statistics lead to a table scan.
 * @param contract a column, or SQL of a bytea
 */
export function collectionFacts(contract: string | Sql, chainId: Sql): Sql {
  const address = asSql(contract);
  const ofContract = (table: string, column = 'token_address'): Sql =>
    sql`${rawSql(`${table}.${column}`)} = ${address} AND ${rawSql(table)}.chain_id = ${chainId}`;
  return sql`(SELECT ${FIELDS},
    coalesce(own.contract_type, CASE
      WHEN token.standard IN ('erc721', 'erc1155') THEN upper(token.standard)
      WHEN token.seen_as & 2 <> 0 THEN 'ERC721'
      WHEN token.seen_as & 4 <> 0 THEN 'ERC1155' END) AS contract_type,
    coalesce(list.verified, token.verified, false) AS verified,
    EXISTS (SELECT FROM spam_list_entries AS spam WHERE spam.address = ${address} AND spam.chain_id IN (${chainId}, 0))
      OR coalesce(list.possible_spam, CASE WHEN list.verified THEN false END, token.possible_spam, false) AS possible_spam,
    own.token_address IS NULL AS is_unread
  FROM (SELECT ${LIST_COLUMNS} FROM collection_list_entries AS entry WHERE ${ofContract('entry')}) AS list
  LEFT JOIN LATERAL (SELECT * FROM tokens WHERE ${ofContract('tokens', 'address')} LIMIT 1) AS token ON true
  LEFT JOIN LATERAL (SELECT * FROM nft_collections WHERE ${ofContract('nft_collections')} LIMIT 1) AS own ON true
  LIMIT 1)`;
}

const NAMES = COLLECTION_COLUMNS.map(([, column]) => column);

const FIELDS = joinSql([
  ...NAMES.map((column) => {
    const sources = column === 'name' || column === 'symbol' ? ['list', 'own', 'token'] : ['list', 'own'];
    return firstOf(column, sources, column);
  }),
  ...['name', 'symbol'].map((column) => firstOf(column, ['token', 'list', 'own'], `token_${column}`)),
]);

function firstOf(column: string, sources: readonly string[], name: string): Sql {
  return rawSql(`coalesce(${sources.map((source) => `${source}.${column}`).join(', ')}) AS ${name}`);
}

const LIST_COLUMNS = joinSql(
  [...NAMES, 'verified', 'possible_spam'].map((column) =>
    rawSql(`(array_agg(${column} ORDER BY source) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`),
  ),
);
