import { ZERO_ADDRESS } from '@chainstead/core';
import { type DecodeEventLogReturnType, decodeEventLog, type Hex, parseAbi, toEventSelector } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchChain, createBenchChain } from './bench-chain.ts';
import { NFT_TOPICS } from './bench-nfts.ts';
import { serveBenchChain } from './bench-node.ts';
import { type JsonObject, logsOf } from './chain-source.ts';
import { askNode } from './rpc-client.ts';
import { TRANSFER_TOPIC } from './scripted-event.ts';
import type { ChainNode } from './serve-chain.ts';

const ABI = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed id)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
]);

type Decoded = DecodeEventLogReturnType<typeof ABI>;
type Named<Name extends Decoded['eventName']> = Place & Extract<Decoded, { readonly eventName: Name }>;

interface Place {
  readonly address: string;
  readonly transaction: string;
}

let chain: BenchChain;
let node: ChainNode;
let logs: JsonObject[];
/** NFT events in order. */
let events: (Place & Decoded)[];

beforeAll(async () => {
  chain = createBenchChain({
    blocks: 100,
    transactionsPerBlock: 10,
    logsPerTransaction: 3,
    nftShare: 0.5,
    transferShare: 1,
  });
  node = await serveBenchChain(chain);
  logs = [...chain.blocksIn({ from: 0, to: 100 })].flatMap(logsOf);
  events = logs.flatMap((log) => {
    const topics = log.topics as [Hex, ...Hex[]];
    if (topics[0] === TRANSFER_TOPIC && topics.length === 3) return [];
    const decoded = decodeEventLog({ abi: ABI, topics, data: log.data as Hex, strict: true });
    return [{ ...decoded, address: String(log.address), transaction: String(log.transactionHash) }];
  });
});
afterAll(() => node.close());

const named = <Name extends Decoded['eventName']>(name: Name): Named<Name>[] =>
  events.filter((event): event is Named<Name> => event.eventName === name);
const shareOf = (name: Decoded['eventName']): number => named(name).length / events.length;

describe('NFT logs of a bench chain', () => {
  it('are counted, and about as many as asked for', () => {
    expect(chain.facts).toMatchObject({ logs: 3_000, nftLogs: events.length, erc20Transfers: 3_000 - events.length });
    expect(events.length / logs.length).toBeGreaterThan(0.45);
    expect(events.length / logs.length).toBeLessThan(0.6);
  });

  it('are of every kind, moves of single tokens mostly', () => {
    expect(new Set(events.map(({ eventName }) => eventName)).size).toBe(4);
    expect(shareOf('Transfer')).toBeGreaterThan(0.5);
    expect(shareOf('TransferSingle')).toBeGreaterThan(0.1);
    expect(shareOf('OrderFulfilled')).toBeGreaterThan(0.05);
    expect(shareOf('TransferBatch')).toBeGreaterThan(0.01);
    expect(NFT_TOPICS).toEqual(ABI.filter((item) => item.type === 'event').map((event) => toEventSelector(event)));
  });

  it('move tokens from those who own them, once they were minted', () => {
    const owners = new Map<string, string>();
    const moves = named('Transfer');
    for (const { address, args } of moves) {
      expect(args.from).toBe(owners.get(`${address}/${args.id}`) ?? ZERO_ADDRESS);
      owners.set(`${address}/${args.id}`, args.to);
    }
    const mints = moves.filter(({ args }) => args.from === ZERO_ADDRESS).length;
    expect(mints / moves.length).toBeGreaterThan(0.3);
    expect(mints / moves.length).toBeLessThan(0.8);
  });

  it('have batches of 2 to 20 ids with an amount each', () => {
    const sizes = named('TransferBatch').map(({ args }) => [args.ids.length, args.values.length]);
    expect(Math.min(...sizes.flat())).toBeGreaterThanOrEqual(2);
    expect(Math.max(...sizes.flat())).toBeLessThanOrEqual(20);
    for (const [ids, values] of sizes) expect(values).toBe(ids);
  });

  it('sell what moves from seller to buyer in the same transaction', () => {
    const sales = named('OrderFulfilled');
    for (const sale of sales) {
      const { args, transaction } = sale;
      const moved = events[events.indexOf(sale) + 1];
      const [offer] = args.offer;
      expect(moved).toMatchObject({ eventName: 'Transfer', address: offer?.token.toLowerCase(), transaction });
      expect(moved?.args).toEqual({ from: args.offerer, to: args.recipient, id: offer?.identifier });
      expect(args.consideration[0]).toMatchObject({ itemType: 0, recipient: args.offerer });
    }
    expect(sales.length).toBeGreaterThan(20);
  });

  it.each([
    ['all topics', [TRANSFER_TOPIC, ...NFT_TOPICS]],
    ['some topics', NFT_TOPICS.slice(1)],
    ['one topic', NFT_TOPICS.slice(3)],
  ])('are served by %s as any node would serve them', async (_, topics) => {
    const wanted = logs.filter((log) => topics.some((topic) => topic === (log.topics as string[])[0]));
    const filter = { fromBlock: '0x0', toBlock: '0x64', topics: [topics] };
    expect(await askNode(node.url, 'eth_getLogs', [filter])).toEqual(wanted);
    node.faults.set({ dropLogsRate: 1e-12 });
    // With this fault logs are parsed and filtered one by one.
    expect(await askNode(node.url, 'eth_getLogs', [filter])).toEqual(wanted);
    node.faults.clear();
  });

  it('come from collections that tell their standard, name and document', async () => {
    const [erc721 = ZERO_ADDRESS] = chain.facts.collections;
    const ask = (data: string): Promise<unknown> => askNode(node.url, 'eth_call', [{ to: erc721, data }, 'latest']);
    expect(await ask(`0x01ffc9a780ac58cd${'0'.repeat(56)}`)).toBe(`0x${'1'.padStart(64, '0')}`);
    const uri = Buffer.from(String(await ask('0xe8a3d485')).slice(2 + 128), 'hex')
      .toString()
      .replace(/\0+$/, '');
    expect(JSON.parse(Buffer.from(uri.split(',')[1] ?? '', 'base64').toString())).toMatchObject({
      name: 'Collection 0',
    });
  });
});
