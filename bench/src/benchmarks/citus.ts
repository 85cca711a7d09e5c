import { type BenchNode, findCitus, type ScratchDatabase, startScratchServer } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { API_KEY, addressOf, pathOf } from '../api-servers.ts';
import { type AssetDataset, fillAssetDataset } from '../asset-dataset.ts';
import { requireSameWork, runChainstead } from '../backfill-run.ts';
import type { Benchmark, BenchmarkContext, BenchmarkReport, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { busiestWallets } from '../busiest-wallets.ts';
import { startChainstead } from '../chainstead-program.ts';
import { compareLatency, type TimedRequest } from '../compare-latency.ts';
import { timed } from '../timed-request.ts';
import { PAGE_SIZE, readAnswer, timePage, WALLET_PAGE, type WalletPage } from '../wallet-page.ts';
import { withNode } from '../with-node.ts';

const WALLETS = 60;
const WALLET_TOKENS = 100;
const HOLDERS_MAX = 100_000;

/** As on a server: nothing that a crash could lose is left out, and as many shards as Citus makes by itself. */
const SERVER_SETTINGS = `
fsync = on
shared_buffers = 512MB
max_wal_size = 8GB
citus.shard_count = 32
`;

/** A cluster of three servers against one, all of them on this machine: what it costs that rows lie on other servers, not what more machines give. */
export const citus: Benchmark = {
  name: 'citus',
  title: 'A cluster of Citus, its coordinator and two workers on this machine, against one server of the same Postgres',
  async run(context) {
    const programs = await findCitus('the benchmark citus');
    if (programs === undefined)
      return { comparisons: [], measures: [], notes: ["NOT RUN: this machine's Postgres has no Citus."] };
    const cluster = await programs.createCluster({ settings: SERVER_SETTINGS });
    const server = await programs.createServer({ settings: SERVER_SETTINGS });
    try {
      const single = await startScratchServer({ url: server.url() });
      return await withNode(context.sizes.blocks, {}, (node) =>
        compare(context, node, {
          cluster: () => cluster.createDatabase({ distributed: true }),
          single: () => single.createDatabase(),
        }),
      );
    } finally {
      await Promise.all([cluster.remove(), server.remove()]);
    }
  },
};

type Side = 'cluster' | 'single';
const SIDES: readonly Side[] = ['cluster', 'single'];

async function compare(
  context: BenchmarkContext,
  node: BenchNode,
  create: Readonly<Record<Side, () => Promise<ScratchDatabase>>>,
): Promise<BenchmarkReport> {
  const { runs, sizes, say } = context;
  // The last of each side stay, for their pages.
  const filled: Partial<Record<Side, ScratchDatabase>> = {};
  const backfill = (side: Side) => ({
    name: side,
    run: async () => {
      await filled[side]?.drop();
      const scratch = await create[side]();
      filled[side] = scratch;
      const createDatabase = async () => ({ ...scratch, drop: async () => {} });
      return runChainstead({ server: { createDatabase }, node, blocks: sizes.blocks });
    },
  });
  const { first, second } = await alternate(runs, backfill('cluster'), backfill('single'), say);
  requireSameWork(...first, ...second);
  const wallets = await busiestWallets(node, WALLETS);
  const pages = await withApis(context, node, filled, (urls) => comparePages(context, wallets, urls));
  const kept: Partial<Record<Side, ScratchDatabase>> = {};
  let assets: AssetDataset | undefined;
  for (const side of SIDES) {
    say(`  filling holders and a wallet: ${side}`);
    const scratch = await create[side]();
    kept[side] = scratch;
    const holders = Math.min(sizes.holders, HOLDERS_MAX);
    assets = await fillAssetDataset(scratch.database, { holders, walletTokens: WALLET_TOKENS });
  }
  if (assets === undefined) throw new BenchmarkError('Nothing was filled');
  const told = assets;
  const answers = await withApis(context, node, kept, (urls) => compareAnswers(context, told, urls));
  return {
    comparisons: [
      {
        name: 'backfill',
        unit: 'transfers/s',
        ours: first.map(({ transfersPerSecond }) => transfersPerSecond),
        peer: second.map(({ transfersPerSecond }) => transfersPerSecond),
      },
      ...pages,
      ...answers,
    ],
    measures: [],
    notes: [
      'Here the peer is Chainstead itself over one server of the same Postgres, with the same settings and rows.',
      'All servers share the processors of this machine: it shows what the way to other servers costs, and nothing of what more machines give.',
      `${first[0]?.transfers ?? 0} transfers each; a token of ${told.holders} holders, a wallet of ${told.walletTokens} tokens.`,
    ],
  };
}

/** Runs the program's API over both databases, and drops them. */
async function withApis<T>(
  { say }: BenchmarkContext,
  node: BenchNode,
  databases: Readonly<Partial<Record<Side, ScratchDatabase>>>,
  work: (urls: Readonly<Record<Side, string>>) => Promise<T>,
): Promise<T> {
  const programs = SIDES.map((side) => {
    const scratch = databases[side];
    if (scratch === undefined) throw new BenchmarkError(`There is no database: ${side}`);
    const env = { PORT: '0', API_KEYS: API_KEY };
    return startChainstead(['start', '--roles', 'api,worker'], {
      databaseUrl: scratch.url,
      rpcUrls: [node.url],
      env,
    });
  });
  try {
    const [cluster = '', single = ''] = await Promise.all(programs.map(addressOf));
    say('  asking both');
    return await work({ cluster, single });
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
    await Promise.all(SIDES.map((side) => databases[side]?.drop()));
  }
}

interface TransfersPage extends WalletPage {
  readonly result: readonly { readonly transaction_hash: string; readonly log_index: number; readonly value: string }[];
}

/** What a worker has told of the token by then is not compared. */
function placeOf({ transaction_hash, log_index, value }: TransfersPage['result'][number]): string {
  return `${transaction_hash} ${log_index} ${value}`;
}

async function comparePages(
  context: BenchmarkContext,
  wallets: readonly string[],
  urls: Readonly<Record<Side, string>>,
): Promise<Comparison[]> {
  const urlOf = (side: Side, address: string): string => `${urls[side]}${pathOf(WALLET_PAGE, { address })}`;
  const busy: string[] = [];
  for (const wallet of wallets) {
    const [own, expected] = await Promise.all(SIDES.map((side) => readAnswer<TransfersPage>(urlOf(side, wallet))));
    if (JSON.stringify(own?.result.map(placeOf)) !== JSON.stringify(expected?.result.map(placeOf)))
      throw new BenchmarkError(`The sides have other transfers of ${wallet}`);
    if (own?.result.length === PAGE_SIZE) busy.push(wallet);
  }
  if (busy.length === 0) throw new BenchmarkError('No wallet has a full page');
  const inTurn = (side: Side): TimedRequest => {
    let turn = 0;
    return () => timePage(urlOf(side, busy[turn++ % busy.length] ?? ''), PAGE_SIZE);
  };
  return [await compareLatency(context, 'page of a wallet', inTurn('cluster'), inTurn('single'), null)];
}

const BALANCES = { path: '/api/v2.2/:wallet/erc20', query: 'chain=eth' };
const OWNERS = { path: '/api/v2.2/erc20/:token/owners', query: `chain=eth&limit=${PAGE_SIZE}` };

async function compareAnswers(
  context: BenchmarkContext,
  { wallet, token, walletTokens }: AssetDataset,
  urls: Readonly<Record<Side, string>>,
): Promise<Comparison[]> {
  const balances = (side: Side): TimedRequest =>
    timed(
      `${urls[side]}${pathOf(BALANCES, { wallet })}`,
      (answer: readonly unknown[]) => answer.length === walletTokens,
    );
  const owners = (side: Side): TimedRequest =>
    timed(`${urls[side]}${pathOf(OWNERS, { token })}`, ({ result }: WalletPage) => result.length === PAGE_SIZE);
  return [
    await compareLatency(
      context,
      `balances of a wallet of ${walletTokens} tokens`,
      balances('cluster'),
      balances('single'),
      null,
    ),
    await compareLatency(context, "page 1 of a token's holders", owners('cluster'), owners('single'), null),
  ];
}
