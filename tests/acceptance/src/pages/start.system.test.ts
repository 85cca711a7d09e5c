/** The tutorials docs/start/first-chain.md and docs/start/analysts.md, one after the other with one program. */
import type { ScriptedChain } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { servePageChain, untilIndexed, untilSynced } from './page-chain.ts';
import { createPageReader, type PageReader } from './page-reader.ts';
import {
  CLIENTS,
  findEmbeddedServer,
  onServer,
  PAGE_SERVERS,
  PASSWORD,
  type ReadersPostgres,
  startOwnServer,
} from './page-server.ts';

const CHAIN_ID = 8453;
const pageShape = z.object({
  result: z.array(z.object({ from_address: z.string(), transaction_hash: z.string() })),
  indexed: z.object({ from_block: z.string(), complete: z.literal(false) }),
});
const balancesShape = z.object({ result: z.array(z.object({ native_token: z.boolean() })) });

describe.each(PAGE_SERVERS)('the tutorials, on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let server: ReadersPostgres | null;
  let reader: PageReader;
  let chain: ScriptedChain;
  let port: number;
  let wallet = '';

  beforeAll(async () => {
    server = await startOwnServer(kind, parts);
    reader = parts.use(await createPageReader(CLIENTS));
    ({ chain, port } = await servePageChain(reader, 'BASE', parts));
    if (server === null) return;
    const owner = `CREATE ROLE chainstead LOGIN PASSWORD '${PASSWORD}'`;
    await onServer(server.superuserUrl(), owner, 'CREATE DATABASE chainstead OWNER chainstead');
    await reader.configure(`DATABASE_URL=${server.url()}`);
  });
  afterAll(() => parts.disposeAsync());

  it('index a first chain and query it', () =>
    reader.follow('start/first-chain.md', async (page) => {
      expect(await page.next('doctor --chain base')).toContain('No check failed');
      await page.next('CHAINS=base');
      const first = await page.start('npm start');
      await first.until(/base \(8453\)/);
      // Indexing starts at the head.
      await untilIndexed(port, 30);
      chain.mine(20);
      await untilIndexed(port, 50);
      await untilSynced(port);
      expect(first.output()).not.toMatch(/^ {2}BAD /m);
      expect(await page.next('status')).toMatch(/indexed to +50\b[\s\S]*0 blocks behind/);
      expect(await page.next('/synced')).toBe('{"status":"synced"}');
      reader.replace('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', chain.tokens[0]?.address ?? '');
      const { result, indexed } = pageShape.parse(JSON.parse(await page.next('erc20/0x833')));
      expect([result.length, indexed.from_block]).toEqual([3, '30']);
      const [newest] = result;
      wallet = newest?.from_address ?? '';
      reader.replace('0x…', wallet);
      const [transfers = '', balances = ''] = (await page.next('wallets')).split(/(?<=\})(?=\{)/);
      expect(
        pageShape.parse(JSON.parse(transfers)).result.map(({ transaction_hash }) => transaction_hash),
      ).toContain(newest?.transaction_hash);
      expect(balancesShape.parse(JSON.parse(balances)).result).toContainEqual({ native_token: true });
      reader.replace('--from 20000000 --to 20001000', '--from 10 --to 20');
      await page.next('backfill');
      // The prover may divide them at any moment.
      const gaps = await page.next('gaps');
      expect(gaps).toMatch(/erc20-transfers +10 +\d+ /);
      expect(gaps).toMatch(/erc20-transfers +\d+ +20 /);
      page.skip('backfill-command.system.test.ts indexes from such a block on', 'START_BLOCK_BASE', 'npm start');
      page.skip('The lists are on the internet: documentation.test.ts imports them', 'import token-list');
      page.skip('first-webhook.system.test.ts indexes a development chain', 'CHAINS=dev', 'npm start', 'status');
    }));

  it('read it in SQL as a user that may do nothing else', async () => {
    const { host, superuserUrl } = server ?? (await findEmbeddedServer(reader));
    await reader.follow('start/analysts.md', async (page) => {
      reader.replace('postgres://postgres:…@127.0.0.1/postgres', superuserUrl());
      reader.replace('chainstead:…@127.0.0.1', `chainstead:${PASSWORD}@${host}`);
      reader.replace('@127.0.0.1/', `@${host}/`);
      if (server === null) {
        await page.next('psql --superuser');
        page.skip('Needed on an own Postgres only', 'provision');
      } else {
        page.skip('The addresses of the embedded Postgres', 'psql --superuser');
        expect(await page.next('provision')).toContain('The database is provisioned');
      }
      expect(await page.next('count(DISTINCT chain_id)')).toMatch(/^ *1$/m);
      expect(await page.next('CREATE ROLE analyst')).toBe('CREATE ROLE\nALTER ROLE\nALTER ROLE\n');
      expect(await page.fails('SELECT * FROM blocks')).toMatch(/\(3 rows\)[\s\S]*permission denied/);
      reader.replace('chain_id = 1', `chain_id = ${CHAIN_ID}`);
      reader.replace('0xd8da6bf26964af9d7eed9e03e53415d37aa96045', wallet);
      const asAnalyst = `postgres://analyst:…@${host}/chainstead`;
      expect(await page.query('analytics.wallet_transfers', asAnalyst)).toMatch(/ (?:in|out) .*CUSD/);
      expect(await page.query('analytics.coverage', asAnalyst)).toContain('erc20-transfers');
    });
  });
});
