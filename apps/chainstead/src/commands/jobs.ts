import { forgetSetAsideWork } from '@chainstead/db';
import { recordAudit } from '@chainstead/http';
import { cancelRangeJob, listRangeJobs, type RangeJob } from '@chainstead/sync';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { commandActor } from '../session/command-actor.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { findDatabase } from '../session/find-database.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { formatSeconds } from '../text/progress.ts';
import { renderTable } from '../text/text-table.ts';

const JOBS_MAX = 50;

export async function listJobs({ options, command, context }: Invocation<JsonOption>): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  await withStorage({ configuration, context, name: 'jobs' }, async ({ database }) => {
    const jobs = await listRangeJobs(database, { limit: JOBS_MAX });
    if (options.json === true) {
      context.stdout.write(`${JSON.stringify(jobs.map((job) => jobJson(job, configuration)))}\n`);
      return;
    }
    const rows = jobs.map((job) => [
      job.id,
      job.work,
      nameOf(job, configuration),
      job.dataset ?? 'all',
      job.ranges.length === 1
        ? job.ranges.map(({ from, to }) => `${from}-${to}`).join('')
        : `${job.ranges.length} ranges`,
      job.isEnding ? 'ending' : job.status,
      job.total === null ? '–' : `${job.done}/${job.total}`,
      job.secondsLeft === null ? '–' : formatSeconds(Math.ceil(job.secondsLeft)),
      job.error?.message ?? '',
    ]);
    context.stdout.write(
      renderTable(['job', 'work', 'chain', 'dataset', 'blocks', 'state', 'done', 'left', 'error'], rows),
    );
  });
}

export async function cancelJob({ command, context }: Invocation, id: string): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  await withStorage({ configuration, context, name: 'jobs' }, async ({ database }) => {
    const job = await database.transaction(async (transaction) => {
      const cancelled = await cancelRangeJob(transaction, id);
      await recordAudit(transaction, commandActor(), { action: 'job.cancel', target: id });
      return cancelled;
    });
    context.stdout.write(job.isEnding ? `Job ${id} ends within seconds.\n` : `Job ${id} is cancelled.\n`);
  });
}

export async function retryWork({ command, context }: Invocation, name: string): Promise<void> {
  const configuration = await findDatabase(readDatabaseConfiguration(command, context), context);
  await withStorage({ configuration, context, name: 'jobs' }, async ({ database }) => {
    const isForgotten = await database.transaction(async (transaction) => {
      const isKnown = await forgetSetAsideWork(transaction, name);
      if (isKnown) await recordAudit(transaction, commandActor(), { action: 'work.retry', target: name });
      return isKnown;
    });
    if (!isForgotten)
      throw new UsageError(`No work named ${name} is quarantined`, 'Use a name that "chainstead status" shows', {
        name,
      });
    context.stdout.write(`${name} is no longer quarantined. It is tried again when it is next due.\n`);
  });
}

function nameOf({ chain }: RangeJob, { chainRegistry }: Configuration): string {
  return chainRegistry.find(chain)?.key ?? chain;
}

function jobJson(job: RangeJob, configuration: Configuration): Readonly<Record<string, unknown>> {
  return {
    job: job.id,
    work: job.work,
    chain: nameOf(job, configuration),
    dataset: job.dataset,
    ranges: job.ranges,
    status: job.status,
    ending: job.isEnding,
    holder: job.holder,
    done: job.done,
    total: job.total,
    logs: job.logs,
    per_second: job.perSecond,
    seconds_left: job.secondsLeft,
    outcome: job.outcome,
    requested_by: job.requestedBy,
    requested_at: job.requestedAt.toISOString(),
    finished_at: job.finishedAt?.toISOString() ?? null,
    due_at: job.dueAt?.toISOString() ?? null,
    error: job.error,
  };
}
