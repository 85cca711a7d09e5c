/** The tokens that a statement is about, in their order, as the relation `asked`: `token_address`, `token_id` and `place`. */
import type { Chain } from '@chainstead/chains';
import { addressBytes } from '@chainstead/db';
import type { RecordKey } from './nft-record.ts';

type Token = Pick<RecordKey, 'address' | 'tokenId'>;

/** Of any number of tokens. */
const SEVERAL = 'unnest($2::bytea[], $3::numeric[]) WITH ORDINALITY AS asked(token_address, token_id, place)';
/** Of one: its values are known when the statement is planned, so that it goes to the node that has the contract. */
const ONE = '(SELECT $2::bytea AS token_address, $3::numeric AS token_id, 1::bigint AS place) AS asked';

/** With the values of the statement, of which the chain is `$1`. @param isSpread whether tables are distributed: then of one token alone */
export function askedTokens(
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

/** Asks for all tokens at once, or where tables are distributed for each by itself. @returns what is found, in their order */
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
