/** The process of {@link WorldPlan}. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { keccak256Hex } from '@chainstead/core';
import { createLiveChain, createSeededRandom, type LiveChain, serveLiveChain } from '@chainstead/testkit';
import { factsOf, type NodeLog } from './block-facts.ts';
import { createWebhookBook, type WebhookOutcome } from './webhook-book.ts';
import type {
  Look,
  LookOrder,
  MissingOrder,
  PaceOrder,
  WatchOrder,
  WorldPlan,
  WorldReport,
  WorldWindow,
} from './world.ts';

const NFT_SHARE = 0.2;
const TRANSFER_SHARE = 0.9;
/** Of 200 tokens: each of these is in a fifth of the blocks of 100 logs. */
const FIRST_WATCHED_TOKEN = 150;
const REORG_DEPTH_MAX = 5;
/** No reorganisations below. */
const QUIET_BLOCKS = 20;
/** Of 50 transactions: more than a gigabyte. A follower that falls further behind never comes back. */
const KEPT_TRANSACTIONS = 600_000;
/** Blocks are made up as long as they are late by less: more would be a burst that no chain has. */
const LATE_MS_MAX = 500;
/** Longer than any client keeps an idle connection. */
const KEEP_ALIVE_MS = 65_000;

// Ctrl-C reaches every process of the terminal; this one ends when it is told to, or with who started it.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit(0));

const plan = JSON.parse(process.argv[2] ?? '{}') as WorldPlan;
const chain: LiveChain = createLiveChain({
  seed: plan.seed,
  chainId: plan.chainId,
  transactionsPerBlock: plan.transactionsPerBlock,
  logsPerTransaction: plan.logsPerTransaction,
  nftShare: NFT_SHARE,
  transferShare: TRANSFER_SHARE,
  keptBlocks: Math.ceil(KEPT_TRANSACTIONS / plan.transactionsPerBlock),
});
const random = createSeededRandom(`soak/${plan.seed}`);
const watched = chain.tokens.slice(FIRST_WATCHED_TOKEN, FIRST_WATCHED_TOKEN + plan.streams);
const placeOfToken = new Map<string, number>(watched.map((token, place) => [token, place]));
const book = createWebhookBook();
let placeOfStream = new Map<string, number>();
let secret = '';
let taken = emptyWindow();

book.mined({ number: 0, hash: chain.blockAt(0)?.hash ?? '', facts: factsOf([]), streams: [] }, performance.now());

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type OpenWindow = Mutable<Omit<WorldWindow, 'delaysMs'>> & { delaysMs: number[] };

function emptyWindow(): OpenWindow {
  const webhooks = { webhooks: 0, delaysMs: [], repeated: 0, twice: 0, unasked: 0, orphaned: 0, badSignatures: 0 };
  return { mined: 0, transfers: 0, reorgs: 0, skipped: 0, ...webhooks };
}

function mine(): void {
  const block = chain.mine();
  const logs = block.logs.map(({ text }): NodeLog => JSON.parse(text));
  const facts = factsOf(logs);
  const streams = new Set(
    logs.flatMap(({ address }) => {
      const place = placeOfToken.get(address);
      return place === undefined ? [] : [place];
    }),
  );
  book.mined({ number: block.number, hash: block.hash, facts, streams: [...streams] }, performance.now());
  taken.mined += 1;
  taken.transfers += facts.transfers;
}

function reorganise(): void {
  const depth = random.integer(1, REORG_DEPTH_MAX);
  book.dropped(chain.dropBlocks(depth));
  for (let made = 0; made <= depth; made++) mine();
  taken.reorgs += 1;
}

let pace: PaceOrder = { blocksPerSecond: 0, reorgEverySeconds: 0 };
let nextAt = 0;
let timer: NodeJS.Timeout | undefined;

