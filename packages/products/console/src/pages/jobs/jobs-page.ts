import { recordAudit } from '@chainstead/http';
import { TOKEN_FACTS_WORK } from '@chainstead/jobs';
import { type DueEntry, type DueSummary, summarizeDueWork } from '@chainstead/jobs/worker';
import { DUE_POOLS, POOL_WORK } from '@chainstead/markets';
import { nftDueEntries } from '@chainstead/nft';
import { DUE_QUESTIONS } from '@chainstead/node-reads';
import {
  DEFERRED_MATCH_WORK,
  DUE_DEFERRED_MATCHES,
  DUE_HISTORICAL_JOBS,
  HISTORICAL_JOB_WORK,
} from '@chainstead/streams';
import {
  cancelRangeJob,
  estimateRangeWork,
  listRangeJobs,
  NoSuchRangeJobError,
  RANGE_JOB_ID,
  type RangeJob,
  RangeJobKnownError,
  readRangeJobPace,
  requestRangeJob,
  TooManyRangeJobsError,
} from '@chainstead/sync/ingest';
import { DUE_HISTORIES, HISTORY_WORK } from '@chainstead/sync/requests';
import { TOKEN_FACTS } from '@chainstead/tokens';
import { CHANGED_DECIMALS, CHANGED_DECIMALS_WORK } from '@chainstead/tokens/requests';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage, ConsoleRequest, ConsoleServices } from '../../console-page.ts';
import { changeForm, field, queryForm } from '../../layout/form.ts';
import {
  cut,
  dash,
  type Html,
  livePart,
  nextLink,
  refused,
  section,
  shown,
  soft,
  writeQuery,
} from '../../layout/html.ts';
import {
  count,
  duration,
  moment,
  percent,
  plainCount,
  rate,
  type Severity,
  severityView,
} from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import {
  type AskView,
  askView,
  EMPTY_FORM,
  type Estimate,
  type JobForm,
  type JobRequest,
  jobChains,
  jobForm,
  readJobRequest,
} from './job-form.ts';

const PAGE = 50;
const cancelForm = z.object({ id: z.string().regex(RANGE_JOB_ID, 'is not a job') });

export const jobsPage: ConsolePage = {
  path: '/jobs',
  title: 'Jobs',
  group: 'Data',
  addRoutes(routes, services) {
    const { database, overview, rangeWork } = services;
    const chains = jobChains(rangeWork);
    const read = (request: ConsoleRequest) => readJobs(services, request);
    const parse = async (form: JobForm) => readJobRequest(form, chains, await overview.chain(form.chain));
    const show = async (request: ConsoleRequest, ask: Omit<AskView, 'chains' | 'token'>) => {
      const ids = rangeWork.chains.map(({ id }) => id);
      const [facts, due] = await Promise.all([read(request), summarizeDueWork(database, dueEntries, ids)]);
      const { query } = request;
      const page = writeQuery({ before: query('before'), state: query('state'), of: query('of') });
      const body = html`${askView({ ...ask, chains, token: request.token })}
${jobsFilter(facts)}
${livePart(`/jobs${page}`, jobsView(facts))}
${dueWorkView(due, facts.nameOf)}`;
      return { body };
    };
    routes.view('/jobs', async (request) => {
      const form = { ...EMPTY_FORM, chain: request.query('chain') ?? '' };
      return show(request, { form, problem: null, estimate: null });
    });
    routes.view('/jobs/estimate', async (request) => {
      const parsed = jobForm.safeParse(
        Object.fromEntries(Object.keys(EMPTY_FORM).map((name) => [name, request.query(name) ?? ''])),
      );
      const form = parsed.success ? parsed.data : EMPTY_FORM;
      const requested = await parse(form);
      if (typeof requested === 'string') return show(request, { form, problem: requested, estimate: null });
      return show(request, { form, problem: null, estimate: await estimateOf(services, requested) });
    });
    routes.change('/jobs/create', jobForm, async (request) => {
      const { form, by } = request;
      const requested = await parse(form);
      if (typeof requested === 'string') return show(request, { form, problem: requested, estimate: null });
      const { chain, work, dataset, range } = requested;
      try {
        await database.transaction(async (transaction) => {
          const requestedBy = by.name ?? by.id;
          const job = { chain: chain.id, work, dataset, ranges: [range], requestedBy };
          const target = await requestRangeJob(transaction, job);
          const details = { work, chain: chain.name, dataset, ranges: [range] };
          await recordAudit(transaction, by, { action: 'job.create', target, details });
        });
      } catch (error) {
        if (error instanceof RangeJobKnownError || error instanceof TooManyRangeJobsError)
          return show(request, { form, problem: `${error.message}.`, estimate: null });
        throw error;
      }
      return { goTo: '/console/jobs' };
    });
    routes.change('/jobs/cancel', cancelForm, async (request) => {
      const { form, by } = request;
      try {
        await database.transaction(async (transaction) => {
          await cancelRangeJob(transaction, form.id);
          await recordAudit(transaction, by, { action: 'job.cancel', target: form.id });
        });
      } catch (error) {
        if (!(error instanceof NoSuchRangeJobError)) throw error;
        const problem = 'The job had ended before it was cancelled.';
        return show(request, { form: EMPTY_FORM, problem, estimate: null });
      }
      return { goTo: '/console/jobs' };
    });
    routes.live('/jobs', async (request) => jobsView(await read(request)));
  },
};

