import type { RangeJob } from '@chainstead/sync';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, duration, moment, percent, plainCount, rate } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';
import { severityView } from '../../layout/severity.ts';
import { number, table } from '../../layout/table.ts';

export interface JobsFacts {
  /** The newest first. */
  readonly jobs: readonly RangeJob[];
  readonly hasMore: boolean;
  /** The available chains. */
  readonly chains: readonly string[];
  /** Empty: all. */
  readonly chosen: { readonly state: string; readonly chain: string };
  /** Returns the display name of a job's chain. */
  readonly nameOf: (chain: string) => string;
  readonly token: string;
}

const STATES = [
  ['open', 'queued and running'],
  ['finished', 'finished'],
] as const;
const HOLDER_ENDED = 'waiting: its process ended';
const RANGES_SHOWN = 3;
const ERROR_MAX = 600;

/** The filter of the shown jobs. */
export function jobsFilter({ chains, chosen }: JobsFacts): Html {
  return html`<h2 id="jobs">Jobs</h2>
<form method="get" action="/console/jobs" class="fields row" aria-label="Filter jobs">
${selectField({ name: 'of', label: 'Chain', options: chains, chosen: chosen.chain, all: 'all' })}
${selectField({ name: 'state', label: 'State', options: STATES, chosen: chosen.state, all: 'all' })}
<div><button class="quiet">Show</button></div></form>`;
}

/** The live part of the page. */
export function jobsView(facts: JobsFacts): Html {
  const { jobs, hasMore, chosen } = facts;
  const oldest = hasMore ? jobs.at(-1) : undefined;
  const older = new URLSearchParams({
    ...(chosen.state !== '' && { state: chosen.state }),
    ...(chosen.chain !== '' && { of: chosen.chain }),
    before: oldest?.id ?? '',
  });
  return html`${jobs.length === 0 ? html`<p class="soft">No jobs found.</p>` : tableOf(facts)}
${oldest === undefined ? NOTHING : html`<p><a href="/console/jobs?${String(older)}" rel="next">Older</a></p>`}`;
}

function tableOf({ jobs, nameOf, token }: JobsFacts): Html {
  const rows = jobs.map((job) => {
    const name = nameOf(job.chain);
    const isOpen = job.status === 'queued' || job.status === 'running';
    const cancel = html`<input type="hidden" name="id" value="${job.id}"><button class="danger" ${job.isEnding ? html`disabled` : NOTHING}>Cancel</button>`;
    return {
      id: `job-${job.id}`,
      cells: [
        html`${moment(job.requestedAt)}<br>${shown(job.requestedBy)}<br><code class="soft">${job.id}</code>`,
        html`${job.work}<br>${shown(name)}, ${job.dataset === null ? 'all datasets' : shown(job.dataset)}`,
        rangesText(job, name),
        stateView(job),
        progressView(job),
        isOpen ? changeForm('/console/jobs/cancel', token, cancel, `Cancel the job ${job.id}`) : '–',
      ],
    };
  });
  return table({
    label: 'Jobs',
    caption: 'Newest first',
    columns: ['Requested', 'Work', number('Blocks'), 'State', number('Progress'), 'Action'],
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
  return html`${links}${more > 0 ? html`and ${count(more)} more ranges` : NOTHING}`;
}

function stateView(job: RangeJob): Html {
  const { status, error, dueAt, holder, finishedAt, isEnding, outcome } = job;
  const words = isEnding ? 'ending' : status === 'running' && holder === null ? HOLDER_ENDED : status;
  return html`${severityOf(words)}${status === 'running' && holder !== null ? html` <span class="soft">by ${shown(holder)}</span>` : NOTHING}
${finishedAt === null ? NOTHING : html`<br>${moment(finishedAt)}`}
${dueAt === null ? NOTHING : html`<br>next attempt ${moment(dueAt)}`}
${error === null ? NOTHING : html`<p class="problem"><strong>${cut(error.code)}</strong> ${shown(error.message, ERROR_MAX)}</p>`}
${outcome === null ? NOTHING : html`<br>${shown(outcomeText(outcome), 400)}`}`;
}

function severityOf(words: string): Html {
  const text = html`<strong>${words}</strong>`;
  if (words === 'done') return severityView('ok', text);
  if (words === 'failed') return severityView('bad', text);
  return words === HOLDER_ENDED ? severityView('warning', text) : text;
}

function outcomeText({ levels, repairs, uncovered }: NonNullable<RangeJob['outcome']>): string {
  const reached = Object.entries(levels).map(([level, blocks]) => `${plainCount(blocks)} ${level}`);
  return `${reached.join(', ') || 'nothing verified'}; ${plainCount(repairs)} repaired; ${plainCount(uncovered)} not indexed`;
}

function progressView({ status, done, total, perSecond, secondsLeft, logs }: RangeJob): Html {
  if (total === null) return html`${status === 'queued' ? 'not started' : count(done)}`;
  const part = total === 0 ? 1 : done / total;
  return html`<progress max="1000" value="${Math.floor(Math.min(1, part) * 1_000)}" aria-label="Progress">${percent(part)}</progress> ${percent(part)}<br>
${count(done)} of ${count(total)}${logs > 0 ? html`, ${count(logs)} logs` : NOTHING}
${perSecond === null ? NOTHING : html`<br>${rate(perSecond)}/s`}${secondsLeft === null ? NOTHING : html`, about ${duration(secondsLeft)} left`}`;
}
