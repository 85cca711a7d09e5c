/** The real route over a scripted chain's indexed rows, behind a real socket, for tests of what clients send. */

import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { createChainRegistry } from '@chainstead/chains';
import { sql } from '@chainstead/db';
import { serveApi } from '@chainstead/http/server';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScriptedChain,
  serveScriptedChain,
} from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { indexFresh } from './indexed-chain.ts';

const CHAIN_ID = 1_337_005;
const SERVED_BLOCKS = 120;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: { readonly message?: string };
}

export interface SentRequest {
  /** Default GET. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ServedRows {
  readonly url: string;
  /** Known to the server as `scripted`. */
  readonly chain: ScriptedChain;
  /** The busiest one. */
  readonly wallet: string;
  /** Sends the target exactly as written, with a good key: `fetch` would correct some of it. */
  send(target: string, sent?: SentRequest): Promise<Answer>;
  /** Transfers in the table, self-transfers once. */
  countTransfers(): Promise<number>;
  close(): Promise<void>;
}

/** The route's path for a wallet. */
export function pathOf(address: string): string {
  return `/api/v2.2/${address}/erc20/transfers`;
}

export async function serveRows(): Promise<ServedRows> {
  const scratch = await createScratchDatabase();
  const chain = createScriptedChain({ seed: 5, chainId: CHAIN_ID });
  chain.mine(SERVED_BLOCKS);
  const chains = createChainRegistry({
    additional: [{ key: 'scripted', id: CHAIN_ID, headerHash: true, proofPolicy: 'strict', pollIntervalMs: 20 }],
  });
  const node = await serveScriptedChain(chain);
  const facts = chains.get(CHAIN_ID);
  await indexFresh({ chain: facts, url: node.url, database: scratch.database, from: 0, to: SERVED_BLOCKS });
  await node.close();
  const server = await serveApi(await createApiUnderTest(scratch.database, chains), {
    host: '127.0.0.1',
    port: 0,
  });
  const [wallet = ''] = chain.wallets;
  const send = (target: string, sent: SentRequest = {}): Promise<Answer> => sendExactly(server.url, target, sent);
  return {
    url: server.url,
    chain,
    wallet,
    send,
    async countTransfers() {
      const [row] = await scratch.database.query<{ rows: number }>(
        sql`SELECT count(*)::int AS rows FROM erc20_transfer_sides WHERE direction <> 1`,
      );
      return row?.rows ?? 0;
    },
    async close() {
      await server.close();
      await scratch.drop();
    },
  };
}

async function sendExactly(
  url: string,
  path: string,
  { method = 'GET', headers, body }: SentRequest,
): Promise<Answer> {
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const sent = request(url, { path, method, headers: { 'x-api-key': TEST_KEY, ...length, ...headers } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const answer = await text(response);
  return {
    status: response.statusCode,
    headers: response.headers,
    body: answer === '' ? {} : JSON.parse(answer),
  };
}
