import { ChainsteadError } from '@chainstead/core';
import { type DistributionPlan, distributeTables, type PlannedTable, planDistribution } from '@chainstead/db';
import type { Command } from 'commander';
import { sizeText } from '../cluster-status-text.ts';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { readConnectedProcesses } from '../connected-processes.ts';
import { writeOutcome } from '../range-command.ts';
import { readDatabaseConfiguration } from '../read-configuration.ts';
import type { Storage } from '../storage.ts';
import { renderTable } from '../text-table.ts';

/** Spreads the tables over a cluster of Citus, one after the other, or says what that would be. */
export function distribute(
  options: { readonly dryRun?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  return withStorage({ configuration, context, name: 'distribute' }, async ({ database }) => {
    const plan = await planDistribution(database);
    for (const warning of plan.warnings) context.stderr.write(`${warning}\n`);
    const left = plan.tables.filter(({ work }) => work !== 'none');
    if (options.dryRun === true) {
      context.stderr.write(renderPlan(plan));
      const sentence = `${left.length} of ${plan.tables.length} tables are to be distributed; nothing was changed.`;
      return writeOutcome(context, sentence, { work: 'distribute', dry_run: true, tables: left.map(planJson) });
    }
    if (left.length > 0) await refuseBesideProgram(database);
    const distributed: string[] = [];
    await distributeTables(database, plan, {
      onStart: (table) => context.stderr.write(`${startText(table)} …\n`),
      onDone({ table }, rows) {
        distributed.push(table);
        if (rows !== null) context.stderr.write(`  ${rows.toLocaleString('en-US')} rows, counted before and after\n`);
      },
    });
    const sentence =
      left.length === 0
        ? 'Every table lies where it belongs.'
        : `${distributed.length} tables were distributed; the others lie where they belong.`;
    writeOutcome(context, sentence, { work: 'distribute', dry_run: false, tables: distributed, finished: true });
  });
}

/** Its writes would wait for as long as rows are moved, which may take hours: requests and chains would be given up meanwhile. */
async function refuseBesideProgram(database: Storage['database']): Promise<void> {
  const processes = await readConnectedProcesses(database);
  if (processes.length === 0) return;
  throw new ChainsteadError({
    code: 'PROGRAM_RUNS',
    message: `The tables can't be distributed while the program runs: ${processes.map(describe).join(', ')}`,
    facts: { processes: processes.map(({ name }) => name) },
    remedy: 'Stop it on every machine, distribute, and start it again',
    retryable: true,
  });
}

function describe({ name, address }: { readonly name: string; readonly address: string | null }): string {
  return address === null ? name : `${name} (${address})`;
}

function startText(planned: PlannedTable): string {
  const { table, work, bytes } = planned;
  return work === 'empty'
    ? `${table}: its rows are distributed, ${sizeText(bytes)} are given back on the coordinator`
    : `${table}: ${howText(planned)}, ${rowsText(planned)} rows, ${sizeText(bytes)}`;
}

function renderPlan({ tables }: DistributionPlan): string {
  const rows = tables.map((planned) => [
    planned.table,
    howText(planned),
    WORK_TEXT[planned.work],
    planned.work === 'distribute' ? rowsText(planned) : '',
    planned.work === 'none' ? '' : sizeText(planned.bytes),
  ]);
  return renderTable(['table', 'lies', 'work', 'rows', 'on the coordinator'], rows);
}

const WORK_TEXT: Readonly<Record<PlannedTable['work'], string>> = {
  distribute: 'distribute',
  empty: 'give the disk back',
  none: 'done',
};

function howText({ placement }: PlannedTable): string {
  return placement.kind === 'reference' ? 'on every node' : `by ${placement.column}, with all by ${placement.group}`;
}

function rowsText({ rows, isCounted }: PlannedTable): string {
  return `${isCounted ? '' : 'about '}${rows.toLocaleString('en-US')}`;
}

function planJson({ table, placement, work, rows, isCounted, bytes }: PlannedTable): Readonly<Record<string, unknown>> {
  const column = placement.kind === 'distributed' ? placement.column : null;
  return { table, placement: placement.kind, column, work, rows, counted: isCounted, bytes };
}
