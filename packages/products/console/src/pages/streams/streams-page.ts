import { isAddress, parseAddress } from '@chainstead/core';
import { keepForSecond, NotFoundError } from '@chainstead/http';
import {
  type AttemptPage,
  createStreamAddressStore,
  type DeliveryRecord,
  listAttempts,
  listStreamOverviews,
  listWaitingDeliveries,
  readDelivery,
  readHostQueues,
  readStreamOverview,
  type Stream,
  type WaitingPage,
} from '@chainstead/streams';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleServices } from '../../console-page.ts';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, moment } from '../../layout/numbers.ts';
import { readChoice, writeQuery } from '../../layout/query.ts';
import { attemptView } from '../../layout/severity.ts';
import { number, table, wide } from '../../layout/table.ts';
import { addStreamChanges } from './change-streams.ts';
import { addStreamForm } from './edit-stream.ts';
import {
  hostQueuesView,
  nameOf,
  readId,
  readPosition,
  readText,
  SHOWN,
  type ShownWebhooks,
  STATUSES,
  streamListView,
  writePosition,
} from './stream-list-view.ts';
import { streamFactsView, streamView } from './stream-view.ts';

const STREAMS = 50;
const WEBHOOKS = 50;
const ADDRESSES = 200;
const ONE = '/streams/:stream';
const URL_MAX = 2_000;

const MEANINGS: Readonly<Record<DeliveryRecord['status'], string>> = {
  pending: 'waiting',
  delivered: 'delivered',
  failed: 'failed: its retries are used up',
  dropped: 'dropped: a reorg removed its block, or its stream was deleted',
};

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
      return { title: 'Streams', body: streamListView(page, filter, livePart('/streams', hostQueuesView(waiting))) };
    });
    routes.live('/streams', async () => hostQueuesView(await queues()));
    // Before the routes of one stream, which would parse these names as its id.
    addStreamChanges(routes, services);
    addStreamForm(routes, services);
    routes.view(ONE, async ({ parameter, query, token }) => {
      const { stream, overview } = await factsOf(services, parameter('stream'));
      const listed = await listWebhooks(
        services,
        stream.id,
        readChoice('show', query('show'), SHOWN) ?? 'all',
        query('after'),
      );
      const webhooks = webhooksView({ streamId: stream.id, listed, chainName, token });
      return { title: cut(nameOf(stream), 60), body: streamView({ stream, overview, chainName, token }, webhooks) };
    });
    routes.live(ONE, async ({ parameter }) => streamFactsView((await factsOf(services, parameter('stream'))).overview));
    routes.view(`${ONE}/addresses`, async ({ parameter, query, token }) => {
      const stream = await streams.find(readId(parameter('stream'), 'stream'));
      const after = query('after') ?? '';
      const start = isAddress(after) ? parseAddress(after) : null;
      const watched = stream && (await createStreamAddressStore(database).list(stream.id, start, ADDRESSES));
      if (stream === null || watched === null) throw new NotFoundError('There is no such stream');
      return { title: 'Addresses', body: addressesView(stream, watched, token) };
    });
    routes.view(`${ONE}/deliveries/:delivery`, async ({ parameter, token }) => {
      return { title: 'Webhook', body: deliveryView(await deliveryOf(services, parameter), chainName, token) };
    });
    routes.view(`${ONE}/deliveries/:delivery/body.json`, async ({ parameter }) => {
      const { id, body } = await deliveryOf(services, parameter);
      if (body === null) throw new NotFoundError('The body of this webhook is not created yet, or no longer stored');
      return { content: body, type: 'application/json', saveAs: `webhook-${id}.json` };
    });
  },
};

async function factsOf({ database, streams }: ConsoleServices, text: string) {
  const id = readId(text, 'stream');
  const [stream, overview] = await Promise.all([streams.find(id), readStreamOverview(database, id)]);
  if (stream === null || overview === null) throw new NotFoundError('There is no such stream, or it was deleted');
  return { stream, overview };
}

async function deliveryOf({ database }: ConsoleServices, parameter: (name: string) => string) {
  const [streamId, id] = [readId(parameter('stream'), 'stream'), readId(parameter('delivery'), 'webhook')];
  const delivery = await readDelivery(database, streamId, id);
  if (delivery === null) throw new NotFoundError('There is no such webhook, or it is no longer stored');
  return delivery;
}

