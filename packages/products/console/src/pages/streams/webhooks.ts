import { NotFoundError } from '@chainstead/http';
import {
  type AttemptCount,
  type AttemptPage,
  countAttempts,
  type DeliveryRecord,
  listAttempts,
  listWaitingDeliveries,
  readDelivery,
  type WaitingPage,
} from '@chainstead/streams';
import { html } from 'hono/html';
import { type ConsoleRequest, type ConsoleRoutes, type ConsoleServices, jsonFile } from '../../console-page.ts';
import { button, changeForm } from '../../layout/form.ts';
import {
  code,
  factList,
  type Html,
  NONE,
  NOTHING,
  nextLink,
  note,
  paragraph,
  plot,
  readChoice,
  refused,
  section,
  shown,
  writeQuery,
} from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { attemptView, count, moment } from '../../layout/numbers.ts';
import { number, table, wide } from '../../layout/table.ts';

const WEBHOOKS = 50;
const WEBHOOK = '/streams/:stream/deliveries/:delivery';
const URL_MAX = 2_000;
const ERROR_MAX = 200;

const MEANINGS: Readonly<Record<DeliveryRecord['status'], string>> = {
  pending: 'waiting',
  delivered: 'delivered',
  failed: 'failed: its retries are used up',
  dropped: 'dropped: a reorg removed its block, or its stream was deleted',
};

const SHOWN = ['all', 'failed', 'waiting'] as const;

const NAMES: Readonly<Record<(typeof SHOWN)[number], string>> = {
  all: 'All attempts',
  failed: 'Failed attempts',
  waiting: 'Waiting',
};

export function addWebhookRoutes(routes: ConsoleRoutes, { database, chainName }: ConsoleServices): void {
  const deliveryOf = async (parameter: ConsoleRequest['parameter']): Promise<DeliveryRecord> => {
    const [streamId, id] = [readId(parameter('stream'), 'stream'), readId(parameter('delivery'), 'webhook')];
    const delivery = await readDelivery(database, streamId, id);
    if (delivery === null) throw new NotFoundError('There is no such webhook, or it is no longer stored');
    return delivery;
  };
  routes.view(WEBHOOK, async ({ parameter, token }) => {
    const delivery = await deliveryOf(parameter);
    return { title: 'Webhook', body: deliveryView(delivery, chainName(delivery.chainId), token) };
  });
  routes.view(`${WEBHOOK}/body.json`, async ({ parameter }) => {
    const { id, body } = await deliveryOf(parameter);
    if (body === null)
      throw new NotFoundError('The body of this webhook is not created yet, or no longer stored');
    return { content: body, type: 'application/json', saveAs: `webhook-${id}.json` };
  });
}

interface ListContext {
  readonly streamId: string;
  readonly chainName: (id: number) => string;
  readonly token: string;
}

export async function webhooksView(
  { database }: ConsoleServices,
  { query }: ConsoleRequest,
  context: ListContext,
): Promise<Html> {
  const { streamId, token } = context;
  const show = readChoice('show', query('show'), SHOWN) ?? 'all';
  const page = { after: readPosition(query('after')), limit: WEBHOOKS };
  const address = `/console/streams/${streamId}`;
  const links = SHOWN.map((name) => {
    const target = `${address}${writeQuery({ show: name === 'all' ? null : name })}#webhooks`;
    return html`<li><a href="${target}" ${name === show && html`aria-current="true"`}>${NAMES[name]}</a></li>`;
  });
  const list = async (): Promise<readonly [Html, AttemptPage['next']]> => {
    if (show === 'waiting') {
      const waiting = await listWaitingDeliveries(database, { ...page, streamId });
      return [waitingView(context, waiting), waiting.next];
    }
    const all = { transactionHash: null, chainIds: [], blockNumbers: [], from: null, to: null };
    const filter = { ...all, success: show === 'failed' ? false : null, streamId };
    const attempts = await listAttempts(database, { ...page, filter, withBody: false });
    return [attemptsView(context, attempts), attempts.next];
  };
  const [webhooks, next] = await list();
  const following = next && `${address}${writeQuery({ show, after: writePosition(next) })}#webhooks`;
  const allFailed = html`${paragraph('Resends each webhook whose retries are used up, with the body of its last attempt.')}${button('Resend all', 'quiet')}`;
  return html`<nav aria-label="Webhooks"><ul>${links}</ul></nav>
${webhooks}
${nextLink(following, show === 'waiting' ? 'Later' : 'Older')}
<details><summary>Resend all failed webhooks</summary>${changeForm('/console/streams/replay-failed', token, { stream: streamId }, allFailed)}</details>`;
}

