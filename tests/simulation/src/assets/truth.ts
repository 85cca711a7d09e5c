/** State of the contracts at a block, as the expected value of responses. */
import type { Address } from '@chainstead/core';
import { type AbiEvent, parseAbi, parseEventLogs } from 'viem';
import { callAt, encodeCall, fetchTogether, toAmount, toAmounts, toOwner } from '../story/node.ts';
import {
  type AssetsWorld,
  FOUNDER_IDS,
  LAZY_IDS,
  type NftKind,
  PRINT_IDS,
  TOKEN_KINDS,
  type TokenKind,
} from './world.ts';

/** A block, and the state of contracts after it. */
export interface Truth {
  readonly block: number;
  readonly hash: string;
  /** Base units above zero, by token and holder. */
  readonly balances: Readonly<Record<TokenKind, ReadonlyMap<Address, bigint>>>;
  /** Null where a contract does not say. */
  readonly supplies: Readonly<Record<TokenKind, bigint | null>>;
}

export async function readTruth(world: AssetsWorld, head: { number: number; hash: string }): Promise<Truth> {
  const { holders, tokens, devnet } = world;
  const calls = TOKEN_KINDS.flatMap((kind) => [
    { to: tokens[kind], data: encodeCall('totalSupply()') },
    ...holders.map((holder) => ({ to: tokens[kind], data: encodeCall('balanceOf(address)', [holder]) })),
  ]);
  const said = await callAt(devnet.url, calls, head.number);
  const ofKind = (place: number) => said.slice(place * (holders.length + 1), (place + 1) * (holders.length + 1));
  return {
    block: head.number,
    hash: head.hash,
    balances: recordOf(TOKEN_KINDS, (_, place) => {
      const amounts = ofKind(place).slice(1).map(toAmount);
      return new Map(
        holders.flatMap((holder, index) => {
          const amount = amounts[index] ?? 0n;
          return amount === 0n ? [] : [[holder, amount] as const];
        }),
      );
    }),
    supplies: recordOf(TOKEN_KINDS, (_, place) => {
      const [supply = null] = ofKind(place);
      return supply === null ? null : toAmount(supply);
    }),
  };
}

/** What one holder has of one token after a block. */
export async function readBalance(
  { devnet }: AssetsWorld,
  token: Address,
  holder: Address,
  block: number,
): Promise<bigint> {
  const [said] = await callAt(
    devnet.url,
    [{ to: token, data: encodeCall('balanceOf(address)', [holder]) }],
    block,
  );
  return toAmount(said);
}

/** Allowances of an owner for the tokens with holders, above zero: `token spender` to base units. */
export async function readAllowances(
  { devnet, tokens, holders }: AssetsWorld,
  owner: Address,
  block: number,
): Promise<ReadonlyMap<string, bigint>> {
  const pairs = Object.values(tokens).flatMap((token) => holders.map((spender) => ({ token, spender })));
  const calls = pairs.map(({ token, spender }) => ({
    to: token,
    data: encodeCall('allowance(address,address)', [owner, spender]),
  }));
  const said = await callAt(devnet.url, calls, block);
  return new Map(
    pairs.flatMap(({ token, spender }, index) => {
      const allowed = toAmount(said[index]);
      return allowed === 0n ? [] : [[`${token} ${spender}`, allowed] as const];
    }),
  );
}

/** Balance of an account for an ID. */
export interface NftHolding {
  readonly id: string;
  readonly owner: Address;
  readonly amount: string;
}

export interface NftTruth {
  readonly holdings: readonly NftHolding[];
  /** IDs in events. */
  readonly moved: ReadonlySet<string>;
  /** Each id of a batch counts; of one event of ERC-2309 nothing does. */
  readonly transfers: number;
}

const NFT_EVENTS = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)',
]);

