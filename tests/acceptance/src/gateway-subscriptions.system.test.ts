/** Clients that watch a chain: viem and ethers over WebSocket, viem over HTTP, against a real node that reorganises, through the program. */
import type { Address } from '@chainstead/core';
import { compileDemoContracts, DEMO_TOKEN_ABI, type Devnet, startDevnet } from '@chainstead/testkit';
import { Contract, type ContractEventPayload, type JsonRpcApiProvider, WebSocketProvider } from 'ethers';
import { createPublicClient, type Hash, http, type PublicClient, webSocket } from 'viem';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type GatewayStage, startGateway } from './gateway-stage.ts';

const CHAIN_ID = 31_342;
const NOBODY = `0x${'ab'.repeat(20)}` as const;
const PATIENCE = { timeout: 60_000, interval: 20 };

let devnet: Devnet;
let gateway: GatewayStage;
let token: Address;

beforeAll(async () => {
  devnet = await startDevnet({ chainId: CHAIN_ID });
  const { DemoToken } = await compileDemoContracts();
  token = await devnet.deploy(DemoToken, ['Watched', 'WCH', 6]);
  gateway = await startGateway({ chainId: CHAIN_ID, upstreams: [devnet.url] });
  return async () => {
    await gateway.close();
    await devnet.stop();
  };
}, 60_000);

async function mint(value: bigint): Promise<Hash> {
  const call = { address: token, abi: DEMO_TOKEN_ABI, functionName: 'mint', args: [NOBODY, value] };
  const { transactionHash } = await devnet.send(call);
  return transactionHash;
}

function socketUrl(): string {
  return gateway.url.replace('http:', 'ws:');
}

function viemClient(): PublicClient {
  const client = createPublicClient({ transport: webSocket(socketUrl(), { reconnect: false }) });
  onTestFinished(async () => {
    (await client.transport.getRpcClient()).close();
  });
  return client as PublicClient;
}

describe('viem over a WebSocket', () => {
  it('calls, and watches blocks and events through a reorganisation', async () => {
    const client = viemClient();
    expect(await client.getChainId()).toBe(CHAIN_ID);
    const events: string[] = [];
    const numbers: bigint[] = [];
    const unwatch = [
      client.watchContractEvent({
        address: token,
        abi: DEMO_TOKEN_ABI,
        eventName: 'Transfer',
        onLogs: (logs) => events.push(...logs.map(({ args, removed }) => `${removed ? '-' : '+'}${args.value}`)),
      }),
      client.watchBlockNumber({ onBlockNumber: (number) => numbers.push(number) }),
    ];
    await subscriptionsOpen(2);
    const start = await client.getBlockNumber({ cacheTime: 0 });
    await mint(1n);
    await mint(2n);
    await expect.poll(() => events, PATIENCE).toEqual(['+1', '+2']);
    await devnet.reorg(2);
    await mint(3n);
    await expect.poll(() => events, PATIENCE).toEqual(['+1', '+2', '-2', '-1', '+3']);
    await expect.poll(() => numbers.at(-1), PATIENCE).toBe(start + 3n);
    for (const stop of unwatch) stop();
    await subscriptionsOpen(0);
  });

  it('watches transactions that wait, by hash', async () => {
    const client = viemClient();
    const seen: Hash[] = [];
    const unwatch = client.watchPendingTransactions({ onTransactions: (hashes) => seen.push(...hashes) });
    await subscriptionsOpen(1, 'newPendingTransactions');
    const hash = await mint(4n);
    await expect.poll(() => seen, PATIENCE).toContain(hash);
    unwatch();
    await subscriptionsOpen(0, 'newPendingTransactions');
  });
});

describe('ethers', () => {
  it('over a WebSocket: contract.on and blocks go on through a reorganisation', async () => {
    let removedLogs = 0;
    const socket = new WebSocket(socketUrl());
    socket.addEventListener('message', ({ data }) => {
      if (String(data).includes('"removed":true')) removedLogs += 1;
    });
    const provider = new WebSocketProvider(socket as never, CHAIN_ID, { staticNetwork: true });
    onTestFinished(() => provider.destroy());
    const blocks: number[] = [];
    await provider.on('block', (number: number) => blocks.push(number));
    const reported = await watchTransfers(provider);
    await subscriptionsOpen(2);
    await mint(5n);
    await mint(6n);
    await expect.poll(() => reported, PATIENCE).toEqual(['+5', '+6']);
    await devnet.reorg(1);
    await mint(7n);
    // It keeps removed logs from listeners of the event: what it was sent shows that they came.
    await expect.poll(() => reported, PATIENCE).toEqual(['+5', '+6', '+7']);
    expect(removedLogs).toBe(1);
    await expect.poll(() => blocks.at(-1), PATIENCE).toBe(await provider.getBlockNumber());
  });
});

describe('filters over HTTP', () => {
  it('viem watches events and waiting transactions through a reorganisation', async () => {
    const client = createPublicClient({ transport: http(gateway.url), pollingInterval: 50 });
    const events: string[] = [];
    const waiting: Hash[] = [];
    const unwatch = [
      client.watchContractEvent({
        address: token,
        abi: DEMO_TOKEN_ABI,
        eventName: 'Transfer',
        onLogs: (logs) => events.push(...logs.map(({ args, removed }) => `${removed ? '-' : '+'}${args.value}`)),
      }),
      client.watchPendingTransactions({ onTransactions: (hashes) => waiting.push(...hashes) }),
    ];
    await expect.poll(filtersMade, PATIENCE).toBe(2);
    const hash = await mint(11n);
    await mint(12n);
    await expect.poll(() => events, PATIENCE).toEqual(['+11', '+12']);
    await devnet.reorg(2);
    await mint(13n);
    await expect.poll(() => events, PATIENCE).toEqual(['+11', '+12', '-12', '-11', '+13']);
    expect(waiting).toContain(hash);
    for (const stop of unwatch) stop();
  });
});

async function watchTransfers(provider: JsonRpcApiProvider): Promise<string[]> {
  const { DemoToken } = await compileDemoContracts();
  const reported: string[] = [];
  const contract = new Contract(token, DemoToken.abi as never, provider);
  await contract.on('Transfer', (_from: string, _to: string, value: bigint, { log }: ContractEventPayload) =>
    reported.push(`${log.removed ? '-' : '+'}${value}`),
  );
  return reported;
}

/** Waits until the program has so many subscriptions: clients don't report their start. */
async function subscriptionsOpen(count: number, kind = '\\w+'): Promise<void> {
  await expect
    .poll(() => total(`chainstead_gateway_subscriptions\\{chain="devnet",kind="${kind}"`), PATIENCE)
    .toBe(count);
}

function filtersMade(): Promise<number> {
  return total('chainstead_gateway_filters_total\\{');
}

/** Sum of the program's metrics whose names and labels begin so. */
async function total(pattern: string): Promise<number> {
  const text = await (await fetch(`${gateway.api}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${pattern}.* (\\d+)$`, 'gm'))].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  );
}
