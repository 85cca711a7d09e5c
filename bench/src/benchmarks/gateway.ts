import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { TRANSFER_TOPIC } from '@chainstead/testkit';
import autocannon from 'autocannon';
import { alternate } from '../alternate.ts';
import { API_KEY, addressOf } from '../api-servers.ts';
import type { BareProxyPlan } from '../bare/bare-proxy.ts';
import type { RpcUpstreamPlan } from '../bare/rpc-upstream.ts';
import type { Benchmark, BenchmarkContext, Comparison, Measure, Target } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { type MeasuredProcess, startProcess } from '../measured-process.ts';
import { withNginx } from '../nginx-proxy.ts';
import { quantile } from '../statistics.ts';

const CONNECTIONS = 50;
const CHAIN: RpcUpstreamPlan = { chainId: 1, blocks: 200 };
const OPEN_REQUESTS = 10_000;
const MEGABYTE = 1_048_576;

/** A body for each connection: identical calls under way at the same time would go out once. */
type Bodies = (connection: number) => string;

/** What a block of this number says is final: kept. */
const CACHED: Bodies = (connection) => bodyOf('eth_getBalance', [walletOf(connection), '0x1']);
/** What is pending is never kept. */
const UNCACHED: Bodies = (connection) => bodyOf('eth_getBalance', [walletOf(connection), 'pending']);
/** About 80 transfers of the newest block; each connection also names a topic that does not occur. */
const UNCACHED_LARGE: Bodies = (connection) =>
  bodyOf('eth_getLogs', [
    {
      fromBlock: `0x${CHAIN.blocks.toString(16)}`,
      toBlock: 'pending',
      topics: [[TRANSFER_TOPIC, `0x${connection.toString(16).padStart(64, '0')}`]],
    },
  ]);

/** Calls through the gateway, compared with nginx and with the smallest program that passes them on. */
export const gateway: Benchmark = {
  name: 'gateway',
  title: 'JSON-RPC calls through the gateway against a bare undici proxy and nginx, one upstream',
  async run(context) {
    const scratch = await context.server.createDatabase();
    const upstream = startBare('rpc-upstream.ts', CHAIN);
    try {
      const upstreamUrl = await addressOf(upstream);
      const proxy = startBare('bare-proxy.ts', {
        upstream: upstreamUrl,
        connections: CONNECTIONS,
      } satisfies BareProxyPlan);
      const program = startChainstead(['start', '--roles', 'api'], {
        databaseUrl: scratch.url,
        rpcUrls: [upstreamUrl],
        // Each open request has a separate connection. The default closes connections above 2,000.
        env: { PORT: '0', API_KEYS: API_KEY, CONNECTIONS_MAX: String(2 * OPEN_REQUESTS) },
      });
      try {
        const urls = {
          upstream: `${upstreamUrl}/`,
          proxy: `${await addressOf(proxy)}/`,
          gateway: `${await addressOf(program)}/eth/${API_KEY}`,
        };
        return await withNginx(upstreamUrl, (nginx) => compare(context, { ...urls, nginx }, program));
      } finally {
        await Promise.all([program.stop(), proxy.stop()]);
      }
    } finally {
      await upstream.stop();
      await scratch.drop();
    }
  },
};

interface Urls {
  readonly upstream: string;
  readonly proxy: string;
  readonly nginx: string;
  readonly gateway: string;
}

async function compare(context: BenchmarkContext, urls: Urls, program: MeasuredProcess) {
  const direct = await compareLoads(context, {
    name: 'upstream without proxy compared with nginx (share of nginx in the result)',
    ours: [urls.upstream, CACHED],
    peer: [urls.nginx, CACHED],
    target: { atLeast: 1.5 },
  });
  const cached = await compareLoads(context, {
    name: 'cached calls compared with nginx',
    ours: [urls.gateway, CACHED],
    peer: [urls.nginx, CACHED],
    target: { atLeast: 1.3 },
  });
  const uncached = await compareLoads(context, {
    name: 'uncached calls compared with a bare undici proxy',
    ours: [urls.gateway, UNCACHED],
    peer: [urls.proxy, UNCACHED],
    target: { atLeast: 0.75 },
  });
  const large = await compareLoads(context, {
    name: 'logs of a block (about 50 kB), uncached, compared with a bare undici proxy',
    ours: [urls.gateway, UNCACHED_LARGE],
    peer: [urls.proxy, UNCACHED_LARGE],
  });
  const delay = await addedDelay(context, urls);
  const memory = await memoryUnderLoad(context, urls, program);
  return {
    comparisons: [direct, cached, uncached, large],
    measures: [delay, memory],
    notes: [
      `${CONNECTIONS} connections, load by autocannon on the same machine; key check on in ours.`,
      'The added delay is the median of single requests through the gateway less that through the bare proxy, asked in turn.',
    ],
  };
}