/** Who holds what of a collection after a block: `ownerOf` of every id, `balanceOfBatch` of every id and holder. */
export async function readNftTruth(world: AssetsWorld, kind: NftKind, block: number): Promise<NftTruth> {
  const moves = await readLogs(world, world.nfts[kind], block, NFT_EVENTS);
  const moved = moves.flatMap(({ args }) => idsOf(args));
  const ids = {
    cats: () => idsUpTo(1, world.nextCat - 1),
    lazy: () => idsUpTo(0, LAZY_IDS - 1),
    founders: () => idsUpTo(0, FOUNDER_IDS - 1),
  };
  const holdings =
    kind === 'prints'
      ? await readPrints(world, block)
      : await readOwners(world, world.nfts[kind], ids[kind](), block);
  return {
    holdings,
    moved: new Set(kind === 'founders' ? ids.founders().map(String) : moved),
    transfers: moved.length,
  };
}

async function readOwners(
  { devnet }: AssetsWorld,
  nft: Address,
  ids: readonly bigint[],
  block: number,
): Promise<NftHolding[]> {
  const calls = ids.map((id) => ({ to: nft, data: encodeCall('ownerOf(uint256)', [id]) }));
  const owners = (await callAt(devnet.url, calls, block)).map(toOwner);
  return ids.flatMap((id, index) => {
    const owner = owners[index] ?? null;
    return owner === null ? [] : [{ id: String(id), owner, amount: '1' }];
  });
}

async function readPrints({ devnet, nfts, holders }: AssetsWorld, block: number): Promise<NftHolding[]> {
  const ids = idsUpTo(1, PRINT_IDS);
  const calls = ids.map((id) => ({
    to: nfts.prints,
    data: encodeCall('balanceOfBatch(address[],uint256[])', [holders, holders.map(() => id)]),
  }));
  const said = await callAt(devnet.url, calls, block);
  return ids.flatMap((id, place) =>
    toAmounts(said[place]).flatMap((amount, index) => {
      const owner = holders[index];
      return amount === 0n || owner === undefined ? [] : [{ id: String(id), owner, amount: String(amount) }];
    }),
  );
}

/** The newest event of each approval: `owner token spender` to its block. */
export async function readNewestApprovals(
  world: AssetsWorld,
  block: number,
): Promise<ReadonlyMap<string, number>> {
  const event = parseAbi(['event Approval(address indexed owner, address indexed spender, uint256 value)']);
  const newest = new Map<string, number>();
  for (const token of Object.values(world.tokens))
    for (const { args, block: of } of await readLogs(world, token, block, event)) {
      const { owner, spender } = args as { owner: string; spender: string };
      newest.set(`${owner} ${token} ${spender}`.toLowerCase(), of);
    }
  return newest;
}

interface StoryEvent {
  readonly block: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** In the order of the chain. */
async function readLogs(
  { devnet }: AssetsWorld,
  address: Address,
  block: number,
  abi: readonly AbiEvent[],
): Promise<StoryEvent[]> {
  const filter = { address, fromBlock: '0x0', toBlock: `0x${block.toString(16)}` };
  const [logs] = await fetchTogether(devnet.url, [{ method: 'eth_getLogs', params: [filter] }]);
  const known = parseEventLogs({ abi, logs: logs as Parameters<typeof parseEventLogs>[0]['logs'] });
  return known.map(({ args, blockNumber }) => ({
    block: Number(blockNumber),
    args: args as Readonly<Record<string, unknown>>,
  }));
}

function idsOf(args: Readonly<Record<string, unknown>>): string[] {
  const { tokenId, id, ids } = args;
  if (Array.isArray(ids)) return ids.map(String);
  return [String(tokenId ?? id)];
}

function idsUpTo(first: number, last: number): bigint[] {
  return Array.from({ length: last - first + 1 }, (_, index) => BigInt(first + index));
}

function recordOf<Name extends string, Value>(
  names: readonly Name[],
  valueFor: (name: Name, place: number) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name, place) => [name, valueFor(name, place)])) as Record<Name, Value>;
}
