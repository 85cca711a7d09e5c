import type { Chain } from '@chainstead/chains';
import { type Address, ChainsteadError, errorText, inParts, type Logger, parseAddress } from '@chainstead/core';
import {
  addressBytes,
  type Database,
  hexBytes,
  hexText,
  type ReadDatabase,
  rawSql,
  sql,
  type Transaction,
} from '@chainstead/db';
import { type StateKind, type StateReader, type StateReadingContext, stateAt } from '@chainstead/node-reads';
import {
  knownBlock,
  type NodeReadQueue,
  SILENCE_MS,
  type StateBlock,
  StateUnavailableError,
  unlessUnavailable,
} from '@chainstead/node-reads/requests';
import { readBlockRuns } from '@chainstead/pages';
import { underCommitLock } from '@chainstead/sync/commit-retry';
import { tokenFactsReader } from '@chainstead/tokens';
import { z } from '@hono/zod-openapi';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import type { ProvenPool } from '../exchanges/prove-pool.ts';
import { poolKey } from '../pools/pool-creation.ts';
import type { ProofContext } from '../proofs/pool-proof-steps.ts';
import { storeFoundPool } from '../proofs/pool-rows.ts';
import { provePools } from '../proofs/prove-pools.ts';
import { type FoundPool, findPools } from './find-pools.ts';
import { RESULT_BYTES_MAX, readStandingStates, type StandingReading } from './look-back.ts';

const address = z.string().transform((text): Address => parseAddress(text));

const POOL_LOOKUPS: StateKind<PoolLookupQuestion, { readonly pools: number }> = {
  name: 'pool-lookups',
  question: z.object({ tokens: z.array(address).min(1), block: z.int() }),
  answer: z.object({ pools: z.int() }),
  callsOf: ({ tokens }) => tokens.length,
  failsAlike: () => '',
};

export const poolLookupsReader: StateReader<PoolLookupQuestion, { readonly pools: number }> = {
  kind: POOL_LOOKUPS,
  async read(context, { tokens, block: number }, signal) {
    const { chain, pool: upstreams, database } = context;
    const block = await knownBlock(database, chain, number);
    if (block === null) throw new StateUnavailableError(`Block ${number} of ${chain.name} is not indexed`);
    const exchanges = exchangesOf(chain);
    const state = stateAt(upstreams, chain, block, { answerBytesMax: RESULT_BYTES_MAX });
    const found = await findPools(tokens, { chain, exchanges, state }, signal);
    const run = (await readBlockRuns(database, chain.id, [STATES_DATASET], number)).get(STATES_DATASET);
    const place = { block, runStart: run?.firstBlock ?? number };
    const [pools, readings] = await Promise.all([
      proveFound(found, { chain, upstreams, exchanges, block }, signal),
      readStandingStates(await withoutReading(context, place, found), context, place, signal),
      readDecimals(context, found, signal),
    ]);
    await saveLookup(database, chain, { tokens, block, pools, readings });
    return { pools: pools.length };
  },
};

async function proveFound(found: readonly FoundPool[], context: ProofContext, signal: AbortSignal) {
  const verdicts = await provePools(found, context, signal);
  return verdicts.flatMap((verdict) => {
    if (verdict.verdict === 'unread') throw verdict.reason;
    return verdict.verdict === 'proven' ? [verdict.proven] : [];
  });
}

async function withoutReading(
  { database, chain }: StateReadingContext,
  { block, runStart }: { readonly block: StateBlock; readonly runStart: number },
  pools: readonly FoundPool[],
): Promise<readonly FoundPool[]> {
  if (pools.length === 0) return [];
  const rows = await database.query<{ pool: string }>(
    sql`SELECT ${hexText('pool')} AS pool FROM pool_readings WHERE pool_key = ANY (${pools.map(({ pool }) => poolKey(pool))}::bigint[]) AND chain_id = ${chain.id} AND pool = ANY (${pools.map(({ pool }) => hexBytes(pool))}::bytea[])
     AND block_number BETWEEN ${runStart - 1} AND ${block.number}`,
  );
  const read = new Set(rows.map(({ pool }) => pool));
  return pools.filter(({ pool }) => !read.has(pool));
}

const STATES_DATASET = 'pool-states';

/** A price needs decimals, and transfers may not have shown the tokens yet. */
async function readDecimals(context: StateReadingContext, pools: readonly FoundPool[], signal: AbortSignal) {
  const { database, chain, logger } = context;
  const tokens = [...new Set(pools.flatMap((pool) => pool.tokens))];
  const rows = await database.query<{ token: Address }>(
    sql`SELECT ${hexText('address')} AS token FROM tokens WHERE chain_id = ${chain.id} AND address = ANY (${tokens.map(addressBytes)}::bytea[]) AND facts_status = 'known'`,
  );
  const known = new Set(rows.map(({ token }) => token));
  const items = tokens.filter((token) => !known.has(token));
  if (items.length === 0) return;
  try {
    await tokenFactsReader.read(context, { items }, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof ChainsteadError)) throw error;
    logger.debug({ chain: chain.key, error: errorText(error) }, 'Could not read the decimals of tokens');
  }
}

