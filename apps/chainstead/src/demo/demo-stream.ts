import { type Address, type Clock, defineError } from '@chainstead/core';
import { formatUnits, keccak256, numberToHex, stringToBytes } from 'viem';
import { z } from 'zod';
import type { Output } from '../session/command-context.ts';
import { DEMO_CHAIN_ID, type DemoChain } from './demo-chain.ts';
import { DEMO_TOKEN_ABI } from './devnet/compile-solidity.ts';
import { startWebhookReceiver, type WebhookReceiver } from './network/webhook-receiver.ts';

export interface DemoStream {
  readonly id: string;
  readonly wallet: Address;
  readonly token: Address;
  /** In order, with repeats. @throws DemoStreamError for a wrong signature */
  webhooks(): DemoWebhook[];
  close(): Promise<void>;
}

export type DemoWebhook = z.infer<typeof webhookSchema>;

const webhookSchema = z.object({
  streamId: z.string(),
  tag: z.string(),
  confirmed: z.boolean(),
  block: z.object({ number: z.string(), hash: z.string() }),
  logs: z.array(z.unknown()),
  txs: z.array(z.unknown()),
  erc20Transfers: z.array(
    z.object({
      transactionHash: z.string(),
      logIndex: z.string(),
      from: z.string(),
      to: z.string(),
      value: z.string(),
      tokenSymbol: z.string(),
      tokenDecimals: z.string(),
    }),
  ),
});

class DemoStreamError extends defineError('DEMO_STREAM', (problem: string) => ({
  message: `Demo stream failed: ${problem}`,
})) {}

export const DEMO_CONFIRMATIONS = 8;

export async function startDemoStream(
  api: string,
  { wallets, tokens }: Pick<DemoChain, 'wallets' | 'tokens'>,
  onWebhook: (webhook: DemoWebhook) => void = () => undefined,
): Promise<DemoStream> {
  const [wallet] = wallets;
  const [token] = tokens;
  if (wallet === undefined || token === undefined) throw new DemoStreamError('there is no wallet or no token');
  const receiver = await startWebhookReceiver({
    answer(received) {
      const webhook = webhookSchema.parse(JSON.parse(received.body));
      if (webhook.streamId !== '') onWebhook(webhook);
      return {};
    },
  });
  try {
    const { secretKey } = z.object({ secretKey: z.string() }).parse(await ask(api, 'GET', '/settings'));
    const created = await ask(api, 'PUT', '/streams/evm', streamOf(receiver, token));
    const { id } = z.object({ id: z.string() }).parse(created);
    await ask(api, 'POST', `/streams/evm/${id}/address`, { address: wallet });
    return {
      id,
      wallet,
      token,
      webhooks: () =>
        receiver.received
          .map(({ body, headers }) => {
            if (headers['x-signature'] !== keccak256(stringToBytes(body + secretKey)))
              throw new DemoStreamError(`a webhook is not signed with the secret: ${body.slice(0, 200)}`);
            return webhookSchema.parse(JSON.parse(body));
          })
          .filter(({ streamId }) => streamId === id),
      close: () => receiver.close(),
    };
  } catch (error) {
    await receiver.close();
    throw error;
  }
}

function streamOf({ url }: WebhookReceiver, token: Address) {
  const topic0 = 'Transfer(address,address,uint256)';
  return {
    webhookUrl: `${url}/webhook`,
    description: "A wallet's transfers of one token",
    tag: 'demo-dollars',
    chainIds: [numberToHex(DEMO_CHAIN_ID)],
    includeContractLogs: true,
    topic0: [topic0],
    abi: DEMO_TOKEN_ABI.filter(({ type }) => type === 'event'),
    advancedOptions: [{ topic0, filter: { eq: ['moralis_streams_contract_address', token] } }],
  };
}

async function ask(api: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(api + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok)
    throw new DemoStreamError(`${method} ${path} was answered ${response.status} ${await response.text()}`);
  return response.json();
}

function amountText({ value, tokenDecimals, tokenSymbol }: DemoWebhook['erc20Transfers'][number]): string {
  if (tokenDecimals === '') return `${value} units of a token`;
  return `${formatUnits(BigInt(value), Number(tokenDecimals))} ${tokenSymbol}`;
}

function describeWebhook({ tag, block, confirmed, logs, txs, erc20Transfers }: DemoWebhook): string {
  const [first] = erc20Transfers;
  const state = confirmed ? 'confirmed  ' : 'unconfirmed';
  const what = first === undefined ? '' : `, ${amountText(first)} from ${first.from} to ${first.to}`;
  return `webhook  ${tag}  block ${block.number}  ${state}  ${logs.length + txs.length} record(s)${what}`;
}

interface WebhookDisplayOptions {
  readonly output: Output;
  readonly clock: Clock;
  readonly listsAll: boolean;
  readonly signal: AbortSignal;
}

const SUMMARY_INTERVAL_MS = 30_000;
const COLUMNS_DEFAULT = 80;
const CLEAR_LINE = '\r\u001b[2K';

export function createWebhookDisplay(options: WebhookDisplayOptions): (webhook: DemoWebhook) => void {
  const { output, clock, listsAll, signal } = options;
  const isInPlace = output.isTTY === true && !listsAll;
  let count = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  signal.addEventListener('abort', () => isInPlace && count > 0 && output.write('\n'), { once: true });
  return (webhook) => {
    if (signal.aborted) return;
    count += 1;
    const line = describeWebhook(webhook);
    if (listsAll) output.write(`${line}\n`);
    else if (isInPlace)
      output.write(CLEAR_LINE + `${count}: ${line}`.slice(0, (output.columns ?? COLUMNS_DEFAULT) - 1));
    else if (clock.now() - shownAt >= SUMMARY_INTERVAL_MS) {
      output.write(`${line} (${count} so far)\n`);
      shownAt = clock.now();
    }
  };
}
