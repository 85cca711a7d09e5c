import { randomUUID } from 'node:crypto';
import { type Clock, errorText, type Logger } from '@chainstead/core';
import { type Database, failureLevel, WorkSetAsideError } from '@chainstead/db';
import type { Egress } from '@chainstead/egress';
import { finishBody } from '../payload/render-body.ts';
import { webhookHeaders } from '../payload/signature.ts';
import type { StreamSettings } from '../records/settings.ts';
import type { AttemptRecorder } from './attempt-recorder.ts';
import { type Attempt, type Delivery, type DueDelivery, recordsOf } from './delivery.ts';
import type { DeliveryMetrics, DeliveryResult } from './delivery-metrics.ts';
import { postWebhook } from './post-webhook.ts';
import { dropDelivery, failDelivery, postponeDelivery } from './waiting-delivery.ts';

/** Makes the bodies of matches. */
export interface WebhookBodies {
  /**
   * The body without `confirmed` and `retries`, stored with the match by the time this resolves; null when the webhook is not due any
   * more by then: a reorganisation, a pause or another process may have come in between.
   * @throws when no node can be asked for what it is to show; it may be asked again.
   */
  make(delivery: Delivery, signal: AbortSignal): Promise<string | null>;
}

export interface DeliverWebhookOptions {
  readonly database: Database;
  readonly egress: Egress;
  readonly bodies: WebhookBodies;
  readonly recorder: AttemptRecorder;
  readonly metrics: DeliveryMetrics;
  /** By which attempts are told and signed. */
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
  /** How long a webhook waits whose body can't be made yet. Milliseconds. */
  readonly postponeMs: number;
}

/** What is told beside the body. */
export interface SendingFacts {
  readonly settings: StreamSettings;
  /** Webhooks of the stream that wait. */
  readonly queueSize: number;
  /** Whether it is still this process that sends to the host. */
  isHeld(): boolean;
}

/** A webhook in hand; its body is being made where none is stored yet. It comes to null when the webhook is not due any more. */
export interface PreparedDelivery extends DueDelivery {
  readonly making: Promise<string | null> | null;
}

export interface DeliverWebhook {
  /** Begins to make its body where it has none: what is prepared at once shares its queries. */
  prepare(due: DueDelivery, signal: AbortSignal): PreparedDelivery;
  /**
   * Sends one webhook that is in hand and records what came of it. Never throws: what fails is postponed, or stays due.
   * @param onTaken called when the receiver has taken it, so many characters; recording that takes longer
   */
  deliver(
    prepared: PreparedDelivery,
    facts: SendingFacts,
    signal: AbortSignal,
    onTaken: (length: number) => void,
  ): Promise<void>;
}

interface Sent {
  readonly attempt: Attempt;
  /** Of the text that was sent, in characters. */
  readonly length: number;
}

/** Why nothing is sent for now, or for ever. */
interface Unsent {
  readonly unsent: 'dropped' | 'postponed' | 'lost' | 'gave-up';
}

export function createDeliverWebhook(options: DeliverWebhookOptions): DeliverWebhook {
  const { database, bodies, recorder, metrics, clock, logger } = options;

  function prepare(due: DueDelivery, signal: AbortSignal): PreparedDelivery {
    const { delivery, matchBody } = due;
    if (matchBody !== null || delivery.resend !== null || isObsolete(delivery)) return { ...due, making: null };
    const making = bodies.make(delivery, signal);
    // Whoever sends it hears of a failure; it may be put back before.
    making.catch(() => {});
    return { ...due, making };
  }

  async function sendAndRecord(
    due: PreparedDelivery,
    facts: SendingFacts,
    signal: AbortSignal,
    onTaken: (length: number) => void,
  ): Promise<DeliveryResult | 'lost'> {
    const sent = await attemptOf(due, facts, signal);
    if ('unsent' in sent) return sent.unsent;
    const { attempt, length } = sent;
    const { outcome, finishedAt } = attempt;
    // A failure may be the one after which nothing more is to be sent: the next one waits for its record.
    if (outcome.success) onTaken(length);
    metrics.answered(outcome.durationMs / 1_000);
    const verdict = await recorder.record(attempt, signal);
    if (verdict === 'delivered')
      metrics.delivered((finishedAt.getTime() - attempt.delivery.createdAt.getTime()) / 1_000);
    return verdict;
  }

  async function attemptOf(due: PreparedDelivery, facts: SendingFacts, signal: AbortSignal): Promise<Sent | Unsent> {
    const { delivery } = due;
    const text = textAtHand(due) ?? (await makeText(due, signal));
    if (typeof text !== 'string') return text;
    if (!facts.isHeld()) return { unsent: 'lost' };
    const outcome = await send(options, { delivery, body: text, facts, signal });
    const body = outcome.success && delivery.resend === null ? null : text;
    const attempt = { id: randomUUID(), delivery, body, outcome, finishedAt: new Date(clock.now()) };
    return { attempt, length: text.length };
  }

  async function makeText({ delivery, making }: PreparedDelivery, signal: AbortSignal): Promise<string | Unsent> {
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
      if (error instanceof WorkSetAsideError) {
        logger.error(fields, 'A webhook failed for good without having been sent');
        await failDelivery(database, delivery, errorText(error));
        return { unsent: 'gave-up' };
      }
      logger[failureLevel(error)](fields, 'The contents of a webhook could not be read; trying again later');
      await postponeDelivery(database, delivery, options.postponeMs);
      return { unsent: 'postponed' };
    }
    return textAtHand({ delivery, matchBody }) ?? { unsent: 'lost' };
  }

  return {
    prepare,
    async deliver(prepared, facts, signal, onTaken) {
      try {
        const result = await sendAndRecord(prepared, facts, signal, onTaken);
        if (result !== 'lost') metrics.count(result);
      } catch (error) {
        if (signal.aborted) return;
        logger[failureLevel(error, 'error')](
          { delivery_id: prepared.delivery.id, err: error },
          'Webhook could not be handled',
        );
        // What fails for a reason of its own would fail again at once.
        await postponeQuietly(options, prepared.delivery);
      }
    },
  };
}

/** Its block left the chain before it was sent, or nothing is stored of it any more. */
function isObsolete({ match, kind }: Delivery): boolean {
  return match === null || (match.isRemoved && kind !== 'removed');
}

/** The exact text of the next attempt, where no body has to be made before. */
function textAtHand({ delivery, matchBody }: DueDelivery): string | null {
  const { kind, retries, resend } = delivery;
  if (resend !== null) return resend;
  if (matchBody === null || isObsolete(delivery)) return null;
  return finishBody(matchBody, { confirmed: kind === 'confirmed', retries, removed: kind === 'removed' });
}

async function send(
  { egress, clock }: DeliverWebhookOptions,
  sending: {
    readonly delivery: Delivery;
    readonly body: string;
    readonly facts: SendingFacts;
    readonly signal: AbortSignal;
  },
) {
  const { delivery, facts, signal } = sending;
  const body = Buffer.from(sending.body);
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
    // A database that is away can't say that it is due, either.
    logger.debug({ delivery_id: delivery.id, reason: errorText(error) }, 'Webhook could not be postponed');
  }
}
