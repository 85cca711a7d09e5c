/** Requests of a soak to the program: its streams, and pages at a fixed rate. */
import type { Address } from '@chainstead/core';
import type { ScriptedChain, SeededRandom } from '@chainstead/testkit';
import { z } from 'zod';

/** API key of the program and of every request. */
export const SOAK_KEY = 'soak-key-0123456789';

export interface SoakApi {
  /** @throws Error for any status other than 200 */
  ask(path: string, method?: string, body?: object): Promise<unknown>;
}

export function openSoakApi(address: string): SoakApi {
  return {
    async ask(path, method = 'GET', body) {
      const response = await fetch(address + path, {
        method,
        headers: { 'x-api-key': SOAK_KEY, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
      return JSON.parse(text);
    },
  };
}

export async function readSecret(api: SoakApi): Promise<string> {
  return z.object({ secretKey: z.string() }).parse(await api.ask('/settings')).secretKey;
}

/** Adds a stream of each contract's logs. @returns the contracts by the ids of their streams */
export async function addStreams(
  api: SoakApi,
  { webhookUrl, chainId }: { readonly webhookUrl: string; readonly chainId: number },
  contracts: readonly Address[],
): Promise<Map<string, Address>> {
  const watched = new Map<string, Address>();
  for (const address of contracts) {
    const created = await api.ask('/streams/evm', 'PUT', {
      webhookUrl,
      description: `soak ${address}`,
      tag: 'soak',
      chainIds: [`0x${chainId.toString(16)}`],
      includeContractLogs: true,
    });
    const { id } = z.object({ id: z.string() }).parse(created);
    await api.ask(`/streams/evm/${id}/address`, 'POST', { address });
    watched.set(id, address);
  }
  return watched;
}

/** Wallets whose pages are requested. */
const WALLETS = 50;

/** Every page that a soak requests. */
export function pagesOf({ wallets, tokens }: Pick<ScriptedChain, 'wallets' | 'tokens'>, chain: string): string[] {
  const collections = tokens.filter(({ kind }) => kind !== 'erc20').map(({ address }) => address);
  const paths = [
    ...wallets.slice(0, WALLETS).flatMap((wallet) => [`${wallet}/erc20/transfers`, `${wallet}/nft/collections`]),
    ...collections.flatMap((collection) => [`nft/${collection}/trades`, `nft/${collection}/price`]),
  ];
  return paths.map((path) => `/api/v2.2/${path}?chain=${chain}`);
}

/** Pages that are requested one after the other at a fixed rate. */
export interface PageRequests {
  readonly answered: number;
  /** Reasons why pages failed. */
  readonly failures: readonly string[];
  /** Waits for the responses that are still open. */
  stop(): Promise<void>;
}

export function requestPages(
  api: SoakApi,
  paths: readonly string[],
  random: SeededRandom,
  everyMs: number,
): PageRequests {
  const open = new Set<Promise<void>>();
  const failures: string[] = [];
  let answered = 0;
  const timer = setInterval(() => {
    const requested = api.ask(random.pick(paths)).then(
      () => void answered++,
      (error: unknown) => void failures.push(String(error)),
    );
    open.add(requested);
    void requested.finally(() => open.delete(requested));
  }, everyMs);
  return {
    get answered() {
      return answered;
    },
    failures,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}