async function estimateOf(
  { database, overview, rangeWork }: ConsoleServices,
  requested: JobRequest,
): Promise<Estimate> {
  const { chain, work, dataset, range } = requested;
  const facts = await overview.chain(chain.name);
  const perSecond = await readRangeJobPace(database, chain.id, work);
  const blocks = range.to - range.from + 1;
  if (chain.chain === null) return { requested, blocks, read: blocks, calls: null, perSecond };
  const { callsMin, callsMax, read } = estimateRangeWork(
    {
      work,
      ranges: [range],
      datasets: rangeWork.datasets.filter(({ name }) => dataset === null || name === dataset),
      chain: chain.chain,
    },
    facts?.status.coverage ?? [],
    rangeWork.backfillProofOf(chain.chain),
  );
  return { requested, blocks, read, calls: { min: callsMin, max: callsMax }, perSecond };
}

async function readJobs({ database, registry, rangeWork }: ConsoleServices, request: ConsoleRequest) {
  const { query, token } = request;
  const [before = '', state = '', chain = ''] = ['before', 'state', 'of'].map(query);
  if (before !== '' && !RANGE_JOB_ID.test(before)) throw refused('before', before, 'a job');
  const chains = jobChains(rangeWork);
  const jobs = await listRangeJobs(database, {
    limit: PAGE + 1,
    ...(before !== '' && { before }),
    ...((state === 'open' || state === 'finished') && { state }),
    ...(chain !== '' && { chain: chains.find(({ name }) => name === chain)?.id ?? chain }),
  });
  return {
    jobs: jobs.slice(0, PAGE),
    hasMore: jobs.length > PAGE,
    chains: chains.map(({ name }) => name),
    chosen: { state, chain },
    nameOf: (id: string) => registry.find(id)?.key ?? cut(id),
    token,
  };
}

type JobsFacts = Awaited<ReturnType<typeof readJobs>>;

const STATES = [
  ['open', 'queued and running'],
  ['finished', 'finished'],
] as const;
const HOLDER_ENDED = 'waiting: its process ended';
const SEVERITIES: Readonly<Partial<Record<string, Severity>>> = {
  done: 'ok',
  failed: 'bad',
  [HOLDER_ENDED]: 'warning',
};
const RANGES_SHOWN = 3;
const JOB_ERROR_MAX = 600;

function jobsFilter({ chains, chosen }: JobsFacts): Html {
  return html`<h2 id="jobs">Jobs</h2>
${queryForm('/console/jobs', 'Filter jobs', [
  field('of', { label: 'Chain', options: chains, all: 'all' }, chosen.chain),
  field('state', { label: 'State', options: STATES, all: 'all' }, chosen.state),
])}`;
}

function jobsView(facts: JobsFacts): Html {
  const { jobs, hasMore, chosen } = facts;
  const oldest = hasMore ? jobs.at(-1) : undefined;
  const older = writeQuery({ state: chosen.state, of: chosen.chain, before: oldest?.id });
  return html`${jobsTable(facts)}
${nextLink(oldest === undefined ? null : `/console/jobs${older}`, 'Older')}`;
}

function jobsTable({ jobs, nameOf, token }: JobsFacts): Html {
  const rows = jobs.map((job) => {
    const name = nameOf(job.chain);
    const isOpen = job.status === 'queued' || job.status === 'running';
    const cancel = html`<button class="danger" ${job.isEnding && 'disabled'}>Cancel</button>`;
    return {
      id: `job-${job.id}`,
      cells: [
        html`${moment(job.requestedAt)}<br>${shown(job.requestedBy)}<br><code class="soft">${job.id}</code>`,
        html`${job.work}<br>${shown(name)}, ${job.dataset === null ? 'all datasets' : shown(job.dataset)}`,
        rangesText(job, name),
        stateView(job),
        progressView(job),
        isOpen
          ? changeForm('/console/jobs/cancel', token, { id: job.id }, cancel, `Cancel the job ${job.id}`)
          : '–',
      ],
    };
  });
  return table({
    label: 'Jobs',
    caption: 'Newest first',
    columns: ['Requested', 'Work', number('Blocks'), 'State', number('Progress'), 'Action'],
    none: 'No jobs found.',
    rows,
  });
}