async function listWebhooks(
  { database }: ConsoleServices,
  streamId: string,
  show: ShownWebhooks,
  position: string | undefined,
): Promise<ListedWebhooks> {
  const after = readPosition(position);
  if (show === 'waiting')
    return { show, page: await listWaitingDeliveries(database, { streamId, after, limit: WEBHOOKS }) };
  const all = { transactionHash: null, chainIds: [], blockNumbers: [], from: null, to: null };
  const filter = { ...all, success: show === 'failed' ? false : null, streamId };
  return { show, page: await listAttempts(database, { filter, after, limit: WEBHOOKS, withBody: false }) };
}

function addressesView(
  stream: Stream,
  { addresses, total, next }: NonNullable<Awaited<ReturnType<ReturnType<typeof createStreamAddressStore>['list']>>>,
  token: string,
): Html {
  const address = `/console/streams/${stream.id}`;
  return html`<h1>Addresses</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">${shown(nameOf(stream), 60)}</a></p>
<p>The stream watches ${count(total)} ${total === 1 ? 'address' : 'addresses'}${stream.allAddresses ? html`, and its events of all contracts` : NOTHING}.</p>
${changeForm(
  '/console/streams/addresses',
  token,
  html`<input type="hidden" name="stream" value="${stream.id}"><div class="fields form">
<div><label for="addresses">Addresses, one per line</label><textarea id="addresses" name="addresses" rows="6" spellcheck="false" autocomplete="off"></textarea></div>
<fieldset><legend>Operation</legend>
<label for="add"><input type="radio" id="add" name="operation" value="add" checked> add</label>
<label for="remove"><input type="radio" id="remove" name="operation" value="remove"> remove</label>
<label for="replace"><input type="radio" id="replace" name="operation" value="replace"> replace all</label></fieldset>
<div><button>Change</button></div></div>`,
  'Change the addresses',
)}
${addresses.length > 0 && html`<ul class="addresses">${addresses.map((watched) => html`<li><code>${watched}</code></li>`)}</ul>`}
${next !== null && html`<p><a href="${address}/addresses?after=${next}" rel="next">More</a></p>`}`;
}

function deliveryView(delivery: DeliveryRecord, chainName: (id: number) => string, token: string): Html {
  const { id, streamId, chainId, blockNumber, blockHash, kind, status, retries, body } = delivery;
  const address = `/console/streams/${streamId}`;
  return html`<h1>Webhook</h1>
<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">Stream</a> · <code>${id}</code></p>
<dl class="facts wide">
<dt>Status</dt><dd>${MEANINGS[status]}</dd>
<dt>Content</dt><dd>block ${count(blockNumber)} of ${shown(chainName(chainId))}, ${kind}</dd>
<dt>Block hash</dt><dd><code>${blockHash}</code></dd>
<dt>Failed attempts</dt><dd>${count(retries)}</dd>
<dt>Created</dt><dd>${moment(delivery.createdAt)}</dd>
${status === 'pending' && html`<dt>Due</dt><dd>${moment(delivery.dueAt)}</dd>`}
<dt>Delivered</dt><dd>${delivery.deliveredAt === null ? '–' : html`${moment(delivery.deliveredAt)}, ${count(delivery.deliveredAt.getTime() - delivery.createdAt.getTime())} ms after creation`}</dd>
</dl>
<section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>${attemptsOfDelivery(delivery, token)}</section>
<section aria-labelledby="body"><h2 id="body">Body</h2>
${body === null ? html`<p class="soft">Created before the first attempt, and stored as long as the delivery records.</p>` : jsonText(body, 'Body', `${address}/deliveries/${id}/body.json`)}</section>`;
}

function attemptsOfDelivery({ streamId, attempts }: DeliveryRecord, token: string): Html {
  if (attempts.length === 0) return html`<p class="soft">No attempts yet.</p>`;
  const rows = attempts.map((attempt) => [
    moment(attempt.createdAt),
    count(attempt.retries + 1),
    attemptView(attempt.success),
    answerOf(attempt),
    html`${count(attempt.durationMs)} ms`,
    shown(attempt.webhookUrl, URL_MAX),
    attempt.success ? NOTHING : replayForm(streamId, attempt.id, token),
  ]);
  return table({
    label: 'Attempts',
    caption: 'Newest first',
    columns: [
      ...[wide('Time', 'whole'), number('Attempt'), 'Outcome', 'Response'],
      ...[number('Duration'), 'URL', wide('Action', 'whole')],
    ],
    rows,
  });
}

function replayForm(streamId: string, attempt: string, token: string): Html {
  return changeForm(
    '/console/streams/replay',
    token,
    html`<input type="hidden" name="stream" value="${streamId}"><input type="hidden" name="attempt" value="${attempt}"><button class="quiet">Resend</button>`,
    'Resend the webhook of this attempt',
  );
}

