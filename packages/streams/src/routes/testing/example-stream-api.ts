import { createChainRegistry } from '@chainstead/chains';
import type { Database } from '@chainstead/db';
import type { ApiApp } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import type { StreamServices, WebhookTest } from '../../stream-services.ts';
import { createStreamRoutes } from '../create-stream-routes.ts';

export { EXAMPLE_KEY };
/** Another key that an example API accepts. */
export const SECOND_KEY = 'second-key';

/** Services with a memory, in place of everything that leaves the database. */
export interface ExampleServices extends StreamServices {
  /** URLs that were tested, in order. */
  readonly tested: string[];
  /** What the next tests answer. */
  answer: WebhookTest;
  /** Requests to everything else, by service. */
  readonly asked: { readonly service: string; readonly request: unknown }[];
  /** The highest block there is, and what a preview of any block gives. */
  readonly head: number;
  preview: Readonly<Record<string, unknown>> | null;
  /** Whether bodies of failed attempts are still kept. */
  bodiesKept: boolean;
}

const FOLLOWED = ['eth', 'base', 'gnosis', 'sepolia'];
export const JOB_ID = '6f0a2f3a-5a35-4f55-9d4c-0c6f8a1d2b3c';

export function exampleServices(): ExampleServices {
  const registry = createChainRegistry();
  const asked: { service: string; request: unknown }[] = [];
  const services: ExampleServices = {
    chains: FOLLOWED.map((key) => registry.get(key)),
    tested: [],
    answer: { ok: true },
    asked,
    head: 100,
    preview: null,
    bodiesKept: true,
    offersTraces: async () => true,
    async testWebhook({ webhookUrl }) {
      services.tested.push(webhookUrl);
      return services.answer;
    },
    async replayAttempt(request) {
      asked.push({ service: 'replay', request });
      return services.bodiesKept;
    },
    async previewBlock(request) {
      asked.push({ service: 'preview', request });
      return request.blockNumber > services.head ? { found: false } : { found: true, body: services.preview };
    },
    async sendBlock(request) {
      asked.push({ service: 'send', request });
      return request.blockNumber <= services.head;
    },
    async createHistoricalJob(request) {
      asked.push({ service: 'job', request });
      const { range } = request;
      if (!('fromBlock' in range)) return { id: JOB_ID, totalBlocks: 7, totalJobs: 1 };
      const totalBlocks = Math.min(range.toBlock, services.head) - range.fromBlock + 1;
      return totalBlocks <= 0 ? null : { id: JOB_ID, totalBlocks, totalJobs: 1 };
    },
  };
  return services;
}

/** The API with the routes of streams over a database, as the program composes it. */
export function exampleStreamApi(database: Database, services: StreamServices): Promise<ApiApp> {
  return exampleApi(database, createStreamRoutes(services), { bodyBytesMax: 8_388_608, otherKeys: [SECOND_KEY] });
}

/** An answer of the API. */
export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Asks an API with the example's key, or another. */
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

/** The least that makes a stream. */
export const MINIMAL = {
  webhookUrl: 'https://example.com/webhook',
  description: 'A stream',
  chainIds: ['0x1'],
  includeNativeTxs: true,
};

/** A stream as answered, as far as tests look at it. */
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
