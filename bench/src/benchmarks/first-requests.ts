import { setTimeout as sleep } from 'node:timers/promises';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress, parseHash, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes, type Database, hexText } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20';
import { saveReadings } from '@chainstead/erc20/testing';
import type { UpstreamPool } from '@chainstead/rpc';
import { createKeptSubjects, lockChainCommits } from '@chainstead/sync';
import { fillApiDataset } from '../api-dataset.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';

/** Who comes at once, and who one after the other. */
const WALLETS = { atOnce: 1_000, inTurn: 100 };
/** Of the filled table's wallets, the first of those that have some twenty rows each at full size. */
const FIRST_WALLET = 10_000;
/** Between the commits of a follower. */
const COMMIT_EVERY_MS = 50;
/** Questions that a worker answers at a time. */
const READ_AT_ONCE = 16;
const STATE = 'erc20-wallet-tokens';

/** What the first request for a wallet has counted, and what contracts say kept, while a follower commits. */
export const firstRequests: Benchmark = {
  name: 'first-requests',
  title: 'Wallets that are asked about for the first time, a thousand at once, against one after the other',
  run: async ({ server, sizes, runs, say }) => {
    const scratch = await server.createDatabase();
    try {
      const rows = Math.floor(sizes.apiRows / 5);
      say(`  filling ${rows} rows of transfers`);
      const { database } = scratch;
      await fillApiDataset(database, { rows, whaleRows: Math.floor(sizes.apiWhaleRows / 5), rareRows: 3 });
      await keepState(database);
      const chain = createChainRegistry().get(CHAIN_ID);
      const atOnce: Counted[] = [];
      const inTurn: Counted[] = [];
      const readAtOnce: Kept[] = [];
      const readInTurn: Kept[] = [];
      for (let run = 0; run < runs; run++) {
        const first = FIRST_WALLET + run * (WALLETS.atOnce + WALLETS.inTurn);
        const crowd = await walletsFrom(database, first, WALLETS.atOnce);
        const others = await walletsFrom(database, first + WALLETS.atOnce, WALLETS.inTurn);
        say(`  run ${run + 1}: ${crowd.length} wallets at once, ${others.length} one after the other`);
        atOnce.push(await countAtOnce(database, chain, crowd));
        inTurn.push(await countInTurn(database, chain, others));
        readAtOnce.push(await keepReadings(database, chain, crowd, READ_AT_ONCE));
        readInTurn.push(await keepReadings(database, chain, others, 1));
      }
      const longestWait = (name: string, counted: readonly Counted[]) => ({
        name: `longest wait of a commit beside wallets ${name}`,
        unit: 'ms',
        samples: counted.map(({ longestWaitMs }) => longestWaitMs),
      });
      return {
        comparisons: [
          {
            name: 'first requests',
            unit: 'wallets/s',
            ours: atOnce.map(({ walletsPerSecond }) => walletsPerSecond),
            peer: inTurn.map(({ walletsPerSecond }) => walletsPerSecond),
            target: { atLeast: 5 },
          },
          {
            name: 'readings kept',
            unit: 'wallets/s',
            ours: readAtOnce.map(({ walletsPerSecond }) => walletsPerSecond),
            peer: readInTurn.map(({ walletsPerSecond }) => walletsPerSecond),
            target: { atLeast: 5 },
          },
        ],
        measures: [
          longestWait('at once', atOnce),
          longestWait('one after the other', inTurn),
          {
            name: `wallets whose readings share the lock, ${READ_AT_ONCE} at once`,
            unit: 'wallets',
            samples: readAtOnce.map(({ walletsPerLock }) => walletsPerLock),
          },
        ],
        notes: [
          'Here the peer is Chainstead itself, asked about one wallet after the other.',
          `A commit takes the chain's lock every ${COMMIT_EVERY_MS} ms. Commits have half of the time to themselves.`,
          `Readings are of all tokens that a wallet moved, kept ${READ_AT_ONCE} wallets at a time, as a worker answers questions, or one at a time.`,
        ],
      };
    } finally {
      await scratch.drop();
    }
  },
};

/** As the program does when it starts. */
async function keepState(database: Database): Promise<void> {
  await database.query(
    `INSERT INTO derived_states (chain_id, state, dataset, version, status, position) VALUES ($1, $2, $3, $4, 'built', 0)`,
    [CHAIN_ID, STATE, erc20Transfers.name, stateOf().version],
  );
}

function stateOf() {
  const state = erc20Transfers.kept?.find(({ name }) => name === STATE);
  if (state === undefined) throw new BenchmarkError(`${erc20Transfers.name} has no state ${STATE}`);
  return state;
}

