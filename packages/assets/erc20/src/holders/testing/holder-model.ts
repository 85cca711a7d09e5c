/** A direct computation of a token's stored holders from all of its transfers. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { timestampOf } from '@chainstead/testkit';
import { AIRDROP_ABOVE } from '../../transfers/token-holders.ts';

/** A transfer of the token; blocks contain them in order. */
export interface Gift {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly transaction: number;
}

export type Blocks = ReadonlyMap<number, readonly Gift[]>;

const MINUTE_SECONDS = 60;

/** Returns holders as sorted lines of text. */
export function modelHolders(blocks: Blocks): string[] {
  return [...new Set([...blocks.values()].flat().flatMap(sidesOf))]
    .map((account) => {
      const own = gifts(blocks).filter(({ gift }) => changes(gift) && sidesOf(gift).includes(account));
      const total = own.reduce((sum, { gift }) => sum + deltaOf(gift, account), 0n);
      const first = own.find(({ gift }) => gift.to === account);
      const way = first === undefined ? '' : isAirdrop(blocks, first.block, first.gift.transaction) ? '1' : '0';
      return {
        account,
        line: `${account} ${total} ${own.length} ${first?.block ?? ''} ${first?.gift.transaction ?? ''} ${way}`,
        own,
      };
    })
    .flatMap(({ account, line, own }) => (own.length === 0 || account === ZERO_ADDRESS ? [] : [line]))
    .sort();
}

/** Transfers, supply, holders and newest block; undefined without any transfer. */
export function modelCounts(blocks: Blocks): string | undefined {
  const all = gifts(blocks);
  if (all.length === 0) return undefined;
  const supply = all.reduce((sum, { gift }) => sum + mintedBy(gift), 0n);
  const holders = modelHolders(blocks).filter((line) => BigInt(line.split(' ')[1] ?? 0) > 0n).length;
  return `${all.length} ${supply} ${holders} ${Math.max(...all.map(({ block }) => block))}`;
}

/** Returns the accounts that became and ceased to be holders, block by block, by minute and class. */
export function modelMinutes(blocks: Blocks): string[] {
  const held = new Map<Address, bigint>();
  let supply = 0n;
  const counted = new Map<string, [came: number, gone: number, airdropped: number]>();
  for (const [block, own] of [...blocks].toSorted(([one], [other]) => one - other)) {
    const before = new Map(held);
    for (const gift of own) {
      supply += mintedBy(gift);
      if (changes(gift))
        for (const account of sidesOf(gift))
          held.set(account, (held.get(account) ?? 0n) + deltaOf(gift, account));
    }
    for (const [account, after] of held) {
      const then = before.get(account) ?? 0n;
      if (account === ZERO_ADDRESS || after > 0n === then > 0n) continue;
      const minute = Math.floor(timestampOf(block) / MINUTE_SECONDS);
      const key = `${minute} ${modelClass(after > then ? after : then, supply)}`;
      const [came, gone, airdropped] = counted.get(key) ?? [0, 0, 0];
      const first = own.find((gift) => changes(gift) && gift.to === account);
      const isDropped = after > 0n && first !== undefined && isAirdrop(blocks, block, first.transaction);
      counted.set(key, [
        came + (after > 0n ? 1 : 0),
        gone + (after > 0n ? 0 : 1),
        airdropped + (isDropped ? 1 : 0),
      ]);
    }
  }
  return [...counted].map(([key, numbers]) => `${key} ${numbers.join(' ')}`).sort();
}

/** By exact percentage of the contract's supply. */
export function modelClass(balance: bigint, supply: bigint): number {
  const share = balance * 100n * 100_000n;
  if (share > supply * 10_000n) return 0;
  const place = [5_000n, 500n, 100n, 25n, 15n].findIndex((bound) => share >= supply * bound);
  return place === -1 ? 6 : place + 1;
}

function gifts(blocks: Blocks): { readonly block: number; readonly gift: Gift }[] {
  return [...blocks]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([block, own]) => own.map((gift) => ({ block, gift })));
}

function isAirdrop(blocks: Blocks, block: number, transaction: number): boolean {
  return (blocks.get(block) ?? []).filter((gift) => gift.transaction === transaction).length > AIRDROP_ABOVE;
}

function changes({ from, to, value }: Gift): boolean {
  return from !== to && value > 0n;
}

function sidesOf({ from, to }: Gift): Address[] {
  return [from, to];
}

function deltaOf({ from, value }: Gift, account: Address): bigint {
  return from === account ? -value : value;
}

function mintedBy({ from, to, value }: Gift): bigint {
  return (from === ZERO_ADDRESS ? value : 0n) - (to === ZERO_ADDRESS ? value : 0n);
}
