import { setTimeout as sleep } from 'node:timers/promises';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { erc20Transfers } from '@chainstead/erc20';
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
const STATE = 'erc20-wallet-tokens';

/** What the first request for a wallet has counted, while a follower commits. */
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
      for (let run = 0; run < runs; run++) {
        const first = FIRST_WALLET + run * (WALLETS.atOnce + WALLETS.inTurn);
        const crowd = await walletsFrom(database, first, WALLETS.atOnce);
        const others = await walletsFrom(database, first + WALLETS.atOnce, WALLETS.inTurn);
        say(`  run ${run + 1}: ${crowd.length} wallets at once, ${others.length} one after the other`);
        atOnce.push(await countAtOnce(database, chain, crowd));
        inTurn.push(await countInTurn(database, chain, others));
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
        ],
        measures: [longestWait('at once', atOnce), longestWait('one after the other', inTurn)],
        notes: [
          'Here the peer is Chainstead itself, asked about one wallet after the other.',
          `A commit takes the chain's lock every ${COMMIT_EVERY_MS} ms. Commits have half of the time to themselves.`,
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