async function walletsFrom(database: Database, first: number, count: number): Promise<readonly Address[]> {
  const rows = await database.query<{ wallet: Address }>(
    `SELECT '0x' || encode(substr(sha256(('wallet ' || number)::bytea), 1, 20), 'hex') AS wallet FROM generate_series($1::int, $2::int) AS number`,
    [first, first + count - 1],
  );
  return rows.map(({ wallet }) => wallet);
}

interface Counted {
  readonly walletsPerSecond: number;
  readonly longestWaitMs: number;
}

type Keep = (wallet: Address) => Promise<void>;

function countAtOnce(database: Database, chain: Chain, wallets: readonly Address[]): Promise<Counted> {
  return count(database, chain, wallets, async (keep) => {
    await Promise.all(wallets.map(keep));
  });
}

function countInTurn(database: Database, chain: Chain, wallets: readonly Address[]): Promise<Counted> {
  return count(database, chain, wallets, async (keep) => {
    for (const wallet of wallets) await keep(wallet);
  });
}

async function count(
  database: Database,
  chain: Chain,
  wallets: readonly Address[],
  work: (keep: Keep) => Promise<void>,
): Promise<Counted> {
  const kept = createKeptSubjects(database);
  const of = { dataset: erc20Transfers, state: stateOf() };
  const ended = new AbortController();
  const waits = commitBeside(database, chain, ended.signal);
  const started = performance.now();
  try {
    await work(async (wallet) => {
      const progress = await kept.keep(chain, of, wallet, 120_000);
      if (progress !== 'built') throw new BenchmarkError(`What ${wallet} holds is not counted: ${progress}`);
    });
  } finally {
    ended.abort();
  }
  const walletsPerSecond = (1_000 * wallets.length) / (performance.now() - started);
  return { walletsPerSecond, longestWaitMs: Math.max(...(await waits)) };
}

interface Kept {
  readonly walletsPerSecond: number;
  readonly walletsPerLock: number;
}

/** As if contracts had said what transfers add up to. */
async function keepReadings(
  database: Database,
  chain: Chain,
  wallets: readonly Address[],
  atOnce: number,
): Promise<Kept> {
  const readings = await readingsOf(database, chain, wallets);
  let locks = 0;
  const counting: Database = {
    ...database,
    transaction(work) {
      locks++;
      return database.transaction(work);
    },
  };
  // Nobody is asked: what contracts say is here.
  const pool = {} as UpstreamPool;
  const context = { chain, pool, database: counting, clock: systemClock, logger: silentLogger() };
  const left = readings.values();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const one of left) {
        const disputed = await saveReadings(context, one);
        if (disputed.length > 0) throw new BenchmarkError(`What ${one.wallet} holds is not believed`);
      }
    }),
  );
  const walletsPerSecond = (1_000 * readings.length) / (performance.now() - started);
  return { walletsPerSecond, walletsPerLock: readings.length / locks };
}

async function readingsOf(
  database: Database,
  chain: Chain,
  wallets: readonly Address[],
): Promise<readonly Parameters<typeof saveReadings>[1][]> {
  const [block] = await database.query<{ number: number; hash: string }>(
    `SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = $1 ORDER BY block_number DESC LIMIT 1`,
    [chain.id],
  );
  if (block === undefined) throw new BenchmarkError('The filled table has no block');
  const rows = await database.query<{ wallet: string; token: string; total: string }>(
    `SELECT ${hexText('wallet')} AS wallet, ${hexText('token')} AS token, abs(total)::text AS total FROM erc20_wallet_tokens
     WHERE chain_id = $1 AND wallet = ANY ($2::bytea[])`,
    [chain.id, wallets.map(addressBytes)],
  );
  return [...Map.groupBy(rows, ({ wallet }) => wallet)].map(([wallet, held]) => ({
    wallet: parseAddress(wallet),
    block: { number: block.number, hash: parseHash(block.hash), timestamp: 0 },
    first: new Map(held.map(({ token, total }) => [parseAddress(token), BigInt(total)])),
    second: null,
    silent: new Set<Address>(),
  }));
}

/** Commits that only take the chain's lock. @returns how long each waited for it, milliseconds */
async function commitBeside(database: Database, chain: Chain, signal: AbortSignal): Promise<readonly number[]> {
  const waits: number[] = [];
  while (!signal.aborted) {
    await database.transaction(async (transaction) => {
      const before = performance.now();
      await lockChainCommits(transaction, chain);
      waits.push(performance.now() - before);
    });
    await sleep(COMMIT_EVERY_MS);
  }
  return waits;
}