function attemptsView({ streamId, chainName, token }: ListContext, { attempts }: AttemptPage): Html {
  const rows = attempts.map((attempt) => {
    const name = `the attempt of ${attempt.createdAt.toISOString()}`;
    return [
      attempt.success
        ? NOTHING
        : html`<input type="checkbox" name="attempt" value="${attempt.id}" aria-label="Select ${name}">`,
      webhookLink(streamId, attempt.deliveryId, attempt.createdAt),
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
    none: 'No attempts recorded.',
    rows,
  });
  if (attempts.every(({ success }) => success)) return list;
  const fields = html`${list}<p>${button('Resend selected', 'quiet')}</p>`;
  return changeForm('/console/streams/replay', token, { stream: streamId }, fields, 'Resend webhooks');
}

function waitingView({ streamId, chainName }: ListContext, { deliveries }: WaitingPage): Html {
  const rows = deliveries.map(({ id, chainId, blockNumber, kind, retries, createdAt, dueAt }) => [
    webhookLink(streamId, id, dueAt),
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
    none: 'No webhooks are waiting.',
    rows,
  });
}

function webhookLink(stream: string, id: string, at: Date): Html {
  return html`<a href="/console/streams/${stream}/deliveries/${id}">${moment(at)}</a>`;
}

function deliveryView(delivery: DeliveryRecord, chain: string, token: string): Html {
  const { id, streamId, createdAt, deliveredAt, blockNumber, blockHash, kind, status, retries, body } = delivery;
  const address = `/console/streams/${streamId}`;
  const delivered =
    deliveredAt &&
    html`${moment(deliveredAt)}, ${count(deliveredAt.getTime() - createdAt.getTime())} ms after creation`;
  const content =
    body === null
      ? note('Created before the first attempt, and stored as long as the delivery records.')
      : jsonText(body, 'Body', `${address}/deliveries/${id}/body.json`);
  return html`<p class="soft"><a href="/console/streams">Streams</a> · <a href="${address}">Stream</a> · <code>${id}</code></p>
${factList('wide', [
  ['Status', MEANINGS[status]],
  ['Content', html`block ${count(blockNumber)} of ${shown(chain)}, ${kind}`],
  ['Block hash', code(blockHash)],
  ['Failed attempts', count(retries)],
  ['Created', moment(createdAt)],
  ...(status === 'pending' ? [['Due', moment(delivery.dueAt)] as const] : []),
  ['Delivered', delivered ?? NONE],
])}
${section('attempts', 'Attempts', attemptsOfDelivery(delivery, token))}
${section('body', 'Body', content)}`;
}

function attemptsOfDelivery({ streamId, attempts }: DeliveryRecord, token: string): Html {
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
    none: 'No attempts yet.',
    rows,
  });
}

function replayForm(streamId: string, attempt: string, token: string): Html {
  const hidden = { stream: streamId, attempt };
  return changeForm(
    '/console/streams/replay',
    token,
    hidden,
    button('Resend', 'quiet'),
    'Resend the webhook of this attempt',
  );
}

function answerOf({
  httpStatus,
  errorMessage,
}: Pick<DeliveryRecord['attempts'][number], 'httpStatus' | 'errorMessage'>): Html {
  const status = httpStatus !== null && html`HTTP ${String(httpStatus)} `;
  return html`${status}${errorMessage !== '' && shown(errorMessage, ERROR_MAX)}`;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export function readId(text: string, what: 'stream' | 'webhook'): string {
  if (isUuid(text)) return text;
  throw new NotFoundError(`There is no such ${what}`);
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
  if (Number.isNaN(at.getTime())) throw refused('after', text, 'the cursor of a link to the next page');
  // A valid time, to the microsecond, which a Date can't represent.
  return [`${at.toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}${fraction}Z`, id];
}

const MINUTE = 60;
const DAY = 86_400;
/** Seconds of a step: the narrowest with few steps is shown. */
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE] as const;
const STEPS_MAX = 100;

export function addAttemptsPlot(routes: ConsoleRoutes, { database, clock }: ConsoleServices): void {
  routes.view('/streams/:stream/attempts.json', async ({ parameter }) => {
    const streamId = readId(parameter('stream'), 'stream');
    const now = Math.floor(clock.now() / 1_000);
    const counts = await countAttempts(database, streamId, new Date((now - DAY) * 1_000));
    return jsonFile(plotOf(counts, now));
  });
}

export function attemptsPlot(streamId: string): Html {
  return plot(
    `/console/streams/${streamId}/attempts.json`,
    'The plot of the last day needs JavaScript. The table below lists the attempts.',
  );
}

function plotOf(counts: readonly AttemptCount[], now: number) {
  const first = counts[0]?.minute ?? now;
  const step = STEPS.find((seconds) => now - first <= seconds * STEPS_MAX) ?? STEPS[2];
  const [from, to] = [Math.floor(first / step) - 1, Math.floor(now / step)];
  const times =
    counts.length === 0 ? [] : Array.from({ length: to - from + 1 }, (_, index) => (from + index) * step);
  const byStep = Map.groupBy(counts, ({ minute }) => Math.floor(minute / step) * step);
  const sums = (field: 'delivered' | 'failed') =>
    times.map((time) => (byStep.get(time) ?? []).reduce((sum, count) => sum + count[field], 0));
  return {
    labels: ['delivered', 'failed'],
    unit: `per ${step / MINUTE} min`,
    range: [from * step, now],
    times,
    values: [sums('delivered'), sums('failed')],
  };
}
