/** Makes blocks of transactions. */
import { type Hex, parseAddress } from '@chainstead/core';
import { requestNode, type SeededRandom } from '@chainstead/testkit';
import { toEventSelector } from 'viem';
import { z } from 'zod';
import { fetchTogether } from '../story/node.ts';
import { type Doing, drawDoing, drawKind, type TransactionKind } from './transactions.ts';
import type { ActivityWorld, Sender } from './world.ts';

const GAS = 1_500_000n;
const GWEI = 1_000_000_000n;
const PRICE = 30n * GWEI;

/** Draws so many transactions, has their senders sign them, and mines a block. @returns what was sent */
export async function mineActions(
  world: ActivityWorld,
  random: SeededRandom,
  count: number,
): Promise<readonly { readonly text: string }[]> {
  const { devnet, senders } = world;
  // What a branch that came to nothing left unmined has nonces that are given again.
  await requestNode(devnet.url, 'anvil_dropAllTransactions');
  const counts = await fetchTogether(
    devnet.url,
    senders.map(({ address }) => ({ method: 'eth_getTransactionCount', params: [address, 'latest'] })),
  );
  const nonces = new Map(senders.map(({ address }, place) => [address, Number(counts[place])]));
  const sent: { text: string }[] = [];
  for (let left = count; left > 0; left--) {
    const sender = random.pick(senders);
    const nonce = nonces.get(sender.address) ?? 0;
    const doing = drawDoing(world, random, sender.address);
    const kind = drawKind(random, doing);
    const signed = await sign(world, random, { sender, nonce, kind, doing });
    await requestNode(devnet.url, 'eth_sendRawTransaction', [signed]);
    nonces.set(sender.address, nonce + (kind === 'delegate' && doing.to !== null ? 2 : 1));
    sent.push({ text: `${sender.address} ${doing.text} (${kind}, nonce ${nonce})` });
  }
  await requestNode(devnet.url, 'evm_mine');
  await rememberChildren(world);
  return sent;
}

const CHILDREN_MAX = 60;

/** Remembers the contracts that the newest block created. */
async function rememberChildren({ devnet, contracts, children }: ActivityWorld): Promise<void> {
  const receipts = z.array(receiptShape).parse(await requestNode(devnet.url, 'eth_getBlockReceipts', ['latest']));
  for (const { contractAddress, logs } of receipts) {
    const made = logs.filter(
      ({ address, topics }) => address === contracts.playground && topics[0] === MADE_TOPIC,
    );
    const found = [contractAddress, ...made.map(({ topics }) => `0x${topics[1]?.slice(26)}`)];
    for (const child of found) if (child !== null && child !== undefined) children.push(parseAddress(child));
  }
  children.splice(0, children.length - CHILDREN_MAX);
}

const MADE_TOPIC = toEventSelector('Made(address)');
const receiptShape = z.object({
  contractAddress: z.string().nullish(),
  logs: z.array(z.object({ address: z.string(), topics: z.array(z.string()) })),
});

interface Unsigned {
  readonly sender: Sender;
  readonly nonce: number;
  readonly kind: TransactionKind;
  readonly doing: Doing;
}

async function sign(
  world: ActivityWorld,
  random: SeededRandom,
  { sender, nonce, kind, doing }: Unsigned,
): Promise<Hex> {
  const { devnet, contracts } = world;
  const { account } = sender;
  const { to, data, value, gas = GAS } = doing;
  const common = { chainId: devnet.chainId, nonce, gas, value, data, ...(to !== null && { to }) };
  const fees = { maxFeePerGas: PRICE, maxPriorityFeePerGas: BigInt(random.integer(0, 3)) * GWEI };
  if (kind === 'legacy') return account.signTransaction({ ...common, type: 'legacy', gasPrice: PRICE });
  if (kind === 'eip2930') {
    const accessList = [{ address: contracts.token, storageKeys: [`0x${'00'.repeat(32)}` as Hex] }];
    return account.signTransaction({ ...common, type: 'eip2930', gasPrice: PRICE, accessList });
  }
  // Such a transaction makes no contract.
  if (kind === 'delegate' && to !== null) {
    // The sender's own: its nonce counts once for the transaction before it counts for this.
    const authorization = await account.signAuthorization({
      chainId: devnet.chainId,
      nonce: nonce + 1,
      contractAddress: contracts.playground,
    });
    return account.signTransaction({
      ...common,
      to,
      type: 'eip7702',
      ...fees,
      authorizationList: [authorization],
    });
  }
  return account.signTransaction({ ...common, type: 'eip1559', ...fees });
}
