import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchNode, requestNode, startBenchNode } from '@chainstead/testkit';
import { addressOf } from '../api-servers.ts';
import { CHAIN_ID } from '../bench-chain.ts';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { quantile } from '../statistics.ts';

const QUIET_KEY = 'benchmark-quiet-key';
const LOUD_KEY = 'benchmark-loud-key';
const BLOCK_MS = 250;
const BLOCKS_BEFORE = 100;
/** Each part of a run has so many: the quiet one, and that of each kind of work. */
const BLOCKS = 60;
const TRANSACTIONS_PER_BLOCK = 20;
const REQUESTS_PER_BLOCK = 3;
const LOUD_STREAMS = 100;
/** The documented limit is 1,000 with the `or` around them. */
const FILTER_NODES = 999;
const LOUD_REQUESTS_AT_ONCE = 20;
const WEBHOOK_PATIENCE_MS = 60_000;
const TRANSFERS = {
  includeContractLogs: true,
  allAddresses: true,
  topic0: ['Transfer(address,address,uint256)'],
  abi: [
    {
      type: 'event',
      name: 'Transfer',
      inputs: [
        { name: 'from', type: 'address', indexed: true },
        { name: 'to', type: 'address', indexed: true },
        { name: 'value', type: 'uint256', indexed: false },
      ],
    },
  ],
};

/** Milliseconds: from the announcement of each block to its webhook, and of each request. */
interface QuietTimes {
  readonly webhooks: readonly number[];
  readonly requests: readonly number[];
}

interface Stage {
  readonly node: BenchNode;
  readonly url: string;
  /** Signs a transaction of each block. */
  readonly wallet: string;
  /** When the quiet key's webhook of each block arrived. */
  readonly arrivals: ReadonlyMap<number, number>;
  /** Receivers of the loud key; `answers` false: they take the webhook, and never answer. */
  readonly loud: { readonly urls: readonly string[]; answers: boolean };
  /** Blocks that the node still hides. */
  hidden: number;
}

/** Work of the loud key: what it sets up, then what it requests without a pause. */
interface LoudWork {
  readonly name: string;
  readonly begin?: (stage: Stage) => Promise<void>;
  readonly request?: (stage: Stage) => Promise<unknown>;
}

const LOUD_WORK: readonly LoudWork[] = [
  {
    name: 'requests for invented wallets',
    request: ({ url }) =>
      ask(url, 'GET', `/api/v2.2/wallets/0x${randomBytes(20).toString('hex')}/history?chain=eth`),
  },
  {
    name: 'large GraphQL results',
    request: ({ url }) =>
      ask(url, 'POST', '/graphql', {
        query: `{ ${Array.from({ length: 9 }, (_, at) => `a${at}: analytics_logs(chain: "eth", first: 1000) { nodes { data } }`).join(' ')} }`,
      }),
  },
  {
    name: 'previews of streams',
    request: ({ url }) => ask(url, 'POST', '/streams/evm/0x1/block/50', { tag: 'loud', ...TRANSFERS }),
  },
  {
    name: 'streams with long filters',
    begin: async (stage) => {
      const values = Array.from({ length: FILTER_NODES }, (_, at) => ({ eq: ['value', String(at)] }));
      await addStreams(stage, { advancedOptions: [{ topic0: TRANSFERS.topic0[0], filter: { or: values } }] });
    },
  },
  {
    name: 'receivers that never answer',
    begin: async (stage) => {
      await addStreams(stage, {});
      stage.loud.answers = false;
    },
  },
];

/** One key at its limits, and what another key notices of it. */
export const fairKeys: Benchmark = {
  name: 'fair-keys',
  title: 'Webhooks and requests of one key while another key works at its limits, against quiet times',
  async run({ server, runs, say }) {
    const quiet: QuietTimes[] = [];
    const busy = new Map<string, QuietTimes[]>(LOUD_WORK.map(({ name }) => [name, []]));
    for (let run = 1; run <= runs; run += 1) {
      say(`  run ${run} of ${runs}`);
      const scratch = await server.createDatabase();
      try {
        await withStage(scratch.url, async (stage) => {
          await timesOf(stage);
          quiet.push(await timesOf(stage));
          for (const work of LOUD_WORK) {
            say(`    ${work.name}`);
            busy.get(work.name)?.push(await timesDuring(stage, work));
          }
        });
      } finally {
        await scratch.drop();
      }
    }
    const medians = (times: readonly QuietTimes[], kind: keyof QuietTimes): number[] =>
      times.map((one) => quantile(one[kind], 0.5));
    return {
      comparisons: [...busy].flatMap(([name, times]) =>
        (['webhooks', 'requests'] as const).map(
          (kind): Comparison => ({
            name: `${kind} during ${name}, p50`,
            unit: 'ms',
            ours: medians(times, kind),
            peer: medians(quiet, kind),
            target: { atMost: 2 },
          }),
        ),
      ),
      measures: [],
      notes: [
        `A block of ${TRANSACTIONS_PER_BLOCK} transactions each ${BLOCK_MS} ms. A webhook's time begins with the announcement of its block. The loud key has ${LOUD_REQUESTS_AT_ONCE} requests open, or ${LOUD_STREAMS} streams.`,
        'The later works include the streams of the earlier ones.',
      ],
    };
  },
};

