/** The tutorial docs/start/production.md, command by command. */
import { expect, it, onTestFinished } from 'vitest';
import { servePageChain, untilSynced } from './page-chain.ts';
import { createPageReader } from './page-reader.ts';
import { CLIENTS, PAGE_SERVERS, startOwnServer } from './page-server.ts';

const SETUPS = ['start', 'start', 'start --roles api', 'start'];
const DAILY = [
  'status',
  'doctor',
  'doctor',
  'gaps',
  'backfill',
  'verify',
  'verify-balances',
  'reindex',
  'jobs list',
];
const DAILY_LISTS = ['jobs cancel', 'import token-list', 'import abi', 'import signatures', 'distribute'];

it.each(PAGE_SERVERS)('the production page leads to a server with a key on %s', async (kind) => {
  const parts = new AsyncDisposableStack();
  onTestFinished(() => parts.disposeAsync());
  const server = await startOwnServer(kind, parts);
  const reader = parts.use(await createPageReader(CLIENTS));
  const { port } = await servePageChain(reader, 'ETH', parts);
  reader.replace(
    'DATABASE_URL=postgres://chainstead:…@127.0.0.1/chainstead',
    server === null ? '' : `DATABASE_URL=${server.url()}`,
  );
  reader.replace('postgres://postgres:…@127.0.0.1/postgres', server?.superuserUrl() ?? '');
  await reader.follow('start/production.md', async (page) => {
    page.skip('The choice of a setup, which step 6 starts', ...SETUPS);
    await page.next('CHAINS=eth');
    expect(await page.next('config validate')).toMatch(
      /^Settings: the environment, then \S+\.env\nThe configuration is valid/,
    );
    if (server === null) page.skip('Needed on an own Postgres only', 'provision');
    else expect(await page.next('provision')).toContain('The database is provisioned.');
    expect(await page.next('chainstead migrate')).toContain('The schema is up to date');
    await page.next('doctor');
    const key = /^\S{20,}$/m.exec(await page.next('keys create'))?.[0] ?? '';
    await page.next('HOST=0.0.0.0');
    page.skip('The command before, with other options', 'keys create --name "console"', 'keys scope');
    await page.start('chainstead start');
    await untilSynced(port, key);
    reader.replace('X-API-Key: …', `X-API-Key: ${key}`);
    const responses = await page.next('curl -i');
    expect([...responses.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(['401', '200']);
    expect(reader.output()).not.toContain('"level":50');
    if (server === null) page.skip('Needed on an own Postgres only', 'pg_dump');
    else await page.next('pg_dump');
    page.skip('operate.system.test.ts', 'doctor --upgrade');
    expect(await page.next('status')).toContain('0 blocks behind');
    page.skip('Docker is not on this machine: docker.test.ts', 'docker compose up', 'docker compose --profile');
    page.skip('A list of commands: documentation.test.ts reads their options', ...DAILY, ...DAILY_LISTS);
  });
});
