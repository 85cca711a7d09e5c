import { type Address, toQuantity } from '@chainstead/core';
import type { Devnet, SeededRandom } from '@chainstead/testkit';

/** Init code: of a contract whose code is a STOP, and of none, since it reverts. */
const DEPLOYED = '0x600180600b6000396000f300';
const REVERTED = '0x60006000fd';
const GAS = toQuantity(200_000n);

/** Mines a block of some random transactions between the accounts: transfers, deployments, some that fail. */
export async function mineRandomBlock(
  { client }: Devnet,
  accounts: readonly Address[],
  random: SeededRandom,
  transactionsMax: number,
): Promise<void> {
  for (let left = random.integer(0, transactionsMax); left > 0; left -= 1) {
    const from = random.pick(accounts);
    const value = toQuantity(BigInt(random.integer(0, 1_000)));
    const price = random.chance(0.3) ? { type: '0x0', gasPrice: toQuantity(10n ** 10n) } : {};
    const parts = random.chance(0.15)
      ? { data: random.chance(0.7) ? DEPLOYED : REVERTED }
      : { to: random.chance(0.2) ? random.hex(20) : random.pick(accounts), value };
    await client.request({
      method: 'eth_sendTransaction',
      params: [{ from, gas: GAS, ...price, ...parts }],
    } as never);
  }
  await client.mine({ blocks: 1 });
}
