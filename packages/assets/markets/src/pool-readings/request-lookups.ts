import type { Chain } from '@chainstead/chains';
import { type Address, inParts, type Logger, parseAddress } from '@chainstead/core';
import { addressBytes, hexText, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import type { StateKind } from '@chainstead/node-reads';
import { type NodeReadQueue, SILENCE_MS, unlessUnavailable } from '@chainstead/node-reads/requests';
import { z } from '@hono/zod-openapi';
import { LOOKUP_MAX_AGE_SECONDS } from './save-lookups.ts';

export interface PoolLookupQuestion {
  readonly tokens: readonly Address[];
  readonly block: number;
}

const address = z.string().transform((text): Address => parseAddress(text));

export const POOL_LOOKUPS: StateKind<PoolLookupQuestion, { readonly pools: number }> = {
  name: 'pool-lookups',
  question: z.object({ tokens: z.array(address).min(1), block: z.int() }),
  answer: z.object({ pools: z.int() }),
  callsOf: ({ tokens }) => tokens.length,
  failsAlike: () => '',
};

export interface PoolLookupSources {
  readonly database: ReadDatabase;
  readonly nodeReads: NodeReadQueue;
  readonly logger: Logger;
}

export interface LookupPlace {
  readonly block: number;
  readonly runStart: number;
}

export async function tokensToLookUp(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  tokens: readonly Address[],
  { runStart }: Pick<LookupPlace, 'runStart'>,
): Promise<readonly Address[]> {
  if (tokens.length === 0) return [];
  const rows = await database.select<{ token: Address }>(
    sql`SELECT ${hexText('token')} AS token FROM pool_lookups WHERE token = ANY (${tokens.map(addressBytes)}::bytea[]) AND chain_id = ${chain.id}::bigint
     AND block_number >= ${runStart}::bigint AND looked_up_at > now() - make_interval(secs => ${LOOKUP_MAX_AGE_SECONDS})`,
  );
  const known = new Set(rows.map(({ token }) => token));
  return tokens.filter((token) => !known.has(token));
}

/** Older blocks are not looked up. */
export const LOOKUP_BLOCKS_MAX = 64;
const TOGETHER = 5;
const TOKENS_MAX = 100;
const PER_MINUTE_MAX = 600;

/** Returns the tokens that were looked up within the request's wait. Other look-ups continue. */
export async function requestPoolLookups(
  { database, nodeReads, logger }: PoolLookupSources,
  chain: Chain,
  tokens: readonly Address[],
  { block }: Pick<LookupPlace, 'block'>,
): Promise<readonly Address[]> {
  if (tokens.length === 0) return [];
  const wanted = tokens.slice(0, await tokensAllowed(database, chain, block)).toSorted();
  const ask = async (some: readonly Address[]): Promise<readonly Address[]> => {
    const read = nodeReads.request(chain, POOL_LOOKUPS, { tokens: some, block }, { fruitlessMs: SILENCE_MS });
    const missing = { message: 'Could not look up pools', chain: chain.key };
    return (await unlessUnavailable(logger, missing, read, true)) === null ? [] : some;
  };
  return (await Promise.all(inParts(wanted, TOGETHER).map(ask))).flat();
}

async function tokensAllowed(database: ReadDatabase, { id }: Pick<Chain, 'id'>, block: number): Promise<number> {
  const [row] = await database.select<{ newest: number | null; recent: number }>(
    sql`SELECT (SELECT checkpoint FROM sync_chains WHERE chain_id = ${id}::bigint) AS newest,
       (SELECT count(*) FROM (SELECT FROM pool_lookups WHERE chain_id = ${id}::bigint AND looked_up_at > now() - interval '1 minute'
          LIMIT ${rawSql(PER_MINUTE_MAX)}) AS counted)::int AS recent`,
  );
  if (row === undefined || row.newest === null || row.newest - block > LOOKUP_BLOCKS_MAX) return 0;
  return Math.min(TOKENS_MAX, PER_MINUTE_MAX - row.recent);
}
