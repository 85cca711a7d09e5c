/** The `psql` commands of docs/api/sql.md, on an embedded server as `npm start` creates it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { startEmbeddedPostgres } from '@chainstead/db/server';
import { findPostgresPrograms, startProgram } from '@chainstead/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write(
    "NOT RUN: the psql commands of the documentation (Debian's postgresql is not on this machine)\n",
  );

/** Blocks of a page that call psql. */
async function psqlBlocks(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^```(?:ba)?sh\n(psql [\s\S]*?)^```/gm)].map(([, block = '']) => block);
}

/** Starts a server with a migrated database. @returns a function that runs a block in a shell and returns both outputs */
async function startServer(bin: string): Promise<(block: string) => Promise<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-psql-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const server = await startEmbeddedPostgres({ dataDir: folder, logger: silentLogger() });
  onTestFinished(() => server.stop());
  const migration = startProgram(['migrate'], { environment: { DATABASE_URL: server.url } });
  expect([await migration.exited, migration.output()]).toEqual([0, expect.any(String)]);
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    LC_ALL: 'C.UTF-8',
    DATABASE_URL: server.url,
    DATABASE_SUPERUSER_URL: server.superuserUrl,
  };
  return async (block) => {
    const placed = block.replaceAll('@127.0.0.1/', `@${new URL(server.url).host}/`);
    const { stdout, stderr } = await promisify(execFile)('sh', ['-ec', placed], { env });
    return stdout + stderr;
  };
}

describe.runIf(programs !== undefined)('psql commands', () => {
  it('of docs/api/sql.md create a user with limits', async () => {
    const run = await startServer(programs?.bin ?? '');
    const [create = '', ...others] = await psqlBlocks('docs/api/sql.md');
    expect(others).toEqual([]);
    expect(await run(create)).toBe('CREATE ROLE\nALTER ROLE\nALTER ROLE\nALTER ROLE\n');
    const roles = `psql "$DATABASE_URL" -Atc "SELECT array_to_string(rolconfig, ' ') FROM pg_roles WHERE rolname = 'analyst'"`;
    expect(await run(roles)).toBe(
      'statement_timeout=5min idle_in_transaction_session_timeout=1min transaction_timeout=10min\n',
    );
  });
});
