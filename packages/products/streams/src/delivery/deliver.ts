import { randomUUID } from 'node:crypto';
import {
  type AnswerBudget,
  ChainsteadError,
  type Clock,
  createAnswerBudget,
  defineError,
  errorText,
  getOrCompute,
  type Logger,
} from '@chainstead/core';
import { type Database, failureLevel, WorkSetAsideError } from '@chainstead/db';
import { BlockedAddressError, type Egress, EgressTimeoutError } from '@chainstead/egress';
import { finishBody, WebhookTooLargeError } from '../payload/render-body.ts';
import { webhookHeaders } from '../payload/signature.ts';
import type { StreamSettings } from '../records/settings.ts';
import type { AttemptRecorder } from './attempts.ts';
import type { DeliveryMetrics, DeliveryResult } from './delivery-metrics.ts';
import {
  type AttemptOutcome,
  type Delivery,
  type DueDelivery,
  dropDelivery,
  failDelivery,
  postponeDelivery,
  readResend,
  recordsOf,
} from './outbox.ts';

export interface WebhookBodies {
  /** Without `confirmed` and `retries`. Null: no longer due. @throws WebhookCallsLimitedError, or if no node returns its data */
  make(delivery: Delivery, signal: AbortSignal): Promise<string | null>;
}

/** The next attempt is in `waitMs`. */
export class WebhookCallsLimitedError extends defineError('WEBHOOK_CALLS_LIMITED', (waitMs: number) => ({
  message: `Triggers, native balances and tokens of this key's webhooks need more node calls than a key may make. The webhook is made in ${Math.ceil(waitMs / 1_000)} s`,
  facts: { wait_ms: waitMs },
  remedy: 'Use fewer triggers and native balances, or raise ON_DEMAND_CALLS_PER_KEY',
  retryable: true,
})) {
  readonly waitMs: number;
  constructor(waitMs: number) {
    super(waitMs);
    this.waitMs = waitMs;
  }
}

interface DeliverWebhookOptions {
  readonly database: Database;
  readonly egress: Egress;
  readonly bodies: WebhookBodies;
  readonly recorder: AttemptRecorder;
  readonly metrics: DeliveryMetrics;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  readonly postponeMs: number;
}

export interface SendingFacts {
  readonly settings: StreamSettings;
  /** Bounds long texts in flight. */
  readonly key: string;
  readonly queueSize: number;
  isHeld(): boolean;
  onOutcome(outcome: Pick<AttemptOutcome, 'success' | 'durationMs'>): void;
}

/** Null: a long body, built when it is sent, or no longer due. */
export interface PreparedDelivery extends DueDelivery {
  readonly making: Promise<string | null> | null;
}

export interface DeliverWebhook {
  prepare(due: DueDelivery, signal: AbortSignal): PreparedDelivery;
  /** Never throws: failures are postponed or stay due. `onTaken`: characters, on acceptance. */
  deliver(prepared: PreparedDelivery, facts: SendingFacts, signal: AbortSignal, onTaken: OnTaken): Promise<void>;
}

interface Unsent {
  readonly unsent: 'dropped' | 'postponed' | 'lost' | 'gave-up';
}

type OnTaken = (length: number) => void;

/** Across all hosts. Each text exists several times meanwhile. Characters. */
const LONG_TEXTS_MAX = 50_331_648;
/** Texts of hosts that don't respond leave room for those of other keys. */
const KEY_LONG_TEXTS_MAX = LONG_TEXTS_MAX / 4;

