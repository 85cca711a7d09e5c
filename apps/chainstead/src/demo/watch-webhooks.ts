import type { Clock } from '@chainstead/core';
import { DEMO_TOKEN_ABI } from '@chainstead/testkit';
import type { DemoChain } from './demo-chain.ts';
import { DEMO_CONFIRMATIONS, type DemoStream, readWatchedTransfers, toldTransfers } from './demo-stream.ts';
import { awaitEquality, type Comparison } from './equality.ts';

/** The comparison of webhooks with the node, around a reorganisation. */
export interface WatchedWebhooks {
  /** Until every transfer so far was told unconfirmed, the last one in the newest block. The chain must stand still. */
  beforeReorg(): Promise<void>;
  /**
   * Until every transfer was told unconfirmed and confirmed, and nothing of lost blocks confirmed. The chain must stand still.
   * @returns what was found, line by line
   */
  afterReorg(): Promise<string[]>;
}

/** From the next block on. The chain must stand still until it resolves. @throws DemoMismatchError, from the two steps */
export async function watchWebhooks(
  { devnet, tokens, wallets }: DemoChain,
  stream: DemoStream,
  waiting: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<WatchedWebhooks> {
  const first = (await devnet.client.getBlockNumber({ cacheTime: 0 })) + 1n;
  const readTransfers = (): Promise<string[]> => readWatchedTransfers(devnet, stream, first);
  const told = (confirmed: boolean): string[] =>
    toldTransfers(stream.webhooks().filter((webhook) => webhook.confirmed === confirmed));
  const unconfirmed = (expected: readonly string[]): Comparison => ({
    subject: 'transfers told by unconfirmed webhooks',
    expected,
    served: async () => told(false),
  });
  let beforeReorg: readonly string[] = [];
  return {
    async beforeReorg() {
      const [address = stream.token, to = stream.wallet] = [tokens[0], wallets[1]];
      const call = { address, abi: DEMO_TOKEN_ABI, functionName: 'transfer', args: [to, 1n], from: stream.wallet };
      await devnet.send(call);
      beforeReorg = await readTransfers();
      await awaitEquality({ stage: 'webhooks', comparisons: [unconfirmed(beforeReorg)], ...waiting });
    },
    async afterReorg() {
      await devnet.mine(DEMO_CONFIRMATIONS);
      const kept = await readTransfers();
      const lost = beforeReorg.filter((transfer) => !kept.includes(transfer));
      const confirmed = {
        subject: 'transfers told by confirmed webhooks',
        expected: kept,
        served: async () => told(true),
      };
      const comparisons = [unconfirmed([...kept, ...lost]), confirmed];
      await awaitEquality({ stage: 'webhooks', comparisons, ...waiting });
      return [
        '✓ webhooks: each is signed with the secret, and tells what the node says',
        ...comparisons.map(({ subject, expected }) => `    ${String(expected.length).padStart(4)} ${subject}`),
        `    ${String(lost.length).padStart(4)} transfers of lost blocks, none of them told by a confirmed webhook`,
      ];
    },
  };
}
