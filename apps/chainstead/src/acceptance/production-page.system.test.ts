/** The tutorial docs/start/production.md, command by command, each in a new shell: on an own Postgres and on the embedded one. */
import {
  createScriptedChain,
  findPostgresPrograms,
  freePort,
  type ScratchCluster,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type FollowedPage, followPage } from '../testing/followed-page.ts';
import { scriptedChainFacts } from './indexed-chain.ts';

const PASSWORD = 'of-the-program';
const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write(
    "NOT RUN: the production page on an own Postgres (Debian's postgresql is not on this machine)\n",
  );

it.runIf(programs !== undefined)('the production page leads to a server with a key on an own Postgres', async () => {
  if (programs === undefined) return;
  // doctor fails a server without fsync.
  const server = await programs.createCluster({ settings: 'fsync = on' });
  onTestFinished(() => server.remove());
  await follow(server, programs.bin);
});

it('the production page leads to a server with a key on the embedded Postgres', () => follow(null));

/** @param server null: the embedded Postgres */
async function follow(server: ScratchCluster | null, ...path: readonly string[]): Promise<void> {
  const chain = createScriptedChain({ seed: 59, finalityDepth: 8 });
  chain.mine(30);
  const node = await serveScriptedChain(chain);
  onTestFinished(() => node.close());
  const page = await followPage('start/production.md', path);
  onTestFinished(() => page.close());
  const port = await freePort();
  page.replace('CHAINS=eth', `CHAINS=scripted\nCHAIN_ID_SCRIPTED=${scriptedChainFacts(31_337).id}`);
  page.replace('RPC_URLS_ETH=https://your-node', `RPC_URLS_SCRIPTED=${node.url}`);
  page.replace('/eth', '/scripted');
  page.replace('127.0.0.1:8080', `127.0.0.1:${port}`);
  // Scripted transactions have no signatures.
  await page.configure(`PORT=${port}\nREORG_DEPTH_MAX_SCRIPTED=8\nSWAPS_SCRIPTED=off`);
  const url = `postgres://chainstead:${PASSWORD}@${server?.host}/chainstead`;
  page.replace(
    'DATABASE_URL=postgres://chainstead:…@127.0.0.1/chainstead',
    server === null ? '' : `DATABASE_URL=${url}`,
  );
  page.replace('postgres://postgres:…@127.0.0.1/postgres', server?.url() ?? '');

  await page.next('CHAINS=eth');
  expect(await page.next('config validate')).toMatch(
    /^Settings: the environment, then \S+\.env\nThe configuration is valid/,
  );
  if (server === null) page.skip('provision');
  else expect(await page.next('provision')).toMatch(/The database is provisioned\.[\s\S]*The schema is up to date/);
  await page.next('doctor');
  const key = /^\S{20,}$/m.exec(await page.next('keys create'))?.[0] ?? '';
  await page.next('HOST=0.0.0.0');
  await page.next('chainstead start');
  await untilSynced(port, key, page);
  page.replace('X-API-Key: …', `X-API-Key: ${key}`);
  const answers = await page.next('curl -i');
  expect([...answers.matchAll(/^HTTP\/1.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['401', '200']);
  expect(page.output()).not.toContain('"level":50');
  if (server === null) page.skip('pg_dump');
  else await page.next('pg_dump');
  page.skip('docker compose up');
  page.skip('docker compose --profile');
  expect(page.left()).toEqual([]);
}

function untilSynced(port: number, key: string, page: FollowedPage): Promise<void> {
  return vi.waitFor(
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}/synced`, { headers: { 'x-api-key': key } });
      expect([response.status, page.output()]).toEqual([200, expect.anything()]);
    },
    { timeout: 60_000, interval: 200 },
  );
}
