/** What starting this version would do to the database. Read-only. */
import { statfs } from 'node:fs/promises';
import { type Finding, findingsOf } from '@chainstead/core';
import {
  findHeldTables,
  findObstacles,
  type MigrationsPlan,
  type PlannedMigration,
  planMigrations,
} from '@chainstead/db/server';
import { planUpgradeWork } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { readConnectedProcesses } from '../session/connected-processes.ts';
import type { Storage } from '../session/storage.ts';
import { sizeText } from '../text/text-table.ts';
import { VERSION } from '../version.ts';

type UpgradedStorage = Pick<Storage, 'database' | 'isEmbedded'>;

/** `isCurrent`: this version can read the database. */
export async function examineUpgrade(
  { database, isEmbedded }: UpgradedStorage,
  { datasets, chains, database: { dataDirectory } }: Configuration,
): Promise<{ readonly findings: readonly Finding[]; readonly isCurrent: boolean }> {
  const { migrations, schema } = await examineSchema(database);
  const processes = await readConnectedProcesses(database);
  const connected = processes.map(({ name }) => name).join(', ') || 'none';
  const findings = [schema, findingsOf('connected processes').ok(connected, { processes })];
  // This version does not know the schema: it can report nothing else.
  if (migrations === null) return { findings, isCurrent: false };
  const { pending } = migrations;
  const work = await planUpgradeWork({ database, datasets, chains: chains.map(({ chain }) => chain) });
  findings.push(
    ...pending.flatMap(migrationFindings),
    ...work.builds.map(({ chainId, state, dataset, version, builtVersion, rows, seconds }) => {
      const reason = builtVersion === null ? 'new' : `version ${builtVersion} to ${version}`;
      const effort = `${Math.round(rows).toLocaleString('en-US')} rows, ${durationText(seconds)}`;
      return findingsOf(state).ok(
        `chain ${chainId}: ${reason}, built from stored rows in the background: ${effort}`,
        {
          ...{ chain_id: chainId, dataset, version, built_version: builtVersion },
          ...{ rows: Math.round(rows), seconds: rounded(seconds) },
        },
      );
    }),
    ...work.fills.map(({ chainId, chain, dataset, blocks }) =>
      findingsOf(dataset).ok(
        `${chain}: new, backfilled from your nodes: ${blocks.toLocaleString('en-US')} blocks`,
        {
          ...{ chain_id: chainId, chain, blocks },
        },
      ),
    ),
    ...(await findHeldTables(database, migrations)).map(({ table, pid, application, seconds }) =>
      findingsOf(table).warning(
        `locked by ${application} (pid ${pid}) for ${durationText(seconds)}`,
        'A migration waits for it for up to ten minutes.',
        'End that session before the upgrade.',
        { pid, application, seconds },
      ),
    ),
    await diskFinding(pending, isEmbedded ? dataDirectory : null),
    ...(await findObstacles(database, migrations)).map(({ code, message, remedy }) =>
      findingsOf(code).bad(message, FAILS, remedy),
    ),
  );
  return { findings, isCurrent: pending.length === 0 };
}

const FAILS = `The upgrade to ${VERSION} would fail.`;

/** Null: the schema is of a newer version, or was changed. */
export async function examineSchema(
  database: Storage['database'],
): Promise<{ readonly schema: Finding; readonly migrations: MigrationsPlan | null }> {
  const { ok, warning, refused } = findingsOf('schema');
  try {
    const migrations = await planMigrations(database);
    const { pending, applied } = migrations;
    const seconds = pending.reduce((sum, one) => sum + one.seconds, 0);
    const facts = { applied, pending: pending.length, seconds: rounded(seconds) };
    if (pending.length === 0) return { migrations, schema: ok(`up to date (${applied} migrations)`, facts) };
    if (applied === 0) return { migrations, schema: ok('empty; the first start creates it', facts) };
    const schema = warning(
      `${pending.length} of ${applied + pending.length} migrations of this version are not applied`,
      `Version ${VERSION} migrates in about ${durationText(seconds)} when it starts. The rest runs in the background.`,
      'Back up the database, then start this version.',
      facts,
    );
    return { migrations, schema };
  } catch (error) {
    return { migrations: null, schema: refused(error, "This version can't start on this database.") };
  }
}

function migrationFindings({ name, summary, seconds, bytes, locks, steps }: PlannedMigration): Finding[] {
  const tablesOf = (lock: string): string =>
    locks.flatMap((one) => (one.lock === lock ? [one.table] : [])).join(', ');
  const [all, writes] = [tablesOf('all'), tablesOf('writes')];
  const locked = [...(all && [`all of ${all}`]), ...(writes && [`writes to ${writes}`])].join('; ') || 'nothing';
  const rewrites = steps.flatMap(({ effect, table }) => (effect.kind === 'rewrite' && table ? [table.name] : []));
  const leftOut = steps.flatMap(({ effect, isLeftOut }) =>
    isLeftOut && effect.index ? [effect.index.name] : [],
  );
  const { ok, warning } = findingsOf(name);
  return [
    ok(`${durationText(seconds)}, locks ${locked}: ${summary}`, {
      ...{ summary, seconds: rounded(seconds), bytes: Math.round(bytes), locks, rewrites },
    }),
    ...(leftOut.length === 0
      ? []
      : [
          warning(leftOut.join(', '), 'Not built on large tables.', 'Run "chainstead indexes".', {
            left_out: leftOut,
          }),
        ]),
  ];
}

async function diskFinding(pending: readonly PlannedMigration[], folder: string | null): Promise<Finding> {
  const { ok, bad } = findingsOf('disk');
  const needed = Math.round(pending.reduce((sum, { bytes }) => sum + bytes, 0));
  const { bavail, bsize } = folder === null ? { bavail: null, bsize: 0 } : await statfs(folder);
  const free = bavail === null ? null : bavail * bsize;
  const found = `about ${sizeText(needed)} more during the upgrade; ${free === null ? 'free space on the server is unknown' : `${sizeText(free)} are free`}`;
  const facts = { needed_bytes: needed, free_bytes: free };
  if (free === null || needed <= free) return ok(found, facts);
  const remedy = 'Free disk space, or stop Chainstead and move DATA_DIR to a larger disk.';
  return bad(found, FAILS, remedy, facts);
}

const UNITS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: 60 },
] as const;

/** `under 1 s`, `40 s`, `3 min`, `2 h`. */
function durationText(seconds: number): string {
  if (seconds < 1) return 'under 1 s';
  const found = UNITS.find((one) => seconds >= 2 * one.seconds);
  return found === undefined ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / found.seconds)} ${found.unit}`;
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
