/** Three upstreams, each faulty in its own way, while the chain grows: no call fails, and none is answered wrongly. */
import { isDeepStrictEqual } from 'node:util';
import {
  type ChainNode,
  createScriptedChain,
  createSeededRandom,
  type FaultSettings,
  requestNode,
  type ScriptedChain,
  type SeededRandom,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { type GatewayStage, startGateway } from './gateway-stage.ts';

const CHAIN_ID = 31_342;
/** Blocks that exist from the beginning. */
const BLOCKS = 200;
const CALLS = 2_000;
const AT_ONCE = 25;
const CALLS_PER_BLOCK = 20;

it('answers 2,000 mixed calls over a slow, a lying and a failing upstream', async () => {
  const chain = createScriptedChain({ seed: 77, chainId: CHAIN_ID });
  chain.mine(BLOCKS);
  const serve = async (faults: Partial<FaultSettings>): Promise<ChainNode> => {
    const node = await serveScriptedChain(chain, { faults });
    onTestFinished(() => node.close());
    return node;
  };
  const upstreams = [
    await serve({ latencyMs: 100 }),
    await serve({ headLieBlocks: 25 }),
    await serve({ httpStatus: { rate: 0.1, status: 500, body: 'internal error' } }),
  ];
  const honest = await serve({});
  const gateway = await startGateway({ chainId: CHAIN_ID, upstreams: upstreams.map(({ url }) => url) });
  onTestFinished(() => gateway.close());

  const problems: string[] = [];
  let requested = 0;
  const work = async (client: number): Promise<void> => {
    const random = createSeededRandom(`gateway faults ${client}`);
    for (let head = 0; requested < CALLS; ) {
      requested += 1;
      if (requested % CALLS_PER_BLOCK === 0) chain.mine(1);
      if (random.chance(0.3)) {
        const seen = await requestHead(gateway, chain, random);
        if (typeof seen === 'string') problems.push(seen);
        else if (seen < head) problems.push(`the head went from ${head} back to ${seen}`);
        else head = seen;
      } else problems.push(...(await requestPast(gateway, honest, chain, random)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, client) => work(client)));
  expect(problems.join('\n')).toBe('');
  expect(chain.head).toBe(BLOCKS + CALLS / CALLS_PER_BLOCK);
  expect(upstreams[2]?.faults.injected.httpStatus).toBeGreaterThan(20);
});

/** @returns the reported head, or its fault */
async function requestHead(
  gateway: GatewayStage,
  chain: ScriptedChain,
  random: SeededRandom,
): Promise<number | string> {
  if (random.chance(0.5)) {
    const reply = await gateway.call('eth_blockNumber');
    const number = Number(reply.result);
    return chain.blockAt(number) === undefined ? `eth_blockNumber: ${JSON.stringify(reply)}` : number;
  }
  const reply = await gateway.call('eth_getBlockByNumber', ['latest', random.chance(0.5)]);
  const block = reply.result as { readonly number: string; readonly hash: string } | null | undefined;
  const known = chain.blockAt(Number(block?.number));
  return known === undefined || known.hash !== block?.hash ? `latest: ${JSON.stringify(reply)}` : known.number;
}

/** @returns what is wrong with the answer, if anything is */
async function requestPast(
  gateway: GatewayStage,
  honest: ChainNode,
  chain: ScriptedChain,
  random: SeededRandom,
): Promise<string[]> {
  const [method, params] = aboutThePast(chain, random);
  const [reply, truth] = await Promise.all([
    gateway.call(method, params),
    requestNode(honest.url, method, params) as Promise<unknown>,
  ]);
  const isTrue = reply.error === undefined && isDeepStrictEqual(reply.result, truth);
  return isTrue ? [] : [`${method} ${JSON.stringify(params)}: ${shorten(reply)} instead of ${shorten(truth)}`];
}

function aboutThePast(chain: ScriptedChain, random: SeededRandom): readonly [string, readonly unknown[]] {
  const block = chain.blockAt(random.integer(0, chain.head));
  if (block === undefined) throw new Error('The chain has a gap');
  const number = `0x${block.number.toString(16)}`;
  const hash = String(block.transactions[0]?.hash ?? `0x${'ee'.repeat(32)}`);
  return random.pick<readonly [string, readonly unknown[]]>([
    ['eth_getBlockByNumber', [number, true]],
    ['eth_getBlockByNumber', [number, false]],
    ['eth_getBlockByNumber', [`0x${(chain.head + 1_000).toString(16)}`, false]],
    ['eth_getBlockByHash', [block.hash, random.chance(0.5)]],
    ['eth_getTransactionReceipt', [hash]],
    ['eth_getTransactionByHash', [hash]],
    ['eth_getTransactionByBlockNumberAndIndex', [number, '0x0']],
    ['eth_getBlockReceipts', [number]],
    ['eth_getBlockTransactionCountByNumber', [number]],
    ['eth_getLogs', [{ fromBlock: number, toBlock: number }]],
    ['eth_getLogs', [{ blockHash: block.hash }]],
    ['eth_getBalance', [`0x${'22'.repeat(20)}`, number]],
    ['eth_chainId', []],
  ]);
}

function shorten(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 300) ?? 'nothing';
}
