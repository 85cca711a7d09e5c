import { dueEntries } from '@chainstead/datasets';
import { InvalidParameterError, recordAudit } from '@chainstead/http';
import { summarizeDueWork } from '@chainstead/jobs';
import {
  cancelRangeJob,
  estimateRangeWork,
  listRangeJobs,
  NoSuchRangeJobError,
  RANGE_JOB_ID,
  RangeJobKnownError,
  readRangeJobPace,
  requestRangeJob,
  TooManyRangeJobsError,
} from '@chainstead/sync';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage, ConsoleServices, PageRequest } from '../../console-page.ts';
import { cut } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { dueWorkView } from './due-work-view.ts';
import { jobChains } from './job-chains.ts';
import { type AskView, askView, type Estimate } from './job-form-view.ts';
import { type JobsFacts, jobsFilter, jobsView } from './jobs-view.ts';
import { EMPTY_FORM, type JobForm, type JobRequest, jobForm, readJobRequest } from './read-job-request.ts';

const PAGE = 50;
const cancelForm = z.object({ id: z.string().regex(RANGE_JOB_ID, 'is not a job') });

/** Range jobs: create, show progress, cancel. */
export const jobsPage: ConsolePage = {
  path: '/jobs',
  title: 'Jobs',
  group: 'Data',
  addRoutes(routes, services) {
    const { database, overview, rangeWork } = services;
    const chains = jobChains(rangeWork);
    const read = (request: PageRequest): Promise<JobsFacts> => readJobs(services, request);
    const parse = async (form: JobForm) => readJobRequest(form, chains, await overview.chain(form.chain));
    const show = async (request: PageRequest, ask: Omit<AskView, 'chains' | 'token'>) => {
      const [facts, due] = await Promise.all([
        read(request),
        summarizeDueWork(
          database,
          dueEntries,
          rangeWork.chains.map(({ id }) => id),
        ),
      ]);
      const body = html`<h1>Jobs</h1>
${askView({ ...ask, chains, token: request.token })}
${jobsFilter(facts)}
${livePart(`/jobs${queryText(request)}`, jobsView(facts))}
${dueWorkView(due, facts.nameOf)}`;
      return { title: 'Jobs', body };
    };
    routes.view('/jobs', async (request) => {
      const given = { ...EMPTY_FORM, chain: request.query('chain') ?? '' };
      return show(request, { form: given, problem: null, estimate: null });
    });
    routes.view('/jobs/estimate', async (request) => {
      const parsed = jobForm.safeParse(Object.fromEntries(FIELDS.map((name) => [name, request.query(name) ?? ''])));
      const form = parsed.success ? parsed.data : EMPTY_FORM;
      const { request: requested, problem } = await parse(form);
      return show(request, {
        form,
        problem,
        estimate: requested === null ? null : await estimateOf(services, requested),
      });
    });
    routes.change('/jobs/create', jobForm, async (request) => {
      const { form, by } = request;
      const { request: requested, problem } = await parse(form);
      if (requested === null) return show(request, { form, problem, estimate: null });
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
        if (error instanceof NoSuchRangeJobError)
          return show(request, {
            form: EMPTY_FORM,
            problem: 'The job had ended before it was cancelled.',
            estimate: null,
          });
        throw error;
      }
      return { goTo: '/console/jobs' };
    });
    routes.live('/jobs', async (request) => jobsView(await read(request)));
  },
};

const FIELDS = ['work', 'chain', 'dataset', 'from', 'to'] as const;

async function estimateOf(
  { database, overview, rangeWork }: ConsoleServices,
  requested: JobRequest,
): Promise<Estimate> {
  const { chain, work, dataset, range } = requested;
  const facts = await overview.chain(chain.name);
  const perSecond = await readRangeJobPace(database, chain.id, work);
  const blocks = range.to - range.from + 1;
  // On Aptos, one call returns many versions.
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

async function readJobs({ database, registry, rangeWork }: ConsoleServices, request: PageRequest): Promise<JobsFacts> {
  const { query, token } = request;
  const [before, state, chain] = ['before', 'state', 'of'].map((name) => query(name) ?? '');
  if (before !== undefined && before !== '' && !RANGE_JOB_ID.test(before))
    throw new InvalidParameterError({ parameter: 'before', given: before, allowed: 'a job' });
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
    chosen: { state: state ?? '', chain: chain ?? '' },
    nameOf: (id) => registry.find(id)?.key ?? cut(id),
    token,
  };
}

function queryText({ query }: PageRequest): string {
  const given = new URLSearchParams();
  for (const name of ['before', 'state', 'of']) if ((query(name) ?? '') !== '') given.set(name, query(name) ?? '');
  return given.size === 0 ? '' : `?${String(given)}`;
}