function rangesText({ ranges }: RangeJob, name: string): Html {
  const links = ranges
    .slice(0, RANGES_SHOWN)
    .map(
      ({ from, to }) =>
        html`<a href="/console/chains/${encodeURIComponent(name)}?from=${from}&amp;to=${to}" aria-label="Ranges of ${cut(name)} from ${plainCount(from)} to ${plainCount(to)}">${count(from)} to ${count(to)}</a><br>`,
    );
  const more = ranges.length - RANGES_SHOWN;
  return html`${links}${more > 0 && html`and ${count(more)} more ranges`}`;
}

function stateView(job: RangeJob): Html {
  const { status, error, dueAt, holder, finishedAt, isEnding, outcome } = job;
  const words = isEnding ? 'ending' : status === 'running' && holder === null ? HOLDER_ENDED : status;
  const severity = SEVERITIES[words];
  const name = html`<strong>${words}</strong>`;
  return html`${severity === undefined ? name : severityView(severity, name)}${status === 'running' && holder !== null && html` ${soft(html`by ${shown(holder)}`)}`}
${finishedAt !== null && html`<br>${moment(finishedAt)}`}
${dueAt !== null && html`<br>next attempt ${moment(dueAt)}`}
${error !== null && html`<p class="problem"><strong>${cut(error.code)}</strong> ${shown(error.message, JOB_ERROR_MAX)}</p>`}
${outcome !== null && html`<br>${shown(outcomeText(outcome), 400)}`}`;
}

function outcomeText({ levels, repairs, uncovered }: NonNullable<RangeJob['outcome']>): string {
  const reached = Object.entries(levels).map(([level, blocks]) => `${plainCount(blocks)} ${level}`);
  return `${reached.join(', ') || 'nothing verified'}; ${plainCount(repairs)} repaired; ${plainCount(uncovered)} not indexed`;
}

function progressView({ status, done, total, perSecond, secondsLeft, logs }: RangeJob): Html {
  if (total === null) return html`${status === 'queued' ? 'not started' : count(done)}`;
  const part = total === 0 ? 1 : done / total;
  return html`<progress max="1000" value="${Math.floor(Math.min(1, part) * 1_000)}" aria-label="Progress">${percent(part)}</progress> ${percent(part)}<br>
${count(done)} of ${count(total)}${logs > 0 && html`, ${count(logs)} logs`}
${perSecond !== null && html`<br>${rate(perSecond)}/s`}${secondsLeft !== null && html`, about ${duration(secondsLeft)} left`}`;
}

const ERROR_MAX = 300;

function dueWorkView(all: readonly DueSummary[], nameOf: (chainId: string) => string): Html {
  const rows = all.flatMap(({ kind, chainId, counts }) => {
    const name = [kind, shown(nameOf(String(chainId)))];
    if (counts === null) return [[...name, '–', '–', '–', '–', '–', 'not counted within 2 seconds']];
    const { dueNow, claimed, waiting, quarantined, isComplete, oldestDueAt, error } = counts;
    if (dueNow + claimed + waiting + quarantined === 0) return [];
    return [
      [
        ...name,
        count(dueNow),
        count(claimed),
        html`${count(waiting)}${!isComplete && html` or more`}`,
        count(quarantined),
        dash(oldestDueAt, moment),
        dash(
          error,
          ({ code: name, message }) => html`<strong>${cut(name)}</strong> ${shown(message, ERROR_MAX)}`,
        ),
      ],
    ];
  });
  const list = table({
    label: 'Due work',
    caption: 'Rows that workers process',
    columns: [
      ...['Kind', 'Chain'],
      ...['Due now', 'Claimed', 'Waiting', 'Quarantined'].map(number),
      ...['Oldest due', 'Last error'],
    ],
    none: 'No work is due.',
    rows,
  });
  return section('due-work', 'Due work', list);
}

export const dueEntries: readonly DueEntry[] = [
  { kind: TOKEN_FACTS_WORK, table: TOKEN_FACTS },
  { kind: CHANGED_DECIMALS_WORK, table: CHANGED_DECIMALS },
  ...nftDueEntries,
  { kind: HISTORY_WORK, table: DUE_HISTORIES },
  { kind: HISTORICAL_JOB_WORK, table: DUE_HISTORICAL_JOBS },
  { kind: DEFERRED_MATCH_WORK, table: DUE_DEFERRED_MATCHES },
  { kind: POOL_WORK, table: DUE_POOLS },
  { kind: 'state', table: DUE_QUESTIONS },
];