interface PoolLookup {
  readonly tokens: readonly Address[];
  readonly block: StateBlock;
  readonly pools: readonly ProvenPool[];
  readonly readings: readonly StandingReading[];
}

const LOOKUP_MAX_AGE_SECONDS = 86_400;

/** The lock keeps the block canonical. @throws StateUnavailableError if a reorg removed it */
async function saveLookup(database: Database, chain: Chain, lookup: PoolLookup): Promise<void> {
  const { tokens, block, pools, readings } = lookup;
  await underCommitLock(database, chain, async (transaction) => {
    const known = await transaction.query(
      sql`SELECT FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)}`,
    );
    if (known.length === 0)
      throw new StateUnavailableError(`Block ${block.number} was reorganized away while pools were read at it`);
    const proven = await provenPools(transaction, chain, pools);
    for (const pool of pools)
      if (!proven.has(pool.pool)) await storeFoundPool(transaction, chain, pool, block.number);
    const found = new Set<string>(pools.map(({ pool }) => pool));
    const ofPools = readings.filter(({ pool }) => found.has(pool));
    await addReadings(transaction, chain, ofPools);
    await transaction.query(
      sql`INSERT INTO pool_lookups (token, chain_id, block_number) SELECT token, ${chain.id}, ${block.number} FROM unnest(${tokens.map(addressBytes)}::bytea[]) AS given (token) ORDER BY token
       ON CONFLICT (token, chain_id) DO UPDATE SET block_number = excluded.block_number, looked_up_at = now()`,
    );
    await transaction.query(
      sql`DELETE FROM pool_lookups WHERE chain_id = ${chain.id} AND looked_up_at < now() - make_interval(secs => ${LOOKUP_MAX_AGE_SECONDS})`,
    );
  });
}

async function provenPools(transaction: Transaction, { id }: Pick<Chain, 'id'>, pools: readonly ProvenPool[]) {
  const rows = await transaction.query<{ pool: string }>(
    sql`SELECT ${hexText('pool')} AS pool FROM pools WHERE pool_key = ANY (${pools.map(({ pool }) => poolKey(pool))}::bigint[]) AND chain_id = ${id} AND pool = ANY (${pools.map(({ pool }) => hexBytes(pool))}::bytea[])
     AND status = 'proven'`,
  );
  return new Set(rows.map(({ pool }) => pool));
}

async function addReadings(
  transaction: Transaction,
  { id }: Pick<Chain, 'id'>,
  readings: readonly StandingReading[],
) {
  const columns = readings.map(({ pool, state, block, stoodSince }) => {
    const [reserves, price] = state.of === 'reserves' ? [state, null] : [null, state];
    return {
      ...{ key: poolKey(pool), pool: hexBytes(pool), block, stoodSince, tick: price?.tick ?? null },
      ...{ reserve0: textOf(reserves?.reserve0), reserve1: textOf(reserves?.reserve1) },
      ...{ price: textOf(price?.sqrtPriceX96), liquidity: textOf(price?.liquidity) },
    };
  });
  await transaction.query(
    sql`INSERT INTO pool_readings (pool_key, chain_id, block_number, stood_since, tick, pool, reserve0, reserve1, sqrt_price_x96, liquidity)
     SELECT pool_key, ${id}, block, stood_since, tick, pool, reserve0, reserve1, price, liquidity
     FROM unnest(${columns.map(({ key }) => key)}::bigint[], ${columns.map(({ pool }) => pool)}::bytea[], ${columns.map(({ block }) => block)}::int[],
         ${columns.map(({ stoodSince }) => stoodSince)}::bigint[], ${columns.map(({ tick }) => tick)}::int[],
         ${columns.map(({ reserve0 }) => reserve0)}::numeric[], ${columns.map(({ reserve1 }) => reserve1)}::numeric[],
         ${columns.map(({ price }) => price)}::numeric[], ${columns.map(({ liquidity }) => liquidity)}::numeric[])
       AS given (pool_key, pool, block, stood_since, tick, reserve0, reserve1, price, liquidity)
     ON CONFLICT (pool_key, chain_id, block_number, pool) DO NOTHING`,
  );
}

function textOf(value: bigint | undefined): string | null {
  return value === undefined ? null : value.toString();
}

interface PoolLookupQuestion {
  readonly tokens: readonly Address[];
  readonly block: number;
}

interface PoolLookupSources {
  readonly database: ReadDatabase;
  readonly nodeReads: NodeReadQueue;
  readonly logger: Logger;
}

interface LookupPlace {
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
