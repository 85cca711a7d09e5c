import { isAddress, parseAddress } from '@chainstead/core';
import { NotFoundError } from '@chainstead/http';
import { keepForSecond } from '@chainstead/http/server';
import {
  type AddressPage,
  createStreamAddressStore,
  type HostQueue,
  listStreamOverviews,
  type OverviewPage,
  readHostQueues,
  readStreamOverview,
  type Stream,
  type StreamOverview,
  type StreamStatus,
  WAITING_COUNTED_MAX,
} from '@chainstead/streams';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleServices } from '../../console-page.ts';
import { changeForm, hidden, tickBox } from '../../layout/form.ts';
import { cut, type Html, livePart, NOTHING, nextLink, readChoice, shown, writeQuery } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { count, counted, moment, streamStatusView } from '../../layout/numbers.ts';
import { number, table } from '../../layout/table.ts';
import { addStreamChanges } from './edit-stream.ts';
import {
  addAttemptsPlot,
  addWebhookRoutes,
  attemptsPlot,
  readId,
  readPosition,
  webhooksView,
  writePosition,
} from './webhooks.ts';

const STREAMS = 50;
const ADDRESSES = 200;
const HOSTS_SHOWN = 100;
const ERROR_MAX = 200;
const QUERY_MAX = 200;
const TEXT_MAX = 4_000;
const ONE = '/streams/:stream';
const STATUSES: readonly StreamStatus[] = ['active', 'paused', 'error', 'terminated'];

export const streamsPage: ConsolePage = {
  path: '/streams',
  title: 'Streams',
  formBytesMax: 4_000_000,
  addRoutes(routes, services) {
    const { database, registry, streams } = services;
    const chainName = (id: number): string => registry.find(id)?.key ?? String(id);
    const queues = keepForSecond(() => readHostQueues(database));
    routes.view('/streams', async ({ query }) => {
      const filter = { status: readChoice('status', query('status'), STATUSES), text: readText(query('text')) };
      const after = readPosition(query('after'));
      const [page, waiting] = await Promise.all([
        listStreamOverviews(database, { ...filter, after, limit: STREAMS }),
        queues(),
      ]);
      return {
        title: 'Streams',
        body: streamListView(page, filter, livePart('/streams', hostQueuesView(waiting))),
      };
    });
    routes.live('/streams', async () => hostQueuesView(await queues()));
    // Before the routes of one stream, which would parse these names as its id.
    addStreamChanges(routes, services);
    addAttemptsPlot(routes, services);
    routes.view(ONE, async (request) => {
      const { token } = request;
      const { stream, overview } = await factsOf(services, request.parameter('stream'));
      const webhooks = await webhooksView(services, request, { streamId: stream.id, chainName, token });
      return {
        title: cut(nameOf(stream), 60),
        body: streamView({ stream, overview, chainName, token }, webhooks),
      };
    });
    routes.live(ONE, async ({ parameter }) =>
      streamFactsView((await factsOf(services, parameter('stream'))).overview),
    );
    routes.view(`${ONE}/addresses`, async ({ parameter, query, token }) => {
      const stream = await streams.find(readId(parameter('stream'), 'stream'));
      const after = query('after') ?? '';
      const start = isAddress(after) ? parseAddress(after) : null;
      const watched = stream && (await createStreamAddressStore(database).list(stream.id, start, ADDRESSES));
      if (stream === null || watched === null) throw new NotFoundError('There is no such stream');
      return { title: 'Addresses', body: addressesView(stream, watched, token) };
    });
    addWebhookRoutes(routes, services);
  },
};

async function factsOf({ database, streams }: ConsoleServices, text: string) {
  const id = readId(text, 'stream');
  const [stream, overview] = await Promise.all([streams.find(id), readStreamOverview(database, id)]);
  if (stream === null || overview === null) throw new NotFoundError('There is no such stream, or it was deleted');
  return { stream, overview };
}

function readText(query = ''): string | null {
  // Postgres accepts neither NUL nor lone surrogates.
  const text = query.slice(0, QUERY_MAX).replaceAll('\0', '').toWellFormed().trim();
  return text === '' ? null : text;
}

