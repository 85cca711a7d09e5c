/** The tokens of a statement, in order, as the relation `requested`: `token_address`, `token_id` and `place`. */
import type { Chain } from '@chainstead/chains';
import { addressBytes } from '@chainstead/db';
import type { RecordKey } from './nft-record.ts';

type Token = Pick<RecordKey, 'address' | 'tokenId'>;

/** For any number of tokens. */
const SEVERAL = 'unnest($2::bytea[], $3::numeric[]) WITH ORDINALITY AS requested(token_address, token_id, place)';
/** For one token: its values are known at planning time, so the statement goes to the contract's node. */
const ONE = '(SELECT $2::bytea AS token_address, $3::numeric AS token_id, 1::bigint AS place) AS requested';

/**
 * With the statement's values; the chain is `$1`.
 * @param isSpread whether tables are distributed: then for one token only
 */
export function requestedTokens(
  chain: Chain,
  tokens: readonly Token[],
  isSpread: boolean,
): { readonly relation: string; readonly values: readonly unknown[] } {
  const [first] = tokens;
  if (isSpread && first !== undefined)
    return { relation: ONE, values: [chain.id, addressBytes(first.address), first.tokenId] };
  const values = [chain.id, tokens.map(({ address }) => addressBytes(address)), tokens.map(({ tokenId }) => tokenId)];
  return { relation: SEVERAL, values };
}

/** Queries all tokens together, or each separately if tables are distributed. @returns the results, in token order */
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
