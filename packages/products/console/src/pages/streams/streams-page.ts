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
import { button, changeForm, field, tickBox } from '../../layout/form.ts';
import {
  code,
  cut,
  dash,
  factList,
  type Html,
  livePart,
  NONE,
  NOTHING,
  nextLink,
  note,
  paragraph,
  readChoice,
  section,
  shown,
  soft,
  writeQuery,
} from '../../layout/html.ts';
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
    const { database, chainName, streams } = services;
    const queues = keepForSecond(() => readHostQueues(database));
    routes.view('/streams', async ({ query }) => {
      const filter = { status: readChoice('status', query('status'), STATUSES), text: readText(query('text')) };
      const after = readPosition(query('after'));
      const [page, waiting] = await Promise.all([
        listStreamOverviews(database, { ...filter, after, limit: STREAMS }),
        queues(),
      ]);
      return { body: streamListView(page, filter, livePart('/streams', hostQueuesView(waiting))) };
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
        heading: shown(nameOf(stream), 80),
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
  const form = html`<div class="fields form">
${field('addresses', { label: 'Addresses, one per line', rows: 6, attributes: 'autocomplete="off"' })}
<fieldset><legend>Operation</legend>
<label for="add"><input type="radio" id="add" name="operation" value="add" checked> add</label>
<label for="remove"><input type="radio" id="remove" name="operation" value="remove"> remove</label>
<label for="replace"><input type="radio" id="replace" name="operation" value="replace"> replace all</label></fieldset>
<div>${button('Change')}</div></div>`;
  return html`<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">${shown(nameOf(stream), 60)}</a></p>
<p>The stream watches ${counted(total, 'address', 'addresses')}${stream.allAddresses && ', and its events of all contracts'}.</p>
${changeForm('/console/streams/addresses', token, { stream: stream.id }, form, 'Change the addresses')}
${addresses.length > 0 && html`<ul class="addresses">${addresses.map((watched) => html`<li>${code(watched)}</li>`)}</ul>`}
${nextLink(next && `${address}/addresses?after=${next}`, 'More')}`;
}

interface ListFilter {
  readonly status: StreamStatus | null;
  readonly text: string | null;
}

function streamListView(page: OverviewPage, filter: ListFilter, queues: Html): Html {
  const { next } = page;
  const older = next && `/console/streams${writeQuery({ ...filter, after: writePosition(next) })}`;
  return html`<p><a href="/console/streams/new">New stream</a></p>
${filterForm(filter)}
${streamsTable(page.streams, filter)}
${nextLink(older, 'Older')}
${section('queues', 'Waiting webhooks by host', queues)}`;
}

function filterForm({ status, text }: ListFilter): Html {
  const attributes = 'maxlength="200" autocomplete="off"';
  return html`<form method="get" action="/console/streams" class="filter" aria-label="Filter streams">
${field('text', { label: 'Tag, description, URL or id', attributes }, text ?? '')}
${field('status', { label: 'Status', options: STATUSES, all: 'any' }, status)}
<div>${button('Find', 'quiet')}</div></form>`;
}

function streamsTable(streams: readonly StreamOverview[], { status, text }: ListFilter): Html {
  const rows = streams.map((stream) => [
    html`<a href="/console/streams/${stream.id}">${shown(nameOf(stream), 60)}</a><br>${soft(shown(stream.description, 80))}`,
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
  if (lastError === null) return NONE;
  return html`${shown(lastError.message, ERROR_MAX)}<br>${soft(moment(lastError.at))}`;
}

function hostQueuesView(queues: readonly HostQueue[]): Html {
  const rows = queues
    .slice(0, HOSTS_SHOWN)
    .map(({ host, streams, waiting, held, dueAt, isServed }) => [
      shown(host, 80),
      waitingText(waiting),
      count(held),
      count(streams),
      dash(dueAt, moment),
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
  return html`<p class="soft"><a href="/console/streams">Streams</a> · <code>${stream.id}</code></p>
${livePart(`/streams/${stream.id}`, streamFactsView(overview))}
${section(
  'do',
  'Change',
  html`<p><a href="${address}/edit">Edit</a> · <a href="${address}/addresses">${counted(stream.amountOfAddresses, 'address', 'addresses')}</a></p>`,
  actionsView(facts),
)}
${section('webhooks', 'Webhooks', overview.delivered + overview.failed > 0 && attemptsPlot(stream.id), webhooks)}
${section('what', 'Configuration', configurationView(facts))}`;
}

function streamFactsView(overview: StreamOverview): Html {
  const { status, statusMessage, successRate, delivered, failed, waiting } = overview;
  return factList('wide', [
    ['Status', html`${streamStatusView(status)} ${shown(statusMessage, TEXT_MAX)}`],
    ['Success rate of the URL', `${successRate} %`],
    ['Waiting', waitingText(waiting)],
    ['Delivered', count(delivered)],
    ['Failed attempts', count(failed)],
    ['Last error', lastErrorView(overview)],
  ]);
}

function actionsView({ stream, token }: StreamFacts): Html {
  const { status } = stream;
  const change = (path: string, content: Html, label?: string, next?: string): Html =>
    changeForm(
      `/console/streams/${path}`,
      token,
      { stream: stream.id, ...(next && { status: next }) },
      content,
      label,
    );
  const setStatus = (next: string, content: Html): Html => change('status', content, undefined, next);
  const sure = (id: string, label: string): Html =>
    html`<p>${tickBox('sure', 'yes', 'required', html`${label} ${shown(nameOf(stream), 40)}`, id)}</p>`;
  const terminate = html`${paragraph('Chainstead stops matching blocks. Blocks until the stream resumes are never sent. Waiting webhooks stay.')}
${sure('sure', 'Terminate the stream')}${button('Terminate', 'danger')}`;
  const remove = html`${paragraph('The stream and its addresses are deleted permanently, and waiting webhooks are dropped. The API still shows sent webhooks until their retention ends.')}
${sure('sure-delete', 'Delete the stream')}${button('Delete', 'danger')}`;
  return html`<div class="actions">
${(status === 'active' || status === 'error') && setStatus('paused', button('Pause', 'quiet'))}
${status !== 'active' && setStatus('active', button('Resume', 'quiet'))}
${change('test', button('Send test webhook', 'quiet'))}
${change('duplicate', button('Duplicate', 'quiet'))}
</div>
${status !== 'active' && note('Before the stream resumes, its URL must return 2xx to the test webhook. Waiting webhooks are sent after that.')}
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
  return html`${factList('wide', [
    ['URL', shown(stream.webhookUrl, TEXT_MAX)],
    ['Description', shown(stream.description, TEXT_MAX)],
    ['Tag', shown(stream.tag, TEXT_MAX)],
    ['Chains', stream.chainIds.map(chainName).join(', ')],
    ['Options', switches.join(', ') || 'none'],
    ['Events', topics.length === 0 ? NONE : html`${topics.map((topic) => html`${code(shown(topic))} `)}`],
    ['Created', moment(stream.createdAt)],
    ['Changed', moment(stream.updatedAt)],
  ])}
${json('ABI', stream.abi)}
${json('Advanced options', stream.advancedOptions)}
${json('Triggers', stream.triggers)}
${json('Native balances', stream.getNativeBalances)}`;
}
