/** A block mined by anvil, which computes hashes, roots and blooms with an independent implementation. */
import { compileDemoContracts, type Devnet, requestNode, startDevnet } from '@chainstead/testkit';
import { encodeDeployData, encodeFunctionData, type Hex } from 'viem';
import { type BlockJson, type Json, type RecordedBlock, toBlock } from './recorded-blocks.ts';

/** Enough for each transaction. The node can't estimate the gas of a call to a contract created in the same block. */
const GAS = 3_000_000n;
const ACCESSED = [{ address: `0x${'35'.repeat(20)}`, storageKeys: [`0x${'07'.repeat(32)}`] }] as const;

/**
 * Returns a block with every transaction type that anvil signs, a created contract, a failed call, a transfer of native
 * tokens without logs, and several logs in one block. It needs no data outside the repository.
 */
export async function mineBlock(): Promise<RecordedBlock['block']> {
  await using parts = new AsyncDisposableStack();
  const devnet = parts.adopt(await startDevnet(), (node) => node.stop());
  const { DemoToken } = await compileDemoContracts();
  const token = await devnet.deploy(DemoToken, ['Test Dollar', 'TUSD', 6]);
  const call = (functionName: string, ...args: unknown[]): Hex =>
    encodeFunctionData({ abi: DemoToken.abi, functionName, args });
  const [first, second] = devnet.accounts;
  if (first === undefined || second === undefined) throw new Error('The devnet has fewer than two accounts');
  await devnet.client.setAutomine(false);
  const sent = [
    { to: token, data: call('mint', first, 1_000n), gasPrice: 5_000_000_000n },
    { to: token, data: call('mint', second, 2_000n), gasPrice: 4_000_000_000n, accessList: ACCESSED },
    { to: token, data: call('transfer', second, 400n) },
    { to: second, value: 7n },
    { data: encodeDeployData({ ...DemoToken, args: ['Other', 'OTH', 18] }) },
    // More than the account owns, so it fails.
    { to: token, data: call('transfer', second, 10n ** 30n) },
    { to: token, data: call('transferMany', [first, second, token], 5n), accessList: ACCESSED },
  ];
  for (const one of sent) await devnet.client.sendTransaction({ ...one, account: first, gas: GAS, chain: null });
  await devnet.mine();
  // Awaited here: the node stops at the end of this function.
  return await readNewest(devnet);
}

async function readNewest({ url }: Devnet): Promise<RecordedBlock['block']> {
  const raw = (await requestNode(url, 'eth_getBlockByNumber', ['latest', true])) as BlockJson;
  return toBlock(raw, (await requestNode(url, 'eth_getBlockReceipts', ['latest'])) as readonly Json[]);
}
