import { addressBytes, type Sql, sql } from '@chainstead/db';
import type { RecordKey } from './nft-record.ts';

type Token = Pick<RecordKey, 'address' | 'tokenId'>;

export function requestedTokens(tokens: readonly Token[], isSpread: boolean): Sql {
  const [first] = tokens;
  // Plain values, so that the statement goes to the contract's node.
  if (isSpread && first !== undefined)
    return sql`(SELECT ${addressBytes(first.address)}::bytea AS token_address, ${first.tokenId}::numeric AS token_id, 1::bigint AS place) AS requested`;
  const addresses = tokens.map(({ address }) => addressBytes(address));
  const ids = tokens.map(({ tokenId }) => tokenId);
  return sql`unnest(${addresses}::bytea[], ${ids}::numeric[]) WITH ORDINALITY AS requested(token_address, token_id, place)`;
}

/** In token order. One by one if tables are distributed. */
export async function readTogether<T extends Token, Row>(
  tokens: readonly T[],
  isSpread: boolean,
  read: (some: readonly T[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (!isSpread) return read(tokens);
  const found: Row[] = [];
  for (const token of tokens) found.push(...(await read([token])));
  return found;
}