function keepPace(): void {
  const { blocksPerSecond, reorgEverySeconds } = pace;
  if (blocksPerSecond === 0) return;
  const every = 1_000 / blocksPerSecond;
  const now = performance.now();
  if (now - nextAt > LATE_MS_MAX) {
    const late = Math.floor((now - nextAt) / every);
    taken.skipped += late;
    nextAt += late * every;
  }
  while (nextAt <= performance.now()) {
    const reorgs = reorgEverySeconds > 0 && chain.head > QUIET_BLOCKS;
    if (reorgs && random.chance(1 / (blocksPerSecond * reorgEverySeconds))) reorganise();
    else mine();
    nextAt += every;
  }
  timer = setTimeout(keepPace, Math.max(0, nextAt - performance.now()));
}

function setPace(order: PaceOrder): void {
  clearTimeout(timer);
  pace = order;
  nextAt = performance.now();
  keepPace();
}

function look({ checkpoint }: LookOrder): Look {
  const next = book.minedAt(checkpoint + 1);
  return {
    head: chain.head,
    headHash: chain.blockAt(chain.head)?.hash ?? '',
    lagMs: next === null ? 0 : performance.now() - next,
  };
}

const COUNTER_OF: Readonly<Record<Exclude<WebhookOutcome, 'first'>, 'repeated' | 'twice' | 'unasked' | 'orphaned'>> = {
  repeated: 'repeated',
  twice: 'twice',
  unasked: 'unasked',
  orphaned: 'orphaned',
};

function receive(body: string, signature: string | undefined): void {
  const { streamId, confirmed, retries, block } = JSON.parse(body) as {
    streamId: string;
    confirmed: boolean;
    retries: number;
    block: { hash: string };
  };
  const stream = placeOfStream.get(streamId);
  // The test webhook names no block.
  if (block.hash === '') return;
  taken.webhooks += 1;
  if (signature !== keccak256Hex(Buffer.from(body + secret))) taken.badSignatures += 1;
  if (stream === undefined) {
    taken.unasked += 1;
    return;
  }
  const { outcome, minedAt } = book.received({ stream, blockHash: block.hash, confirmed, retries });
  if (outcome !== 'first') taken[COUNTER_OF[outcome]] += 1;
  else if (!confirmed && minedAt !== null) taken.delaysMs.push(performance.now() - minedAt);
}

const ORDERS: Readonly<Record<string, (order: unknown) => unknown>> = {
  '/watch': (order) => {
    const { secret: given, streamIds } = order as WatchOrder;
    secret = given;
    placeOfStream = new Map(streamIds.map((id, place) => [id, place]));
    return {};
  },
  '/pace': (order) => {
    setPace(order as PaceOrder);
    return {};
  },
  '/look': (order) => look(order as LookOrder),
  '/take': () => {
    const window = taken;
    taken = emptyWindow();
    return window;
  },
  '/missing': (order) => {
    const { upTo, confirmations, olderThanMs } = order as MissingOrder;
    return book.missing(upTo, confirmations, performance.now() - olderThanMs);
  },
  '/facts': (order) => book.facts((order as { upTo: number }).upTo),
};

/** Users of an application are wallets like all others, the busiest one among them: so one in so many. */
function askedWallets(): readonly string[] {
  const step = Math.max(1, Math.floor(chain.wallets.length / plan.wallets));
  return chain.wallets.filter((_, place) => place % step === 0).slice(0, plan.wallets);
}

async function listen(answer: (request: IncomingMessage, body: string) => unknown): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      try {
        response.end(JSON.stringify(answer(request, Buffer.concat(pieces).toString())));
      } catch (error) {
        response.writeHead(500).end(String(error));
      }
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const node = await serveLiveChain(chain);
const report: WorldReport = {
  nodeUrl: node.url,
  controlUrl: await listen((request, body) => ORDERS[request.url ?? '']?.(JSON.parse(body)) ?? {}),
  webhookUrl: await listen((request, body) => {
    receive(body, request.headers['x-signature']?.toString());
    return {};
  }),
  watched,
  wallets: askedWallets(),
  collections: chain.collections,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
