/** The pages docs/operate/install.md, backup.md and upgrade.md, one after the other with one program. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { servePageChain, untilSynced } from './page-chain.ts';
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
import type { StartedCommand } from './page-terminal.ts';

const DOCKER = 'Docker is not on this machine: docker.test.ts';
const SYSTEMD = 'systemd is not on this machine: documented-blocks.test.ts';

describe.each(PAGE_SERVERS)('the pages for operators, on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  const roles: StartedCommand[] = [];
  let own: ReadersPostgres | null;
  let server: ReadersPostgres;
  let reader: PageReader;
  let port: number;

  beforeAll(async () => {
    own = await startOwnServer(kind, parts);
    reader = parts.use(await createPageReader(CLIENTS));
    ({ port } = await servePageChain(reader, 'ETH', parts));
    if (own === null) return;
    reader.replace('postgres://postgres:…@127.0.0.1/postgres', own.superuserUrl());
    reader.replace('postgres://chainstead:…@127.0.0.1/chainstead', own.url());
    await reader.configure(`DATABASE_URL=${own.url()}`);
  });
  afterAll(() => parts.disposeAsync());

  it('install a program in separate roles', () =>
    reader.follow('operate/install.md', async (page) => {
      await page.next('CHAINS=eth');
      page.skip('The form of all commands', '<command>');
      page.skip('try-package.ts packs and installs it', 'npm run pack', 'npm install');
      page.skip('demo.system.test.ts', 'demo');
      if (own === null) page.skip('Needed on an own Postgres only', 'provision');
      else expect(await page.next('provision')).toContain('The database is provisioned');
      page.skip(DOCKER, 'docker compose up', 'docker compose --profile');
      page.skip(SYSTEMD, 'ExecStart', 'systemctl enable');
      for (const role of ['api', 'ingest', 'worker']) roles.push(await page.start(`--roles ${role}`));
      await untilSynced(port);
      server = own ?? (await findEmbeddedServer(reader));
      expect(await page.query('FROM leases', server.url())).toMatch(/^ *ingest:1 /m);
    }));

  it('back up the database and restore it', async () => {
    const stopRoles = (): Promise<unknown> => Promise.all(roles.map((role) => role.stop()));
    if (own === null) return restoreEmbedded(reader, server, stopRoles);
    await stopRoles();
    await restoreElsewhere(reader, own, parts);
  });

  it('check an upgrade and restrict the role of the program', () => upgrade(reader, server));
});

/** Restores on another server that has none of the roles. The program doesn't run, so nothing changes meanwhile. */
async function restoreElsewhere(
  reader: PageReader,
  own: ReadersPostgres,
  parts: AsyncDisposableStack,
): Promise<void> {
  const content = await contentOf(own.url());
  expect(content).not.toMatchObject({ 'public.erc20_transfer_sides': { rows: 0 } });
  const other = await startOwnServer('an own Postgres', parts);
  const restored = `postgres://owner:${PASSWORD}@${other?.host}/restored`;
  await onServer(other?.superuserUrl() ?? '', `CREATE ROLE owner LOGIN PASSWORD '${PASSWORD}'`);
  await reader.follow('operate/backup.md', async (page) => {
    page.skip('The embedded Postgres', 'tar -czf', 'tar -xzf');
    await page.next('export DATABASE_URL=');
    expect(await page.next('pg_dump')).toBe('');
    reader.replace(
      `RESTORED_URL="\${DATABASE_URL%/*}/restored"`,
      `RESTORED_URL=${restored} DATABASE_SUPERUSER_URL=${other?.superuserUrl()}`,
    );
    reader.replace('OWNER chainstead', 'OWNER owner');
    expect(await page.next('pg_restore')).toBe('CREATE DATABASE\n');
    expect(await contentOf(restored)).toEqual(content);
    // Programs of another server may need advisory locks: a dump doesn't restrict them.
    await onServer(other?.superuserUrl('restored') ?? '', 'SELECT pg_advisory_lock(1)');
    expect(await page.next('provision')).toContain('The database is provisioned');
    expect(await onServer(restored, READABLE)).toEqual([{ views: true, tables: false }]);
    await onServer(restored, 'CREATE VIEW analytics.later AS SELECT 1');
    expect(await onServer(restored, READABLE.replace('.tokens', '.later'))).toEqual([
      { views: true, tables: false },
    ]);
  });
}

/** Copies the folder of a stopped program, and starts with the copy. */
async function restoreEmbedded(
  reader: PageReader,
  server: ReadersPostgres,
  stopRoles: () => Promise<unknown>,
): Promise<void> {
  const content = await contentOf(server.url(), RECORDS);
  expect(content).not.toMatchObject({ 'public.erc20_transfer_sides': { rows: 0 } });
  await reader.follow('operate/backup.md', async (page) => {
    await stopRoles();
    await page.next('tar -czf');
    const restored = await page.start('tar -xzf');
    await restored.until(/^ *API /m);
    expect(await contentOf(server.url(), RECORDS)).toEqual(content);
    page.skip('An own Postgres', 'export DATABASE_URL=', 'pg_dump', 'pg_restore', 'provision');
  });
}

async function upgrade(reader: PageReader, server: ReadersPostgres): Promise<void> {
  reader.replace(
    'DATA_DIR=/opt/chainstead/.chainstead npx chainstead --config /opt/chainstead/.env',
    'npx chainstead',
  );
  await reader.follow('operate/upgrade.md', async (page) => {
    expect(await page.next('doctor --upgrade')).toMatch(/^ {2}ok +schema +up to date/m);
    expect(await page.next('migrate')).toContain('The schema is already up to date');
    await page.next('indexes');
    expect(await page.query('CREATE ROLE', server.superuserUrl())).toBe('CREATE ROLE\n');
    page.skip('Done above', 'migrate');
    expect(await page.query('GRANT USAGE', server.url())).toBe('GRANT\n'.repeat(6));
    page.skip('Commands that need the owner', 'indexes', 'backfill --bulk');
  });
}

/** Tables that a running program without new blocks doesn't change. */
const RECORDS = ['public.blocks', 'public.erc20_transfer_sides', 'public.nft_transfers', 'public.nft_trades'];
const READABLE = `SELECT has_table_privilege('chainstead_reader', 'analytics.tokens', 'SELECT') AS views,
  has_table_privilege('chainstead_reader', 'public.tokens', 'SELECT') AS tables`;

/** Rows and a digest of them. @param names default: all tables and views */
async function contentOf(
  url: string,
  names?: readonly string[],
): Promise<Readonly<Record<string, object | undefined>>> {
  const relations = await onServer<{ name: string }>(
    url,
    `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname IN ('public', 'analytics', 'bullmq') AND relkind IN ('r', 'p', 'v') ORDER BY 1`,
  );
  const found = relations.map(({ name }) => name);
  expect(found).toEqual(expect.arrayContaining(['analytics.tokens', 'bullmq.job', ...RECORDS]));
  const digests = (names ?? found).map(
    (name) =>
      `SELECT '${name}' AS name, count(*) AS rows, md5(string_agg(row::text, ',' ORDER BY row::text)) AS digest FROM ${name} AS row`,
  );
  const rows = await onServer<{ name: string }>(url, digests.join(' UNION ALL '));
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}
