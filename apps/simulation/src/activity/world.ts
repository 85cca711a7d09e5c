/** Who sends and gets something in a story of transactions on a real node. */
import { type Address, parseAddress } from '@chainstead/core';
import { compileActivityContracts, type Devnet, type SeededRandom, startDevnet } from '@chainstead/testkit';
import { toHex } from 'viem';
import { mnemonicToAccount, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { askTogether, readHead } from '../story/node.ts';
import type { StoryChain } from '../story/story-chain.ts';

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

/** Of the node's accounts. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const SENDERS = 12;
const STRANGERS = 8;
/** After so many blocks the node remembers what contracts said, all in memory: states on disk lose the code of contracts at a branch. */
const STATES_KEPT = 1_000;

export async function startWorld(chain: StoryChain, random: SeededRandom): Promise<ActivityWorld> {
  const devnet = await startDevnet({
    chainId: chain.id,
    args: ['--accounts', String(SENDERS), '--order', 'fifo', '--prune-history', String(STATES_KEPT)],
  });
  try {
    const contract = await compileActivityContracts();
    // One after the other: the node gives nonces by what is mined.
    const contracts = {
      playground: await devnet.deploy(contract('Playground')),
      token: await devnet.deploy(contract('DemoToken'), ['Plain Token', 'PLAIN', 18]),
      cats: await devnet.deploy(contract('GalleryCats')),
    };
    await devnet.client.setAutomine(false);
    await devnet.mine();
    const { number: madeIn } = await readHead(devnet.url);
    const senders = Array.from({ length: SENDERS }, (_, addressIndex) => {
      const key = mnemonicToAccount(MNEMONIC, { addressIndex }).getHdKey().privateKey;
      if (key === null) throw new Error(`There is no key of account ${addressIndex}`);
      const account = privateKeyToAccount(toHex(key));
      return { account, address: parseAddress(account.address) };
    });
    const strangers = Array.from({ length: STRANGERS }, () => parseAddress(random.hex(20)));
    return { devnet, senders, strangers, contracts, madeIn, children: [], nextCat: 1 };
  } catch (error) {
    await devnet.stop();
    throw error;
  }
}

/** @throws Error where a contract is gone */
export async function requireContracts({ devnet, contracts }: ActivityWorld): Promise<void> {
  const standing = Object.entries(contracts);
  const codes = await askTogether(
    devnet.url,
    standing.map(([, address]) => ({ method: 'eth_getCode', params: [address, 'latest'] })),
  );
  const gone = standing.filter((_, place) => codes[place] === '0x').map(([name]) => name);
  if (gone.length > 0) throw new Error(`The node has lost the code of ${gone.join(', ')}`);
}

/** Anybody that a transaction may be about. */
export function anybody({ senders, strangers, contracts, children }: ActivityWorld): readonly Address[] {
  return [...senders.map(({ address }) => address), ...strangers, ...Object.values(contracts), ...children];
}
