import { isAddress, parseAddress } from '@chainstead/core';
import { keepForSecond, NotFoundError } from '@chainstead/http';
import {
  createStreamAddressStore,
  type DeliveryRecord,
  listAttempts,
  listStreamOverviews,
  listWaitingDeliveries,
  readDelivery,
  readHostQueues,
  readStreamOverview,
  type Stream,
  type StreamOverview,
} from '@chainstead/streams';
import { html } from 'hono/html';
import type { ConsolePage, ConsoleServices } from '../../console-page.ts';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, moment } from '../../layout/numbers.ts';
import { attemptView } from '../../layout/severity.ts';
import { number, table, wide } from '../../layout/table.ts';
import { addStreamChanges } from './change-streams.ts';
import { addStreamForm } from './edit-stream.ts';
import { readPosition } from './list-position.ts';
import { hostQueuesView, nameOf, streamListView } from './stream-list-view.ts';
import { readId, readShown, readStatus, readText, type ShownWebhooks } from './stream-query.ts';
import { streamFactsView, streamView } from './stream-view.ts';
import { answerOf, type ListedWebhooks, webhooksView } from './webhooks-view.ts';

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

/** Streams: their state, deliveries and actions. */
export const streamsPage: ConsolePage = {
  path: '/streams',
  title: 'Streams',
  formBytesMax: 4_000_000,
  addRoutes(routes, services) {
    const { database, registry, streams } = services;
    const chainName = (id: number): string => registry.find(id)?.key ?? String(id);
    const queues = keepForSecond(() => readHostQueues(database));
    routes.view('/streams', async ({ query }) => {
      const filter = { status: readStatus(query('status')), text: readText(query('text')) };
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
      const listed = await listWebhooks(services, stream.id, readShown(query('show')), query('after'));
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
      const delivery = await deliveryOf(services, parameter);
      return { title: 'Webhook', body: deliveryView(delivery, { chainName, token }) };
    });
    routes.view(`${ONE}/deliveries/:delivery/body.json`, async ({ parameter }) => {
      const { id, body } = await deliveryOf(services, parameter);
      if (body === null) throw new NotFoundError('The body of this webhook is not created yet, or no longer stored');
      return { content: body, type: 'application/json', saveAs: `webhook-${id}.json` };
    });
  },
};

/** @throws NotFoundError */
async function factsOf(
  { database, streams }: ConsoleServices,
  given: string,
): Promise<{ readonly stream: Stream; readonly overview: StreamOverview }> {
  const id = readId(given, 'stream');
  const [stream, overview] = await Promise.all([streams.find(id), readStreamOverview(database, id)]);
  if (stream === null || overview === null) throw new NotFoundError('There is no such stream, or it was deleted');
  return { stream, overview };
}

/** @throws NotFoundError */
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
  given: string | undefined,
): Promise<ListedWebhooks> {
  const after = readPosition(given);
  if (show === 'waiting')
    return { show, page: await listWaitingDeliveries(database, { streamId, after, limit: WEBHOOKS }) };
  const filter = {
    success: show === 'failed' ? false : null,
    streamId,
    transactionHash: null,
    chainIds: [],
    blockNumbers: [],
    from: null,
    to: null,
  };
  return { show, page: await listAttempts(database, { filter, after, limit: WEBHOOKS, withBody: false }) };
}

/** A page of the addresses that a stream watches. */
interface WatchedAddresses {
  readonly addresses: readonly string[];
  readonly total: number;
  readonly next: string | null;
}

function addressesView(stream: Stream, watched: WatchedAddresses, token: string): Html {
  const { addresses, total, next } = watched;
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
${addresses.length === 0 ? NOTHING : html`<ul class="addresses">${addresses.map((one) => html`<li><code>${one}</code></li>`)}</ul>`}
${next === null ? NOTHING : html`<p><a href="${address}/addresses?after=${next}" rel="next">More</a></p>`}`;
}

/** One webhook: its content, and all attempts. */
function deliveryView(
  delivery: DeliveryRecord,
  { chainName, token }: { readonly chainName: (id: number) => string; readonly token: string },
): Html {
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
${status === 'pending' ? html`<dt>Due</dt><dd>${moment(delivery.dueAt)}</dd>` : NOTHING}
<dt>Delivered</dt><dd>${delivery.deliveredAt === null ? '–' : html`${moment(delivery.deliveredAt)}, ${count(delivery.deliveredAt.getTime() - delivery.createdAt.getTime())} ms after creation`}</dd>
</dl>
<section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>${attemptsView(delivery, token)}</section>
<section aria-labelledby="body"><h2 id="body">Body</h2>
${body === null ? html`<p class="soft">Created before the first attempt, and stored as long as the delivery records.</p>` : jsonText(body, 'Body', `${address}/deliveries/${id}/body.json`)}</section>`;
}

function attemptsView({ streamId, attempts }: DeliveryRecord, token: string): Html {
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
      wide('Time', 'whole'),
      number('Attempt'),
      'Outcome',
      'Response',
      number('Duration'),
      'URL',
      wide('Action', 'whole'),
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
