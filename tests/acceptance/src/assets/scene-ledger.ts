/** Who holds what of a scene, by the logs of the node. */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import type { Devnet } from '@chainstead/testkit';
import { parseAbi } from 'viem';
import type { HoldingsScene } from './holdings-scene.ts';

const ERC20 = parseAbi([
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
]);
const ERC721 = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 indexed id)']);
const ERC1155 = parseAbi([
  'event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 amount)',
  'event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] amounts)',
]);

/** A transfer: `amount` units of an `id`, 0 for ERC-20. */
interface Move {
  /** `transaction:log` */
  readonly place: string;
  readonly contract: Address;
  readonly id: bigint;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

export interface SceneLedger {
  /** Transfers of all the scene's contracts, in the order of the chain. */
  readonly moves: readonly Move[];
  /** Whom the wallet allows to move its first token. */
  readonly spenders: ReadonlySet<string>;
  /** Units above zero, by holder. */
  holdersOf(contract: Address, id: bigint): ReadonlyMap<string, bigint>;
  /** IDs with an owner. */
  idsOf(contract: Address): readonly bigint[];
}

export async function readLedger({ client }: Devnet, scene: HoldingsScene): Promise<SceneLedger> {
  const from = { fromBlock: 0n, strict: true } as const;
  const [first] = scene.tokens;
  const [fungible, single, multiple] = await Promise.all([
    client.getLogs({ ...from, address: [...scene.tokens], events: ERC20 }),
    client.getLogs({ ...from, address: [scene.cats, scene.gallery], events: ERC721 }),
    client.getLogs({ ...from, address: scene.prints, events: ERC1155 }),
  ]);
  const spenders = new Set<string>();
  for (const log of fungible) {
    if (log.eventName !== 'Approval' || !sameAs(log.address, first) || !sameAs(log.args.owner, scene.wallet))
      continue;
    const spender = log.args.spender.toLowerCase();
    if (log.args.value > 0n) spenders.add(spender);
    else spenders.delete(spender);
  }
  const moves = [
    ...fungible.flatMap((log) => (log.eventName === 'Transfer' ? [moveOf(log, 0n, log.args.value)] : [])),
    ...single.map((log) => moveOf(log, log.args.id, 1n)),
    ...multiple.flatMap((log) =>
      log.eventName === 'TransferSingle'
        ? [moveOf(log, log.args.id, log.args.amount)]
        : log.args.ids.map((id, index) => moveOf(log, id, log.args.amounts[index] ?? 0n)),
    ),
  ];
  const holders = new Map<string, Map<string, bigint>>();
  for (const { contract, id, from: sender, to, amount } of moves) {
    const key = `${contract} ${id}`;
    const held = holders.get(key) ?? new Map<string, bigint>();
    holders.set(key, held);
    for (const [account, change] of [
      [sender, -amount],
      [to, amount],
    ] as const) {
      const left = (held.get(account) ?? 0n) + change;
      if (account === ZERO_ADDRESS || left === 0n) held.delete(account);
      else held.set(account, left);
    }
  }
  return {
    moves,
    spenders,
    holdersOf: (contract, id) => holders.get(`${contract} ${id}`) ?? new Map<string, bigint>(),
    idsOf: (contract) =>
      [...holders].flatMap(([key, held]) => {
        const [of, id = ''] = key.split(' ');
        return of === contract && held.size > 0 ? [BigInt(id)] : [];
      }),
  };
}

interface TransferLog {
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly address: string;
  readonly args: { readonly from: string; readonly to: string };
}

function moveOf({ transactionHash, logIndex, address, args }: TransferLog, id: bigint, amount: bigint): Move {
  return {
    place: `${transactionHash}:${logIndex}`,
    contract: address.toLowerCase() as Address,
    id,
    from: args.from.toLowerCase(),
    to: args.to.toLowerCase(),
    amount,
  };
}

function sameAs(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
