import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '@chainstead/db';
import type { ScratchDatabase } from '@chainstead/testkit';
import { API_KEY, addressOf, POOL_SIZE, pathOf, type ServedRoute, startFloor } from '../api-servers.ts';
import { type AssetDataset, fillAssetDataset } from '../asset-dataset.ts';
import type { Benchmark, BenchmarkContext, Comparison } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { startChainstead } from '../chainstead-program.ts';
import { compareLatency } from '../compare-latency.ts';
import { timed } from '../timed-request.ts';
import { readAnswer } from '../wallet-page.ts';
import { withNode } from '../with-node.ts';

const PAGE_SIZE = 100;
const DEEP_PAGE = 1_000;
/** The route gives so many at most: there is no cursor. */
const WALLET_TOKENS = 2_000;
const TARGETS = { holders: 2, wallet: 3 };
/** Counting a million holders takes the worker a second. */
const SUMMARY_TRIES = 60;
const NODE_BLOCKS = 10;

const OWNER = `'0x' || encode(account, 'hex') AS owner_address, balance::text AS balance`;
const OWNERS_OF = `erc20_holders WHERE token = $1 AND chain_id = 1 AND balance > 0`;
const BY_BALANCE = `ORDER BY erc20_holders.balance DESC, account DESC LIMIT (SELECT ${PAGE_SIZE})`;

/** What the program answers, and what the floor reads for it. */
const ROUTES = {
  owners: {
    path: '/api/v2.2/erc20/:token/owners',
    query: `chain=eth&limit=${PAGE_SIZE}`,
    statement: `SELECT ${OWNER} FROM ${OWNERS_OF} ${BY_BALANCE}`,
  },
  /** For the floor alone: the page behind an owner. */
  ownersBehind: {
    path: '/api/v2.2/erc20/:token/owners/:account/:balance',
    query: '',
    statement: `SELECT ${OWNER} FROM ${OWNERS_OF} AND (balance, account) < ($3::numeric, $2) ${BY_BALANCE}`,
  },
  summary: { path: '/api/v2.2/erc20/:token/holders', query: 'chain=eth', statement: 'SELECT $1::bytea' },
  /** For the floor alone: the figures as they were counted. */
  counted: {
    path: '/api/v2.2/erc20/holders/counted/:key',
    query: '',
    statement: 'SELECT answer FROM state_questions WHERE chain_id = 1 AND key = $1',
  },
  wallet: {
    path: '/api/v2.2/:address/erc20',
    query: 'chain=eth',
    statement: `SELECT '0x' || encode(held.token, 'hex') AS token_address, (held.anchor_value + held.since)::text AS balance,
        facts.name, facts.symbol, facts.decimals, facts.logo, facts.verified, facts.possible_spam, facts.total_supply::text
      FROM erc20_wallet_tokens AS held JOIN tokens AS facts ON facts.address = held.token AND facts.chain_id = held.chain_id
      WHERE held.wallet = $1 AND held.chain_id = 1
      ORDER BY held.moved_block DESC, held.moved_transaction DESC, held.moved_log DESC, held.token DESC LIMIT (SELECT ${WALLET_TOKENS})`,
  },
} as const satisfies Record<string, ServedRoute>;

interface OwnersPage {
  readonly cursor: string | null;
  readonly indexed: { readonly complete: boolean };
  readonly result: readonly { readonly owner_address: string; readonly balance: string }[];
}

interface Floor<T> {
  readonly result: readonly T[];
}

/** Holders of a token, and holdings of a wallet, from the program's API and from a floor that reads and sends the same rows. */
export const assetRoutes: Benchmark = {
  name: 'asset-routes',
  title: 'Holders of a large token and a wallet of many tokens, against a floor that reads and sends their rows',
  run: (context) =>
    withNode(NODE_BLOCKS, {}, async (node) => {
      const { holders } = context.sizes;
      const scratch = await context.server.createDatabase();
      try {
        context.say(`  filling ${holders} holders and ${WALLET_TOKENS} tokens of a wallet`);
        const dataset = await fillAssetDataset(scratch.database, { holders, walletTokens: WALLET_TOKENS });
        const env = { PORT: '0', API_KEYS: API_KEY };
        const place = { databaseUrl: scratch.url, rpcUrls: [node.url], env };
        const programs = [
          startChainstead(['start', '--roles', 'api,worker'], place),
          startFloor(scratch.url, Object.values(ROUTES)),
        ] as const;
        try {
          const [url = '', floorUrl = ''] = await Promise.all(programs.map(addressOf));
          const comparisons = [
            ...(await comparePages(context, dataset, url, floorUrl)),
            await compareSummary(context, dataset, url, floorUrl, () => countedKey(scratch)),
            await compareWallet(context, dataset, url, floorUrl),
          ];
          await requireUnrequested(scratch);
          return {
            comparisons,
            measures: [],
            notes: [
              `A token of ${holders} holders, a wallet of ${WALLET_TOKENS} tokens, all of them read from their contracts already.`,
              'The figures of the summary are counted once, by the worker; the floor reads them as they were kept.',
              `${POOL_SIZE} database connections on each side; key check on in the program's.`,
            ],
          };
        } finally {
          await Promise.all(programs.map((program) => program.stop()));
        }
      } finally {
        await scratch.drop();
      }
    }),
};

