import type { Chain } from '@chainstead/chains';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { routesFor } from '@chainstead/http';
import {
  type MetadataRequests,
  type MetadataServices,
  type Requester,
  TooManyWaitingError,
} from '../collections/request-metadata.ts';
import type { TokenKey } from '../collections/token-rows.ts';
import type { RecordPages } from '../records/record-pages.ts';
import type { TokenHolders } from './token-holders.ts';

interface NftServices extends MetadataServices {
  readonly records: RecordPages;
  readonly holders: TokenHolders;
}

export const { defineRoute } = routesFor<NftServices>();

export interface TokenReading {
  readonly status: 'pending' | 'known' | 'none' | 'failed' | null;
  readonly hasUri: boolean;
}

/** @returns why some could not be queued; null if all were */
export async function requestTokens(
  { database, requests }: { readonly database: Pick<Database, 'query'>; readonly requests: MetadataRequests },
  { chain, requester }: { readonly chain: Chain; readonly requester: Requester },
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
  await Promise.all(waiting.map((token) => requests.settled({ chainId: chain.id, ...token })));
  return refusal;
}

export async function readTokens(
  database: Pick<Database, 'query'>,
  chain: Chain,
  tokens: readonly TokenKey[],
): Promise<readonly TokenReading[]> {
  if (tokens.length === 0) return [];
  return database.query<TokenReading>(
    sql`WITH requested AS MATERIALIZED (
       SELECT * FROM unnest(${tokens.map(({ address }) => addressBytes(address))}::bytea[], ${tokens.map(({ tokenId }) => tokenId)}::numeric[]) WITH ORDINALITY AS requested(token_address, token_id, place)
     ), known AS MATERIALIZED (
       SELECT requested.place, own.status, own.token_uri IS NOT NULL AS has_uri FROM requested JOIN nft_token_metadata AS own
         ON own.token_address = requested.token_address AND own.chain_id = ${chain.id} AND own.token_id = requested.token_id
     )
     SELECT known.status, coalesce(known.has_uri, false) AS "hasUri" FROM requested LEFT JOIN known USING (place) ORDER BY place`,
  );
}

async function requestOf(request: () => Promise<unknown>): Promise<TooManyWaitingError | null> {
  try {
    await request();
    return null;
  } catch (error) {
    if (error instanceof TooManyWaitingError) return error;
    throw error;
  }
}
