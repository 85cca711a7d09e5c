/** Folders with an embedded server, for its tests. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { onTestFinished } from 'vitest';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../embedded/embedded-postgres.ts';
import { isPostgresProcess, readPostmaster, until } from '../embedded/postmaster.ts';
import { openDatabase } from '../open-database.ts';
import type { Sql } from '../sql.ts';

export interface EmbeddedFolder {
  /** Mode 0700 from mkdtemp: if this process is root, the server's account can't enter it. */
  readonly path: string;
  /** Data folder of the server, inside `path`. */
  readonly dataDir: string;
  /** Starts the folder's server, which stops with the test at the latest. */
  start(options?: Partial<EmbeddedPostgresOptions>): Promise<EmbeddedPostgres>;
  /** Does the same in another process, which runs until it reads input. */
  startElsewhere(account?: { readonly uid: number; readonly gid: number }): Promise<ServerElsewhere>;
  /** 0 if there is none. */
  serverPid(): Promise<number>;
  serverRuns(): Promise<boolean>;
}

export interface ServerElsewhere {
  readonly child: ChildProcess;
  readonly url: string;
}

/** A cluster from an earlier start and stop: creating one takes longer than most tests need. */
export interface EmbeddedTemplate {
  readonly dataDir: string;
  remove(): Promise<void>;
}

const SETTINGS = { fsync: 'off' };

export async function createEmbeddedTemplate(): Promise<EmbeddedTemplate> {
  const path = await mkdtemp(join(tmpdir(), 'chainstead-embedded-template-'));
  const dataDir = join(path, 'state');
  const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger(), settings: SETTINGS });
  await server.stop();
  return { dataDir, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Opens a folder, empty or copied from the template. It is removed with the test. */
export async function openEmbeddedFolder(template?: EmbeddedTemplate): Promise<EmbeddedFolder> {
  const path = await mkdtemp(join(tmpdir(), 'chainstead-embedded-'));
  const dataDir = join(path, 'deep', 'state');
  const started: EmbeddedPostgres[] = [];
  const children: ChildProcess[] = [];
  const serverPid = async (): Promise<number> => (await readPostmaster(join(dataDir, 'data')))?.pid ?? 0;
  const serverRuns = async (): Promise<boolean> => {
    const pid = await serverPid();
    return pid !== 0 && (await isPostgresProcess(pid));
  };
  onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const server of started) await server.stop();
    await until(async () => !(await serverRuns()), 20_000);
    await rm(path, { recursive: true, force: true });
  });
  if (template !== undefined) {
    await mkdir(dirname(dataDir), { recursive: true });
    await promisify(execFile)('cp', ['-a', template.dataDir, dataDir]);
  }
  return {
    path,
    dataDir,
    serverPid,
    serverRuns,
    async start(options = {}) {
      const server = await startEmbeddedPostgres({
        dataDir,
        logger: silentLogger(),
        settings: SETTINGS,
        ...options,
      });
      started.push(server);
      return server;
    },
    async startElsewhere(account) {
      const child = spawnServer(dataDir, account);
      children.push(child);
      const exited = once(child, 'exit').then(() => ['exited']);
      const [url] = await Promise.race([once(child.stdout, 'data'), exited]);
      return { child, url: String(url) };
    },
  };
}

function spawnServer(dataDir: string, account: { readonly uid: number; readonly gid: number } | undefined) {
  const program = `
    import { silentLogger } from '@chainstead/core';
    import { startEmbeddedPostgres } from './src/embedded/embedded-postgres.ts';
    const options = { dataDir: ${JSON.stringify(dataDir)}, logger: silentLogger(), settings: ${JSON.stringify(SETTINGS)} };
    const server = await startEmbeddedPostgres(options);
    process.stdout.write(server.url);
    process.stdin.once('data', () => server.stop().then(() => process.exit(0)));
  `;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: join(import.meta.dirname, '../..'),
    env: { LC_ALL: 'C', PGPORT: '1', PGDATA: '/nonexistent' },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...account,
  });
}

/** Runs one statement in a separate session. */
export async function queryServer(url: string, statement: Sql): Promise<unknown[]> {
  const database = openDatabase({ url, applicationName: 'test', poolSize: 1, logger: silentLogger() });
  try {
    return await database.query(statement);
  } finally {
    await database.close();
  }
}