async function withStage(databaseUrl: string, work: (stage: Stage) => Promise<void>): Promise<void> {
  const hidden = BLOCKS * (LOUD_WORK.length + 2);
  const node = await startBenchNode({
    chainId: CHAIN_ID,
    blocks: BLOCKS_BEFORE + hidden,
    faults: { lagBlocks: hidden },
    transactionsPerBlock: TRANSACTIONS_PER_BLOCK,
    signers: TRANSACTIONS_PER_BLOCK,
  });
  const arrivals = new Map<number, number>();
  const quietReceiver = await listen((body) => {
    const { block } = JSON.parse(body) as { block?: { number?: string } };
    const number = Number(block?.number || Number.NaN);
    if (!arrivals.has(number)) arrivals.set(number, performance.now());
    return true;
  });
  const loud = { urls: [] as string[], answers: true };
  const loudReceivers = await Promise.all(Array.from({ length: LOUD_STREAMS }, () => listen(() => loud.answers)));
  loud.urls.push(...loudReceivers.map(urlOf));
  const program = startChainstead(['start'], {
    databaseUrl,
    rpcUrls: [node.url],
    env: {
      PORT: '0',
      API_KEYS: `${QUIET_KEY}:data+streams,${LOUD_KEY}:data+streams`,
      RATE_LIMIT: '0',
      GRAPHQL: 'true',
      LOGS_ETH: 'all',
      TRANSACTIONS_ETH: 'all',
      WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
      BLOCK_TIME_MS_ETH: String(BLOCK_MS),
    },
  });
  try {
    const { transactions } = (await requestNode(node.url, 'eth_getBlockByNumber', ['0x1', true])) as {
      transactions: { from: string }[];
    };
    const stage: Stage = {
      node,
      url: await addressOf(program),
      wallet: transactions[0]?.from ?? '',
      arrivals,
      loud,
      hidden,
    };
    const stream = {
      webhookUrl: urlOf(quietReceiver),
      description: 'quiet',
      tag: 'quiet',
      chainIds: ['0x1'],
      includeNativeTxs: true,
    };
    const { id } = JSON.parse(await ask(stage.url, 'PUT', '/streams/evm', stream, QUIET_KEY)) as { id: string };
    await ask(stage.url, 'POST', `/streams/evm/${id}/address`, { address: stage.wallet }, QUIET_KEY);
    await work(stage);
  } finally {
    await program.stop();
    for (const receiver of [quietReceiver, ...loudReceivers]) {
      receiver.closeAllConnections();
      receiver.close();
    }
    await node.stop();
  }
}

async function addStreams({ url, loud }: Stage, options: object): Promise<void> {
  for (const webhookUrl of loud.urls)
    await ask(url, 'PUT', '/streams/evm', {
      webhookUrl,
      description: 'loud',
      tag: 'loud',
      chainIds: ['0x1'],
      ...TRANSFERS,
      ...options,
    });
}

async function timesDuring(stage: Stage, { begin, request }: LoudWork): Promise<QuietTimes> {
  await begin?.(stage);
  let isOver = false;
  const loop = async (): Promise<void> => {
    while (!isOver && request !== undefined) await request(stage);
  };
  const loops = Array.from({ length: LOUD_REQUESTS_AT_ONCE }, loop);
  try {
    return await timesOf(stage);
  } finally {
    isOver = true;
    await Promise.all(loops);
  }
}

/** Lets the chain grow by {@link BLOCKS}, and waits for the webhook of each. */
async function timesOf(stage: Stage): Promise<QuietTimes> {
  const announced: [block: number, at: number][] = [];
  const requests: number[] = [];
  const first = stage.node.facts.head - stage.hidden + 1;
  for (let block = first; block < first + BLOCKS; block += 1) {
    const due = performance.now() + BLOCK_MS;
    stage.hidden -= 1;
    announced.push([block, performance.now()]);
    await stage.node.setFaults({ lagBlocks: stage.hidden });
    for (let at = 0; at < REQUESTS_PER_BLOCK; at += 1) {
      const before = performance.now();
      await ask(stage.url, 'GET', `/api/v2.2/${stage.wallet}?chain=eth&limit=5`, undefined, QUIET_KEY);
      requests.push(performance.now() - before);
    }
    await sleep(Math.max(0, due - performance.now()));
  }
  const deadline = performance.now() + WEBHOOK_PATIENCE_MS;
  const webhooks: number[] = [];
  for (const [block, at] of announced) {
    let arrived = stage.arrivals.get(block);
    while (arrived === undefined) {
      if (performance.now() > deadline) throw new BenchmarkError(`The webhook of block ${block} did not arrive`);
      await sleep(20);
      arrived = stage.arrivals.get(block);
    }
    webhooks.push(arrived - at);
  }
  return { webhooks, requests };
}

/** The loud key may be refused. Other keys must get a 200. */
async function ask(url: string, method: string, path: string, body?: unknown, key = LOUD_KEY): Promise<string> {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200 && key === QUIET_KEY)
    throw new BenchmarkError(`${path} gave ${response.status}: ${text}`);
  return text;
}

/** @param take returns whether the request is answered */
async function listen(take: (body: string) => boolean): Promise<Server> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (take(body)) response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
