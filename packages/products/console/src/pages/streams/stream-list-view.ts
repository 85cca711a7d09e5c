import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import {
  type HostQueue,
  type OverviewPage,
  type StreamOverview,
  type StreamStatus,
  WAITING_COUNTED_MAX,
} from '@chainstead/streams';
import { html } from 'hono/html';
import { type Html, shown } from '../../layout/html.ts';
import { count, moment } from '../../layout/numbers.ts';
import { writeQuery } from '../../layout/query.ts';
import { number, table } from '../../layout/table.ts';

interface ListFilter {
  readonly status: StreamStatus | null;
  readonly text: string | null;
}

const HOSTS_SHOWN = 100;
const ERROR_MAX = 200;

export function streamListView(page: OverviewPage, filter: ListFilter, queues: Html): Html {
  return html`<h1>Streams</h1>
<p><a href="/console/streams/new">New stream</a></p>
${filterForm(filter)}
${page.streams.length === 0 ? html`<p class="soft">${filter.status === null && filter.text === null ? 'There are no streams.' : 'No streams match the filter.'}</p>` : streamsTable(page.streams)}
${page.next !== null && html`<p><a href="/console/streams${writeQuery({ ...filter, after: writePosition(page.next) })}" rel="next">Older</a></p>`}
<section aria-labelledby="queues"><h2 id="queues">Waiting webhooks by host</h2>${queues}</section>`;
}

function filterForm({ status, text }: ListFilter): Html {
  const options = STATUSES.map(
    (name) => html`<option value="${name}" ${name === status && html`selected`}>${name}</option>`,
  );
  return html`<form method="get" action="/console/streams" class="filter" aria-label="Filter streams">
<div><label for="text">Tag, description, URL or id</label><input id="text" name="text" type="text" value="${text ?? ''}" maxlength="200" autocomplete="off"></div>
<div><label for="status">Status</label><select id="status" name="status"><option value="">any</option>${options}</select></div>
<div><button class="quiet">Find</button></div></form>`;
}

function streamsTable(streams: readonly StreamOverview[]): Html {
  const rows = streams.map((stream) => [
    html`<a href="/console/streams/${stream.id}">${shown(nameOf(stream), 60)}</a><br><span class="soft">${shown(stream.description, 80)}</span>`,
    statusView(stream.status),
    html`${stream.successRate} %`,
    waitingText(stream.waiting),
    count(stream.delivered),
    lastErrorView(stream),
    shown(stream.webhookUrl, 60),
    moment(stream.createdAt),
  ]);
  return table({
    label: 'Streams',
    columns: [
      ...['Stream', 'Status', number('Success rate'), number('Waiting'), number('Delivered')],
      ...['Last error', 'URL', 'Created'],
    ],
    rows,
  });
}

export function nameOf({ tag, id }: Pick<StreamOverview, 'tag' | 'id'>): string {
  return tag.trim() === '' ? id : tag;
}

export function statusView(status: StreamStatus): Html {
  return html`<span class="status s-${status}">${status}</span>`;
}

export function waitingText(waiting: number): Html {
  return waiting >= WAITING_COUNTED_MAX ? html`${count(waiting)} or more` : count(waiting);
}

export function lastErrorView({ status, statusMessage, lastError }: StreamOverview): Html {
  if (status === 'error' || status === 'terminated') return shown(statusMessage, ERROR_MAX);
  if (lastError === null) return html`–`;
  return html`${shown(lastError.message, ERROR_MAX)}<br><span class="soft">${moment(lastError.at)}</span>`;
}

export function hostQueuesView(queues: readonly HostQueue[]): Html {
  if (queues.length === 0) return html`<p class="soft">No webhooks are waiting.</p>`;
  const rows = queues
    .slice(0, HOSTS_SHOWN)
    .map(({ host, streams, waiting, held, dueAt, isServed }) => [
      shown(host, 80),
      waitingText(waiting),
      count(held),
      count(streams),
      dueAt === null ? '–' : moment(dueAt),
      isServed ? 'yes' : 'no',
    ]);
  const more = queues.length - HOSTS_SHOWN;
  return table({
    label: 'Waiting webhooks by host',
    caption: html`Longest queue first${more > 0 && html`. ${count(more)} more hosts have shorter queues`}`,
    columns: ['Host', number('Waiting'), number('On hold'), number('Streams'), 'Next due', 'Sending'],
    rows,
  });
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const TEXT_MAX = 200;

export const STATUSES: readonly StreamStatus[] = ['active', 'paused', 'error', 'terminated'];

export const SHOWN = ['all', 'failed', 'waiting'] as const;
export type ShownWebhooks = (typeof SHOWN)[number];

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export function readId(text: string, what: 'stream' | 'webhook'): string {
  if (isUuid(text)) return text;
  throw new NotFoundError(`There is no such ${what}`);
}

export function readText(query = ''): string | null {
  // Postgres accepts neither NUL nor lone surrogates.
  const text = query.slice(0, TEXT_MAX).replaceAll('\0', '').toWellFormed().trim();
  return text === '' ? null : text;
}

type Position = readonly [time: string, id: string];

const POSITION =
  /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d{1,6})?([+-]\d\d)(:\d\d)?_([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/;

export function writePosition([time, id]: Position): string {
  return `${time}_${id}`;
}

export function readPosition(text = ''): Position | null {
  if (text === '') return null;
  const [, day = '', time = '', fraction = '', hours = '', minutes = ':00', id = ''] = POSITION.exec(text) ?? [];
  const at = new Date(id === '' ? Number.NaN : `${day}T${time}${hours}${minutes}`);
  const allowed = 'the cursor of a link to the next page';
  if (Number.isNaN(at.getTime())) throw new InvalidParameterError({ parameter: 'after', given: text, allowed });
  // A valid time, to the microsecond, which a Date can't represent.
  return [`${at.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}${fraction}Z`, id];
}