function addressesView(stream: Stream, { addresses, total, next }: AddressPage, token: string): Html {
  const address = `/console/streams/${stream.id}`;
  const form = html`${hidden({ stream: stream.id })}<div class="fields form">
<div><label for="addresses">Addresses, one per line</label><textarea id="addresses" name="addresses" rows="6" spellcheck="false" autocomplete="off"></textarea></div>
<fieldset><legend>Operation</legend>
<label for="add"><input type="radio" id="add" name="operation" value="add" checked> add</label>
<label for="remove"><input type="radio" id="remove" name="operation" value="remove"> remove</label>
<label for="replace"><input type="radio" id="replace" name="operation" value="replace"> replace all</label></fieldset>
<div><button>Change</button></div></div>`;
  return html`<h1>Addresses</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">${shown(nameOf(stream), 60)}</a></p>
<p>The stream watches ${counted(total, 'address', 'addresses')}${stream.allAddresses && ', and its events of all contracts'}.</p>
${changeForm('/console/streams/addresses', token, form, 'Change the addresses')}
${addresses.length > 0 && html`<ul class="addresses">${addresses.map((watched) => html`<li><code>${watched}</code></li>`)}</ul>`}
${nextLink(next && `${address}/addresses?after=${next}`, 'More')}`;
}

interface ListFilter {
  readonly status: StreamStatus | null;
  readonly text: string | null;
}

