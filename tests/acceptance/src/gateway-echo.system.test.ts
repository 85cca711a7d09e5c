/** One client writes what it likes into its calls, and both nodes repeat it in their errors: no other client notices. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createScriptedChain,
  createSeededRandom,
  type SeededRandom,
  serveScriptedChain,
} from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { GATEWAY_KEY, type GatewayReply, type GatewayStage, startGateway } from './gateway-stage.ts';

const CHAIN_ID = 31_347;
const STRANGER_KEY = 'fedcba9876543210fedcba9876543210';
const BODIES = 150;
const ADDRESS = `0x${'11'.repeat(20)}`;
const HASH = `0x${'22'.repeat(32)}`;
const LOADED = ['monthly capacity limit', 'invalid api key', 'unauthorized', 'rate limit', 'too many requests'];

interface EchoingNode {
  readonly url: string;
  /** Bodies of calls that it answered with their own words. */
  readonly repeated: string[];
}

/** Passes what only the others ask on to a truthful node; to eth_call, eth_estimateGas and filters with topics it repeats what it was given. */
async function serveEcho(truthfulUrl: string): Promise<EchoingNode> {
  const repeated: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    response.setHeader('content-type', 'application/json');
    if (!/"method":"eth_(call|estimateGas)"|"topics"/.test(body)) {
      const answer = await fetch(truthfulUrl, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      response.statusCode = answer.status;
      response.end(await answer.text());
      return;
    }
    repeated.push(body);
    const { id, params } = JSON.parse(body) as { id: number; params: unknown };
    const hex = /[0-9a-f]{20,}/i.exec(body)?.[0] ?? '';
    const message = `invalid argument ${JSON.stringify(params)}: ${Buffer.from(hex, 'hex').toString('latin1')}`;
    const code = repeated.length % 2 === 0 ? -32602 : -32000;
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, repeated };
}

it('answers others while a client writes refusals of accounts into its calls', async () => {
  const chain = createScriptedChain({ seed: 5, chainId: CHAIN_ID });
  chain.mine(40);
  const truthful = await serveScriptedChain(chain);
  onTestFinished(() => truthful.close());
  const nodes = [await serveEcho(truthful.url), await serveEcho(truthful.url)];
  const gateway = await startGateway({
    chainId: CHAIN_ID,
    upstreams: nodes.map(({ url }) => url),
    environment: { API_KEYS: `${GATEWAY_KEY},${STRANGER_KEY}` },
  });
  onTestFinished(() => gateway.close());
  expect((await gateway.call('eth_blockNumber')).result).toBeDefined();

  // A further check, since the program runs: a chain that it does not offer.
  const elsewhere = gateway.url.replace('devnet', 'ethereum');
  const reply = await fetch(elsewhere, {
    method: 'POST',
    body: '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}',
  });
  const message = 'Chain eth is not offered here: add it to CHAINS (CHAINS=eth,…) and restart';
  expect(await reply.json()).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32_001, message } });
  const looked = await fetch(elsewhere);
  expect([looked.status, await looked.json()]).toEqual([404, { message }]);
  const strange = await fetch(elsewhere.replace(GATEWAY_KEY, 'no-such-key'), { method: 'POST', body: '{}' });
  expect([strange.status, await strange.json()]).toEqual([401, { message: 'Node Key not valid' }]);

  // What was seen to take a chain away for a minute.
  for (const text of ['monthly capacity limit', 'invalid api key']) {
    await expectRefusal(gateway, 'eth_call', [{ to: ADDRESS, type: text }, 'latest']);
    await expectRefusal(gateway, 'eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x1', topics: [], more: text }]);
    await expectOthersAnswered(gateway, 1);
  }
  // Another spelling must not pass the bound of a range.
  await expectRefusal(gateway, 'eth_getLogs', [
    { FromBlock: '0x0', fromBlock: '0x20', toBlock: '0x21', topics: [] },
  ]);
  const twice = `{"fromBlock":"0x0","fromBlock":"0x20","toBlock":"0x20","toBlock":"0x21","topics":[]}`;
  await requestAsStranger(gateway, `{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[${twice}]}`);
  const filters = nodes.flatMap(({ repeated }) => repeated).filter((body) => body.includes('eth_getLogs'));
  expect(filters.length).toBeGreaterThan(0);
  for (const filter of filters) expect(filter).toContain('[{"fromBlock":"0x20","toBlock":"0x21","topics":[]}]');

  const random = createSeededRandom('gateway echo');
  for (let sent = 0; sent < BODIES; sent += 1) {
    const { method, params } = strangeCall(random);
    await requestAsStranger(gateway, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    if (sent % 10 === 0) await expectOthersAnswered(gateway, sent + 2);
  }
  const repeated = nodes.flatMap((node) => node.repeated);
  expect(repeated.length).toBeGreaterThan(BODIES / 10);
  for (const body of repeated) for (const text of LOADED) expect(body).not.toContain(text);
  const metrics = await (await fetch(`${gateway.api}/metrics`)).text();
  const circuits = [...metrics.matchAll(/^chainstead_rpc_circuit\w*\{.*\} (\d+)$/gm)].map(([, value]) => value);
  expect(circuits).toEqual(['0', '0']);
});

async function requestAsStranger(gateway: GatewayStage, body: string): Promise<GatewayReply> {
  const url = gateway.url.replace(GATEWAY_KEY, STRANGER_KEY);
  const response = await fetch(url, { method: 'POST', body });
  return (await response.json()) as GatewayReply;
}

async function expectRefusal(gateway: GatewayStage, method: string, params: readonly unknown[]): Promise<void> {
  const reply = await requestAsStranger(gateway, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  expect(reply.error?.code).toBe(-32_602);
}

/** Request for an address that was not requested yet: nothing of it is cached. */
async function expectOthersAnswered(gateway: GatewayStage, round: number): Promise<void> {
  const other = `0x${round.toString(16).padStart(40, '0')}`;
  expect(await gateway.call('eth_getBalance', [other, 'latest'])).toMatchObject({ result: '0x0' });
}

/** A call with a loaded text somewhere, sometimes as hexadecimal digits, which pass. */
function strangeCall(random: SeededRandom): { readonly method: string; readonly params: readonly unknown[] } {
  const text = random.pick(LOADED);
  const hex = `0x${Buffer.from(text).toString('hex')}`;
  const word = `0x${Buffer.from(text).toString('hex').padStart(64, '0').slice(-64)}`;
  return random.pick([
    { method: 'eth_call', params: [{ to: ADDRESS, data: hex }, 'latest'] },
    { method: 'eth_estimateGas', params: [{ to: ADDRESS, input: hex, value: '0x1' }] },
    {
      method: 'eth_call',
      params: [{ to: ADDRESS }, 'latest', { [ADDRESS]: { code: hex, state: { [HASH]: word } } }],
    },
    { method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x2', topics: [word] }] },
    { method: 'eth_call', params: [{ [text]: '0x1' }, 'latest'] },
    { method: 'eth_call', params: [{ accessList: [{ address: text }] }, 'latest'] },
    { method: 'eth_call', params: [{}, text] },
    { method: 'eth_call', params: [{}, { blockNumber: '0x1', [text]: text }] },
    { method: 'eth_call', params: [{}, 'latest', { [ADDRESS]: { [text]: text } }] },
    { method: 'eth_estimateGas', params: [{}, 'latest', {}, { time: text }] },
    { method: 'eth_getLogs', params: [{ topics: [text] }] },
    { method: text, params: [] },
  ]);
}
