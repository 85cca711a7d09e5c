import { fileURLToPath } from 'node:url';
import type { Address } from '@chainstead/core';
import autocannon from 'autocannon';
import { alternate } from '../alternate.ts';
import { type ApiDataset, fillApiDataset } from '../api-dataset.ts';
import type { BareRoutePlan } from '../bare/bare-route.ts';
import type { Benchmark, BenchmarkContext, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { captureStatement } from '../captured-statement.ts';
import { startChainstead } from '../chainstead-program.ts';
import { type MeasuredProcess, startProcess } from '../measured-process.ts';
import { quantile } from '../statistics.ts';

const API_KEY = 'benchmark-key';
/** The program's default. */
const POOL_SIZE = 10;
const CONNECTIONS = 20;
const DEEP_PAGE = 1_000;
const RARE_ROWS = 3;
const PAGE_SIZE = 100;

/** Pages of wallets from the program's API against a bare route; deep pages and a rare token against first pages. */
export const api: Benchmark = {
  name: 'api',
  title: 'Pages of 100 transfers against a bare Hono route with the same SQL',
  async run(context) {
    const scratch = await context.server.createDatabase();
    try {
      context.say(`  filling ${context.sizes.apiRows} rows`);
      const { apiRows: rows, apiWhaleRows: whaleRows } = context.sizes;
      const dataset = await fillApiDataset(scratch.database, { rows, whaleRows, rareRows: RARE_ROWS });
      const program = startChainstead(['start', '--roles', 'api'], {
        databaseUrl: scratch.url,
        rpcUrls: ['http://127.0.0.1:9'],
        env: { PORT: '0', API_KEYS: API_KEY },
      });
      const bare = await startBareRoute(scratch.url, dataset);
      try {
        const url = await addressOf(program);
        const bareUrl = await addressOf(bare);
        return {
          comparisons: [
            await compareThroughput(context, dataset, url, bareUrl),
            await comparePages(context, dataset, url),
            await compareRareToken(context, dataset, url),
          ],
          measures: [],
          notes: [
            `${dataset.rows} rows; ${dataset.busyWallets.length} busy wallets; the huge wallet has ${dataset.whaleRows}.`,
            `${CONNECTIONS} connections, ${POOL_SIZE} database connections on each side; key check on in ours.`,
          ],
        };
      } finally {
        await Promise.all([program.stop(), bare.stop()]);
      }
    } finally {
      await scratch.drop();
    }
  },
};

async function startBareRoute(databaseUrl: string, dataset: ApiDataset): Promise<MeasuredProcess> {
  const statement = await captureStatement(pathOf(dataset.whale));
  const [account, ...otherValues] = statement.values;
  if (!Buffer.isBuffer(account)) throw new BenchmarkError('The first value of the statement is not the wallet');
  const plan: BareRoutePlan = {
    databaseUrl,
    poolSize: POOL_SIZE,
    text: statement.text,
    otherValues: otherValues as BareRoutePlan['otherValues'],
  };
  const program = fileURLToPath(new URL('../bare/bare-route.ts', import.meta.url));
  return startProcess({ args: [program, JSON.stringify(plan)], env: {} });
}

function addressOf(program: MeasuredProcess): Promise<string> {
  return program.line((line) => (/Listening/.test(line) ? /http:\/\/[\d.]+:\d+/.exec(line)?.[0] : undefined));
}

function pathOf(wallet: Address): string {
  return `/api/v2.2/${wallet}/erc20/transfers?chain=eth&limit=${PAGE_SIZE}`;
}

async function compareThroughput(
  { runs, sizes, say }: BenchmarkContext,
  { busyWallets }: ApiDataset,
  url: string,
  bareUrl: string,
): Promise<Comparison> {
  const paths = busyWallets.map(pathOf);
  // Both servers and the table's pages are warm before anything counts.
  await load(url, paths, 1);
  await load(bareUrl, paths, 1);
  const { first, second } = await alternate(
    runs,
    { name: 'chainstead', run: () => load(url, paths, sizes.loadSeconds) },
    { name: 'bare route', run: () => load(bareUrl, paths, sizes.loadSeconds) },
    say,
  );
  return { name: 'pages of busy wallets', unit: 'requests/s', ours: first, peer: second, target: { atLeast: 0.7 } };
}

/** @returns requests answered a second */
async function load(url: string, paths: readonly string[], seconds: number): Promise<number> {
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { 'x-api-key': API_KEY },
    requests: paths.map((path) => ({ method: 'GET', path })),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new BenchmarkError(`${result.non2xx} requests were refused and ${result.errors} failed at ${url}`);
  return result['2xx'] / result.duration;
}

async function comparePages(context: BenchmarkContext, dataset: ApiDataset, url: string): Promise<Comparison> {
  const first = `${url}${pathOf(dataset.whale)}`;
  let deep = first;
  for (let page = 2; page <= DEEP_PAGE; page++) {
    const { cursor } = await readPage(deep);
    if (cursor === null) throw new BenchmarkError(`The huge wallet has only ${page - 1} pages`);
    deep = `${first}&cursor=${encodeURIComponent(cursor)}`;
  }
  return compareLatency(context, `page ${DEEP_PAGE} beside page 1`, { url: deep, rows: PAGE_SIZE }, first, 1.2);
}

function compareRareToken(context: BenchmarkContext, dataset: ApiDataset, url: string): Promise<Comparison> {
  const first = `${url}${pathOf(dataset.whale)}`;
  const rare = { url: `${first}&contract_addresses%5B0%5D=${dataset.rareToken}`, rows: RARE_ROWS };
  return compareLatency(context, 'rare token beside an unfiltered page', rare, first, 2);
}

/** Medians of requests one after the other, the two kinds in turn. */
async function compareLatency(
  { runs, sizes }: BenchmarkContext,
  name: string,
  asked: { readonly url: string; readonly rows: number },
  reference: string,
  atMost: number,
): Promise<Comparison> {
  const ours: number[] = [];
  const peer: number[] = [];
  for (let run = 0; run < runs; run++) {
    const times = { asked: [] as number[], reference: [] as number[] };
    for (let request = 0; request < sizes.latencyRequests; request++) {
      times.asked.push(await timePage(asked.url, asked.rows));
      times.reference.push(await timePage(reference, PAGE_SIZE));
    }
    ours.push(quantile(times.asked, 0.5));
    peer.push(quantile(times.reference, 0.5));
  }
  return { name: `${name}, p50`, unit: 'ms', ours, peer, target: { atMost } };
}

async function timePage(url: string, rows: number): Promise<number> {
  const before = performance.now();
  const { result } = await readPage(url);
  const took = performance.now() - before;
  if (result.length !== rows) throw new BenchmarkError(`${url} gave ${result.length} rows instead of ${rows}`);
  return took;
}

async function readPage(url: string): Promise<{ cursor: string | null; result: unknown[] }> {
  const response = await fetch(url, { headers: { 'x-api-key': API_KEY } });
  if (!response.ok) throw new BenchmarkError(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { cursor: string | null; result: unknown[] };
}