async function comparePages(
  context: BenchmarkContext,
  { token }: AssetDataset,
  url: string,
  floorUrl: string,
): Promise<Comparison[]> {
  const first = `${url}${pathOf(ROUTES.owners, { token })}`;
  context.say(`  reading ${DEEP_PAGE} pages of owners`);
  let page = await readAnswer<OwnersPage>(first);
  let deep = first;
  let last = page.result.at(-1);
  for (let number = 2; number <= DEEP_PAGE; number++) {
    last = page.result.at(-1);
    if (page.cursor === null || last === undefined || !page.indexed.complete)
      throw new BenchmarkError(`Page ${number - 1} of the owners is the last one, or not complete`);
    deep = `${first}&cursor=${encodeURIComponent(page.cursor)}`;
    page = await readAnswer<OwnersPage>(deep);
  }
  const floorFirst = `${floorUrl}${pathOf(ROUTES.owners, { token })}`;
  const floorDeep = `${floorUrl}${pathOf(ROUTES.ownersBehind, { token, account: last?.owner_address ?? '', balance: last?.balance ?? '' })}`;
  await requireSameOwners(first, floorFirst);
  await requireSameOwners(deep, floorDeep);
  const name = (number: number): string => `page ${number} of holders, floor`;
  return [
    await compareLatency(context, name(1), timed(first, isPage), timed(floorFirst, isPage), TARGETS.holders),
    await compareLatency(
      context,
      name(DEEP_PAGE),
      timed(deep, isPage),
      timed(floorDeep, isPage),
      TARGETS.holders,
    ),
    await compareLatency(
      context,
      'page 1 of holders with gzip, floor without',
      timed(first, isPage, GZIP),
      timed(floorFirst, isPage),
      null,
    ),
  ];
}

async function compareSummary(
  context: BenchmarkContext,
  { token, holders }: AssetDataset,
  url: string,
  floorUrl: string,
  readKey: () => Promise<string>,
): Promise<Comparison> {
  const requested = `${url}${pathOf(ROUTES.summary, { token })}`;
  await untilCounted(requested);
  const key = encodeURIComponent(await readKey());
  const isCounted = (answer: { readonly totalHolders?: number }): boolean => answer.totalHolders === holders;
  return compareLatency(
    context,
    'summary of holders, floor',
    timed(requested, isCounted),
    timed(
      `${floorUrl}${pathOf(ROUTES.counted, { key })}`,
      (answer: Floor<{ readonly answer: { readonly holders: number } }>) =>
        answer.result[0]?.answer.holders === holders,
    ),
    TARGETS.holders,
  );
}

function compareWallet(
  context: BenchmarkContext,
  { wallet: address }: AssetDataset,
  url: string,
  floorUrl: string,
): Promise<Comparison> {
  return compareLatency(
    context,
    `wallet of ${WALLET_TOKENS} tokens, floor`,
    timed(
      `${url}${pathOf(ROUTES.wallet, { address })}`,
      (answer: readonly unknown[]) => answer.length === WALLET_TOKENS,
    ),
    timed(
      `${floorUrl}${pathOf(ROUTES.wallet, { address })}`,
      (answer: Floor<unknown>) => answer.result.length === WALLET_TOKENS,
    ),
    TARGETS.wallet,
  );
}

/** A question to a node takes longer than all else of an answer. */
async function requireUnrequested({ database }: ScratchDatabase): Promise<void> {
  const [requested] = await database.query(
    sql`SELECT FROM state_questions WHERE kind = 'erc20-balances' LIMIT 1`,
  );
  if (requested !== undefined)
    throw new BenchmarkError('Node calls were made for balances that the database has');
}

const isPage = (answer: Floor<unknown>): boolean => answer.result.length === PAGE_SIZE;

const GZIP = { 'accept-encoding': 'gzip' };

async function requireSameOwners(url: string, floorUrl: string): Promise<void> {
  const [ours, floor] = await Promise.all([readAnswer<OwnersPage>(url), readAnswer<Floor<unknown>>(floorUrl)]);
  const owners = ours.result.map(({ owner_address, balance }) => ({ owner_address, balance }));
  if (JSON.stringify(owners) !== JSON.stringify(floor.result))
    throw new BenchmarkError(
      `${url} and ${floorUrl} return different owners: ${JSON.stringify(owners[0])}, ${JSON.stringify(floor.result[0])}`,
    );
}

async function untilCounted(url: string): Promise<void> {
  for (let tries = 0; tries < SUMMARY_TRIES; tries++) {
    const response = await fetch(url, { headers: { 'x-api-key': API_KEY } });
    await response.text();
    if (response.status === 200) return;
    await sleep(1_000);
  }
  throw new BenchmarkError(`${url} was not counted within ${SUMMARY_TRIES} tries`);
}

async function countedKey({ database }: ScratchDatabase): Promise<string> {
  const [row] = await database.query<{ key: string }>(
    sql`SELECT key FROM state_questions WHERE kind = 'erc20-holder-counts'`,
  );
  if (row === undefined) throw new BenchmarkError('The figures of the holders were not kept');
  return row.key;
}
