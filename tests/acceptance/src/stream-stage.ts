/** Streams over a local node: the real program, its API, and receivers of webhooks. */

import { randomUUID } from 'node:crypto';
import type { Address } from '@chainstead/core';
import { sql } from '@chainstead/db';
import {
  type Closable,
  closeOf,
  compileDemoContracts,
  type DeployedContract,
  type Devnet,
  type OfficialSdk,
  type Program,
  type ReceivedWebhook,
  type ScratchDatabase,
  startOfficialSdk,
  startWebhookReceiver,
  type WebhookReceiver,
  type WebhookReceiverOptions,
} from '@chainstead/testkit';
import { numberToHex } from 'viem';
import { expect } from 'vitest';
import { z } from 'zod';
import { openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';

export const STREAM_STAGE_KEY = 'acceptance-key-0123456789';
/** Blocks until a webhook is confirmed. */
export const CONFIRMATIONS = 3;

const webhookBody = z.looseObject({
  confirmed: z.boolean(),
  removed: z.literal(true).optional(),
  retries: z.number(),
  streamId: z.string(),
  tag: z.string(),
  block: z.object({ number: z.string(), hash: z.string(), timestamp: z.string() }),
});
export type WebhookBody = z.infer<typeof webhookBody>;

/** A webhook as it came, read. */
export interface ArrivedWebhook extends ReceivedWebhook {
  readonly parsed: WebhookBody;
}

export interface StreamStage extends Closable {
  readonly devnet: Devnet;
  /** ERC-20 with 6 decimals that every account may mint. */
  readonly token: DeployedContract;
  readonly program: Program;
  readonly scratch: ScratchDatabase;
  readonly sdk: OfficialSdk;
  /** URL of the API. */
  readonly address: string;
  readonly secret: string;
  /** A webhook's body, verified and parsed by the official SDK at its first use. */
  read(webhook: ReceivedWebhook): WebhookBody;
  /** Asks the API. */
  ask(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Until the program has taken a block in: what is changed afterwards does not concern it. */
  untilFollowed(blockNumber: bigint): Promise<void>;
  /** One more receiver; closed with the stage. */
  receive(options?: WebhookReceiverOptions): Promise<WebhookReceiver>;
  /** Adds a stream that reports the addresses to the receiver. @returns its id */
  watch(receiver: WebhookReceiver, config: object, addresses?: readonly Address[]): Promise<string>;
}

/** @param environment further configuration of the program, which may depend on its database */
export async function createStreamStage(
  chainId: number,
  environment:
    | Readonly<Record<string, string>>
    | ((scratch: ScratchDatabase) => Promise<Readonly<Record<string, string>>>) = {},
): Promise<StreamStage> {
  await using parts = new AsyncDisposableStack();
  const stage = parts.use(await openDevnetProgramStage(chainId));
  const { devnet, scratch } = stage;
  const { DemoToken } = await compileDemoContracts();
  const token = { address: await devnet.deploy(DemoToken, ['Test Dollar', 'TUSD', 6]), abi: DemoToken.abi };
  const program = stage.start(STREAM_STAGE_KEY, {
    START_BLOCK_DEVNET: '0',
    CONFIRMATIONS_DEVNET: String(CONFIRMATIONS),
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1/32',
    ...(typeof environment === 'function' ? await environment(scratch) : environment),
  });
  const address = await program.url;
  const ask = fetchOf(address);
  const { secretKey: secret } = z.object({ secretKey: z.string() }).parse((await ask('GET', '/settings')).body);
  const sdk = await startOfficialSdk({ address, apiKey: STREAM_STAGE_KEY, streamsSecret: secret });
  await waitUntil(async () => ((await fetch(`${address}/synced`)).ok ? null : program.output()));
  const bodies = new Map<ReceivedWebhook, WebhookBody>();
  const later = parts.use(new AsyncDisposableStack());
  return {
    devnet,
    token,
    program,
    scratch,
    sdk,
    address,
    secret,
    ask,
    read(webhook) {
      const known = bodies.get(webhook);
      if (known !== undefined) return known;
      const body: unknown = JSON.parse(webhook.body);
      const signature = String(webhook.headers['x-signature']);
      expect(sdk.Moralis.Streams.verifySignature({ body: Object(body), signature })).toBe(true);
      sdk.parseWebhook(body).toJSON();
      const parsed = webhookBody.parse(body);
      bodies.set(webhook, parsed);
      return parsed;
    },
    untilFollowed: (blockNumber) =>
      waitUntil(async () => {
        const [row] = await scratch.database.query<{ checkpoint: number }>(
          sql`SELECT checkpoint FROM sync_chains`,
        );
        return row !== undefined && BigInt(row.checkpoint) >= blockNumber ? null : program.output();
      }),
    async receive(options) {
      const receiver = later.adopt(await startWebhookReceiver(options), (one) => one.close());
      return receiver;
    },
    async watch(receiver, config, addresses = []) {
      // A stream with equal settings would be the existing one.
      const description = randomUUID();
      const about = { webhookUrl: `${receiver.url}/webhook`, description, tag: 'acceptance' };
      const created = await ask('PUT', '/streams/evm', { ...about, chainIds: [numberToHex(chainId)], ...config });
      expect(created.status, JSON.stringify(created.body)).toBe(200);
      const { id } = z.object({ id: z.string() }).parse(created.body);
      if (addresses.length > 0) {
        const added = await ask('POST', `/streams/evm/${id}/address`, { address: addresses });
        expect(added.status, JSON.stringify(added.body)).toBe(200);
      }
      return id;
    },
    ...closeOf(parts),
  };
}

function fetchOf(address: string): StreamStage['ask'] {
  return async (method, path, body) => {
    const response = await fetch(address + path, {
      method,
      headers: { 'x-api-key': STREAM_STAGE_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
}

/** All webhooks of a stream so far, each verified and parsed by the official SDK. The test webhook is not among them. */
export function arrivedOf(stage: StreamStage, receiver: WebhookReceiver, streamId: string): ArrivedWebhook[] {
  return receiver.received.flatMap((webhook) => {
    const parsed = stage.read(webhook);
    return parsed.streamId === streamId ? [{ ...webhook, parsed }] : [];
  });
}

/** What is looked for among webhooks. */
export interface WebhookOf {
  readonly blockNumber: bigint;
  readonly confirmed: boolean;
  readonly retries?: number;
}

/** Until the webhook of a block has arrived. */
export async function awaitWebhook(
  stage: StreamStage,
  receiver: WebhookReceiver,
  streamId: string,
  { blockNumber, confirmed, retries }: WebhookOf,
): Promise<ArrivedWebhook> {
  const found = Promise.withResolvers<ArrivedWebhook>();
  await waitUntil(() => {
    const arrived = arrivedOf(stage, receiver, streamId);
    const [webhook] = arrived.filter(
      ({ parsed }) =>
        parsed.block.number === String(blockNumber) &&
        parsed.confirmed === confirmed &&
        (retries === undefined || parsed.retries === retries),
    );
    if (webhook === undefined)
      return `${arrived.length} webhooks, none of block ${blockNumber}\n${stage.program.output()}`;
    found.resolve(webhook);
    return null;
  });
  return found.promise;
}

/** A body with the lists of causes sorted: their order is not promised. */
export function withSortedCauses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedCauses);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === 'triggered_by' && Array.isArray(member) ? member.toSorted() : withSortedCauses(member),
    ]),
  );
}
