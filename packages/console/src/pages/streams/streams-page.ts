import { isAddress, parseAddress } from '@chainstead/core';
import { keepForSecond, NotFoundError } from '@chainstead/http';
import {
  createStreamAddressStore,
  listAttempts,
  listStreamOverviews,
  listWaitingDeliveries,
  readDelivery,
  readHostQueues,
  readStreamOverview,
  type Stream,
  type StreamOverview,
} from '@chainstead/streams';
import type { ConsolePage, ConsoleServices } from '../../console-page.ts';
import { cut } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { addressesView } from './addresses-view.ts';
import { addStreamChanges } from './change-streams.ts';
import { deliveryView } from './delivery-view.ts';
import { addStreamForm } from './edit-stream.ts';
import { readPosition } from './list-position.ts';
import { hostQueuesView, nameOf, streamListView } from './stream-list-view.ts';
import { readId, readShown, readStatus, readText, type ShownWebhooks } from './stream-query.ts';
import { streamFactsView, streamView } from './stream-view.ts';
import { type ListedWebhooks, webhooksView } from './webhooks-view.ts';

const STREAMS = 50;
const WEBHOOKS = 50;
const ADDRESSES = 200;
const ONE = '/streams/:stream';

/** Streams: how they do, what they sent, and what can be done with them. */
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
    // Before the routes of one stream, which would take their names for its id.
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
      if (body === null) throw new NotFoundError('The body of this webhook is not made yet, or no longer kept');
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
  if (delivery === null) throw new NotFoundError('There is no such webhook, or it is no longer kept');
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