function streamListView(page: OverviewPage, filter: ListFilter, queues: Html): Html {
  const { next } = page;
  const older = next && `/console/streams${writeQuery({ ...filter, after: writePosition(next) })}`;
  return html`<h1>Streams</h1>
<p><a href="/console/streams/new">New stream</a></p>
${filterForm(filter)}
${streamsTable(page.streams, filter)}
${nextLink(older, 'Older')}
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

function streamsTable(streams: readonly StreamOverview[], { status, text }: ListFilter): Html {
  const rows = streams.map((stream) => [
    html`<a href="/console/streams/${stream.id}">${shown(nameOf(stream), 60)}</a><br><span class="soft">${shown(stream.description, 80)}</span>`,
    streamStatusView(stream.status),
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
    none: status === null && text === null ? 'There are no streams.' : 'No streams match the filter.',
    rows,
  });
}

function nameOf({ tag, id }: Pick<StreamOverview, 'tag' | 'id'>): string {
  return tag.trim() === '' ? id : tag;
}

function waitingText(waiting: number): Html {
  return waiting >= WAITING_COUNTED_MAX ? html`${count(waiting)} or more` : count(waiting);
}

function lastErrorView({ status, statusMessage, lastError }: StreamOverview): Html {
  if (status === 'error' || status === 'terminated') return shown(statusMessage, ERROR_MAX);
  if (lastError === null) return html`–`;
  return html`${shown(lastError.message, ERROR_MAX)}<br><span class="soft">${moment(lastError.at)}</span>`;
}

function hostQueuesView(queues: readonly HostQueue[]): Html {
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
    none: 'No webhooks are waiting.',
    rows,
  });
}

interface StreamFacts {
  readonly stream: Stream;
  readonly overview: StreamOverview;
  readonly chainName: (id: number) => string;
  readonly token: string;
}

function streamView(facts: StreamFacts, webhooks: Html): Html {
  const { stream, overview } = facts;
  const address = `/console/streams/${stream.id}`;
  return html`<h1>${shown(nameOf(stream), 80)}</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <code>${stream.id}</code></p>
${livePart(`/streams/${stream.id}`, streamFactsView(overview))}
<section aria-labelledby="do"><h2 id="do">Change</h2>
<p><a href="${address}/edit">Edit</a> · <a href="${address}/addresses">${counted(stream.amountOfAddresses, 'address', 'addresses')}</a></p>
${actionsView(facts)}</section>
<section aria-labelledby="webhooks"><h2 id="webhooks">Webhooks</h2>
${overview.delivered + overview.failed > 0 && attemptsPlot(stream.id)}${webhooks}</section>
<section aria-labelledby="what"><h2 id="what">Configuration</h2>${configurationView(facts)}</section>`;
}

function streamFactsView(overview: StreamOverview): Html {
  const { status, statusMessage, successRate, delivered, failed, waiting } = overview;
  return html`<dl class="facts wide">
<dt>Status</dt><dd>${streamStatusView(status)} ${shown(statusMessage, TEXT_MAX)}</dd>
<dt>Success rate of the URL</dt><dd>${successRate} %</dd>
<dt>Waiting</dt><dd>${waitingText(waiting)}</dd>
<dt>Delivered</dt><dd>${count(delivered)}</dd>
<dt>Failed attempts</dt><dd>${count(failed)}</dd>
<dt>Last error</dt><dd>${lastErrorView(overview)}</dd>
</dl>`;
}

function actionsView({ stream, token }: StreamFacts): Html {
  const { status } = stream;
  const field = hidden({ stream: stream.id });
  const change = (path: string, content: Html, label?: string): Html =>
    changeForm(`/console/streams/${path}`, token, html`${field}${content}`, label);
  const setStatus = (next: string, button: Html): Html =>
    change('status', html`${hidden({ status: next })}${button}`);
  const sure = (id: string, label: string): Html =>
    tickBox({
      id,
      name: 'sure',
      value: 'yes',
      mark: 'required',
      label: html`${label} ${shown(nameOf(stream), 40)}`,
    });
  const terminate = html`<p>Chainstead stops matching blocks. Blocks until the stream resumes are never sent. Waiting webhooks stay.</p>
<p>${sure('sure', 'Terminate the stream')}</p><button class="danger">Terminate</button>`;
  const remove = html`<p>The stream and its addresses are deleted permanently, and waiting webhooks are dropped. The API still shows sent webhooks until their retention ends.</p>
<p>${sure('sure-delete', 'Delete the stream')}</p><button class="danger">Delete</button>`;
  return html`<div class="actions">
${(status === 'active' || status === 'error') && setStatus('paused', html`<button class="quiet">Pause</button>`)}
${status !== 'active' && setStatus('active', html`<button class="quiet">Resume</button>`)}
${change('test', html`<button class="quiet">Send test webhook</button>`)}
${change('duplicate', html`<button class="quiet">Duplicate</button>`)}
</div>
${status !== 'active' && html`<p class="soft">Before the stream resumes, its URL must return 2xx to the test webhook. Waiting webhooks are sent after that.</p>`}
${status !== 'terminated' && html`<details><summary>Terminate</summary>${setStatus('terminated', terminate)}</details>`}
<details><summary>Delete</summary>${change('delete', remove, 'Delete the stream')}</details>`;
}

function configurationView({ stream, chainName }: StreamFacts): Html {
  const switches = Object.entries(stream).flatMap(([name, value]) => (value === true ? [name] : []));
  const json = (name: string, value: readonly unknown[] | null): Html =>
    value === null || value.length === 0
      ? NOTHING
      : html`<details><summary>${name} (${count(value.length)})</summary>${jsonText(JSON.stringify(value), name)}</details>`;
  const topics = stream.topic0 ?? [];
  return html`<dl class="facts wide">
<dt>URL</dt><dd>${shown(stream.webhookUrl, TEXT_MAX)}</dd>
<dt>Description</dt><dd>${shown(stream.description, TEXT_MAX)}</dd>
<dt>Tag</dt><dd>${shown(stream.tag, TEXT_MAX)}</dd>
<dt>Chains</dt><dd>${stream.chainIds.map(chainName).join(', ')}</dd>
<dt>Options</dt><dd>${switches.join(', ') || 'none'}</dd>
<dt>Events</dt><dd>${topics.length === 0 ? '–' : topics.map((topic) => html`<code>${shown(topic)}</code> `)}</dd>
<dt>Created</dt><dd>${moment(stream.createdAt)}</dd>
<dt>Changed</dt><dd>${moment(stream.updatedAt)}</dd>
</dl>
${json('ABI', stream.abi)}
${json('Advanced options', stream.advancedOptions)}
${json('Triggers', stream.triggers)}
${json('Native balances', stream.getNativeBalances)}`;
}
