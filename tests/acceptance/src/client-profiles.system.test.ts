/**
 * One chain, served the way each client serves it: whichever it is, the program follows to the head and gives the same answers. Without the role `worker`:
 * contract calls have separate tests.
 */

import { parseChainId } from '@chainstead/core';
import {
  bendMethods,
  type ChainNode,
  CLIENT_PROFILES,
  createScriptedChain,
  type Program,
  type RpcHandler,
  serveScriptedChain,
  startProgram,
  takeTurns,
} from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from './indexed-chain.ts';

const BALANCER = 'balancer';
const NAMES = [...CLIENT_PROFILES.map(({ name }) => name), BALANCER];
const FIRST_ID = 7_139_001;
const BLOCKS = 90;
const TEST_MS = 90_000;

const chain = createScriptedChain({ seed: 39, wallets: 12, emptyShare: 0.2 });
chain.mine(BLOCKS);
/** 40 of them. */
const QUESTIONS = [
  ...chain.wallets
    .slice(0, 9)
    .flatMap((wallet) => [
      `/${wallet}/erc20/transfers?order=ASC`,
      `/${wallet}/erc20/transfers?limit=3`,
      `/${wallet}/nft/transfers?order=ASC`,
      `/${wallet}/nft/transfers?limit=3`,
    ]),
  ...chain.tokens.slice(0, 4).map(({ address }) => `/erc20/${address}/transfers?order=ASC`),
];

function profileOf(name: string) {
  const found = CLIENT_PROFILES.find((profile) => profile.name === name);
  if (found === undefined) throw new Error(`No profile is called ${name}`);
  return found;
}

function methodsOf(name: string, own: ReadonlyMap<string, RpcHandler>): ReadonlyMap<string, RpcHandler> {
  if (name !== BALANCER) return bendMethods(profileOf(name), own);
  return takeTurns(bendMethods(profileOf('erigon'), own), bendMethods(profileOf('frontier'), own));
}

describe('whichever client serves the chain', () => {
  const nodes: ChainNode[] = [];
  const scratch = scratchOfFile();
  let program: Program;
  let url: string;

  beforeAll(async () => {
    const environment: Record<string, string> = {
      DATABASE_URL: scratch.url,
      PORT: '0',
      LOG_LEVEL: 'warn',
      CHAINS: NAMES.join(','),
    };
    for (const [place, name] of NAMES.entries()) {
      const id = parseChainId(FIRST_ID + place);
      const methods = (_view: unknown, own: ReadonlyMap<string, RpcHandler>): ReadonlyMap<string, RpcHandler> =>
        new Map([...methodsOf(name, own), ['eth_chainId', () => ({ result: `0x${id.toString(16)}` })]]);
      const node = await serveScriptedChain(chain, { methods });
      nodes.push(node);
      const key = name.toUpperCase();
      environment[`CHAIN_ID_${key}`] = String(id);
      environment[`RPC_URLS_${key}`] = node.url;
      environment[`START_BLOCK_${key}`] = '0';
      // Its transactions have no signatures.
      environment[`SWAPS_${key}`] = 'off';
    }
    program = startProgram(['start', '--roles', 'api,ingest'], { environment });
    url = await program.url;
  });
  afterAll(async () => {
    await program?.kill();
    await Promise.all(nodes.map((node) => node.close()));
  });

  async function ask(path: string, name: string): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`${url}/api/v2.2${path}${path.includes('?') ? '&' : '?'}chain=${name}`);
    return (await response.json()) as Readonly<Record<string, unknown>>;
  }
  const answersOf = (name: string) =>
    Promise.all(
      QUESTIONS.map(async (path) => {
        // Cursors name the chain.
        const { cursor, ...answer } = await ask(path, name);
        return { path, ...answer, hasMore: cursor !== null };
      }),
    );

  it.each(NAMES)(
    '%s: followed to the head, with the answers of a node as specified',
    async (name) => {
      expect(QUESTIONS).toHaveLength(40);
      let difference: unknown = null;
      await waitUntil(async () => {
        const [expected, answers] = [await answersOf('geth'), await answersOf(name)];
        const isDone = expected.every((one) => Object(one).indexed?.complete === true);
        const at = answers.findIndex((one, place) => JSON.stringify(one) !== JSON.stringify(expected[place]));
        difference = { isDone, expected: expected[at], given: answers[at] };
        return isDone && at < 0 ? null : JSON.stringify(difference).slice(0, 2_000);
      }, TEST_MS / 2).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${program.output().slice(-3_000)}`);
      });
      const head = await (await fetch(`${url}/api/v2.2/latestBlockNumber/${name}`)).json();
      expect(Number(head)).toBe(chain.head);
      const transfers = chain.expectedTransfers().length;
      expect(transfers).toBeGreaterThan(50);
    },
    TEST_MS,
  );
});
