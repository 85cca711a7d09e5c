import type { Chain } from '@chainstead/chains';
import { addressBytes, type Database } from '@chainstead/db';
import type { MetadataRequests } from '../collections/metadata-requests.ts';
import { type Requester, TooManyWaitingError } from '../collections/request-metadata.ts';
import type { TokenKey } from '../collections/token-rows.ts';

/** What became of a token's document. */
export interface TokenReading {
  /** Null: nobody has asked for it. */
  readonly status: 'pending' | 'known' | 'none' | 'failed' | null;
  readonly hasUri: boolean;
}

/**
 * Has the documents of tokens read that nobody has asked for yet, and waits a moment for them, as for those that are being read.
 * @returns why not all could be asked for, null where they could
 */
export async function askTokens(
  { database, requests }: { readonly database: Pick<Database, 'query'>; readonly requests: MetadataRequests },
  { chain, requester, waitMs }: { readonly chain: Chain; readonly requester: Requester; readonly waitMs: number },
  tokens: readonly TokenKey[],
): Promise<TooManyWaitingError | null> {
  const readings = await readTokens(database, chain, tokens);
  const waiting: TokenKey[] = [];
  let refusal: TooManyWaitingError | null = null;
  for (const [index, token] of tokens.entries()) {
    const status = readings[index]?.status ?? null;
    if (status !== null && status !== 'pending') continue;
    if (status === null && refusal === null)
      refusal = await requestOf(() => requests.token(chain, token, 'uri', requester));
    if (status === 'pending' || refusal === null) waiting.push(token);
  }
  await Promise.all(waiting.map((token) => requests.watch.token(chain.id, token, waitMs)));
  return refusal;
}

/** Where the readings of tokens' documents stand, in their order. */
export async function readTokens(
  database: Pick<Database, 'query'>,
  chain: Chain,
  tokens: readonly TokenKey[],
): Promise<readonly TokenReading[]> {
  if (tokens.length === 0) return [];
  return database.query<TokenReading>(
    `WITH asked AS MATERIALIZED (
       SELECT * FROM unnest($2::bytea[], $3::numeric[]) WITH ORDINALITY AS asked(token_address, token_id, place)
     ), known AS MATERIALIZED (
       SELECT asked.place, own.status, own.token_uri IS NOT NULL AS has_uri FROM asked JOIN nft_token_metadata AS own
         ON own.token_address = asked.token_address AND own.chain_id = $1 AND own.token_id = asked.token_id
     )
     SELECT known.status, coalesce(known.has_uri, false) AS "hasUri" FROM asked LEFT JOIN known USING (place) ORDER BY place`,
    [chain.id, tokens.map(({ address }) => addressBytes(address)), tokens.map(({ tokenId }) => tokenId)],
  );
}

/** A key that has enough to wait for gets what is known. */
async function requestOf(request: () => Promise<void>): Promise<TooManyWaitingError | null> {
  try {
    await request();
    return null;
  } catch (error) {
    if (error instanceof TooManyWaitingError) return error;
    throw error;
  }
}