export function createDeliverWebhook(options: DeliverWebhookOptions): DeliverWebhook {
  const { database, bodies, recorder, metrics, clock, logger } = options;
  const longTexts = createAnswerBudget({ bytesMax: LONG_TEXTS_MAX });
  const longTextsOf = new Map<string, AnswerBudget>();

  function inLongTexts<T>(key: string, length: number, work: () => Promise<T>): Promise<T> {
    const own = getOrCompute(longTextsOf, key, () => createAnswerBudget({ bytesMax: KEY_LONG_TEXTS_MAX }));
    return own.run(() => longTexts.run(work, length), length);
  }

  function withBody(due: DueDelivery, signal: AbortSignal): PreparedDelivery {
    const { delivery, matchBody } = due;
    if (matchBody !== null || delivery.resend !== null || isObsolete(delivery)) return { ...due, making: null };
    const making = bodies.make(delivery, signal);
    making.catch(() => {});
    return { ...due, making };
  }

  async function sendLong(due: PreparedDelivery, facts: SendingFacts, signal: AbortSignal, onTaken: OnTaken) {
    const { delivery } = due;
    if (delivery.resend === null) return sendAndRecord(withBody(due, signal), facts, signal, onTaken);
    const resend = await readResend(database, delivery);
    if (resend === null) return 'lost';
    return sendAndRecord({ ...due, delivery: { ...delivery, resend } }, facts, signal, onTaken);
  }

  async function sendAndRecord(
    due: PreparedDelivery,
    facts: SendingFacts,
    signal: AbortSignal,
    onTaken: OnTaken,
  ): Promise<DeliveryResult | 'lost'> {
    const { delivery } = due;
    const text = textAtHand(due) ?? (await makeText(options, due, signal));
    if (typeof text !== 'string') return text.unsent;
    if (!facts.isHeld()) return 'lost';
    const outcome = await send(options, delivery, text, facts, signal);
    facts.onOutcome(outcome);
    const body = outcome.success && delivery.resend === null ? null : text;
    const finishedAt = new Date(clock.now());
    // The next webhook waits until a failure is recorded: the stream may have to stop.
    if (outcome.success) onTaken(text.length);
    metrics.webhookAnswerSeconds.observe(outcome.durationMs / 1_000);
    const verdict = await recorder.record({ id: randomUUID(), delivery, body, outcome, finishedAt }, signal);
    if (verdict === 'delivered')
      metrics.webhookDelaySeconds.observe((finishedAt.getTime() - delivery.createdAt.getTime()) / 1_000);
    return verdict;
  }

  return {
    prepare: (due, signal) => (due.longLength > 0 ? { ...due, making: null } : withBody(due, signal)),
    async deliver(prepared, facts, signal, onTaken) {
      try {
        const send = prepared.longLength > 0 ? sendLong : sendAndRecord;
        const work = () => send(prepared, facts, signal, onTaken);
        const result = await (prepared.longLength > 0
          ? inLongTexts(facts.key, prepared.longLength, work)
          : work());
        if (result !== 'lost') metrics.webhooks.inc({ result });
      } catch (error) {
        if (signal.aborted) return;
        logger[failureLevel(error, 'error')](
          { delivery_id: prepared.delivery.id, err: error },
          'Webhook could not be handled',
        );
        await postponeQuietly(options, prepared.delivery);
      }
    },
  };
}

async function makeText(
  { database, logger, postponeMs }: DeliverWebhookOptions,
  { delivery, making }: PreparedDelivery,
  signal: AbortSignal,
): Promise<string | Unsent> {
  if (making === null) {
    await dropDelivery(database, delivery);
    return { unsent: 'dropped' };
  }
  let matchBody: string | null;
  try {
    matchBody = await making;
  } catch (error) {
    signal.throwIfAborted();
    const { streamId, chainId, blockNumber } = delivery;
    const fields = { stream_id: streamId, chain_id: chainId, block: blockNumber, reason: errorText(error) };
    // Invariant: STREAM-DEADLY-WEBHOOK
    if (error instanceof WorkSetAsideError || error instanceof WebhookTooLargeError) {
      logger.error(fields, 'A webhook failed permanently before it was sent');
      await failDelivery(database, delivery, errorText(error));
      return { unsent: 'gave-up' };
    }
    if (error instanceof WebhookCallsLimitedError) {
      logger.info(fields, 'A webhook waits for the node calls of its key');
      await postponeDelivery(database, delivery, error.waitMs);
      return { unsent: 'postponed' };
    }
    logger[failureLevel(error)](fields, 'The contents of a webhook could not be read; trying again later');
    await postponeDelivery(database, delivery, postponeMs);
    return { unsent: 'postponed' };
  }
  return textAtHand({ delivery, matchBody }) ?? { unsent: 'lost' };
}