type ListedWebhooks =
  | { readonly show: 'waiting'; readonly page: WaitingPage }
  | { readonly show: 'all' | 'failed'; readonly page: AttemptPage };

interface WebhooksFacts {
  readonly streamId: string;
  readonly listed: ListedWebhooks;
  readonly chainName: (id: number) => string;
  readonly token: string;
}

const NAMES: Readonly<Record<ShownWebhooks, string>> = {
  all: 'All attempts',
  failed: 'Failed attempts',
  waiting: 'Waiting',
};
const ERROR_MAX = 200;

function webhooksView(facts: WebhooksFacts): Html {
  const { streamId, listed } = facts;
  const address = `/console/streams/${streamId}`;
  const links = SHOWN.map(
    (show) =>
      html`<li><a href="${address}${writeQuery({ show: show === 'all' ? null : show })}#webhooks" ${show === listed.show && html`aria-current="true"`}>${NAMES[show]}</a></li>`,
  );
  const { next } = listed.page;
  const following =
    next === null ? null : `${address}${writeQuery({ show: listed.show, after: writePosition(next) })}#webhooks`;
  const allFailed = html`<input type="hidden" name="stream" value="${streamId}"><p>Resends each webhook whose retries are used up, with the body of its last attempt.</p><button class="quiet">Resend all</button>`;
  return html`<nav aria-label="Webhooks"><ul>${links}</ul></nav>
${listed.show === 'waiting' ? waitingView(facts, listed.page) : attemptsView(facts, listed.page)}
${following !== null && html`<p><a href="${following}" rel="next">${listed.show === 'waiting' ? 'Later' : 'Older'}</a></p>`}
<details><summary>Resend all failed webhooks</summary>${changeForm('/console/streams/replay-failed', facts.token, allFailed)}</details>`;
}

function attemptsView({ streamId, chainName, token }: WebhooksFacts, { attempts }: AttemptPage): Html {
  if (attempts.length === 0) return html`<p class="soft">No attempts recorded.</p>`;
  const rows = attempts.map((attempt) => {
    const name = `the attempt of ${attempt.createdAt.toISOString()}`;
    return [
      attempt.success
        ? NOTHING
        : html`<input type="checkbox" name="attempt" value="${attempt.id}" aria-label="Select ${name}">`,
      html`<a href="/console/streams/${streamId}/deliveries/${attempt.deliveryId}">${moment(attempt.createdAt)}</a>`,
      shown(chainName(attempt.chainId)),
      count(attempt.blockNumber),
      attempt.confirmed ? 'confirmed' : 'unconfirmed',
      count(attempt.retries + 1),
      attemptView(attempt.success),
      answerOf(attempt),
      html`${count(attempt.durationMs)} ms`,
      count(attempt.records),
    ];
  });
  const list = table({
    label: 'Attempts',
    caption: 'Delivery attempts, newest first. Each links to its webhook',
    columns: [
      ...['Select', wide('Time', 'whole'), 'Chain', number('Block'), wide('Kind', 'whole')],
      ...[number('Attempt'), 'Outcome', 'Response', number('Duration'), number('Records')],
    ],
    rows,
  });
  if (attempts.every(({ success }) => success)) return list;
  const fields = html`<input type="hidden" name="stream" value="${streamId}">${list}<p><button class="quiet">Resend selected</button></p>`;
  return changeForm('/console/streams/replay', token, fields, 'Resend webhooks');
}

function answerOf({
  httpStatus,
  errorMessage,
}: Pick<DeliveryRecord['attempts'][number], 'httpStatus' | 'errorMessage'>): Html {
  return html`${httpStatus !== null && html`HTTP ${String(httpStatus)} `}${errorMessage !== '' && shown(errorMessage, ERROR_MAX)}`;
}

function waitingView({ streamId, chainName }: WebhooksFacts, { deliveries }: WaitingPage): Html {
  if (deliveries.length === 0) return html`<p class="soft">No webhooks are waiting.</p>`;
  const rows = deliveries.map(({ id, chainId, blockNumber, kind, retries, createdAt, dueAt }) => [
    html`<a href="/console/streams/${streamId}/deliveries/${id}">${moment(dueAt)}</a>`,
    shown(chainName(chainId)),
    count(blockNumber),
    kind,
    count(retries),
    moment(createdAt),
  ]);
  return table({
    label: 'Waiting webhooks',
    caption: 'Waiting webhooks, next due first',
    columns: [
      ...[wide('Due', 'whole'), 'Chain', number('Block')],
      ...[wide('Kind', 'whole'), number('Failed attempts'), wide('Created', 'whole')],
    ],
    rows,
  });
}
