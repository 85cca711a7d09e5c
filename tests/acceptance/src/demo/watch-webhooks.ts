import type { Clock } from '@chainstead/core';
import { DEMO_TOKEN_ABI } from '@chainstead/testkit';
import type { DemoChain } from 'chainstead/src/demo/demo-chain.ts';
import { DEMO_CONFIRMATIONS, type DemoStream, type DemoWebhook } from 'chainstead/src/demo/demo-stream.ts';
import { parseAbiItem } from 'viem';
import { awaitEquality, type Comparison } from './equality.ts';

/** Comparison of webhooks with the node, before and after a reorg. */
export interface WatchedWebhooks {
  /** Waits until every transfer so far, up to the newest block, has an unconfirmed webhook. The chain must not change. */
  beforeReorg(): Promise<void>;
  /**
   * Waits until every transfer has an unconfirmed and a confirmed webhook, and abandoned blocks have no confirmed one. The chain must not change.
   */
  afterReorg(): Promise<void>;
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
      const call = {
        address,
        abi: DEMO_TOKEN_ABI,
        functionName: 'transfer',
        args: [to, 1n],
        from: stream.wallet,
      };
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
      await awaitEquality({
        stage: 'webhooks',
        comparisons: [unconfirmed([...kept, ...lost]), confirmed],
        ...waiting,
      });
    },
  };
}

const TRANSFER = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)');

/** The transfers of webhooks as texts, each once: webhooks arrive at least once. */
function reportedTransfers(webhooks: readonly DemoWebhook[]): string[] {
  const texts = webhooks.flatMap(({ block, erc20Transfers }) =>
    erc20Transfers.map(({ transactionHash, logIndex, from, to, value }) =>
      transferText([block.hash, transactionHash, logIndex, from, to, value]),
    ),
  );
  return [...new Set(texts)];
}

/** The transfers that the stream has to report, as the node has them from a block on, in the texts of `reportedTransfers`. */
async function readWatchedTransfers(
  { client }: DemoChain['devnet'],
  { wallet, token }: Pick<DemoStream, 'wallet' | 'token'>,
  fromBlock: bigint,
): Promise<string[]> {
  const logs = await client.getLogs({ address: token, event: TRANSFER, fromBlock, strict: true });
  return logs
    .map(({ blockHash, transactionHash, logIndex, args }) =>
      transferText(
        [blockHash, transactionHash, String(logIndex), args.from, args.to, String(args.value)].map(lower),
      ),
    )
    .filter((text) => text.includes(wallet));
}

const lower = (text: string): string => text.toLowerCase();

function transferText(parts: readonly string[]): string {
  return parts.join(' ');
}
