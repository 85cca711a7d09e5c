import { ChainsteadError } from '@chainstead/core';
import {
  type DistributionPlan,
  distributeTables,
  type PlannedTable,
  planDistribution,
} from '@chainstead/db/server';
import { writeOutcome } from '../ranges/range-command.ts';
import type { Invocation } from '../session/command-context.ts';
import { readConnectedProcesses } from '../session/connected-processes.ts';
import type { Storage } from '../session/storage.ts';
import { withDatabase } from '../session/with-database.ts';
import { renderTable, sizeText } from '../text/text-table.ts';

export function distribute(invocation: Invocation<{ readonly dryRun?: boolean }>): Promise<void> {
  const { options, context } = invocation;
  return withDatabase(invocation, 'distribute', async ({ database }) => {
    const plan = await planDistribution(database);
    for (const warning of plan.warnings) context.stderr.write(`${warning}\n`);
    const left = plan.tables.filter(({ work }) => work !== 'none');
    if (options.dryRun === true) {
      context.stderr.write(renderPlan(plan));
      const sentence = `${left.length} of ${plan.tables.length} tables need distribution. Nothing was changed.`;
      return writeOutcome(context, sentence, { work: 'distribute', dry_run: true, tables: left.map(planJson) });
    }
    if (left.length > 0) await refuseBesideProgram(database);
    const distributed: string[] = [];
    await distributeTables(database, plan, {
      onStart: ({ table, bytes, ...planned }) =>
        context.stderr.write(
          planned.work === 'empty'
            ? `${table}: rows already distributed, freeing ${sizeText(bytes)} on the coordinator …\n`
            : `${table}: ${howText(planned)}, ${rowsText(planned)} rows, ${sizeText(bytes)} …\n`,
        ),
      onDone({ table }, rows) {
        distributed.push(table);
        if (rows !== null)
          context.stderr.write(`  ${rows.toLocaleString('en-US')} rows, counted before and after\n`);
      },
    });
    const sentence =
      left.length === 0
        ? 'All tables are already distributed.'
        : `Distributed ${distributed.length} tables. The others were already distributed.`;
    writeOutcome(context, sentence, { work: 'distribute', dry_run: false, tables: distributed, finished: true });
  });
}

/** Chainstead's writes would wait for hours while rows move. */
async function refuseBesideProgram(database: Storage['database']): Promise<void> {
  const processes = await readConnectedProcesses(database);
  if (processes.length === 0) return;
  const running = processes.map(({ name, address }) => (address === null ? name : `${name} (${address})`));
  throw new ChainsteadError({
    code: 'PROGRAM_RUNS',
    message: `The tables can't be distributed while Chainstead is running: ${running.join(', ')}`,
    facts: { processes: processes.map(({ name }) => name) },
    remedy: 'Stop Chainstead on every machine, run "chainstead distribute", then start it again',
    retryable: true,
  });
}

function renderPlan({ tables }: DistributionPlan): string {
  const rows = tables.map((planned) => [
    planned.table,
    howText(planned),
    WORK_TEXT[planned.work],
    planned.work === 'distribute' ? rowsText(planned) : '',
    planned.work === 'none' ? '' : sizeText(planned.bytes),
  ]);
  return renderTable(['table', 'placement', 'work', 'rows', 'size on coordinator'], rows);
}

const WORK_TEXT: Readonly<Record<PlannedTable['work'], string>> = {
  distribute: 'distribute',
  empty: 'free disk space',
  none: 'done',
};

function howText({ placement }: Pick<PlannedTable, 'placement'>): string {
  return placement.kind === 'reference'
    ? 'on every node'
    : `by ${placement.column}, colocated by ${placement.group}`;
}

function rowsText({ rows, isCounted }: Pick<PlannedTable, 'rows' | 'isCounted'>): string {
  return `${isCounted ? '' : 'about '}${rows.toLocaleString('en-US')}`;
}

function planJson({
  table,
  placement,
  work,
  rows,
  isCounted,
  bytes,
}: PlannedTable): Readonly<Record<string, unknown>> {
  const column = placement.kind === 'distributed' ? placement.column : null;
  return { table, placement: placement.kind, column, work, rows, counted: isCounted, bytes };
}
