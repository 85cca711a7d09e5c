import { forgetSetAsideWork } from '@chainstead/db';
import { recordAudit } from '@chainstead/http';
import { cancelRangeJob, listRangeJobs, type RangeJob } from '@chainstead/sync/ingest';
import type { Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { commandActor } from '../session/command-session.ts';
import { withFoundDatabase, writeShown } from '../session/with-database.ts';
import { formatSeconds } from '../text/progress.ts';
import { renderTable } from '../text/text-table.ts';

const JOBS_MAX = 50;

export async function listJobs(invocation: Invocation<JsonOption>): Promise<void> {
  await withFoundDatabase(invocation, 'jobs', async ({ database }, configuration) => {
    const jobs = await listRangeJobs(database, { limit: JOBS_MAX });
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
    const header = ['job', 'work', 'chain', 'dataset', 'blocks', 'state', 'done', 'left', 'error'];
    const json = jobs.map((job) => jobJson(job, configuration));
    writeShown(invocation, json, renderTable(header, rows));
  });
}

export async function cancelJob(invocation: Invocation, id: string): Promise<void> {
  const { context } = invocation;
  await withFoundDatabase(invocation, 'jobs', async ({ database }) => {
    const job = await database.transaction(async (transaction) => {
      const cancelled = await cancelRangeJob(transaction, id);
      await recordAudit(transaction, commandActor(), { action: 'job.cancel', target: id });
      return cancelled;
    });
    context.stdout.write(job.isEnding ? `Job ${id} ends within seconds.\n` : `Job ${id} is cancelled.\n`);
  });
}

export async function retryWork(invocation: Invocation, name: string): Promise<void> {
  const { context } = invocation;
  await withFoundDatabase(invocation, 'jobs', async ({ database }) => {
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
