import { createChainRegistry } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StreamServices, WebhookTest } from '../../stream-services.ts';
import { createStreamRoutes } from '../create-stream-routes.ts';

export { EXAMPLE_KEY };
/** A second key accepted by an example API. */
export const SECOND_KEY = 'second-key';

/** Services that record requests, in place of everything outside the database. */
export interface ExampleServices extends StreamServices {
  /** Tested URLs, in order. */
  readonly tested: string[];
  /** Result of the next tests. */
  answer: WebhookTest;
  /** All other requests, by service. */
  readonly requested: { readonly service: string; readonly request: unknown }[];
  /** The highest existing block; `preview` is the result for any block. */
  readonly head: number;
  preview: Readonly<Record<string, unknown>> | null;
  /** Whether bodies of failed attempts are still stored. */
  bodiesKept: boolean;
}

const FOLLOWED = ['eth', 'base', 'gnosis', 'sepolia'];
export const JOB_ID = '6f0a2f3a-5a35-4f55-9d4c-0c6f8a1d2b3c';

export function exampleServices(): ExampleServices {
  const registry = createChainRegistry();
  const requested: { service: string; request: unknown }[] = [];
  const services: ExampleServices = {
    registry,
    chains: FOLLOWED.map((key) => registry.get(key)),
    tested: [],
    answer: { ok: true },
    requested,
    head: 100,
    preview: null,
    bodiesKept: true,
    offersTraces: async () => true,
    async testWebhook({ webhookUrl }) {
      services.tested.push(webhookUrl);
      return services.answer;
    },
    async replayAttempt(request) {
      requested.push({ service: 'replay', request });
      return services.bodiesKept;
    },
    async previewBlock(request) {
      requested.push({ service: 'preview', request });
      return request.blockNumber > services.head ? { found: false } : { found: true, body: services.preview };
    },
    async sendBlock(request) {
      requested.push({ service: 'send', request });
      return request.blockNumber <= services.head;
    },
    async createHistoricalJob(request) {
      requested.push({ service: 'job', request });
      const { range } = request;
      if (!('fromBlock' in range)) return { id: JOB_ID, totalBlocks: 7, totalJobs: 1 };
      const totalBlocks = Math.min(range.toBlock, services.head) - range.fromBlock + 1;
      return totalBlocks <= 0 ? null : { id: JOB_ID, totalBlocks, totalJobs: 1 };
    },
  };
  return services;
}

/** Returns the API with the stream routes over a database, composed like the program. */
export function exampleStreamApi(database: Database, services: StreamServices): Promise<ApiApp> {
  return exampleApi(database, createStreamRoutes(services), { bodyBytesMax: 8_388_608, otherKeys: [SECOND_KEY] });
}

/** An API response. */
export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Returns a client that sends requests with the example's key, or another one. */
export function clientOf(app: ApiApp, key = EXAMPLE_KEY) {
  return async <Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<ApiAnswer<Body>> => {
    const response = await app.request(path, {
      method,
      headers: { 'x-api-key': key, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
}

export type Client = ReturnType<typeof clientOf>;

/** The minimal input for a stream. */
export const MINIMAL = {
  webhookUrl: 'https://example.com/webhook',
  description: 'A stream',
  chainIds: ['0x1'],
  includeNativeTxs: true,
};

/** The response members that tests read. */
export interface AnsweredStream {
  readonly id: string;
  readonly status: string;
  readonly statusMessage: string;
  readonly amountOfAddresses: number;
  readonly updatedAt: string;
  readonly [member: string]: unknown;
}

export const TRANSFER_EVENT = {
  anonymous: false,
  inputs: [
    { indexed: true, name: 'from', type: 'address' },
    { indexed: true, name: 'to', type: 'address' },
    { indexed: false, name: 'value', type: 'uint256' },
  ],
  name: 'Transfer',
  type: 'event',
};
export const TRANSFER_SIGNATURE = 'Transfer(address,address,uint256)';
export const TRANSFER_HASH = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
