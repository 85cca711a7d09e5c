import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BenchNode, RequestCounts, ScratchDatabase, ScratchServer } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { API_KEY, addressOf } from '../api-servers.ts';
import type { BareCollectionsPlan, BareCollectionsReport } from '../bare/bare-collections.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { startProcess } from '../measured-process.ts';
import { withNode } from '../with-node.ts';

/** Collections that the worker reads at once. */
const AT_ONCE = 16;
/** The chain is only there to be called. */
const BLOCKS = 10;
const REQUESTS_AT_ONCE = 16;
const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 120_000;

interface MetadataRun {
  readonly collectionsPerSecond: number;
  /** Node calls for each collection. */
  readonly calls: number;
}

/** From the first time that collections are asked for: jobs, node calls, documents out of `data:` URIs, rows. */
export const collectionMetadata: Benchmark = {
  name: 'collection-metadata',
  title: 'First-time metadata of collections, against the node calls alone',
  run: ({ server, sizes, runs, say }) =>
    withNode(BLOCKS, { nftContracts: sizes.collections, faults: {} }, async (node) => {
      const { first, second } = await alternate(
        runs,
        { name: 'chainstead', run: () => runWorker(server, node) },
        { name: 'bare calls', run: () => runBareCalls(node) },
        say,
      );
      const calls = new Set([...first, ...second].map((run) => Math.round(run.calls)));
      if (calls.size !== 1)
        throw new BenchmarkError(
          `The sides made different numbers of calls for a collection: ${[...calls].join(', ')}`,
        );
      return {
        comparisons: [
          {
            name: 'first-time metadata',
            unit: 'collections/s',
            ours: first.map((run) => run.collectionsPerSecond),
            peer: second.map((run) => run.collectionsPerSecond),
          },
        ],
        measures: [],
        notes: [
          `${sizes.collections} collections, ${[...calls].join()} node calls each, ${AT_ONCE} collections at once on both sides; jobs wait in Postgres. Histories of the collections are turned off.`,
        ],
      };
    }),
};

/** The API leaves a job for each collection that is asked for; then a worker is started. */
async function runWorker(server: ScratchServer, node: BenchNode): Promise<MetadataRun> {
  const scratch = await server.createDatabase();
  const place = { databaseUrl: scratch.url, rpcUrls: [node.url] };
  const env = { ON_DEMAND_MAX_CALLS: '0', ON_DEMAND_PER_KEY: '1000000' };
  const api = startChainstead(['start', '--roles', 'api'], {
    ...place,
    env: { ...env, PORT: '0', API_KEYS: API_KEY, INDEX_WAIT_MS: '0' },
  });
  try {
    await askForAll(await addressOf(api), node.facts.collections);
    await node.resetCounters();
    const worker = startChainstead(['start', '--roles', 'worker'], { ...place, env });
    try {
      await allRead(scratch, node.facts.collections.length);
    } finally {
      await worker.stop();
    }
    return {
      collectionsPerSecond: await rateOf(scratch),
      calls: callsFor(await node.counters(), node),
    };
  } finally {
    await api.stop();
    await scratch.drop();
  }
}

/** Nothing is known yet, so every answer is 404 and leaves a job. */
async function askForAll(url: string, collections: readonly string[]): Promise<void> {
  const left = collections.values();
  const ask = async (): Promise<void> => {
    for (const collection of left) {
      const response = await fetch(`${url}/api/v2.2/nft/${collection}/metadata?chain=eth`, {
        headers: { 'x-api-key': API_KEY },
      });
      const text = await response.text();
      if (response.status !== 404) throw new BenchmarkError(`${collection} was answered ${response.status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, ask));
}

async function allRead({ database }: ScratchDatabase, count: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [row] = await database.query<{ known: number }>(
      `SELECT count(*) AS known FROM nft_collections WHERE status = 'known' AND error_code IS NULL AND project_url IS NOT NULL`,
    );
    if (row?.known === count) return;
    if (performance.now() > deadline) throw new BenchmarkError(`Only ${row?.known} of ${count} collections were read`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Between the first and the last that was read: starting the process does not count, as it does not on the other side. */
async function rateOf({ database }: ScratchDatabase): Promise<number> {
  const [row] = await database.query<{ rate: number }>(
    `SELECT ((count(*) - 1) / extract(epoch FROM max(synced_at) - min(synced_at)))::float8 AS rate FROM nft_collections`,
  );
  return row?.rate ?? Number.NaN;
}

async function runBareCalls(node: BenchNode): Promise<MetadataRun> {
  await node.resetCounters();
  const { collections } = node.facts;
  const plan: BareCollectionsPlan = { url: node.url, collections, atOnce: AT_ONCE };
  const script = startProcess({
    args: [fileURLToPath(new URL('../bare/bare-collections.ts', import.meta.url)), JSON.stringify(plan)],
    env: {},
  });
  const { seconds } = await script.line((line): BareCollectionsReport | undefined =>
    line.startsWith('{') ? JSON.parse(line) : undefined,
  );
  await script.finished();
  return { collectionsPerSecond: collections.length / seconds, calls: callsFor(await node.counters(), node) };
}

function callsFor({ calls }: RequestCounts, { facts }: BenchNode): number {
  return ((calls.eth_call ?? 0) + (calls.eth_getCode ?? 0)) / facts.collections.length;
}
