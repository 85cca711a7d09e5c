import { COLLECTION_COLUMNS } from './collection-fields.ts';

/**
 * Returns a contract's displayed fields as one SQL row for a LATERAL join. Each field comes from the first source that
 * has it: imported lists (by name), the contract's document, its own `name()` and `symbol()`, then the token's
 * metadata. A scam list always counts; the name rule applies only if no list overrides it.
 *
 * Columns: COLLECTION_COLUMNS, `token_name` and `token_symbol` (the contract's own `name()` and `symbol()` first),
 * `contract_type`, `verified`, `possible_spam`, `is_unread` (never requested). Key lookups have a LIMIT, so that no
 * statistics lead to a table scan. Unused columns cost nothing.
 * @param contract SQL of a bytea
 */
export function collectionFacts(contract: string, chainId: string): string {
  const ofContract = (alias: string, column: string): string =>
    `${alias}.${column} = ${contract} AND ${alias}.chain_id = ${chainId}`;
  return `(SELECT ${FIELDS},
    coalesce(own.contract_type, CASE
      WHEN token.standard IN ('erc721', 'erc1155') THEN upper(token.standard)
      WHEN token.seen_as & 2 <> 0 THEN 'ERC721'
      WHEN token.seen_as & 4 <> 0 THEN 'ERC1155' END) AS contract_type,
    coalesce(list.verified, token.verified, false) AS verified,
    EXISTS (SELECT FROM spam_list_entries AS spam WHERE spam.address = ${contract} AND spam.chain_id IN (${chainId}, 0))
      OR coalesce(list.possible_spam, CASE WHEN list.verified THEN false END, token.possible_spam, false) AS possible_spam,
    own.token_address IS NULL AS is_unread
  FROM (SELECT ${LIST_COLUMNS.map(firstSource).join(', ')} FROM collection_list_entries AS entry WHERE ${ofContract('entry', 'token_address')}) AS list
  LEFT JOIN LATERAL (SELECT * FROM tokens WHERE ${ofContract('tokens', 'address')} LIMIT 1) AS token ON true
  LEFT JOIN LATERAL (SELECT * FROM nft_collections WHERE ${ofContract('nft_collections', 'token_address')} LIMIT 1) AS own ON true
  LIMIT 1)`;
}

const FIELDS = COLLECTION_COLUMNS.map(([, column]) => {
  const sources = [`list.${column}`, `own.${column}`];
  if (column === 'name' || column === 'symbol') sources.push(`token.${column}`);
  return `coalesce(${sources.join(', ')}) AS ${column}`;
})
  .concat(
    ['name', 'symbol'].map((column) => `coalesce(token.${column}, list.${column}, own.${column}) AS token_${column}`),
  )
  .join(', ');

const LIST_COLUMNS = [...COLLECTION_COLUMNS.map(([, column]) => column), 'verified', 'possible_spam'];

function firstSource(column: string): string {
  return `(array_agg(${column} ORDER BY source) FILTER (WHERE ${column} IS NOT NULL))[1] AS ${column}`;
}
