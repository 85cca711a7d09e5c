/**
 * `npm run migrations:generate`: writes what changed in the `schema.ts` and `analytics.sql` files to the migrations. Until the first release, the
 * parts of `0000_initial.sql` that are marked as generated are written again; afterwards a new migration is added.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { compareReleasedMigrations } from './check/released-migrations.ts';
import { runTool } from './check/run-tool.ts';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { readAnalyticsViews } from './schema/analytics-views.ts';
import { completeStatements, joinStatements, statementsOf, statementsOfTables } from './schema/complete-migration.ts';
import { replaceGenerated } from './schema/replace-generated.ts';
import { readDeclaredTables, SCHEMA_FILES } from './schema/schema-tables.ts';

const MIGRATIONS = join(REPOSITORY_ROOT, 'migrations');
const BASELINE = join(MIGRATIONS, '0000_initial.sql');
const BASELINE_SNAPSHOT = join(MIGRATIONS, 'meta/0000_snapshot.json');

const { tags } = await compareReleasedMigrations(REPOSITORY_ROOT);
await (tags.length === 0 ? renewBaseline() : addMigration());

async function renewBaseline(): Promise<void> {
  const out = mkdtempSync(join(tmpdir(), 'chainstead-schema-'));
  try {
    await runDrizzle(out);
    const file = readdirSync(out).find((name) => name.endsWith('.sql')) ?? '';
    const statements = statementsOf(readFileSync(join(out, file), 'utf8'));
    const declared = await readDeclaredTables();
    const tables = joinStatements(statementsOfTables(statements, declared));
    const views = joinStatements(readAnalyticsViews().map(({ text }) => text));
    const withTables = replaceGenerated(readFileSync(BASELINE, 'utf8'), 'sql', 'tables of datasets', tables);
    save(BASELINE, replaceGenerated(withTables, 'sql', 'views of datasets', views));
    renewSnapshot(join(out, 'meta/0000_snapshot.json'), new Set(declared.map(({ name }) => name)));
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** The ids of the stored snapshot stay: only a change of the schema changes the file. */
function renewSnapshot(path: string, declared: ReadonlySet<string>): void {
  const text = readFileSync(BASELINE_SNAPSHOT, 'utf8');
  const written: Snapshot = JSON.parse(text);
  const generated: Snapshot = JSON.parse(readFileSync(path, 'utf8'));
  save(BASELINE_SNAPSHOT, JSON.stringify({ ...generated, id: written.id, prevId: written.prevId }, null, 2));
  const baseline = readFileSync(BASELINE, 'utf8');
  for (const key of new Set([...Object.keys(written.tables), ...Object.keys(generated.tables)])) {
    const name = key.replace('public.', '');
    const isSame = JSON.stringify(written.tables[key]) === JSON.stringify(generated.tables[key]);
    const isMade = baseline.includes(`CREATE TABLE "${name}"`);
    // One that went with its dataset is gone from the baseline as well.
    if (isSame || declared.has(name) || (!isMade && generated.tables[key] === undefined)) continue;
    console.log(`${name} has changed and declares no storage: change its statements in 0000_initial.sql by hand`);
  }
}

async function addMigration(): Promise<void> {
  const before = new Set(readdirSync(MIGRATIONS));
  await runDrizzle(MIGRATIONS);
  const file = readdirSync(MIGRATIONS).find((name) => name.endsWith('.sql') && !before.has(name));
  if (file === undefined) return console.log('No table has changed');
  const path = join(MIGRATIONS, file);
  const statements = completeStatements(statementsOf(readFileSync(path, 'utf8')), await readDeclaredTables());
  const made = statements.join('\n');
  // A view whose table is new; a change of another one is written by hand.
  const views = readAnalyticsViews().filter(({ tables }) =>
    tables.some((table) => made.includes(`CREATE TABLE "${table}"`)),
  );
  // Nothing follows the last statement.
  save(
    path,
    joinStatements([...statements, ...views.map(({ text }) => text)]).replace(/--> statement-breakpoint\n$/, '\n'),
  );
}

async function runDrizzle(out: string): Promise<void> {
  const folder = mkdtempSync(join(REPOSITORY_ROOT, 'node_modules/.cache/drizzle-'));
  const schema = SCHEMA_FILES.map((path) => join(REPOSITORY_ROOT, path));
  try {
    const config = join(folder, 'drizzle.config.ts');
    // drizzle-kit takes every path as relative to where it runs.
    const settings = { dialect: 'postgresql', out: relative(REPOSITORY_ROOT, out), schema };
    writeFileSync(config, `export default ${JSON.stringify(settings)};\n`);
    const { exitCode, output } = await runTool('drizzle-kit', ['generate', '--config', config]);
    // It ends with 0 after some errors as well.
    if (exitCode !== 0 || !/Your SQL migration file|No schema changes/.test(output))
      throw new Error(`drizzle-kit ended with exit code ${exitCode}: ${output}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function save(path: string, text: string): void {
  if (readFileSync(path, 'utf8') === text) return;
  writeFileSync(path, text);
  console.log(`wrote ${path.slice(REPOSITORY_ROOT.length)}`);
}

interface Snapshot {
  readonly id: string;
  readonly prevId: string;
  readonly tables: Readonly<Record<string, unknown>>;
}
