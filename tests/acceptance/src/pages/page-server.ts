/** The two kinds of Postgres that pages are followed with. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '@chainstead/core';
import { rawSql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { findPostgresPrograms, type ScratchCluster } from '@chainstead/testkit';
import type { PageReader } from './page-reader.ts';

export const PASSWORD = 'of-the-program';
const programs = await findPostgresPrograms();
if (programs === undefined)
  process.stdout.write(
    "NOT RUN: pages with psql, or on an own Postgres (Debian's postgresql is not on this machine)\n",
  );

/** Folders of psql and pg_dump, which a reader has too. Empty: this machine has none. */
export const CLIENTS: readonly string[] = programs === undefined ? [] : [programs.bin];

export type PageServer = 'the embedded Postgres' | 'an own Postgres';
export const PAGE_SERVERS: readonly PageServer[] =
  programs === undefined ? ['the embedded Postgres'] : ['the embedded Postgres', 'an own Postgres'];

/** A server with the role and the database of Chainstead. */
export interface ReadersPostgres extends Pick<ScratchCluster, 'host'> {
  /** As the owner. @param database @default 'chainstead' */
  url(database?: string): string;
  /** As the superuser. @param database @default 'postgres' */
  superuserUrl(database?: string): string;
}

/** @returns a server that `provision` gives role and database to; null for the embedded one, which the program starts */
export async function startOwnServer(
  kind: PageServer,
  parts: AsyncDisposableStack,
): Promise<ReadersPostgres | null> {
  if (programs === undefined || kind === 'the embedded Postgres') return null;
  // doctor fails a server without fsync.
  const cluster = await programs.createCluster({ settings: 'fsync = on' });
  parts.defer(() => cluster.remove());
  return {
    host: cluster.host,
    url: (database = 'chainstead') => `postgres://chainstead:${PASSWORD}@${cluster.host}/${database}`,
    superuserUrl: (database) => cluster.url(database),
  };
}

/** Returns the embedded server, whose address a program in the reader's folder has printed. */
export async function findEmbeddedServer({ folder, output }: PageReader): Promise<ReadersPostgres> {
  const [, host = ''] = /^ *Database +embedded: \S+@(\S+?)\//m.exec(output()) ?? [];
  const password = await readFile(join(folder, '.chainstead/password'), 'utf8');
  const superuserPassword = await readFile(join(folder, '.chainstead/superuser-password'), 'utf8');
  return {
    host,
    url: (database = 'chainstead') => `postgres://chainstead:${password.trim()}@${host}/${database}`,
    superuserUrl: (database = 'postgres') =>
      `postgres://postgres:${superuserPassword.trim()}@${host}/${database}`,
  };
}

/** Runs statements one by one. @returns rows of the last one */
export async function onServer<Row extends object>(
  url: string,
  ...statements: readonly string[]
): Promise<Row[]> {
  const database = openDatabase({ url, applicationName: 'page', poolSize: 1, logger: silentLogger() });
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = await database.query<Row>(rawSql(statement));
    return rows;
  } finally {
    await database.close();
  }
}
