import { type Address, ChainsteadError, errorText } from '@chainstead/core';
import { addressBytes, hexBytes, hexText, sql } from '@chainstead/db';
import { type StateReader, type StateReadingContext, stateAt } from '@chainstead/node-reads';
import { knownBlock, type StateBlock, StateUnavailableError } from '@chainstead/node-reads/requests';
import { readBlockRuns } from '@chainstead/pages';
import { tokenFactsReader } from '@chainstead/tokens';
import { exchangesOf } from '../exchanges/custom-exchanges.ts';
import { poolKey } from '../pools/pool-key.ts';
import type { ProofContext } from '../proofs/pool-verdict.ts';
import { provePools } from '../proofs/prove-pools.ts';
import { type FoundPool, findPools } from './find-pools.ts';
import { RESULT_BYTES_MAX, readStandingStates } from './look-back.ts';
import { POOL_LOOKUPS, type PoolLookupQuestion } from './request-lookups.ts';
import { saveLookup } from './save-lookups.ts';

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
