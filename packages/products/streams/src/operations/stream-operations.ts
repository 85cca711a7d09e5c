import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { AuditActor } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { AttemptOutcome } from '../delivery/outbox.ts';
import { createReplayMany, type ReplayMany } from '../delivery/replay.ts';
import type { ProbeWebhook } from '../delivery/test-webhook.ts';
import { readCheckpoint } from '../historical/past-chain.ts';
import { previewRange, type RangePreview } from '../historical/preview-range.ts';
import { auditStream, createStreamAddressStore } from '../records/stream-addresses.ts';
import { createStreamStore } from '../records/stream-store.ts';
import { checkStream } from '../routes/check-stream.ts';
import { changedConfig, createStreamChecks, newConfig, type StreamChecks } from '../routes/stream-checks.ts';
import {
  existing,
  givenAddresses,
  notFound,
  StreamChainError,
  WebhookTestsLimitedError,
} from '../routes/stream-errors.ts';
import { setStreamStatus, type WantedStatus } from '../routes/stream-routes.ts';
import { streamChains, streamMembers } from '../routes/stream-schema.ts';
import { parseBody } from '../routes/validation-failed.ts';
import type { Stream } from '../stream.ts';
import type { StreamServices } from '../stream-services.ts';

export interface GivenStream {
  readonly config: Readonly<Record<string, unknown>>;
  readonly addresses: readonly string[] | null;
}

export interface PreviewRequest {
  readonly given: GivenStream;
  readonly streamId: string | null;
  readonly chain: Chain;
  readonly range: BlockRange;
}

/** With the API's rules and errors. Audited in the transaction of the change. */
export interface StreamOperations {
  readonly chains: readonly Chain[];
  find(id: string): Promise<Stream | null>;
  check(given: GivenStream): void;
  /** @throws as the API: ValidationFailedError, WebhookTestError, … */
  create(given: GivenStream, by: AuditActor): Promise<Stream>;
  /** Watched addresses stay. @throws NotFoundError too */
  update(id: string, given: GivenStream, by: AuditActor): Promise<Stream>;
  /** `followedTo`: null before the first block. @throws StreamChainError, PreviewTooLongError, … */
  preview(request: PreviewRequest): Promise<RangePreview & { readonly followedTo: number | null }>;
  /** The copy is active. @throws NotFoundError, WebhookTestError, … */
  duplicate(id: string, by: AuditActor): Promise<Stream>;
  /** Drops pending webhooks; sent ones stay readable. @throws NotFoundError */
  remove(id: string, by: AuditActor): Promise<void>;
  /** Can resume terminated ones. @throws NotFoundError, StreamTerminatedError, WebhookTestError */
  setStatus(id: string, status: WantedStatus, by: AuditActor): Promise<Stream>;
  changeAddresses(
    id: string,
    operation: 'add' | 'remove' | 'replace',
    addresses: readonly string[],
    by: AuditActor,
  ): Promise<void>;
  test(id: string, by: AuditActor): Promise<AttemptOutcome>;
  /** @throws ValidationFailedError, WebhookTestsLimitedError */
  testUrl(webhookUrl: string, by: AuditActor): Promise<AttemptOutcome>;
  replay: ReplayMany;
}

export interface StreamOperationsOptions {
  readonly database: Database;
  readonly services: Pick<
    StreamServices,
    'registry' | 'chains' | 'bounds' | 'offersTraces' | 'testWebhook' | 'previewBlock'
  >;
  readonly probeWebhook: ProbeWebhook;
  readonly replaysPerKey?: number;
}

const NO_STREAM = 'new';

export function createStreamOperations(options: StreamOperationsOptions): StreamOperations {
  const { database, services } = options;
  const store = createStreamStore(database, services.bounds);
  const checks = createStreamChecks(services);
  const read = createReader(services, checks.chainOf);
  return {
    chains: services.chains,
    find: (id) => store.get(id),
    check(given) {
      read.newStream(given);
    },
    async create(given, by) {
      const { config, addresses } = read.newStream(given);
      await checks.requireAll(database, config, by.id);
      return store.createWatching(config, addresses ?? [], by);
    },
    async update(id, given, by) {
      const changed = read.changeOf(given);
      const current = existing(await store.get(id));
      await checks.requireAll(database, changed(current), by.id, current.contracts);
      return existing(await store.update(id, changed, by));
    },
    async preview({ given, streamId, chain, range }) {
      const { config, addresses } = read.newStream(given);
      if (!config.chainIds.includes(chain.id)) throw new StreamChainError(chain.key);
      await checks.requireContracts(database, config);
      const watched = streamId === null ? { addresses: addresses ?? [] } : { addresses, streamId };
      const request = { chain, config, range, ...watched };
      const [preview, followedTo] = await Promise.all([
        previewRange(services.previewBlock, request),
        readCheckpoint(database, chain.id, 'look'),
      ]);
      return { ...preview, followedTo };
    },
    async duplicate(id, by) {
      await checks.requireWebhook(existing(await store.get(id)), by.id);
      return existing(await store.duplicate(id, by));
    },
    async remove(id, by) {
      existing(await store.remove(id, by));
    },
    setStatus: (id, status, by) => setStreamStatus(database, checks, id, { status, resumeTerminated: true }, by),
    changeAddresses: createChangeAddresses(options),
    test: async (id, by) => testWebhook(options, { ...existing(await store.get(id)), id }, by),
    testUrl: async (webhookUrl, by) =>
      testWebhook(options, { webhookUrl: read.webhookUrl(webhookUrl), id: NO_STREAM }, by),
    replay: createReplayMany(options),
  };
}

function createReader(services: StreamOperationsOptions['services'], chainOf: StreamChecks['chainOf']) {
  const members = streamMembers(streamChains(services));
  const shape = z.strictObject(members);
  return {
    webhookUrl: (given: string): string =>
      parseBody(z.object({ webhookUrl: members.webhookUrl }), { webhookUrl: given }).webhookUrl,
    newStream({ config: given, addresses }: GivenStream) {
      const config = newConfig(parseBody(shape, given));
      checkStream(config, chainOf);
      return { config, addresses: addresses === null ? null : givenAddresses(addresses, 'addresses') };
    },
    changeOf({ config: given }: GivenStream) {
      const parsed = parseBody(shape, given);
      return (current: Stream) => {
        const config = changedConfig(current, parsed);
        checkStream(config, chainOf);
        return config;
      };
    },
  };
}

async function testWebhook(
  { database, probeWebhook }: StreamOperationsOptions,
  { id, webhookUrl }: Pick<Stream, 'id' | 'webhookUrl'>,
  by: AuditActor,
): Promise<AttemptOutcome> {
  const outcome = await probeWebhook(webhookUrl, by.id);
  if (outcome === 'too-many') throw new WebhookTestsLimitedError();
  const { success, httpStatus } = outcome;
  await auditStream(database, by, 'stream.test', id, { success, http_status: httpStatus });
  return outcome;
}

function createChangeAddresses({
  database,
  services,
}: StreamOperationsOptions): StreamOperations['changeAddresses'] {
  const store = createStreamAddressStore(database, services.bounds);
  return async (id, operation, addresses, by) => {
    const outcome = await store[operation](id, givenAddresses(addresses, 'addresses'), by);
    if (outcome === 'no-stream') throw notFound('Stream');
    if (outcome === 'none') throw notFound('Address');
  };
}
