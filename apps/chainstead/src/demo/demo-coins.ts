import { type AptosFullnode, createAptosLedger, startAptosFullnode } from '@chainstead/testkit';
import { z } from 'zod';
import { type DemoApi, DemoApiError } from './demo-api.ts';
import type { Comparison } from './equality.ts';

/** Coins that were published on a small Aptos ledger, and the fullnode that serves it. */
export interface DemoCoins {
  readonly fullnode: AptosFullnode;
  /** The last version of the ledger, which does not change. */
  readonly lastVersion: number;
  /** Newest first. */
  readonly symbols: readonly string[];
}

const COINS = 40;
const VERSIONS_BETWEEN_COINS = 23;
const PAGE_COINS = 15;
const MICROSECONDS = '1680000000000000';

/** Starts it. */
export async function startDemoCoins(): Promise<DemoCoins> {
  const symbols = Array.from({ length: COINS }, (_, index) => `DEMO${index}`);
  const ledger = createAptosLedger({
    transactions: symbols.map(publication),
    place: { from: 5, every: VERSIONS_BETWEEN_COINS },
  });
  return { fullnode: await startAptosFullnode(ledger), lastVersion: ledger.head, symbols: symbols.toReversed() };
}

/** All coins, newest first, page by page. */
export function compareCoins({ symbols }: DemoCoins, api: DemoApi): Comparison {
  const numbered = (list: readonly string[]): string[] => list.map((symbol, place) => `${place}: ${symbol}`);
  return {
    subject: 'coins of an Aptos ledger',
    expected: numbered(symbols),
    served: async () => numbered(await readSymbols(api)),
  };
}

const page = z.object({ cursor: z.string().nullable(), result: z.array(z.object({ symbol: z.string() })) });

async function readSymbols({ address, key }: DemoApi): Promise<string[]> {
  const symbols: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ limit: String(PAGE_COINS), ...(cursor === '' ? {} : { cursor }) });
    const url = `${address}/coins/latest?${query}`;
    const response = await fetch(url, key === undefined ? {} : { headers: { 'x-api-key': key } });
    const parsed = page.safeParse(await response.json());
    if (!parsed.success) throw new DemoApiError(url, `${response.status} ${z.prettifyError(parsed.error)}`);
    symbols.push(...parsed.data.result.map(({ symbol }) => symbol));
    cursor = parsed.data.cursor;
  }
  return symbols;
}

/** A transaction in the form of the REST API, in which a coin is published. */
function publication(symbol: string, index: number): Readonly<Record<string, unknown>> {
  const creator = `0x${(0xde_0000 + index).toString(16)}`;
  return {
    type: 'user_transaction',
    success: true,
    vm_status: 'Executed successfully',
    sender: creator,
    sequence_number: '0',
    gas_used: '100',
    gas_unit_price: '100',
    max_gas_amount: '2000',
    timestamp: MICROSECONDS,
    payload: { type: 'entry_function_payload', function: `${creator}::demo::publish` },
    events: [],
    changes: [
      {
        type: 'write_resource',
        address: creator,
        state_key_hash: `0x${'00'.repeat(32)}`,
        data: {
          type: `0x1::coin::CoinInfo<${creator}::demo::Coin>`,
          data: { name: `Demo coin ${index}`, symbol, decimals: 8, supply: { vec: [] } },
        },
      },
    ],
  };
}