interface Loads {
  readonly name: string;
  readonly ours: readonly [string, Bodies];
  readonly peer: readonly [string, Bodies];
  readonly target?: Target;
}

async function compareLoads({ runs, sizes, say }: BenchmarkContext, loads: Loads): Promise<Comparison> {
  const { name, target } = loads;
  await load(loads.ours, 2);
  await load(loads.peer, 2);
  const { first, second } = await alternate(
    runs,
    { name, run: () => load(loads.ours, sizes.loadSeconds) },
    { name: `${name}: the peer`, run: () => load(loads.peer, sizes.loadSeconds) },
    say,
  );
  return { name, unit: 'requests/s', ours: first, peer: second, ...(target === undefined ? {} : { target }) };
}

/** @returns requests answered a second */
async function load([url, bodies]: readonly [string, Bodies], seconds: number): Promise<number> {
  let connection = 0;
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    setupClient: (client) => client.setBody(bodies(connection++)),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new BenchmarkError(`${result.non2xx} requests were refused and ${result.errors} failed at ${url}`);
  return result['2xx'] / result.duration;
}

/** Milliseconds at the median, one request after the other. */
async function addedDelay(
  { runs, sizes }: BenchmarkContext,
  urls: Urls,
): Promise<Measure & { readonly target: Target }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const samples: number[] = [];
  for (let run = 0; run < runs; run++) {
    const times = { gateway: [] as number[], proxy: [] as number[] };
    for (let one = 0; one < sizes.latencyRequests; one++) {
      times.gateway.push(await timeCall(agent, urls.gateway));
      times.proxy.push(await timeCall(agent, urls.proxy));
    }
    samples.push(quantile(times.gateway, 0.5) - quantile(times.proxy, 0.5));
  }
  agent.destroy();
  return { name: 'added delay over the bare proxy, p50', unit: 'ms', samples, target: { atMost: 1 } };
}

async function timeCall(agent: Agent, url: string): Promise<number> {
  const before = performance.now();
  const answer = await post(agent, url, UNCACHED(0));
  const took = performance.now() - before;
  if (!answer.includes('"result"')) throw new BenchmarkError(`${url} answered ${answer.slice(0, 300)}`);
  return took;
}

/** Peak memory of the API process while so many requests wait for an upstream that does not answer; all are answered later. */
async function memoryUnderLoad(
  { say }: BenchmarkContext,
  urls: Urls,
  program: MeasuredProcess,
): Promise<Measure & { readonly target: Target }> {
  say(`  ${OPEN_REQUESTS} open requests`);
  const agent = new Agent({ keepAlive: false, maxSockets: OPEN_REQUESTS });
  await post(agent, `${urls.upstream}hold`, '');
  // The same call would go out once for all of them.
  const open = Array.from({ length: OPEN_REQUESTS }, (_, index) => post(agent, urls.gateway, UNCACHED(index)));
  const answers = Promise.all(open);
  // A request that fails during the wait is thrown below, at the await of the responses.
  answers.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const peak = Math.max(...program.memory.slice(-20).map(({ bytes }) => bytes));
  await post(agent, `${urls.upstream}release`, '');
  const unanswered = (await answers).filter((answer) => !answer.startsWith('{"jsonrpc":"2.0","id":1,'));
  agent.destroy();
  if (unanswered.length > 0)
    throw new BenchmarkError(
      `${unanswered.length} open requests were not answered: ${unanswered[0]?.slice(0, 300)}`,
    );
  const name = `memory with ${OPEN_REQUESTS.toLocaleString('en-US')} open requests`;
  return { name, unit: 'MB', samples: [peak / MEGABYTE], target: { atMost: 500 } };
}

function post(agent: Agent, url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => resolve(Buffer.concat(chunks).toString()));
        answer.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function walletOf(index: number): string {
  return `0x${index.toString(16).padStart(40, '0')}`;
}

function bodyOf(method: string, params: readonly unknown[]): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function startBare(file: string, plan: object): MeasuredProcess {
  const program = fileURLToPath(new URL(`../bare/${file}`, import.meta.url));
  return startProcess({ args: [program, JSON.stringify(plan)], env: {} });
}