function isObsolete({ match, kind }: Delivery): boolean {
  return match === null || (match.isRemoved && kind !== 'removed');
}

function textAtHand({ delivery, matchBody }: Pick<DueDelivery, 'delivery' | 'matchBody'>): string | null {
  const { kind, retries, resend } = delivery;
  if (resend !== null) return resend;
  // Invariant: STREAM-REMOVED
  if (matchBody === null || isObsolete(delivery)) return null;
  return finishBody(matchBody, { confirmed: kind === 'confirmed', retries, removed: kind === 'removed' });
}

function send(
  { egress, clock }: DeliverWebhookOptions,
  delivery: Delivery,
  text: string,
  facts: SendingFacts,
  signal: AbortSignal,
) {
  // Invariant: STREAM-SIGNED-TEXT
  const body = Buffer.from(text);
  const { region, secretKey, previousSecretKey } = facts.settings;
  const headers = webhookHeaders({
    body,
    id: delivery.id,
    sentAt: new Date(clock.now()),
    secrets: { current: secretKey, previous: previousSecretKey },
    queueSize: facts.queueSize,
    region,
    confirmed: delivery.kind === 'confirmed',
    records: recordsOf(delivery),
  });
  return postWebhook(egress, { url: delivery.webhookUrl, headers, body, signal });
}

async function postponeQuietly(options: DeliverWebhookOptions, delivery: Delivery): Promise<void> {
  const { database, logger, postponeMs } = options;
  try {
    await postponeDelivery(database, delivery, postponeMs);
  } catch (error) {
    logger.debug({ delivery_id: delivery.id, reason: errorText(error) }, 'Webhook could not be postponed');
  }
}

const WEBHOOK_TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 65_536;
const ERROR_MESSAGE_MAX = 500;
const ANSWER_SHOWN_MAX = 1_000;

interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly showsAnswer?: boolean;
  readonly signal?: AbortSignal;
}

/** Any 2xx is a success; follows no redirects. @throws only the reason of the request's signal */
export async function postWebhook(egress: Egress, request: WebhookRequest): Promise<AttemptOutcome> {
  const started = performance.now();
  const outcome = (status: number | null, errorMessage: string | null): AttemptOutcome => ({
    success: errorMessage === null,
    httpStatus: status,
    errorMessage,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    const {
      status,
      headers,
      body: answer,
    } = await egress.request({
      url: request.url,
      method: 'POST',
      headers: request.headers,
      body: request.body,
      redirects: 0,
      timeoutMs: WEBHOOK_TIMEOUT_MS,
      maxResponseBytes: ANSWER_BYTES_MAX,
      oversize: 'truncate',
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const failure = status >= 200 && status < 300 ? null : `Request failed with status code ${status}`;
    const [retryAfter] = [headers['retry-after']].flat();
    const result = {
      ...outcome(status, failure),
      ...(failure !== null && retryAfter !== undefined && { retryAfter }),
    };
    if (request.showsAnswer !== true) return result;
    return { ...result, answer: answer.toString().slice(0, ANSWER_SHOWN_MAX) };
  } catch (error) {
    request.signal?.throwIfAborted();
    const blocked = error instanceof BlockedAddressError ? { blockedRange: String(error.facts.range) } : {};
    return { ...outcome(null, reasonOf(error)), ...blocked };
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof EgressTimeoutError) return `timeout of ${WEBHOOK_TIMEOUT_MS}ms exceeded`;
  if (error instanceof ChainsteadError || error instanceof Error)
    return errorText(error).replaceAll('\0', '').toWellFormed().slice(0, ERROR_MESSAGE_MAX);
  throw error;
}
