/** Who sends and gets something in a story of transactions on a real node. */
import { type Address, parseAddress } from '@chainstead/core';
import { compileActivityContracts, type Devnet, type SeededRandom } from '@chainstead/testkit';
import { toHex } from 'viem';
import { mnemonicToAccount, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { StoryChain } from '../story/story-chain.ts';
import { requireCode, startStoryNode } from '../story/story-node.ts';

export interface ActivityWorld {
  readonly devnet: Devnet;
  /** Send transactions, which they sign themselves. */
  readonly senders: readonly Sender[];
  /** Receive, and never send. */
  readonly strangers: readonly Address[];
  readonly contracts: Readonly<Record<'playground' | 'token' | 'cats', Address>>;
  /** Every contract stands after this block. */
  readonly madeIn: number;
  /** Contracts that transactions made; some of them are gone. */
  readonly children: Address[];
  /** The next id of `cats` that was never minted. */
  nextCat: number;
}

export interface Sender {
  readonly address: Address;
  readonly account: PrivateKeyAccount;
}

/** Seed phrase of the node's accounts. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const SENDERS = 12;
const STRANGERS = 8;
export async function startWorld(chain: StoryChain, random: SeededRandom): Promise<ActivityWorld> {
  const contract = await compileActivityContracts();
  // One after the other: the node gives nonces by what is mined.
  const { made, ...node } = await startStoryNode(chain, SENDERS, async (devnet) => ({
    playground: await devnet.deploy(contract('Playground')),
    token: await devnet.deploy(contract('DemoToken'), ['Plain Token', 'PLAIN', 18]),
    cats: await devnet.deploy(contract('GalleryCats')),
  }));
  const senders = Array.from({ length: SENDERS }, (_, addressIndex) => {
    const key = mnemonicToAccount(MNEMONIC, { addressIndex }).getHdKey().privateKey;
    if (key === null) throw new Error(`There is no key of account ${addressIndex}`);
    const account = privateKeyToAccount(toHex(key));
    return { account, address: parseAddress(account.address) };
  });
  const strangers = Array.from({ length: STRANGERS }, () => parseAddress(random.hex(20)));
  return { ...node, senders, strangers, contracts: made, children: [], nextCat: 1 };
}

/** @throws Error if a contract is gone */
export function requireContracts({ devnet, contracts }: ActivityWorld): Promise<void> {
  return requireCode(devnet, contracts);
}

/** All accounts that a transaction may be about. */
export function anybody({ senders, strangers, contracts, children }: ActivityWorld): readonly Address[] {
  return [...senders.map(({ address }) => address), ...strangers, ...Object.values(contracts), ...children];
}
