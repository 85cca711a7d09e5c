/** A worker of a cluster of Citus is away: what lies on the others is answered as before, and the program starts. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { ZERO_ADDRESS } from '@chainstead/core';
import { type Database, hexBytes, rawSql, sql } from '@chainstead/db';
import {
  createScriptedChain,
  type ScratchDatabase,
  type ScriptedChain,
  serveScriptedChain,
  startProgram,
} from '@chainstead/testkit';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPages, type Pages } from './citus-answers.ts';
import { keepEverything } from './citus-rows.ts';
import { describeOnCitus } from './citus-stage.ts';
import { indexFresh, SCRIPTED_CHAIN_ID, scriptedChainFacts } from './indexed-chain.ts';
import { WAIT } from './outage-stage.ts';

const AWAY = 'pages and starts while a node is away';
const TIMEOUT_MS = 180_000;
const BLOCKS = 40;
/** So few that several have rows of every kind. */
const WALLETS = 12;

/** A shard: of a table, the one that a subject's address, or its key, lies in. */
type Place = readonly [table: string, by: 'address' | 'key'];

/** Requests about a subject, with the shards that the response is read from. `zero`: also the one of the address that tokens come from. */
interface Page {
  readonly path: string;
  readonly places: readonly Place[];
  readonly zero?: boolean;
}

const OF_WALLET: readonly Page[] = [
  { path: '/{}/erc20/transfers?limit=5', places: [['erc20_transfer_sides', 'key']] },
  { path: '/{}/erc20/transfers?order=ASC&from_date=2015-01-01', places: [['erc20_transfer_sides', 'key']] },
  { path: '/{}/erc20', places: [['erc20_wallet_tokens', 'address']] },
  { path: '/wallets/{}/approvals', places: [['erc20_wallet_approvals', 'address']] },
  { path: '/{}/nft/collections', places: [['nft_wallet_collections', 'address']] },
];
const MOVES: Place = ['nft_transfers', 'key'];
const KNOWN: Place = ['nft_collection_owners', 'address'];
const OF_COLLECTION: readonly Page[] = [
  { path: '/nft/{}/transfers?limit=5', places: [MOVES] },
  { path: '/nft/{}/1/transfers', places: [MOVES] },
  { path: '/nft/{}/trades?nft_metadata=false', places: [MOVES] },
  { path: '/nft/{}/trades', places: [MOVES, KNOWN] },
  { path: '/nft/{}/unique-owners', places: [KNOWN] },
  { path: '/nft/{}/stats', places: [KNOWN] },
  { path: '/nft/{}/owners?limit=2', places: [KNOWN, MOVES] },
  { path: '/nft/{}?limit=2', places: [KNOWN, MOVES] },
];
const OF_TOKEN: readonly Page[] = [
  { path: '/erc20/{}/owners', places: [['erc20_holders', 'address']], zero: true },
];
/** Pages from all shards: docs/operate/citus.md. */
const OF_ALL = { wallet: '/{}/nft/transfers', token: '/erc20/{}/transfers' };

const UNAVAILABLE = '503 {"message":"The database is unavailable: try again later"}';

