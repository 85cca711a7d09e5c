/**
 * `npm run migrations:generate`: writes what the `schema.ts` and `analytics.sql` files define to the migrations; columns that views don't mention are added to them. Until the first release, the parts
 * of `0000_initial.sql` that are marked as generated are written again. Afterwards, tables that no migration creates get a new one, with their
 * views. Changes of other tables are written by hand: a test compares the database after all migrations with the tables.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareReleasedMigrations } from './check/released-migrations.ts';
import { REPOSITORY_ROOT } from './check/source-files.ts';
import { readAnalyticsViews, withOtherColumns } from './schema/analytics-views.ts';
import { replaceGenerated } from './schema/replace-generated.ts';
import { readDeclaredTables } from './schema/schema-tables.ts';
import { joinStatements, tableStatements } from './schema/table-statements.ts';

const MIGRATIONS = join(REPOSITORY_ROOT, 'migrations');
const BASELINE = join(MIGRATIONS, '0000_initial.sql');

const tables = await readDeclaredTables();
const { tags } = await compareReleasedMigrations(REPOSITORY_ROOT);
if (tags.length === 0) renewBaseline();
else addMigration();

function renewBaseline(): void {
  const statements = joinStatements(tables.flatMap(({ table }) => tableStatements(table)));
  const views = joinStatements(readAnalyticsViews().map(({ text }) => text));
  const withTables = replaceGenerated(readFileSync(BASELINE, 'utf8'), 'sql', 'tables of datasets', statements);
  save(BASELINE, withOtherColumns(replaceGenerated(withTables, 'sql', 'views of datasets', views), tables));
}

function addMigration(): void {
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'));
  const earlier = files.map((file) => readFileSync(join(MIGRATIONS, file), 'utf8')).join('\n');
  const added = tables.filter(({ name }) => !earlier.includes(`CREATE TABLE "${name}"`));
  if (added.length === 0) {
    console.log('Migrations create every table');
    return;
  }
  const names = added.map(({ name }) => name);
  const views = readAnalyticsViews().filter((view) => view.tables.some((table) => names.includes(table)));
  const statements = [...added.flatMap(({ table }) => tableStatements(table)), ...views.map(({ text }) => text)];
  const number = String(files.length).padStart(4, '0');
  // Nothing follows the last statement.
  const text = withOtherColumns(joinStatements(statements), tables).replace(/--> statement-breakpoint\n$/, '\n');
  save(join(MIGRATIONS, `${number}_${names[0]}.sql`), text);
}

function save(path: string, text: string): void {
  try {
    if (readFileSync(path, 'utf8') === text) return;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  writeFileSync(path, text);
  console.log(`wrote ${path.slice(REPOSITORY_ROOT.length)}`);
}
