/** Draws what is sent next: transactions of all types to all kinds of places, some of which fail. */
import type { Address, Hex } from '@chainstead/core';
import type { SeededRandom } from '@chainstead/testkit';
import { encodeCall } from '../story/node.ts';
import { drawWeighted } from '../story/story-node.ts';
import type { ActivityWorld } from './world.ts';

/** Content of a transaction, for any sender. */
export interface Doing {
  /** Null: it makes a contract. */
  readonly to: Address | null;
  readonly data: Hex;
  /** Wei. */
  readonly value: bigint;
  /** Gas limit. @default ample */
  readonly gas?: bigint;
  readonly text: string;
}

/** `delegate`: EIP-7702, by which the sender gets the playground's code. */
export type TransactionKind = 'legacy' | 'eip2930' | 'eip1559' | 'delegate';

type Draw = (world: ActivityWorld, random: SeededRandom, sender: Address) => Doing;

/** With how often it is done. */
const DOINGS: readonly (readonly [weight: number, draw: Draw])[] = [
  [18, (world, random, sender) => pay(random.chance(0.05) ? sender : receiver(world, random), someWei(random))],
  [2, (world, random) => pay(receiver(world, random), 0n)],
  [
    6,
    (world, random) =>
      play(world, ['poke(string)', random.pick(WORDS)], random.chance(0.4) ? someWei(random) : 0n),
  ],
  [9, (world, random) => play(world, ['pass(address)', receiver(world, random)], someWei(random))],
  [
    5,
    (world, random) =>
      play(world, ['split(address,address)', receiver(world, random), receiver(world, random)], someWei(random)),
  ],
  [4, (world, random) => play(world, ['tryPass(address)', receiver(world, random)], someWei(random))],
  [4, (world, random) => play(world, ['fail()'], random.chance(0.5) ? someWei(random) : 0n)],
  [
    3,
    (world, random) => ({
      ...play(world, ['pass(address)', receiver(world, random)], someWei(random)),
      gas: 26_500n,
    }),
  ],
  [4, (world, random) => play(world, ['make()'], random.chance(0.6) ? someWei(random) : 0n)],
  [
    3,
    (world, random) =>
      play(world, ['makeAt(bytes32)', `0x${'00'.repeat(31)}${random.hex(1).slice(2)}`], someWei(random)),
  ],
  [3, (world, random) => play(world, ['makeAndEnd(address)', receiver(world, random)], someWei(random))],
  [2, endChild],
  [3, (_world, random) => create(CHILD_THAT_RETURNS, random.chance(0.3) ? someWei(random) : 0n)],
  [1, () => create(STILLBORN, 0n)],
  [
    6,
    (world, random) =>
      call(world.contracts.token, ['mint(address,uint256)', receiver(world, random), someUnits(random)]),
  ],
  [
    12,
    (world, random) =>
      call(world.contracts.token, ['transfer(address,uint256)', receiver(world, random), someUnits(random)]),
  ],
  [1, (world, random) => call(world.contracts.token, ['transfer(address,uint256)', receiver(world, random), 0n])],
  [
    5,
    (world, random) =>
      call(world.contracts.token, [
        'approve(address,uint256)',
        receiver(world, random),
        random.chance(0.3) ? 0n : someUnits(random),
      ]),
  ],
  [
    2,
    (world, random) =>
      call(world.contracts.token, [
        'transferMany(address[],uint256)',
        [receiver(world, random), receiver(world, random)],
        1n,
      ]),
  ],
  [4, mintCat],
  [
    3,
    (world, random, sender) =>
      call(world.contracts.cats, [
        'transferFrom(address,address,uint256)',
        sender,
        receiver(world, random),
        BigInt(random.integer(1, world.nextCat)),
      ]),
  ],
  [
    2,
    (world, random) =>
      call(world.contracts.cats, [
        'setApprovalForAll(address,bool)',
        receiver(world, random),
        random.chance(0.6),
      ]),
  ],
];
export function drawDoing(world: ActivityWorld, random: SeededRandom, sender: Address): Doing {
  return drawWeighted(random, DOINGS)(world, random, sender);
}

export function drawKind(random: SeededRandom, { gas }: Doing): TransactionKind {
  // Others need more of it before they begin.
  if (gas !== undefined) return 'eip1559';
  if (random.chance(0.02)) return 'delegate';
  return random.pick(['legacy', 'eip2930', 'eip1559', 'eip1559']);
}

const WORDS = ['', 'hello', `<b>\u202e${'x'.repeat(80)}`];
/** Initialisation that returns two bytes of code. */
const CHILD_THAT_RETURNS: Hex = '0x6102006000526002601ef3';
const STILLBORN: Hex = '0x60006000fd';

function receiver({ senders, strangers, contracts, children }: ActivityWorld, random: SeededRandom): Address {
  if (random.chance(0.55)) return random.pick(senders).address;
  if (random.chance(0.7)) return random.pick(strangers);
  return random.chance(0.5) && children.length > 0 ? random.pick(children) : contracts.playground;
}

function someWei(random: SeededRandom): bigint {
  return BigInt(random.integer(1, 1_000_000)) * 10n ** BigInt(random.integer(0, 9));
}

function someUnits(random: SeededRandom): bigint {
  return BigInt(random.integer(1, 1_000)) * 10n ** BigInt(random.integer(0, 6));
}

function pay(to: Address, value: bigint): Doing {
  return { to, data: '0x', value, text: `pays ${value} wei to ${to}` };
}

function create(data: Hex, value: bigint): Doing {
  return { to: null, data, value, text: `makes a contract of ${data}` };
}

function play({ contracts }: ActivityWorld, signed: readonly [string, ...unknown[]], value: bigint): Doing {
  return { ...call(contracts.playground, signed), value };
}

function call(to: Address, [signature, ...args]: readonly [string, ...unknown[]]): Doing {
  return {
    to,
    data: encodeCall(signature, args),
    value: 0n,
    text: `calls ${signature} of ${to} with ${args.join(', ')}`,
  };
}

function endChild(world: ActivityWorld, random: SeededRandom): Doing {
  const { children } = world;
  const to = receiver(world, random);
  return children.length === 0
    ? play(world, ['make()'], someWei(random))
    : play(world, ['end(address,address)', random.pick(children), to], 0n);
}

function mintCat(world: ActivityWorld, random: SeededRandom): Doing {
  const id = BigInt(world.nextCat++);
  return call(world.contracts.cats, ['mint(address,uint256)', receiver(world, random), id]);
}