await describeOnCitus('a cluster of which a worker is away', AWAY, (stage) => {
  describe('with what was indexed', () => {
    const facts = scriptedChainFacts();
    const { key, id } = facts;
    const chains = createChainRegistry({ additional: [{ key, id, headerHash: true, proofPolicy: 'strict' }] });
    const chain = createScriptedChain({ seed: 45, chainId: SCRIPTED_CHAIN_ID, wallets: WALLETS });
    let spread: ScratchDatabase;
    let pages: Pages;

    beforeAll(async () => {
      spread = await stage.createSpread();
      chain.mine(BLOCKS);
      const node = await serveScriptedChain(chain);
      await indexFresh({ chain: facts, url: node.url, database: spread.database, from: 1, to: chain.head });
      await node.close();
      await keepEverything(spread.database, facts);
      pages = await openPages(spread, chains, facts);
    }, TIMEOUT_MS);

    it('answers what lies on the others as before, the rest with 503, and all once it is back', {
      timeout: TIMEOUT_MS,
    }, async () => {
      const dead = stage.worker();
      onTestFinished(() => dead.restart());
      const requested = await questions(spread.database, facts, chain);
      // The first responses only start the look-up.
      for (const { path } of requested) await pages.ask(path);
      const before = new Map<string, string>();
      for (const { path } of requested) before.set(path, await pages.ask(path));
      expect([...before].filter(([, answer]) => !answer.startsWith('200'))).toEqual([]);
      await dead.crash();
      const meanwhile = new Map<string, string>();
      for (const { path } of requested) meanwhile.set(path, await pages.ask(path));
      const expected = requested.map(({ path, nodes }): [string, string | undefined] => [
        path,
        nodes.has(dead.host) ? UNAVAILABLE : before.get(path),
      ]);
      expect([...meanwhile]).toEqual(expected);
      for (const { path } of [...OF_WALLET, ...OF_COLLECTION]) {
        const answers = requested.filter(({ page }) => page === path).map((one) => meanwhile.get(one.path));
        expect(answers, path).toContain(UNAVAILABLE);
        expect(answers.filter((answer) => answer !== UNAVAILABLE).length, path).toBeGreaterThan(0);
      }
      for (const [path, subject] of [
        [OF_ALL.wallet, chain.wallets[0]],
        [OF_ALL.token, chain.tokens[0]?.address],
      ] as const)
        expect(await pages.ask(path.replace('{}', `${subject}`))).toBe(UNAVAILABLE);
      await dead.restart();
      for (const [path, answer] of before)
        await vi.waitFor(async () => expect(await pages.ask(path)).toBe(answer), WAIT);
    });

    it('refuses to read from standbys', { timeout: TIMEOUT_MS }, async () => {
      const program = startProgram(['start', '--roles', 'api'], {
        environment: {
          ...{ DATABASE_URL: spread.url, DATABASE_READ_URL: spread.url, PORT: '0' },
          ...{ CHAINS: 'eth', RPC_URLS_ETH: 'http://127.0.0.1:9' },
        },
      });
      expect(await program.exited).toBe(2);
      expect(program.output()).toContain("DATABASE_READ_URL can't be used with distributed tables");
    });
  });

  it('lets the program start, which indexes as soon as the worker is back', { timeout: TIMEOUT_MS }, async () => {
    const spread = await stage.createSpread();
    const chain = createScriptedChain({ seed: 46, finalityDepth: 8 });
    chain.mine(10);
    const upstream = await serveScriptedChain(chain);
    onTestFinished(() => upstream.close());
    const environment = {
      ...{ DATABASE_URL: spread.url, PORT: '0', CHAINS: 'scripted', CHAIN_ID_SCRIPTED: '31337' },
      ...{
        RPC_URLS_SCRIPTED: upstream.url,
        START_BLOCK_SCRIPTED: '0',
        SWAPS_SCRIPTED: 'off',
        POLL_INTERVAL_MS: '100',
      },
    };
    const start = async () => {
      const program = startProgram(['start'], { environment });
      const stop = async () => {
        program.signal('SIGTERM');
        await program.exited;
      };
      onTestFinished(stop);
      const [, address = ''] = await program.waitFor(/API {7}(http:\S+)\/api\/v2\.2/);
      const untilFollowed = () =>
        vi.waitFor(async () => {
          const metrics = await (await fetch(`${address}/metrics`)).text();
          expect(metrics).toContain(
            `chainstead_sync_checkpoint_block{chain="scripted",role="ingest"} ${chain.head}\n`,
          );
        }, WAIT);
      return { address, stop, untilFollowed };
    };
    const first = await start();
    await first.untilFollowed();
    await first.stop();
    // The schema of schedules is made at a first start while the worker is away.
    await spread.database.query(sql`DROP SCHEMA bullmq CASCADE`);
    const dead = stage.worker();
    onTestFinished(() => dead.restart());
    await dead.crash();
    const { address, untilFollowed } = await start();
    await vi.waitFor(async () => expect((await fetch(`${address}/ready`)).status).toBe(200), WAIT);
    chain.mine(3);
    await dead.restart();
    await untilFollowed();
    const schemas = await spread.database.query(
      sql`SELECT result FROM run_command_on_all_nodes('SELECT count(*) FROM pg_namespace WHERE nspname = ''bullmq''') ORDER BY 1`,
    );
    // On the coordinator alone.
    expect(schemas).toEqual([{ result: '0' }, { result: '0' }, { result: '1' }]);
  });
});

interface Question {
  /** Of {@link Page}. */
  readonly page: string;
  readonly path: string;
  /** `127.0.0.1:5432` of each node that its response is read from, in addition to the coordinator. */
  readonly nodes: ReadonlySet<string>;
}

/** For each page one about each subject. */
async function questions(database: Database, { id }: Chain, chain: ScriptedChain): Promise<readonly Question[]> {
  const contracts = async (column: string, table: string): Promise<readonly string[]> => {
    const rows = await database.query<{ address: string }>(
      sql`SELECT DISTINCT '0x' || encode(${rawSql(column)}, 'hex') AS address FROM ${rawSql(table)} WHERE chain_id = ${id} ORDER BY 1`,
    );
    return rows.map(({ address }) => address);
  };
  const subjects: readonly (readonly [readonly Page[], readonly string[]])[] = [
    [OF_WALLET, chain.wallets],
    [OF_COLLECTION, await contracts('token_address', 'nft_transfers')],
    [OF_TOKEN, await contracts('token', 'erc20_transfer_sides')],
  ];
  const requested: Question[] = [];
  for (const [pages, addresses] of subjects)
    for (const address of addresses)
      for (const { path: page, places, zero = false } of pages) {
        const nodes = new Set<string>();
        for (const place of places) nodes.add(await nodeOf(database, place, address));
        if (zero) nodes.add(await nodeOf(database, ['erc20_transfer_sides', 'key'], ZERO_ADDRESS));
        requested.push({ page, path: page.replace('{}', address), nodes });
      }
  return requested;
}

async function nodeOf(database: Database, [table, by]: Place, address: string): Promise<string> {
  const bytes = sql`${hexBytes(address)}::bytea`;
  const [found] = await database.query<{ node: string }>(
    sql`SELECT nodename || ':' || nodeport AS node FROM pg_dist_shard_placement
      WHERE shardid = get_shard_id_for_distribution_column(${table}::regclass, ${by === 'key' ? sql`address_key(${bytes})` : bytes})`,
  );
  if (found === undefined) throw new Error(`No node has the rows of ${address} in ${table}`);
  return found.node;
}
