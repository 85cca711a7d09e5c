import type { Clock } from '@chainstead/core';
import { DEMO_TOKEN_ABI } from '@chainstead/testkit';
import type { DemoChain } from './demo-chain.ts';
import { DEMO_CONFIRMATIONS, type DemoStream, readWatchedTransfers, reportedTransfers } from './demo-stream.ts';
import { awaitEquality, type Comparison } from './equality.ts';

/** Comparison of webhooks with the node, before and after a reorg. */
export interface WatchedWebhooks {
  /** Waits until every transfer so far, up to the newest block, has an unconfirmed webhook. The chain must not change. */
  beforeReorg(): Promise<void>;
  /**
   * Waits until every transfer has an unconfirmed and a confirmed webhook, and abandoned blocks have no confirmed one. The chain must not change.
   * @returns the result, line by line
   */
  afterReorg(): Promise<string[]>;
}

/** Watches from the next block on. The chain must not change until it resolves. @throws DemoMismatchError, from the two steps */
export async function watchWebhooks(
  { devnet, tokens, wallets }: DemoChain,
  stream: DemoStream,
  waiting: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<WatchedWebhooks> {
  const first = (await devnet.client.getBlockNumber({ cacheTime: 0 })) + 1n;
  const readTransfers = (): Promise<string[]> => readWatchedTransfers(devnet, stream, first);
  const reported = (confirmed: boolean): string[] =>
    reportedTransfers(stream.webhooks().filter((webhook) => webhook.confirmed === confirmed));
  const unconfirmed = (expected: readonly string[]): Comparison => ({
    subject: 'transfers in unconfirmed webhooks',
    expected,
    served: async () => reported(false),
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
        subject: 'transfers in confirmed webhooks',
        expected: kept,
        served: async () => reported(true),
      };
      const comparisons = [unconfirmed([...kept, ...lost]), confirmed];
      await awaitEquality({ stage: 'webhooks', comparisons, ...waiting });
      return [
        '✓ webhooks: all are signed and match the node',
        ...comparisons.map(({ subject, expected }) => `    ${String(expected.length).padStart(4)} ${subject}`),
        `    ${String(lost.length).padStart(4)} transfers of abandoned blocks, none in a confirmed webhook`,
      ];
    },
  };
}
